//! What a pass is, and running the list of them.

use tracewell_graph::Graph;

use crate::pipeline::PIPELINE;

/// A rewriting of graphs that keeps every bit of their results.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// For people, and for naming the pass that broke something.
    pub name: &'static str,
    /// The graph, rewritten.
    pub run: fn(Graph) -> Graph,
}

/// The graph after all passes.
pub fn optimize(graph: &Graph) -> Graph {
    optimize_with(graph, PIPELINE.len(), &mut |_, _| {})
}

/// The graph after the first `passes` passes; `watch` sees the name of each and what it made.
pub fn optimize_with(graph: &Graph, passes: usize, watch: &mut dyn FnMut(&str, &Graph)) -> Graph {
    let mut graph = graph.clone();
    for pass in PIPELINE.iter().take(passes) {
        graph = (pass.run)(graph);
        watch(pass.name, &graph);
    }
    graph
}
