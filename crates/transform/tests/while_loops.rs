//! Derivatives of loops whose number of trips is known only when they have run, against the same trips written out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_graph::prim::{Add, Broadcast, Compare, Mul, Nextafter, ReduceSum, Sin, While};
use tracewell_graph::{
    ArrayType, Atom, Batched, Cx, Example, Graph, GraphBuilder, Jvp, Lowering, Operand, ParamValue, Params,
    Prim, Primitive, RuleError, TypeError, eval, verify,
};
use tracewell_kernel::Comparison;
use tracewell_transform::{batch, jvp, linearize, transpose};

fn f64s(shape: impl Into<Shape>) -> ArrayType {
    ArrayType::new(DType::F64, shape)
}

fn int() -> ArrayType {
    ArrayType::new(DType::I32, Shape::scalar())
}

fn bind(b: &mut GraphBuilder, prim: impl Into<Prim>, inputs: &[&Atom]) -> Atom {
    let inputs: Vec<Atom> = inputs.iter().map(|&a| a.clone()).collect();
    b.bind1(prim, &inputs).expect("typed")
}

fn inputs<const N: usize>(b: &mut GraphBuilder, types: [ArrayType; N]) -> [Atom; N] {
    types.map(|ty| Atom::Var(b.input(ty)))
}

/// `(w, i, x, y) ↦ (i + 1, sin(x)·w + y, y·0.7 + 0.1·Σx)`
fn body() -> Graph {
    let mut b = GraphBuilder::new();
    let [w, i, x, y] = inputs(&mut b, [f64s([2]), int(), f64s([2]), f64s([])]);
    let i = bind(&mut b, Add {}, &[&i, &Atom::fill(&int(), 1.0)]);
    let ticked = bind(&mut b, Prim::custom(Tick {}), &[&x]);
    let sine = bind(&mut b, Sin {}, &[&ticked]);
    let product = bind(&mut b, Mul {}, &[&sine, &w]);
    let wide = bind(&mut b, Broadcast { shape: Shape::new([2]), axes: vec![] }, &[&y]);
    let next = bind(&mut b, Add {}, &[&product, &wide]);
    let sum = bind(&mut b, ReduceSum { axes: vec![0] }, &[&x]);
    let (most, little) = (Atom::fill(&f64s([]), 0.7), Atom::fill(&f64s([]), 0.1));
    let (y, sum) = (bind(&mut b, Mul {}, &[&y, &most]), bind(&mut b, Mul {}, &[&sum, &little]));
    let y = bind(&mut b, Add {}, &[&y, &sum]);
    b.finish("body", vec![i, next, y])
}

/// `i < limit`
fn cond() -> Graph {
    let mut b = GraphBuilder::new();
    let [limit, i, _, _] = inputs(&mut b, [int(), int(), f64s([2]), f64s([])]);
    let less = bind(&mut b, Compare { comparison: Comparison::Lt }, &[&i, &limit]);
    b.finish("cond", vec![less])
}

fn looped() -> While {
    While { cond: Arc::new(cond()), body: Arc::new(body()), cond_consts: 1, body_consts: 1 }
}

/// `(limit, w, x, y) ↦ Σx² + y` after the loop.
fn loss(of: impl FnOnce(&mut GraphBuilder, [Atom; 4]) -> [Atom; 2]) -> Graph {
    let mut b = GraphBuilder::new();
    let inputs = inputs(&mut b, [int(), f64s([2]), f64s([2]), f64s([])]);
    let [x, y] = of(&mut b, inputs);
    let square = bind(&mut b, Mul {}, &[&x, &x]);
    let sum = bind(&mut b, ReduceSum { axes: vec![0] }, &[&square]);
    let out = bind(&mut b, Add {}, &[&sum, &y]);
    b.finish("loss", vec![out])
}

fn loss_of_loop(prim: Prim) -> Graph {
    loss(|b, [limit, w, x, y]| {
        let results = b.bind(prim, &[limit, w, Atom::fill(&int(), 0.0), x, y]).expect("typed");
        [results[1].clone(), results[2].clone()]
    })
}

/// With few snapshots, and with as many as the rule chooses.
fn loops() -> [Graph; 2] {
    [loss_of_loop(Prim::custom(Few(looped(), 4))), loss_of_loop(looped().into())]
}

fn written_out(trips: usize) -> Graph {
    let body = body();
    loss(|b, [_, w, x, y]| {
        let mut carries = vec![Atom::fill(&int(), 0.0), x, y];
        for _ in 0..trips {
            carries.insert(0, w.clone());
            carries = b.inline(&body, &carries);
        }
        [carries[1].clone(), carries[2].clone()]
    })
}

/// From the inputs of a graph, and cotangents of its results, to the cotangents of all inputs that are floats.
fn gradient(graph: &Graph) -> Graph {
    let active: Vec<bool> = graph.input_types().iter().map(|ty| ty.dtype.is_float()).collect();
    let split = linearize(graph, &active).expect("differentiable");
    let residuals = split.primal.outputs.len() - graph.outputs.len();
    let linear: Vec<bool> = (0..split.linear.inputs.len()).map(|i| i >= residuals).collect();
    let given = vec![true; split.linear.outputs.len()];
    let (adjoint, nonzero) = transpose(&split.linear, &linear, &given).expect("linear");
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = graph.input_types().into_iter().map(|ty| b.input(ty).into()).collect();
    let mut operands = b.inline(&split.primal, &inputs).split_off(graph.outputs.len());
    for (ty, varies) in graph.output_types().into_iter().zip(&split.tangents) {
        let cotangent = Atom::from(b.input(ty));
        operands.extend(varies.then_some(cotangent));
    }
    let mut found = b.inline(&adjoint, &operands).into_iter();
    let varying = graph.input_types().into_iter().zip(&active).filter(|(_, active)| **active);
    let outputs = varying.zip(nonzero).map(|((ty, _), nonzero)| match found.next_if(nonzero) {
        Some(atom) => atom,
        None => Atom::fill(&ty, 0.0),
    });
    let outputs = outputs.collect();
    let gradient = b.finish("gradient", outputs);
    verify(&gradient).unwrap_or_else(|errors| panic!("{errors}"));
    gradient
}

trait NextIf: Iterator {
    fn next_if(&mut self, holds: bool) -> Option<Self::Item> {
        if holds { self.next() } else { None }
    }
}

impl<I: Iterator> NextIf for I {}

fn point(limit: usize) -> Vec<Tensor> {
    let limit = Tensor::full(Literal::from_i64(DType::I32, limit as i64), Shape::scalar());
    let of = |values: &[f64], shape: Shape| Tensor::from_vec(values.to_vec(), shape).expect("as many");
    vec![
        limit,
        of(&[0.6, -0.7], Shape::new([2])),
        of(&[0.3, 0.9], Shape::new([2])),
        of(&[-0.2], Shape::scalar()),
    ]
}

fn one() -> Tensor {
    Tensor::full(Literal::from_f64(DType::F64, 1.0), Shape::scalar())
}

#[track_caller]
fn near(found: &[Tensor], expected: &[Tensor], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.shape(), expected.shape());
        for (x, y) in found.literals().zip(expected.literals()) {
            let (x, y) = (x.as_f64(), y.as_f64());
            assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "found {x}, expected {y}");
        }
    }
}

const TRIPS: [usize; 9] = [0, 1, 3, 4, 5, 8, 9, 31, 100];

#[test]
fn gradients_are_those_of_the_trips_written_out() {
    let loops = loops().map(|graph| gradient(&graph));
    for trips in TRIPS.into_iter().chain([300]) {
        let inputs = [point(trips), vec![one()]].concat();
        let expected = eval(&gradient(&written_out(trips)), &inputs).unwrap();
        for gradient in &loops {
            near(&eval(gradient, &inputs).unwrap(), &expected, 1e-12);
        }
    }
}

#[test]
fn gradients_are_limits_of_differences() {
    const H: f64 = 1e-6;
    let graph = &loops()[0];
    let gradient = gradient(graph);
    for trips in TRIPS {
        let x = point(trips);
        let found = eval(&gradient, &[x.clone(), vec![one()]].concat()).unwrap();
        let value = |k: usize, element: usize, h: f64| {
            let mut x = x.clone();
            let moved = x[k]
                .literals()
                .enumerate()
                .map(|(i, v)| if i == element { v.as_f64() + h } else { v.as_f64() });
            x[k] = Tensor::from_vec(moved.collect::<Vec<f64>>(), x[k].shape()).expect("as many");
            eval(graph, &x).unwrap()[0].literal(0).as_f64()
        };
        for k in 1..x.len() {
            for element in 0..x[k].len() {
                let difference = (value(k, element, H) - value(k, element, -H)) / (2.0 * H);
                let found = found[k - 1].literal(element).as_f64();
                assert!(
                    (found - difference).abs() < 1e-7 * (1.0 + found.abs()),
                    "{trips}: {found}, {difference}"
                );
            }
        }
    }
}

#[test]
fn second_derivatives_are_those_of_the_trips_written_out() {
    let along = [
        Tensor::from_vec(vec![0.7, 0.2], Shape::new([2])).unwrap(),
        Tensor::from_vec(vec![-0.5, 1.3], Shape::new([2])).unwrap(),
        Tensor::from_vec(vec![0.4], Shape::scalar()).unwrap(),
    ];
    // By the cotangent the gradient is linear: that input is a number here.
    let first = |graph: &Graph| {
        let gradient = gradient(graph);
        let mut b = GraphBuilder::new();
        let operands = graph.input_types().into_iter().map(|ty| b.input(ty).into());
        let operands: Vec<Atom> = operands.chain([Atom::fill(&f64s([]), 1.0)]).collect();
        let outputs = b.inline(&gradient, &operands);
        b.finish("first", outputs)
    };
    let forward = |first: &Graph, inputs: &[Tensor]| {
        let (twice, varies) = jvp(first, &[false, true, true, true]).expect("differentiable");
        verify(&twice).unwrap_or_else(|errors| panic!("{errors}"));
        let mut found = eval(&twice, inputs).unwrap().split_off(3).into_iter();
        let zero = |ty: ArrayType| Tensor::full(Literal::zero(DType::F64), ty.shape);
        let types = first.output_types().into_iter().zip(varies);
        types.map(|(ty, varies)| found.next_if(varies).unwrap_or_else(|| zero(ty))).collect::<Vec<_>>()
    };
    let loops = loops().map(|graph| first(&graph));
    for trips in [0, 1, 4, 5, 9, 31] {
        let inputs = [point(trips), along.to_vec()].concat();
        let expected = first(&written_out(trips));
        let expected = [forward(&expected, &inputs), eval(&gradient(&expected), &inputs).unwrap()];
        for graph in &loops {
            near(&forward(graph, &inputs), &expected[0], 1e-11);
            near(&eval(&gradient(graph), &inputs).unwrap(), &expected[1], 1e-11);
        }
    }
}

/// Three elements of a batch, each with its own number of trips.
const LIMITS: [i64; 3] = [5, 0, 12];

fn batched_point() -> Vec<Tensor> {
    let one = point(0);
    let limits: Vec<Literal> = LIMITS.iter().map(|&n| Literal::from_i64(DType::I32, n)).collect();
    let scaled = |t: &Tensor| {
        let all = (0..3).flat_map(|k| t.literals().map(move |x| x.as_f64() * (1.0 + 0.1 * k as f64)));
        Tensor::from_vec(all.collect::<Vec<f64>>(), t.shape().insert(0, 3)).expect("as many")
    };
    let mut all = vec![Tensor::from_literals(DType::I32, Shape::new([3]), &limits).expect("as many")];
    all.extend(one[1..].iter().map(scaled));
    all
}

#[test]
fn batches_of_gradients_and_gradients_of_batches() {
    for graph in loops() {
        let alone = gradient(&graph);
        let x = batched_point();
        let ones = Tensor::from_vec(vec![1.0; 3], Shape::new([3])).unwrap();
        let inputs = [x.clone(), vec![ones]].concat();
        let (of_gradient, has_axis) = batch(&alone, 3, &[true; 5]).expect("batches");
        verify(&of_gradient).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(has_axis, [true; 3]);
        let outside = eval(&of_gradient, &inputs).unwrap();
        let (of_graph, _) = batch(&graph, 3, &[true; 4]).expect("batches");
        let inside = eval(&gradient(&of_graph), &inputs).unwrap();
        for row in 0..3 {
            let rows: Vec<Tensor> = inputs.iter().map(|t| t.rows().nth(row).unwrap()).collect();
            let expected = eval(&alone, &rows).unwrap();
            for found in [&outside, &inside] {
                let found: Vec<Tensor> = found.iter().map(|t| t.rows().nth(row).unwrap()).collect();
                near(&found, &expected, 1e-12);
            }
        }
    }
}

/// Weights that the whole batch shares have the sum of gradients, whether the trips are shared too or not.
#[test]
fn what_a_batch_shares_has_the_sum_of_gradients() {
    for graph in loops() {
        for shared_limit in [true, false] {
            let alone = gradient(&graph);
            let mut x = batched_point();
            x[1] = point(0)[1].clone();
            if shared_limit {
                x[0] = point(7)[0].clone();
            }
            let (of_graph, _) = batch(&graph, 3, &[!shared_limit, false, true, true]).expect("batches");
            let ones = Tensor::from_vec(vec![1.0; 3], Shape::new([3])).unwrap();
            let found = eval(&gradient(&of_graph), &[x.clone(), vec![ones]].concat()).unwrap();
            let mut sum = [0.0; 2];
            for row in 0..3 {
                let mut rows: Vec<Tensor> =
                    x.iter().map(|t| t.rows().nth(row).unwrap_or_else(|| t.clone())).collect();
                rows[1] = x[1].clone();
                if shared_limit {
                    rows[0] = x[0].clone();
                }
                let expected = eval(&alone, &[rows, vec![one()]].concat()).unwrap();
                sum.iter_mut().zip(expected[0].literals()).for_each(|(sum, x)| *sum += x.as_f64());
            }
            near(&found[..1], &[Tensor::from_vec(sum.to_vec(), Shape::new([2])).unwrap()], 1e-12);
        }
    }
}

/// `Σ` over an outer loop of what an inner one gives, whose trips grow.
#[test]
fn loops_in_loops() {
    let outer = |inner: &dyn Fn(&mut GraphBuilder, [Atom; 3]) -> Atom| {
        let mut b = GraphBuilder::new();
        let [w, i, x] = inputs(&mut b, [f64s([]), int(), f64s([])]);
        let next = bind(&mut b, Add {}, &[&i, &Atom::fill(&int(), 1.0)]);
        let x = inner(&mut b, [w, i, x]);
        let x = bind(&mut b, Sin {}, &[&x]);
        b.finish("outer", vec![next, x])
    };
    let trip = |b: &mut GraphBuilder, w: &Atom, x: &Atom| {
        let product = bind(b, Mul {}, &[x, w]);
        bind(b, Add {}, &[&product, w])
    };
    let below = || {
        let mut b = GraphBuilder::new();
        let [limit, i, _] = inputs(&mut b, [int(), int(), f64s([])]);
        let less = bind(&mut b, Compare { comparison: Comparison::Lt }, &[&i, &limit]);
        Arc::new(b.finish("below", vec![less]))
    };
    let inner_body = {
        let mut b = GraphBuilder::new();
        let [w, j, x] = inputs(&mut b, [f64s([]), int(), f64s([])]);
        let next = bind(&mut b, Add {}, &[&j, &Atom::fill(&int(), 1.0)]);
        let x = trip(&mut b, &w, &x);
        Arc::new(b.finish("inner", vec![next, x]))
    };
    let inner = While { cond: below(), body: inner_body, cond_consts: 1, body_consts: 1 };
    let body = outer(&|b, [w, i, x]| {
        b.bind(Prim::custom(Few(inner.clone(), 4)), &[i, w, Atom::fill(&int(), 0.0), x]).expect("typed")[1]
            .clone()
    });
    let whole = While { cond: below(), body: Arc::new(body), cond_consts: 1, body_consts: 1 };
    let graph = {
        let mut b = GraphBuilder::new();
        let [limit, w, x] = inputs(&mut b, [int(), f64s([]), f64s([])]);
        let results =
            b.bind(Prim::custom(Few(whole, 4)), &[limit, w, Atom::fill(&int(), 0.0), x]).expect("typed");
        b.finish("whole", vec![results[1].clone()])
    };
    let expected = |trips: usize| {
        let mut b = GraphBuilder::new();
        let [_, w, mut x] = inputs(&mut b, [int(), f64s([]), f64s([])]);
        for i in 0..trips {
            for _ in 0..i {
                x = trip(&mut b, &w, &x);
            }
            x = bind(&mut b, Sin {}, &[&x]);
        }
        b.finish("expected", vec![x])
    };
    let found = gradient(&graph);
    for trips in [0, 1, 2, 7, 11] {
        let limit = Tensor::full(Literal::from_i64(DType::I32, trips as i64), Shape::scalar());
        let number = |x: f64| Tensor::full(Literal::from_f64(DType::F64, x), Shape::scalar());
        let inputs = [limit, number(0.8), number(0.4), number(1.0)];
        let expected = eval(&gradient(&expected(trips)), &inputs).unwrap();
        near(&eval(&found, &inputs).unwrap(), &expected, 1e-12);
    }
}

/// What `while_reverse.rs` says of time: how often the body is computed again.
#[test]
fn few_trips_are_computed_again() {
    let graph = loss_of_loop(Prim::custom(Few(looped(), 8)));
    let gradient = gradient(&graph);
    let mut again = Vec::new();
    for trips in [0, 8, 16, 32, 256] {
        TICKS.with(|ticks| ticks.store(0, Ordering::Relaxed));
        eval(&gradient, &[point(trips), vec![one()]].concat()).unwrap();
        // Once forwards, and once where the body is linearized.
        again.push(TICKS.with(|ticks| ticks.load(Ordering::Relaxed)) - 2 * trips);
    }
    assert_eq!(again[..2], [0, 0]);
    assert!(again[2] <= 16 && again[3] <= 2 * 32 && again[4] <= 5 * 256, "{again:?}");
}

/// A loop that is linear in what it carries has an adjoint itself: `x = c·x + u`, `c = 0.9·c`, `z` the sum of all `x`.
#[test]
fn linear_loops_have_adjoints() {
    let types = || [f64s([]), int(), f64s([]), f64s([]), f64s([])];
    let mut b = GraphBuilder::new();
    let [u, i, c, x, z] = inputs(&mut b, types());
    let i = bind(&mut b, Add {}, &[&i, &Atom::fill(&int(), 1.0)]);
    let product = bind(&mut b, Mul {}, &[&x, &c]);
    let next = bind(&mut b, Add {}, &[&product, &u]);
    let c = bind(&mut b, Mul {}, &[&c, &Atom::fill(&f64s([]), 0.9)]);
    let z = bind(&mut b, Add {}, &[&z, &x]);
    let body = Arc::new(b.finish("body", vec![i, c, next, z]));
    let mut b = GraphBuilder::new();
    let [limit, i, _, _, _] = inputs(&mut b, [int(), int(), f64s([]), f64s([]), f64s([])]);
    let less = bind(&mut b, Compare { comparison: Comparison::Lt }, &[&i, &limit]);
    let cond = Arc::new(b.finish("cond", vec![less]));
    let looped = While { cond, body, cond_consts: 1, body_consts: 1 };
    let mut b = GraphBuilder::new();
    let [limit, c, u, x] = inputs(&mut b, [int(), f64s([]), f64s([]), f64s([])]);
    let zero = Atom::fill(&f64s([]), 0.0);
    let results = b.bind(looped, &[limit, u, Atom::fill(&int(), 0.0), c, x, zero]).expect("typed");
    let graph = b.finish("linear", vec![results[2].clone(), results[3].clone()]);
    let (adjoint, nonzero) = transpose(&graph, &[false, false, true, true], &[true; 2]).expect("linear");
    verify(&adjoint).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(nonzero, [true; 2]);
    let number = |x: f64| Tensor::full(Literal::from_f64(DType::F64, x), Shape::scalar());
    for trips in [0, 1, 6, 200] {
        let limit = Tensor::full(Literal::from_i64(DType::I32, trips), Shape::scalar());
        let known = [limit, number(1.1)];
        let ([u, x], [v, w]) = ([0.3, -0.8], [0.7, 0.2]);
        let image = eval(&graph, &[&known[..], &[number(u), number(x)]].concat()).unwrap();
        let pulled = eval(&adjoint, &[&known[..], &[number(v), number(w)]].concat()).unwrap();
        let value = |t: &Tensor| t.literal(0).as_f64();
        let (left, right) =
            (v * value(&image[0]) + w * value(&image[1]), u * value(&pulled[0]) + x * value(&pulled[1]));
        assert!((left - right).abs() < 1e-12 * (1.0 + left.abs()), "{trips}: {left}, {right}");
    }
    // In a factor and its other factor together it is not linear.
    assert!(transpose(&graph, &[false, true, true, true], &[true; 2]).is_err());
}

#[test]
fn what_the_body_refuses_is_refused() {
    let mut b = GraphBuilder::new();
    let [i, x] = inputs(&mut b, [int(), f64s([])]);
    let next = bind(&mut b, Nextafter {}, &[&x, &Atom::fill(&f64s([]), 1.0)]);
    let body = Arc::new(b.finish("body", vec![i, next]));
    let mut b = GraphBuilder::new();
    let [i, _] = inputs(&mut b, [int(), f64s([])]);
    let less = bind(&mut b, Compare { comparison: Comparison::Lt }, &[&i, &Atom::fill(&int(), 0.0)]);
    let cond = Arc::new(b.finish("cond", vec![less]));
    let mut b = GraphBuilder::new();
    let operands = inputs(&mut b, [int(), f64s([])]);
    let results = b.bind(While { cond, body, cond_consts: 0, body_consts: 0 }, &operands).expect("typed");
    let graph = b.finish("f", results.into_vec());
    for error in [jvp(&graph, &[false, true]).err(), linearize(&graph, &[false, true]).err()] {
        assert!(
            matches!(error, Some(RuleError::NotDifferentiable { primitive, .. }) if primitive == "nextafter")
        );
    }
}

/// A loop that keeps so many snapshots.
#[derive(Clone, Debug)]
struct Few(While, usize);

impl Params for Few {
    fn each_param(&self, f: &mut dyn FnMut(&'static str, ParamValue)) {
        self.0.each_param(f);
        f("snapshots", ParamValue::Int(self.1 as i64));
    }
}

impl Primitive for Few {
    fn name(&self) -> &str {
        "tests::few"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        self.0.type_rule(inputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        self.0.eval(inputs)
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        self.0.jvp_with_snapshots(cx, primals, tangents, self.1)
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        self.0.transpose(cx, operands, cotangents)
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        self.0.batch(cx, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        self.0.lower(inputs, outputs)
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}

thread_local! {
    static TICKS: AtomicUsize = const { AtomicUsize::new(0) };
}

/// The operand itself; counts how often it is evaluated.
#[derive(Clone, Debug)]
struct Tick {}

impl Params for Tick {
    fn each_param(&self, _: &mut dyn FnMut(&'static str, ParamValue)) {}
}

impl Primitive for Tick {
    fn name(&self) -> &str {
        "tests::tick"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        Ok(inputs.to_vec())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        TICKS.with(|ticks| ticks.fetch_add(1, Ordering::Relaxed));
        Ok(inputs.to_vec())
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(Prim::custom(self.clone()), &[&primals[0]])?;
        Ok(Jvp::one(y, tangents[0].clone()))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Ok(cotangents.to_vec())
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        Ok(vec![Batched::yes(cx.bind(Prim::custom(self.clone()), &[&operands[0].atom])?)])
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::map(|_, x| x[0]))
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}
