//! Dead equations.

use tracewell_graph::Graph;

use crate::extract::extract;

/// The same graph without the equations that no output needs. All inputs stay.
pub fn prune(graph: &Graph) -> Graph {
    extract(graph, graph.name.clone(), &graph.inputs, &graph.outputs).0
}
