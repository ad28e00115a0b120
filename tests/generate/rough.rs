//! Evaluation in which every step is rounded a little differently: what an honest other way to run a graph may give.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_graph::{ArrayType, Atom, Graph, Lowering, Prim};
use tracewell_kernel::{Combine, scalar};

use super::Rng;
use super::rounding::{coarsen, is_exact, is_sum, shake, sizes};
use super::turns::{Runs, element, run, stacked};
use crate::matrices::{self, unit};

/// Evaluates with every computed float off by a unit or two in its last place, and with sums and products in another
/// order, rounded at each step, as the noise says.
pub fn eval_roughly(graph: &Graph, inputs: &[Tensor], noise: u64) -> Vec<Tensor> {
    roughly(graph, inputs, &mut Rng::new(noise), Way::Shaken)
}

/// The same with other bits in every NaN too: which ones it has is not said, and a graph may ask for them.
pub fn eval_with_other_nans(graph: &Graph, inputs: &[Tensor], noise: u64) -> Vec<Tensor> {
    roughly(graph, inputs, &mut Rng::new(noise), Way::OtherNans)
}

/// Evaluates with a digit or two less in every computed float: what is nearly the same becomes the same, which shaking
/// never does. The noise says where numbers are cut.
pub fn eval_coarsely(graph: &Graph, inputs: &[Tensor], noise: u64) -> Vec<Tensor> {
    let mut rng = Rng::new(noise);
    let cut = rng.signed_unit().abs();
    roughly(graph, inputs, &mut rng, Way::Coarse(cut))
}

/// How results are changed.
#[derive(Clone, Copy)]
enum Way {
    /// Moved by a little.
    Shaken,
    /// That, and other bits in every NaN.
    OtherNans,
    /// Rounded to fewer digits, from this part of a step on upwards.
    Coarse(f64),
}

/// So many units in the last place are one where numbers have fewer digits.
const COARSE: f64 = 4.0;

fn roughly(graph: &Graph, inputs: &[Tensor], rng: &mut Rng, way: Way) -> Vec<Tensor> {
    let mut values: Vec<Tensor> = inputs.to_vec();
    let value = |values: &[Tensor], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone(),
        Atom::Splat(splat) => Tensor::full(splat.literal, splat.shape.clone()),
    };
    for equation in &graph.equations {
        let operands: Vec<Tensor> = equation.inputs.iter().map(|atom| value(&values, atom)).collect();
        let results = apply(&equation.prim, &operands, rng, way);
        let noisy = |result| match way {
            Way::OtherNans => with_other_nans(result, rng),
            Way::Shaken | Way::Coarse(_) => result,
        };
        values.extend(results.into_iter().map(noisy));
    }
    graph.outputs.iter().map(|atom| value(&values, atom)).collect()
}

/// The tensor with other bits in each NaN.
fn with_other_nans(tensor: Tensor, rng: &mut Rng) -> Tensor {
    let dtype = tensor.dtype();
    if !dtype.is_float() || !tensor.literals().any(|x| x.as_f64().is_nan()) {
        return tensor;
    }
    let mut other = |x: Literal| {
        if !x.as_f64().is_nan() {
            return x;
        }
        // Quiet ones: a sign, and all digits but the first.
        match dtype {
            DType::F32 => Literal::new(f32::from_bits(f32::NAN.to_bits() | rng.bits() as u32 & 0x803f_ffff)),
            _ => Literal::new(f64::from_bits(f64::NAN.to_bits() | rng.bits() & 0x8007_ffff_ffff_ffff)),
        }
    };
    let literals: Vec<Literal> = tensor.literals().map(&mut other).collect();
    Tensor::from_literals(dtype, tensor.shape(), &literals).expect("as many as before")
}

/// Loops and branches of which every turn is rounded.
struct Roughly<'r>(&'r mut Rng, Way);

impl Runs for Roughly<'_> {
    type Value = Tensor;

    fn graph(&mut self, graph: &Graph, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
        Some(roughly(graph, inputs, self.0, self.1))
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

fn apply(prim: &Prim, operands: &[Tensor], rng: &mut Rng, way: Way) -> Vec<Tensor> {
    let types = |tensors: &[Tensor]| tensors.iter().map(ArrayType::of).collect::<Vec<_>>();
    let results = prim.rules().eval(operands).expect("well-typed");
    let lowering =
        prim.rules().lower(&types(operands), &types(&results)).expect("every primitive has a lowering");
    if let Way::Coarse(cut) = way
        && !matches!(lowering, Lowering::Graph(_) | Lowering::Control(_))
    {
        let units = if is_exact(&lowering) { 0.0 } else { COARSE };
        return results.iter().map(|result| coarsen(result, units, cut)).collect();
    }
    if matrices::of_lowering(&lowering).is_some() {
        let neighbours: Vec<Tensor> = operands
            .iter()
            .map(|x| matrices::neighbour(x, x.dtype(), 4.0 * unit(x.dtype()), || rng.signed_unit()))
            .collect();
        return prim.rules().eval(&neighbours).expect("as well-typed as before");
    }
    match lowering {
        Lowering::Graph(inner) => roughly(&inner, operands, rng, way),
        Lowering::Control(control) => {
            run(&mut Roughly(rng, way), &control, operands).expect("graphs always run")
        }
        lowering if is_exact(&lowering) => results,
        Lowering::Reduce { combine, axes } if results[0].dtype().is_float() => {
            vec![reduce(combine, &axes, &operands[0], &results[0], rng)]
        }
        lowering => {
            let units = if is_sum(&lowering) { 4.0 } else { 2.0 };
            let sizes = sizes(prim, &lowering, operands, &results);
            results.iter().zip(&sizes).map(|(result, size)| shake(result, size, units, rng)).collect()
        }
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
