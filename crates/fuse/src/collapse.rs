//! Fewer, longer loops: the one with the best strides is innermost, and neighbours that every access walks as
//! one become one. Contiguous elementwise work is a single loop whatever its shape.
//!
//! Invariant: every point of the space is visited once before and after. Independent loops are never mixed
//! with reduced ones, nor the loops of one reduction with those of another, and nothing is computed more often.

use crate::loops::LoopId;
use crate::nest::{Nest, Scalar};

/// Operations that are not worth keeping out of an inner loop.
const CHEAP: u32 = 4;

/// Simplifies the loops of a nest.
pub(crate) fn collapse(nest: &mut Nest) {
    for chain in chains(nest) {
        let chain = movable(nest, &chain);
        best_innermost(nest, &chain);
    }
    for chain in chains(nest) {
        merge(nest, &chain);
    }
}

/// The loops that belong together, outermost first.
fn chains(nest: &Nest) -> Vec<Vec<LoopId>> {
    let mut chains = vec![nest.loops.each.clone()];
    for scalar in &nest.scalars {
        if let Scalar::Reduce { loops, .. } | Scalar::Keep { loops, .. } = scalar
            && !chains.iter().any(|chain| chain[..] == loops[..])
        {
            chains.push(loops.to_vec());
        }
    }
    chains
}

/// The inner part of a chain in which loops can change places without anything being computed more often.
fn movable(nest: &Nest, chain: &[LoopId]) -> Vec<LoopId> {
    let homes = nest.homes();
    let Some(&last) = chain.last() else { return Vec::new() };
    let is_costly = |scalar: &Scalar| match scalar {
        Scalar::Map { ops, .. } => *ops > CHEAP,
        Scalar::Reduce { .. } | Scalar::Keep { .. } => true,
        _ => false,
    };
    let holds = |l: LoopId| {
        l != last && nest.scalars.iter().zip(&homes).any(|(s, &home)| home == Some(l) && is_costly(s))
    };
    let start = chain.iter().rposition(|&l| holds(l)).map_or(0, |at| at + 1);
    chain[start..].to_vec()
}

/// Makes that loop innermost which the fewest accesses stride over; the last one where it is as good.
fn best_innermost(nest: &mut Nest, chain: &[LoopId]) {
    if chain.len() < 2 {
        return;
    }
    let strided = |l: LoopId| nest.accesses().filter(|at| !matches!(at.coefficient(l), 0 | 1)).count();
    let best = (0..chain.len()).rev().min_by_key(|&i| strided(chain[i])).expect("two loops at least");
    // The loops stay where they are and change their meaning: each takes over from the next one inside.
    for i in best + 1..chain.len() {
        let (a, b) = (chain[i - 1], chain[i]);
        let (m, n) = (nest.loops.extent(a), nest.loops.extent(b));
        nest.loops.set_extent(a, n);
        nest.loops.set_extent(b, m);
        nest.each_access(|at| {
            let (c, d) = (at.coefficient(a), at.coefficient(b));
            at.set(a, d);
            at.set(b, c);
        });
    }
}

fn merge(nest: &mut Nest, chain: &[LoopId]) {
    let Some((&last, outer)) = chain.split_last() else { return };
    let mut inner = last;
    for &outer in outer.iter().rev() {
        let extent = nest.loops.extent(inner);
        let as_one = nest.accesses().all(|at| at.coefficient(outer) == at.coefficient(inner) * extent);
        if !as_one || nest.loops.children(outer) != 1 {
            inner = outer;
            continue;
        }
        nest.loops.set_extent(inner, extent * nest.loops.extent(outer));
        nest.loops.remove(outer);
        nest.each_access(|at| at.set(outer, 0));
        for scalar in &mut nest.scalars {
            if let Scalar::Reduce { loops, .. } | Scalar::Keep { loops, .. } = scalar {
                loops.retain(|l| *l != outer);
            }
        }
    }
}
