//! Small random graphs of everything that fusion treats differently.

use tracewell_graph::prim::*;
use tracewell_graph::{Atom, Graph};

use crate::compositions::Make;

/// Shapes of few different sizes, so that arrays often match.
const SHAPES: [&[usize]; 14] = [
    &[],
    &[4],
    &[12],
    &[24],
    &[3, 4],
    &[4, 3],
    &[2, 12],
    &[12, 2],
    &[4, 6],
    &[2, 3, 4],
    &[4, 1, 3],
    &[2, 2, 3, 2],
    &[0, 3],
    &[3, 4, 0],
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A shape of the list, its last axis `scale` times as long.
fn scaled(shape: &[usize], scale: usize) -> Vec<usize> {
    let mut shape = shape.to_vec();
    shape.iter_mut().last().into_iter().for_each(|n| *n *= scale);
    shape
}

/// The graph of a seed. Larger scales make recomputing dearer than memory.
pub(crate) fn random(seed: u64, scale: usize) -> Graph {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
    let mut m = Make::new();
    let mut pool: Vec<Atom> =
        (0..2 + r.below(3)).map(|_| m.input(&scaled(SHAPES[r.below(SHAPES.len())], scale))).collect();
    for _ in 0..4 + r.below(14) {
        // Recent arrays more often, so that chains grow.
        let recent = pool.len().saturating_sub(4);
        let x = if r.below(3) > 0 { r.pick(&pool[recent..]).clone() } else { r.pick(&pool).clone() };
        let new = step(&mut r, &mut m, &pool, &x, scale);
        pool.push(new);
    }
    let count = 1 + r.below(3);
    let mut outputs: Vec<Atom> = (0..count).map(|_| r.pick(&pool).clone()).collect();
    outputs.push(pool[pool.len() - 1].clone());
    m.finish(&outputs.iter().collect::<Vec<_>>())
}

fn step(r: &mut Random, m: &mut Make, pool: &[Atom], x: &Atom, scale: usize) -> Atom {
    let shape = m.0.ty(x).shape;
    let rank = shape.rank();
    match r.below(13) {
        0 => m.op(Tanh {}, &[x]),
        1 => m.op(Neg {}, &[x]),
        // Bounded functions of small slope, so that rounding does not grow.
        2 => {
            let small = m.op(Tanh {}, &[x]);
            m.op(Exp {}, &[&small])
        }
        3..=5 => {
            let alike: Vec<&Atom> = pool.iter().filter(|a| m.0.ty(a).shape == shape).collect();
            let y = (*r.pick(&alike)).clone();
            match r.below(3) {
                0 => m.op(Add {}, &[x, &y]),
                1 => m.op(Max {}, &[x, &y]),
                _ => m.op(Sub {}, &[x, &y]),
            }
        }
        6 => {
            let mut axes: Vec<usize> = (0..rank).collect();
            (1..rank).for_each(|i| axes.swap(i, r.below(i + 1)));
            m.permute(x, &axes)
        }
        7 | 8 => {
            let same: Vec<Vec<usize>> = SHAPES
                .iter()
                .map(|s| scaled(s, scale))
                .filter(|s| s.iter().product::<usize>() == shape.len())
                .collect();
            if same.is_empty() { m.op(Neg {}, &[x]) } else { m.reshape(x, &same[r.below(same.len())]) }
        }
        9 => {
            // A new axis anywhere.
            if shape.len() > 48 * scale {
                return m.op(Abs {}, &[x]);
            }
            let at = r.below(rank + 1);
            let shape = shape.insert(at, 2 + r.below(3));
            let axes: Vec<usize> = (0..=rank).filter(|&a| a != at).collect();
            m.broadcast(x, &shape.sizes(), &axes)
        }
        10 if rank == 2 => {
            let fits = |a: &&Atom| {
                let other = m.0.ty(a).shape;
                other.rank() == 2 && other.size(0) == shape.size(1)
            };
            match pool.iter().find(fits) {
                Some(y) => m.op(DotGeneral::matmul(), &[x, &y.clone()]),
                None => m.permute(x, &[1, 0]),
            }
        }
        _ => {
            let axes: Vec<usize> = (0..rank).filter(|_| r.below(2) == 0).collect();
            if r.below(2) == 0 { m.sum(x, &axes) } else { m.max(x, &axes) }
        }
    }
}
