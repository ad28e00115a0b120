//! Transforms of transforms, on a graph in which everything meets: a product, a branch, a reduction, a nested
//! graph. Second derivatives are checked against differences of first ones.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};
use tracewell_graph::prim::{
    Add, Call, Compare, DotGeneral, Exp, Mul, ReduceMax, ReduceSum, Select, Sin, Sub, Tanh,
};
use tracewell_graph::{ArrayType, Atom, Graph, GraphBuilder, Prim, eval};
use tracewell_transform::{batch, jvp, linearize, transpose};

const H: f64 = 1e-5;

fn bind(b: &mut GraphBuilder, prim: impl Into<Prim>, inputs: &[&Atom]) -> Atom {
    let inputs: Vec<Atom> = inputs.iter().map(|&a| a.clone()).collect();
    b.bind1(prim, &inputs).expect("typed")
}

fn f64s(shape: impl Into<tracewell_array::Shape>) -> ArrayType {
    ArrayType::new(DType::F64, shape)
}

/// `(a, b) ↦ (exp(a)·b, sin(a), a)`
fn nested() -> Graph {
    let mut b = GraphBuilder::new();
    let (x, y) = (Atom::from(b.input(f64s([3]))), Atom::from(b.input(f64s([3]))));
    let e = bind(&mut b, Exp {}, &[&x]);
    let p = bind(&mut b, Mul {}, &[&e, &y]);
    let s = bind(&mut b, Sin {}, &[&x]);
    b.finish("nested", vec![p, s, x])
}

/// From `x: f64[3]` and `W: f64[3,3]` to a number.
fn loss() -> Graph {
    let mut b = GraphBuilder::new();
    let (x, w) = (Atom::from(b.input(f64s([3]))), Atom::from(b.input(f64s([3, 3]))));
    let dot = DotGeneral { a_contract: vec![1], b_contract: vec![0], a_batch: vec![], b_batch: vec![] };
    let wx = bind(&mut b, dot, &[&w, &x]);
    let h = bind(&mut b, Tanh {}, &[&wx]);
    let square = bind(&mut b, Mul {}, &[&x, &x]);
    let zero = Atom::fill(&f64s([3]), 0.0);
    let up = bind(&mut b, Compare { comparison: tracewell_kernel::Comparison::Gt }, &[&x, &zero]);
    let chosen = bind(&mut b, Select {}, &[&up, &h, &square]);
    let call = b.bind(Call { graph: Arc::new(nested()) }, &[chosen, h.clone()]).expect("typed");
    let product = bind(&mut b, Mul {}, &[&call[0], &call[1]]);
    let three = Atom::fill(&f64s([3]), 3.0);
    let tripled = bind(&mut b, Mul {}, &[&call[2], &three]);
    let difference = bind(&mut b, Sub {}, &[&product, &tripled]);
    let sum = bind(&mut b, ReduceSum { axes: vec![0] }, &[&difference]);
    let largest = bind(&mut b, ReduceMax { axes: vec![0] }, &[&product]);
    let out = bind(&mut b, Add {}, &[&sum, &largest]);
    b.finish("loss", vec![out])
}

/// From the inputs of a graph of one scalar result to its gradient, by the backward walk.
fn gradient(graph: &Graph) -> Graph {
    let active = vec![true; graph.inputs.len()];
    let split = linearize(graph, &active).expect("differentiable");
    let residuals = split.linear.inputs.len() - graph.inputs.len();
    let linear: Vec<bool> = (0..split.linear.inputs.len()).map(|i| i >= residuals).collect();
    let (adjoint, nonzero) = transpose(&split.linear, &linear, &[true]).expect("linear");
    assert_eq!(nonzero, active);
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = graph.input_types().into_iter().map(|ty| b.input(ty).into()).collect();
    let mut operands = b.inline(&split.primal, &inputs).split_off(1);
    operands.push(Atom::fill(&f64s([]), 1.0));
    let outputs = b.inline(&adjoint, &operands);
    b.finish("gradient", outputs)
}

fn point() -> Vec<Tensor> {
    let x = Tensor::from_vec(vec![0.7, -0.4, 0.2], [3]).expect("three");
    let w = Tensor::from_fn([3, 3], |i| (1.3 * i as f64 + 0.5).sin());
    vec![x, w]
}

fn direction(seed: f64) -> Vec<Tensor> {
    let of = |shape: &[usize], at: f64| Tensor::from_fn(shape, |i| (seed + at + 2.1 * i as f64).cos());
    vec![of(&[3], 0.0), of(&[3, 3], 10.0)]
}

fn along(x: &[Tensor], d: &[Tensor], h: f64) -> Vec<Tensor> {
    let step = |(x, d): (&Tensor, &Tensor)| {
        let (x, d) = (x.as_slice::<f64>().expect("f64"), d.as_slice::<f64>().expect("f64"));
        (0..x.len()).map(|i| x[i] + h * d[i]).collect::<Vec<f64>>()
    };
    let moved =
        |pair: (&Tensor, &Tensor)| Tensor::from_vec(step(pair), pair.0.shape().clone()).expect("as many");
    x.iter().zip(d).map(moved).collect()
}

fn numbers(tensors: &[Tensor]) -> Vec<f64> {
    tensors.iter().flat_map(|t| t.to_vec::<f64>().expect("f64")).collect()
}

fn dot(a: &[Tensor], b: &[Tensor]) -> f64 {
    numbers(a).iter().zip(numbers(b)).map(|(a, b)| a * b).sum()
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= tolerance * (1.0 + e.abs()), "found {found:?}, expected {expected:?}");
    }
}

/// The results of `graph` differentiated along `d`, by differences.
fn differences(graph: &Graph, x: &[Tensor], d: &[Tensor]) -> Vec<f64> {
    let at = |h| numbers(&eval(graph, &along(x, d, h)).expect("evaluates"));
    at(H).iter().zip(at(-H)).map(|(above, below)| (above - below) / (2.0 * H)).collect()
}

/// The tangents of the results of `graph`, which all have one, by the forward walk.
fn tangents(graph: &Graph, x: &[Tensor], d: &[Tensor]) -> Vec<Tensor> {
    let (derivative, has) = jvp(graph, &vec![true; x.len()]).expect("differentiable");
    assert!(has.iter().all(|&has| has));
    let inputs: Vec<Tensor> = x.iter().chain(d).cloned().collect();
    eval(&derivative, &inputs).expect("evaluates").split_off(has.len())
}

#[test]
fn forward() {
    let (f, x, d) = (loss(), point(), direction(0.0));
    close(&numbers(&tangents(&f, &x, &d)), &differences(&f, &x, &d), 1e-8);
}

#[test]
fn backward() {
    let (f, x, d) = (loss(), point(), direction(0.0));
    let gradient = eval(&gradient(&f), &x).expect("evaluates");
    close(&[dot(&gradient, &d)], &numbers(&tangents(&f, &x, &d)), 1e-13);
}

/// The second derivative along `d` then `e` is the derivative along `e` of the first along `d`, held constant.
#[test]
fn forward_over_forward() {
    let (f, x, d, e) = (loss(), point(), direction(0.0), direction(1.0));
    let (first, _) = jvp(&f, &[true, true]).expect("differentiable");
    let (second, has) = jvp(&first, &[true, true, false, false]).expect("differentiable");
    assert_eq!(has, [true, true]);
    let inputs: Vec<Tensor> = x.iter().chain(&d).chain(&e).cloned().collect();
    let found = numbers(&eval(&second, &inputs).expect("evaluates")[2..]);

    let still = [&d[0], &d[1]].map(|t| Tensor::zeros(DType::F64, t.shape().clone()));
    let (at, moving) = (x.iter().chain(&d).cloned().collect::<Vec<_>>(), e.iter().chain(&still).cloned());
    close(&found, &differences(&first, &at, &moving.collect::<Vec<_>>()), 1e-8);
}

#[test]
fn forward_over_backward() {
    let (g, x, d) = (gradient(&loss()), point(), direction(0.0));
    close(&numbers(&tangents(&g, &x, &d)), &differences(&g, &x, &d), 1e-8);
}

/// The Hessian is symmetric, and its two ways of being applied agree.
#[test]
fn backward_over_backward() {
    let (f, x, d, e) = (loss(), point(), direction(0.0), direction(1.0));
    let g = gradient(&f);
    // ⟨∇f(x), d⟩ with d an input, so that its gradient in x is the Hessian applied to d.
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = f.input_types().into_iter().map(|ty| b.input(ty).into()).collect();
    let directions: Vec<Atom> = d.iter().map(|t| b.constant(t)).collect();
    let slopes = b.inline(&g, &inputs);
    let mut terms = slopes.iter().zip(&directions).zip([vec![0], vec![0, 1]]).map(|((s, d), axes)| {
        let product = bind(&mut b, Mul {}, &[s, d]);
        bind(&mut b, ReduceSum { axes }, &[&product])
    });
    let (one, two) = (terms.next().expect("x"), terms.next().expect("W"));
    drop(terms);
    let total = bind(&mut b, Add {}, &[&one, &two]);
    let slope = b.finish("slope", vec![total]);

    let applied = eval(&gradient(&slope), &x).expect("evaluates");
    close(&numbers(&applied), &numbers(&tangents(&g, &x, &d)), 1e-12);
    close(&[dot(&applied, &e)], &[dot(&tangents(&g, &x, &e), &d)], 1e-12);
}

#[test]
fn batched_gradient() {
    let (g, x) = (gradient(&loss()), point());
    let (whole, has_axis) = batch(&g, 4, &[true, false]).expect("batches");
    assert_eq!(has_axis, [true, true]);
    let xs = Tensor::from_fn([4, 3], |i| (0.9 * i as f64).sin());
    let found = eval(&whole, &[xs.clone(), x[1].clone()]).expect("evaluates");
    for (row, at) in xs.rows().enumerate() {
        let expected = eval(&g, &[at, x[1].clone()]).expect("evaluates");
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found.rows().nth(row).expect("four rows").bits_eq(expected));
        }
    }
}
