//! Loops for the laws: they end whatever their operands are, and round as the evaluator does, so that trips do not add up
//! to differences.

use std::sync::Arc;

use tracewell_array::{DType, Shape};
use tracewell_kernel::Comparison;

use super::{
    Add, And, Broadcast, Compare, DotGeneral, Max, Min, Mul, Not, Prim, Reshape, Select, Slice, Sub, While,
};
use crate::builder::GraphBuilder;
use crate::graph::{Atom, Graph};
use crate::primitive::Example;
use crate::ty::ArrayType;

/// Of every kind, for both floats.
pub(super) fn examples() -> Vec<Example> {
    let of = |dtype| [counted(dtype), halved(dtype), flagged(dtype), passed_on(dtype), product(dtype)];
    [DType::F32, DType::F64].into_iter().flat_map(of).collect()
}

fn bind(b: &mut GraphBuilder, prim: impl Into<Prim>, inputs: &[&Atom]) -> Atom {
    let inputs: Vec<Atom> = inputs.iter().map(|&atom| atom.clone()).collect();
    b.bind1(prim, &inputs).expect("typed")
}

fn compare(b: &mut GraphBuilder, comparison: Comparison, x: &Atom, y: &Atom) -> Atom {
    bind(b, Compare { comparison }, &[x, y])
}

fn example_graph<const N: usize>(
    types: [&ArrayType; N],
    outputs: impl FnOnce(&mut GraphBuilder, [Atom; N]) -> Vec<Atom>,
) -> Arc<Graph> {
    let mut b = GraphBuilder::new();
    let inputs = types.map(|ty| Atom::Var(b.input(ty.clone())));
    let outputs = outputs(&mut b, inputs);
    Arc::new(b.finish("example", outputs))
}

/// `0 ≤ i < most`, for an integer that wild operands cannot make run forever.
fn counting(b: &mut GraphBuilder, i: &Atom, ty: &ArrayType, most: &Atom) -> Atom {
    let from = compare(b, Comparison::Ge, i, &Atom::fill(ty, 0.0));
    let below = compare(b, Comparison::Lt, i, most);
    bind(b, And {}, &[&from, &below])
}

/// As often as a constant of the condition says: no, nine or eighteen times for 0, 1 and 2. The body has a constant too.
fn counted(dtype: DType) -> Example {
    let (int, x) = (ArrayType::new(DType::I32, Shape::scalar()), ArrayType::new(dtype, [3]));
    let cond = example_graph([&int, &int, &x], |b, [limit, i, _]| {
        let nine = bind(b, Mul {}, &[&limit, &Atom::fill(&int, 9.0)]);
        let most = bind(b, Min {}, &[&nine, &Atom::fill(&int, 20.0)]);
        vec![counting(b, &i, &int, &most)]
    });
    let body = example_graph([&x, &int, &x], |b, [w, i, x]| {
        let i = bind(b, Add {}, &[&i, &Atom::fill(&int, 1.0)]);
        // x·(w - x²)/2, which stays within 1 if w and x do.
        let square = bind(b, Mul {}, &[&x, &x]);
        let rest = bind(b, Sub {}, &[&w, &square]);
        let half = bind(b, Mul {}, &[&x, &Atom::fill(&ArrayType::new(dtype, [3]), 0.5)]);
        vec![i, bind(b, Mul {}, &[&half, &rest])]
    });
    let prim = While { cond, body, cond_consts: 1, body_consts: 1 }.into();
    Example { prim, inputs: vec![int.clone(), x.clone(), int, x] }
}

/// Until a float has fallen below another: how often depends on floats.
fn halved(dtype: DType) -> Example {
    let (x, y) = (ArrayType::new(dtype, Shape::scalar()), ArrayType::new(dtype, [2]));
    let cond = example_graph([&x, &x, &y], |b, [least, x, _]| {
        let least = bind(b, Max {}, &[&least, &Atom::fill(&ArrayType::new(dtype, Shape::scalar()), 0.03)]);
        vec![compare(b, Comparison::Gt, &x, &least)]
    });
    let body = example_graph([&y, &x, &y], |b, [w, x, y]| {
        let most = bind(b, Min {}, &[&x, &Atom::fill(&ArrayType::new(dtype, Shape::scalar()), 4.0)]);
        let half = bind(b, Mul {}, &[&most, &Atom::fill(&ArrayType::new(dtype, Shape::scalar()), 0.5)]);
        let wide = bind(b, Broadcast { shape: Shape::from([2].as_slice()), axes: vec![] }, &[&x]);
        let product = bind(b, Mul {}, &[&y, &w]);
        vec![half, bind(b, Add {}, &[&product, &wide])]
    });
    let prim = While { cond, body, cond_consts: 1, body_consts: 1 }.into();
    Example { prim, inputs: vec![x.clone(), y.clone(), x, y] }
}

/// Carries of four types, one of them the condition itself; one is always the same, and one has no elements.
fn flagged(dtype: DType) -> Example {
    let (flag, int) =
        (ArrayType::new(DType::Bool, Shape::scalar()), ArrayType::new(DType::U8, Shape::scalar()));
    let (x, none) = (ArrayType::new(dtype, [2, 2]), ArrayType::new(dtype, [0]));
    let types = [&flag, &int, &x, &x, &none];
    let cond = example_graph(types, |_, [flag, ..]| vec![flag]);
    let body = example_graph(types, |b, [flag, i, x, same, none]| {
        let i = bind(b, Add {}, &[&i, &Atom::fill(&int, 1.0)]);
        let low = bind(b, And {}, &[&i, &Atom::fill(&int, 7.0)]);
        let go_on = compare(b, Comparison::Lt, &low, &Atom::fill(&int, 5.0));
        let odd = bind(b, And {}, &[&i, &Atom::fill(&int, 1.0)]);
        let odd = compare(b, Comparison::Ne, &odd, &Atom::fill(&int, 0.0));
        let even = bind(b, Not {}, &[&odd]);
        let even = bind(b, And {}, &[&even, &flag]);
        let even = bind(b, Broadcast { shape: Shape::from([2, 2].as_slice()), axes: vec![] }, &[&even]);
        let product = bind(b, Mul {}, &[&x, &same]);
        let sum = bind(b, Add {}, &[&x, &same]);
        vec![go_on, i, bind(b, Select {}, &[&even, &product, &sum]), same, none]
    });
    let prim = While { cond, body, cond_consts: 0, body_consts: 0 }.into();
    Example { prim, inputs: vec![flag, int, x.clone(), x, none] }
}

/// A chain: each carry gets a tangent from the one before it, a trip later.
fn passed_on(dtype: DType) -> Example {
    let (int, x) = (ArrayType::new(DType::I64, Shape::scalar()), ArrayType::new(dtype, Shape::scalar()));
    let types = [&int, &x, &x, &x];
    let cond = example_graph(types, |b, [i, ..]| vec![counting(b, &i, &int, &Atom::fill(&int, 4.0))]);
    let body = example_graph(types, |b, [i, x, y, z]| {
        let i = bind(b, Add {}, &[&i, &Atom::fill(&int, 1.0)]);
        let next = bind(b, Mul {}, &[&z, &y]);
        vec![i, x.clone(), bind(b, Mul {}, &[&x, &x]), next]
    });
    let prim = While { cond, body, cond_consts: 0, body_consts: 0 }.into();
    Example { prim, inputs: vec![int, x.clone(), x.clone(), x] }
}

/// A product so large that a batch of these loops is one loop: the first column of the product of two vectors.
fn product(dtype: DType) -> Example {
    const SIZE: usize = 32;
    let (int, x) = (ArrayType::new(DType::I32, Shape::scalar()), ArrayType::new(dtype, [SIZE]));
    let cond = example_graph([&int, &x], |b, [i, _]| vec![counting(b, &i, &int, &Atom::fill(&int, 2.0))]);
    let body = example_graph([&x, &int, &x], |b, [w, i, x]| {
        let i = bind(b, Add {}, &[&i, &Atom::fill(&int, 1.0)]);
        let dot = DotGeneral { a_contract: vec![], b_contract: vec![], a_batch: vec![], b_batch: vec![] };
        let all = bind(b, dot, &[&x, &w]);
        let (square, shape) = (b.ty(&all).shape, b.ty(&x).shape);
        let column = bind(b, Slice::along(&square, 1, 0, 1), &[&all]);
        let column = bind(b, Reshape { shape }, &[&column]);
        vec![i, bind(b, Mul {}, &[&column, &x])]
    });
    let prim = While { cond, body, cond_consts: 0, body_consts: 1 }.into();
    Example { prim, inputs: vec![x.clone(), int, x] }
}
