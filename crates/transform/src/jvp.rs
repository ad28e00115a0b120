//! A graph and its derivative along tangents, computed together.

use tracewell_graph::{Graph, RuleError};

use crate::prune::prune;
use crate::pushforward::pushforward;

/// The graph of `(x…, dx…) ↦ (f(x)…, f'(x)·dx…)`, with tangents `dx` for the `active` inputs only and results
/// only where the tangent is not known to be zero; says which results have one.
pub fn jvp(graph: &Graph, active: &[bool]) -> Result<(Graph, Vec<bool>), RuleError> {
    let forward = pushforward(graph, active, false)?;
    let has_tangent = forward.has_tangent();
    let outputs = forward.outputs.into_iter().chain(forward.tangents.into_iter().flatten()).collect();
    let whole = forward.builder.finish(format!("{}_jvp", graph.name), outputs);
    Ok((prune(&whole), has_tangent))
}
