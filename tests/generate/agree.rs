//! When the results of two ways to run a graph agree.
//!
//! Random graphs are grown so that they are well-conditioned at their inputs (see `steady.rs`): an honest
//! rounding difference stays below the tolerance here, and integers and bools agree exactly.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};
use tracewell_graph::{Atom, Graph};

/// Whether the results of a graph are those expected; the error says which element is not.
///
/// NaN agrees with NaN, and zeros of either sign with each other.
pub fn agree(graph: &Graph, found: &[Tensor], expected: &[Tensor]) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("found {} results, expected {}", found.len(), expected.len()));
    }
    let tolerances = tolerances(graph);
    for (i, ((found, expected), tolerance)) in found.iter().zip(expected).zip(tolerances).enumerate() {
        if let Some(why) = difference(found, expected, tolerance) {
            return Err(format!("result {i}: {why}"));
        }
    }
    Ok(())
}

/// The first difference of two arrays that is larger than the relative tolerance, in words.
pub(super) fn difference(found: &Tensor, expected: &Tensor, tolerance: f64) -> Option<String> {
    let ty = |t: &Tensor| format!("{}{}", t.dtype(), t.shape());
    if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
        return Some(format!("found {}, expected {}", ty(found), ty(expected)));
    }
    let float = found.dtype().is_float();
    let complex = found.dtype().is_complex();
    // Below this, floats have few bits left and a relative difference means nothing, whatever they become later.
    let coarse = tolerance > self::tolerance(DType::F64);
    let least = if coarse { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    for (i, (x, y)) in found.literals().zip(expected.literals()).enumerate() {
        let (a, b) = (x.as_f64(), y.as_f64());
        let same = x == y
            || (float && (a == b || (a.is_nan() && b.is_nan())))
            || (float && (a - b).abs() <= tolerance * a.abs().max(b.abs()) + least);
        // Of complex numbers what is small beside the other part has few digits.
        let (z, w) = (x.as_complex(), y.as_complex());
        let near = (z - w).norm() <= tolerance * z.norm().max(w.norm()) + least;
        let same = if complex { near || !(z.is_finite() || w.is_finite()) } else { same };
        if !same {
            return Some(format!("element {i} of {} is {x}, expected {y}", ty(found)));
        }
    }
    None
}

/// The relative difference up to which each output of a random graph may be rounded differently: coarse where
/// anything that it depends on has few bits.
fn tolerances(graph: &Graph) -> Vec<f64> {
    let mut of: Vec<f64> = graph.types.iter().map(|ty| tolerance(ty.dtype)).collect();
    for equation in &graph.equations {
        let operands = equation.inputs.iter().filter_map(Atom::var).map(|var| of[var.0 as usize]);
        let coarsest = operands.fold(0.0, f64::max);
        let mut nested: Vec<Arc<Graph>> = Vec::new();
        equation.prim.rules().each_param(&mut |_, value| {
            nested.extend_from_slice(value.graphs());
        });
        let inside = nested.iter().flat_map(|graph| tolerances(graph)).fold(0.0, f64::max);
        for &var in &equation.outputs {
            let of = &mut of[var.0 as usize];
            *of = of.max(coarsest).max(inside);
        }
    }
    let output = |atom: &Atom| atom.var().map_or(0.0, |var| of[var.0 as usize]);
    graph.outputs.iter().map(output).collect()
}

/// The tolerance of a computation in one element type. Integers have none, but may come between floats.
pub(super) fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F32 | DType::C64 => 1e-3,
        DType::F64 | DType::C128 => 1e-11,
        _ => 0.0,
    }
}
