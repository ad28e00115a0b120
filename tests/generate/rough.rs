//! Evaluation in which every step is rounded a little differently: what an honest other way to run a graph may give.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_graph::{ArrayType, Atom, Graph, Lowering, Prim};
use tracewell_kernel::{Combine, scalar};

use super::Rng;
use super::turns::{Runs, element, run, stacked};
use crate::matrices;

/// Evaluates with every computed float off by a unit or two in its last place, and with sums and products in another
/// order, rounded at each step, as the noise says.
pub fn eval_roughly(graph: &Graph, inputs: &[Tensor], noise: u64) -> Vec<Tensor> {
    roughly(graph, inputs, &mut Rng::new(noise))
}

fn roughly(graph: &Graph, inputs: &[Tensor], rng: &mut Rng) -> Vec<Tensor> {
    let mut values: Vec<Tensor> = inputs.to_vec();
    let value = |values: &[Tensor], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone(),
        Atom::Splat(splat) => Tensor::full(splat.literal, splat.shape.clone()),
    };
    for equation in &graph.equations {
        let operands: Vec<Tensor> = equation.inputs.iter().map(|atom| value(&values, atom)).collect();
        values.extend(apply(&equation.prim, &operands, rng));
    }
    graph.outputs.iter().map(|atom| value(&values, atom)).collect()
}

/// Loops and branches of which every turn is rounded.
struct Roughly<'r>(&'r mut Rng);

impl Runs for Roughly<'_> {
    type Value = Tensor;

    fn graph(&mut self, graph: &Graph, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
        Some(roughly(graph, inputs, self.0))
    }

    fn number(&self, value: &Tensor) -> i64 {
        value.literal(0).as_i64()
    }

    fn element(&self, value: &Tensor, axis: usize, i: usize) -> Tensor {
        element(value, axis, i)
    }

    fn stacked(&self, like: &Tensor, elements: &[Tensor], axis: usize) -> Tensor {
        stacked(like, &elements.iter().collect::<Vec<_>>(), axis)
    }
}

fn apply(prim: &Prim, operands: &[Tensor], rng: &mut Rng) -> Vec<Tensor> {
    let types = |tensors: &[Tensor]| tensors.iter().map(ArrayType::of).collect::<Vec<_>>();
    let results = prim.rules().eval(operands).expect("well-typed");
    let lowering = prim.rules().lower(&types(operands), &types(&results));
    if lowering.as_ref().ok().and_then(matrices::of_lowering).is_some() {
        let step = |dtype: DType| 4.0 * unit(dtype);
        let near = |x: &Tensor, rng: &mut Rng| {
            matrices::neighbour(x, x.dtype(), step(x.dtype()), || rng.signed_unit())
        };
        let neighbours: Vec<Tensor> = operands.iter().map(|x| near(x, rng)).collect();
        return prim.rules().eval(&neighbours).expect("as well-typed as before");
    }
    match lowering {
        Ok(Lowering::Graph(inner)) => roughly(&inner, operands, rng),
        Ok(Lowering::Control(control)) => {
            run(&mut Roughly(rng), &control, operands).expect("graphs always run")
        }
        Ok(Lowering::View(_) | Lowering::Pieces(_) | Lowering::Count { .. } | Lowering::Constant(_)) => {
            results
        }
        _ if !results.iter().all(|result| result.dtype().is_float()) => results,
        Ok(Lowering::Reduce { combine, axes }) => {
            vec![reduce(combine, &axes, &operands[0], &results[0], rng)]
        }
        Ok(Lowering::Library(_)) => {
            let sizes = prim.rules().eval(&operands.iter().map(magnitude).collect::<Vec<_>>());
            let sizes = sizes.expect("as well-typed as before");
            results.iter().zip(&sizes).map(|(result, size)| shake(result, size, 4.0, rng)).collect()
        }
        _ => results.iter().map(|result| shake(result, result, 2.0, rng)).collect(),
    }
}

/// The reduction in a random order, each step rounded to the type of the elements.
fn reduce(combine: Combine, axes: &[usize], x: &Tensor, result: &Tensor, rng: &mut Rng) -> Tensor {
    let identity = combine.identity(x.dtype()).expect("well-typed");
    let mut reduced = vec![identity; result.len()];
    let mut order: Vec<usize> = (0..x.len()).collect();
    rng.shuffle(&mut order);
    let strides = x.shape().strides();
    for from in order {
        let kept = (0..x.rank()).filter(|axis| !axes.contains(axis));
        let to = kept.fold(0, |to, axis| {
            let size = x.shape().size(axis);
            to * size + from / strides[axis] % size
        });
        reduced[to] = scalar::eval(combine.op(), &[reduced[to], x.literal(from)], &[]);
    }
    Tensor::from_literals(result.dtype(), result.shape(), &reduced).expect("as many as before")
}

/// The magnitude of each finite number, and zero for others.
fn magnitude(tensor: &Tensor) -> Tensor {
    let size = |x: Literal| if x.as_f64().is_finite() { x.as_f64().abs() } else { 0.0 };
    let literals: Vec<Literal> =
        tensor.literals().map(|x| Literal::from_f64(tensor.dtype(), size(x))).collect();
    Tensor::from_literals(tensor.dtype(), tensor.shape(), &literals).expect("as many as before")
}

/// Moves each float by up to so many units in the last place of a size. Where that is too large, so was a step on
/// the way.
fn shake(tensor: &Tensor, sizes: &Tensor, units: f64, rng: &mut Rng) -> Tensor {
    let unit = unit(tensor.dtype());
    let moved = |(x, size): (Literal, Literal)| {
        let step = units * unit * rng.signed_unit();
        let moved = x.as_f64() + step * size.as_f64();
        if x.as_f64().is_finite() { Literal::from_f64(x.dtype(), moved) } else { x }
    };
    let literals: Vec<Literal> = tensor.literals().zip(sizes.literals()).map(moved).collect();
    Tensor::from_literals(tensor.dtype(), tensor.shape(), &literals).expect("as many as before")
}

/// The distance from 1 to the next float.
fn unit(dtype: DType) -> f64 {
    if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON }
}
