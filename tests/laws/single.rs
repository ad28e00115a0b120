//! Graphs of one equation, and what the laws ask of an example.

use tracewell_array::{DType, Tensor};
use tracewell_graph::{ArrayType, Atom, Example, Graph, GraphBuilder, RuleError, eval, verify};
use tracewell_transform::jvp;

use super::Outcome;
use super::inputs::{Region, gentle};
use super::rng::Rng;

/// Inputs, and the results on them.
pub(crate) type Pair = (Vec<Tensor>, Vec<Tensor>);

/// The graph that applies an example's primitive to its inputs.
pub(super) fn single(example: &Example) -> Result<Graph, String> {
    let mut builder = GraphBuilder::new();
    let operands: Vec<Atom> = example.inputs.iter().map(|ty| builder.input(ty.clone()).into()).collect();
    let outputs = builder.bind(example.prim.clone(), &operands).map_err(|e| e.to_string())?;
    Ok(builder.finish(example.prim.name(), outputs.into_vec()))
}

/// Which operands can have a tangent.
pub(super) fn floats(example: &Example) -> Vec<bool> {
    example.inputs.iter().map(|ty| ty.dtype.is_inexact()).collect()
}

/// The ways to choose some of the operands for which `may` holds: all subsets while they are few, else each
/// alone and all together. The empty choice is not among them.
pub(super) fn choices(may: &[bool]) -> Vec<Vec<bool>> {
    let chosen: Vec<usize> = (0..may.len()).filter(|&i| may[i]).collect();
    let pick = |those: &dyn Fn(usize) -> bool| -> Vec<bool> {
        (0..may.len()).map(|i| chosen.iter().position(|&c| c == i).is_some_and(those)).collect()
    };
    match chosen.len() {
        0 => Vec::new(),
        n @ 1..=4 => (1..1usize << n).map(|mask| pick(&|k| mask >> k & 1 == 1)).collect(),
        n => (0..n).map(|one| pick(&|k| k == one)).chain([pick(&|_| true)]).collect(),
    }
}

/// Inputs at which the example can be differentiated, and its results there; `None` if they are not finite.
pub(super) fn gentle_point(rng: &mut Rng, graph: &Graph) -> Result<Option<Pair>, String> {
    for &region in regions(graph) {
        let inputs = gentle(rng, &graph.input_types(), region);
        let outputs = eval(graph, &inputs)?;
        let finite = |t: &Tensor| !t.dtype().is_inexact() || t.literals().all(|x| x.as_complex().is_finite());
        if outputs.iter().all(finite) {
            return Ok(Some((inputs, outputs)));
        }
    }
    Ok(None)
}

/// Where to look for such inputs: the factors of a matrix vary gently if it is far from singular, and those that
/// exchange rows are to do so.
fn regions(graph: &Graph) -> &'static [Region] {
    let uses = |names: &[&str]| graph.equations.iter().any(|e| names.contains(&e.prim.name()));
    if uses(&["cholesky", "eigh", "triangular_solve"]) {
        &[Region::Dominant(0)]
    } else if uses(&["lu", "qr", "svd", "eig"]) {
        &[Region::Dominant(1)]
    } else {
        &Region::ALL
    }
}

/// Whether the primitive of a graph says that it has no derivative.
pub(super) fn refuses_derivative(graph: &Graph, active: &[bool]) -> bool {
    matches!(jvp(graph, active), Err(RuleError::NotDifferentiable { .. }))
}

/// Why a law says nothing about such a primitive.
pub(super) const REFUSED: Outcome = Outcome::NotApplicable("it says that it has no derivative");

/// The precision in which a graph computes: that of its coarsest float, inside and out.
pub(super) fn epsilon(graphs: &[&Graph]) -> f64 {
    let coarse = |ty: &ArrayType| ty.dtype.real() == DType::F32;
    if graphs.iter().any(|graph| graph.types.iter().any(coarse)) {
        f64::from(f32::EPSILON)
    } else {
        f64::EPSILON
    }
}

/// What a transform gave, if it gave a graph that passes the verifier.
pub(super) fn sound<T>(
    transformed: Result<T, RuleError>,
    graphs: impl Fn(&T) -> Vec<&Graph>,
) -> Result<T, String> {
    let transformed = transformed.map_err(|e| e.to_string())?;
    for graph in graphs(&transformed) {
        verify(graph).map_err(|e| e.to_string())?;
    }
    Ok(transformed)
}
