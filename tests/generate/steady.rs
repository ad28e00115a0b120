//! Keeping random graphs well-conditioned, without knowing what any primitive computes.
//!
//! Beside every value of a growing graph stand its *shadows*: the same, with every result that may be rounded
//! moved by a few units in its last place. An equation is kept only if value and shadows stay close. So graphs
//! may be full of comparisons, roundings and quotients, and still two correct ways to run them agree.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_graph::{ArrayType, Atom, Graph, Lowering, Prim};
use tracewell_kernel::Linalg;

use super::agree::{difference, tolerance};
use super::rng::Rng;
use super::rounding::{is_exact, is_sum, shake, sizes};
use super::turns::{Runs, element, run, stacked};
use crate::matrices;

/// How much closer shadows must be than results have to be: they are few samples of many possible roundings.
const MARGIN: f64 = 16.0;

/// How far rounding is taken to go, in units of the last place.
const FEW_UNITS: f64 = 4.0;

/// With so many shadows, two numbers that are equal by chance hardly stay in order in all of them.
const SHADOWS: usize = 8;

/// An array, its shadows, and how coarse the numbers are that it was computed from.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) tensor: Tensor,
    pub(super) shadows: Vec<Tensor>,
    pub(super) tolerance: f64,
}

impl Known {
    /// An array that no rounding has touched.
    pub(super) fn exact(tensor: Tensor) -> Known {
        Known { shadows: vec![tensor.clone(); SHADOWS], tolerance: tolerance(tensor.dtype()), tensor }
    }

    /// Element `i` along an axis.
    pub(super) fn element(&self, axis: usize, i: usize) -> Known {
        Known {
            tensor: element(&self.tensor, axis, i),
            shadows: self.shadows.iter().map(|shadow| element(shadow, axis, i)).collect(),
            tolerance: self.tolerance,
        }
    }
}

/// Values and shadows in loops and branches: each turn is rounded.
struct Steadily<'r> {
    rng: &'r mut Rng,
    extreme: bool,
}

impl Runs for Steadily<'_> {
    type Value = Known;

    fn graph(&mut self, graph: &Graph, inputs: &[Known]) -> Option<Vec<Known>> {
        apply_graph(self.rng, graph, &inputs.iter().collect::<Vec<_>>(), self.extreme)
    }

    /// That of all shadows too: they agree exactly about what is not a float.
    fn number(&self, value: &Known) -> i64 {
        value.tensor.literal(0).as_i64()
    }

    fn element(&self, value: &Known, axis: usize, i: usize) -> Known {
        value.element(axis, i)
    }

    fn stacked(&self, like: &Tensor, elements: &[Known], axis: usize) -> Known {
        let stack = |pick: &dyn Fn(&Known) -> &Tensor| {
            let elements: Vec<&Tensor> = elements.iter().map(pick).collect();
            stacked(like, &elements, axis)
        };
        Known {
            tensor: stack(&|known| &known.tensor),
            shadows: (0..SHADOWS).map(|i| stack(&|known| &known.shadows[i])).collect(),
            tolerance: elements.iter().map(|known| known.tolerance).fold(tolerance(like.dtype()), f64::max),
        }
    }
}

/// Applies a primitive to values and to shadows; `None` if the results are not fit for a random graph.
pub(super) fn apply(
    rng: &mut Rng,
    prim: &Prim,
    operands: &[&Known],
    types: &[ArrayType],
    results: &[ArrayType],
    extreme: bool,
) -> Option<Vec<Known>> {
    let lowering = prim.rules().lower(types, results);
    if let Ok(Lowering::Control(control)) = &lowering {
        let operands: Vec<Known> = operands.iter().map(|&known| known.clone()).collect();
        return run(&mut Steadily { rng, extreme }, control, &operands);
    }
    let eval = |pick: &mut dyn FnMut(&Known) -> Tensor| {
        let operands: Vec<Tensor> = operands.iter().map(|&known| pick(known)).collect();
        prim.rules().eval(&operands).ok()
    };
    let tensors = eval(&mut |known| known.tensor.clone())?;
    let linalg = lowering.as_ref().ok().and_then(matrices::of_lowering);
    if linalg.is_some_and(|linalg| !fit_for(linalg, operands)) {
        return None;
    }
    if !tensors.iter().all(|tensor| tame(tensor, extreme)) {
        return None;
    }
    let lowering = lowering.ok()?;
    // What happens inside is rounded too.
    if let Lowering::Graph(inner) = &lowering {
        return apply_graph(rng, inner, operands, extreme);
    }
    let originals: Vec<Tensor> = operands.iter().map(|known| known.tensor.clone()).collect();
    let sizes = sizes(prim, &lowering, &originals, &tensors);
    let coarsest = operands.iter().map(|known| known.tolerance).fold(0.0, f64::max);
    let exact = |tensor: Tensor| {
        let tolerance = coarsest.max(tolerance(tensor.dtype()));
        Known { tensor, shadows: Vec::new(), tolerance }
    };
    let mut all: Vec<Known> = tensors.into_iter().map(exact).collect();
    for i in 0..SHADOWS {
        let neighbours = eval(&mut |known| match linalg {
            Some(linalg) => neighbour(rng, linalg, &known.shadows[i]),
            None => known.shadows[i].clone(),
        });
        for ((known, size), shadow) in all.iter_mut().zip(&sizes).zip(neighbours?) {
            let shadow = match &lowering {
                exact if is_exact(exact) => shadow,
                sum if is_sum(sum) => shake(&shadow, size, FEW_UNITS, rng),
                _ => nudge(rng, &shadow),
            };
            if difference(&shadow, &known.tensor, known.tolerance / MARGIN).is_some() {
                return None;
            }
            known.shadows.push(shadow);
        }
    }
    Some(all)
}

/// Whether every way to factor these matrices gives the same up to roundings: NaN of what is not finite, and else
/// numbers. What is not finite spreads through a triangle in the order of its steps.
fn fit_for(linalg: Linalg, operands: &[&Known]) -> bool {
    let fit = |known: &&Known| {
        let is_finite = |x: &Literal| x.as_complex().is_finite();
        let finite = known.tensor.literals().all(|x| is_finite(&x));
        let may_be_nan = !matches!(linalg, Linalg::TriangularSolve(_));
        (finite || may_be_nan)
            && matrices::squares_in_range(known.tensor.dtype(), known.tensor.literals().filter(is_finite))
    };
    operands.iter().all(fit)
}

/// An operand of which the factors of another way may be: also where elements are exact. Substitution errs by
/// roundings of each element, the others by roundings of the largest one.
fn neighbour(rng: &mut Rng, linalg: Linalg, shadow: &Tensor) -> Tensor {
    if matches!(linalg, Linalg::TriangularSolve(_)) {
        return nudge(rng, shadow);
    }
    let dtype = shadow.dtype();
    matrices::neighbour(shadow, dtype, FEW_UNITS * matrices::unit(dtype), || rng.signed_unit())
}

/// Applies a graph to values and shadows, equation by equation.
fn apply_graph(rng: &mut Rng, graph: &Graph, inputs: &[&Known], extreme: bool) -> Option<Vec<Known>> {
    let mut values: Vec<Known> = inputs.iter().map(|&known| known.clone()).collect();
    let value = |values: &[Known], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone(),
        Atom::Splat(splat) => Known::exact(Tensor::full(splat.literal, splat.shape.clone())),
    };
    for equation in &graph.equations {
        let operands: Vec<Known> = equation.inputs.iter().map(|atom| value(&values, atom)).collect();
        let operands: Vec<&Known> = operands.iter().collect();
        let types: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
        let results: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
        // Variables are numbered in the order of their definition.
        values.extend(apply(rng, &equation.prim, &operands, &types, &results, extreme)?);
    }
    Some(graph.outputs.iter().map(|atom| value(&values, atom)).collect())
}

/// Whether most elements are ordinary numbers. A graph in which everything is NaN tests nothing, and near the
/// largest float a different order of summation overflows.
fn tame(tensor: &Tensor, extreme: bool) -> bool {
    if tensor.dtype().is_complex() {
        return tensor.literals().all(|x| x.as_complex().norm() <= 1e6);
    }
    if !tensor.dtype().is_float() {
        return true;
    }
    let large = if extreme { 1e30 } else { 1e6 };
    let strange = tensor.literals().filter(|x| !x.as_f64().is_finite()).count();
    let huge = tensor.literals().any(|x| x.as_f64().is_finite() && x.as_f64().abs() > large);
    !huge && (extreme || strange * 10 <= tensor.len())
}

/// Moves each float up or down by a few units in its last place.
fn nudge(rng: &mut Rng, tensor: &Tensor) -> Tensor {
    let dtype = tensor.dtype();
    if !dtype.is_float() {
        return shake(tensor, tensor, FEW_UNITS, rng);
    }
    let unit = if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let mut moved = |x: Literal| {
        // The sign of a NaN is the machine's, and that of a zero may depend on the order of steps.
        if x.as_f64().is_nan() || x.as_f64() == 0.0 {
            return Literal::from_f64(dtype, x.as_f64().copysign([-1.0, 1.0][rng.below(2)]));
        }
        let step = [-1.0, -0.5, 0.5, 1.0][rng.below(4)];
        Literal::from_f64(dtype, x.as_f64() * (1.0 + step * FEW_UNITS * unit))
    };
    let literals: Vec<Literal> = tensor.literals().map(&mut moved).collect();
    Tensor::from_literals(dtype, tensor.shape().clone(), &literals).expect("as many as before")
}
