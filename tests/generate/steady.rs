//! Keeping random graphs well-conditioned, without knowing what any primitive computes.
//!
//! Beside every value of a growing graph stands its *shadow*: the same, with every result that may be rounded
//! moved by a few units in its last place. An equation is kept only if value and shadow stay close. So graphs
//! may be full of comparisons, roundings and quotients, and still two correct ways to run them agree.

use tracewell_array::{Literal, Tensor};
use tracewell_graph::{ArrayType, Lowering, Prim};

use super::agree::{difference, tolerance};
use super::rng::Rng;

/// How much closer a shadow must be than results have to be: it is one sample of many possible roundings.
const MARGIN: f64 = 16.0;

/// An array, its shadow, and how coarse the numbers are that it was computed from.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) tensor: Tensor,
    pub(super) shadow: Tensor,
    pub(super) tolerance: f64,
}

impl Known {
    /// An array that no rounding has touched.
    pub(super) fn exact(tensor: Tensor) -> Known {
        Known { shadow: tensor.clone(), tolerance: tolerance(tensor.dtype()), tensor }
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
    let eval = |pick: fn(&Known) -> &Tensor| {
        let operands: Vec<Tensor> = operands.iter().map(|&known| pick(known).clone()).collect();
        prim.rules().eval(&operands).ok()
    };
    let (tensors, shadows) = (eval(|known| &known.tensor)?, eval(|known| &known.shadow)?);
    let moved = matches!(prim.rules().lower(types, results), Ok(Lowering::View(_) | Lowering::Constant(_)));
    let coarsest = operands.iter().map(|known| known.tolerance).fold(0.0, f64::max);
    let known = tensors.into_iter().zip(shadows).map(|(tensor, shadow)| {
        let shadow = if moved { shadow } else { shake(rng, &shadow) };
        let tolerance = coarsest.max(tolerance(tensor.dtype()));
        let known = Known { tensor, shadow, tolerance };
        (tame(&known.tensor, extreme) && steady(&known)).then_some(known)
    });
    known.collect()
}

/// Whether a rounding somewhere before makes no great difference.
fn steady(known: &Known) -> bool {
    difference(&known.shadow, &known.tensor, known.tolerance / MARGIN).is_none()
}

/// Whether most elements are ordinary numbers. A graph in which everything is NaN tests nothing, and near the
/// largest float a different order of summation overflows.
fn tame(tensor: &Tensor, extreme: bool) -> bool {
    if !tensor.dtype().is_float() {
        return true;
    }
    let large = if extreme { 1e30 } else { 1e6 };
    let strange = tensor.literals().filter(|x| !x.as_f64().is_finite()).count();
    let huge = tensor.literals().any(|x| x.as_f64().is_finite() && x.as_f64().abs() > large);
    !huge && (extreme || strange * 10 <= tensor.len())
}

/// Moves each float up or down by a few units in its last place, or not at all.
fn shake(rng: &mut Rng, tensor: &Tensor) -> Tensor {
    let dtype = tensor.dtype();
    if !dtype.is_float() {
        return tensor.clone();
    }
    let few_units = if dtype.size() == 4 { 4.0 * f64::from(f32::EPSILON) } else { 4.0 * f64::EPSILON };
    let mut moved = |x: Literal| {
        let step = rng.below(3) as f64 - 1.0;
        Literal::from_f64(dtype, x.as_f64() * (1.0 + step * few_units))
    };
    let literals: Vec<Literal> = tensor.literals().map(&mut moved).collect();
    Tensor::from_literals(dtype, tensor.shape().clone(), &literals).expect("as many as before")
}
