//! Passes on the graphs that control flow runs.

use tracewell_graph::Graph;

use crate::rebuild::rebuild_all;

/// Runs a pass on a graph, then on the graphs that its equations run, and so on within them. For passes after which
/// there is less to do inside.
pub(crate) fn outside_in(graph: &Graph, pass: fn(&Graph) -> Graph) -> Graph {
    inside(&pass(graph), &mut |inner| outside_in(inner, pass))
}

/// The same from the innermost graphs on. For passes that move something out.
pub(crate) fn inside_out(graph: &Graph, pass: fn(&Graph) -> Graph) -> Graph {
    pass(&inside(graph, &mut |inner| inside_out(inner, pass)))
}

/// The graph with other graphs to run.
fn inside(graph: &Graph, new: &mut dyn FnMut(&Graph) -> Graph) -> Graph {
    if !graph.equations.iter().any(|equation| equation.prim.is_control()) {
        return graph.clone();
    }
    rebuild_all(graph, |builder, equation, operands| {
        let prim = equation.prim.with_graphs(new);
        // Its results may have become weaker, and then so does what is made of them.
        builder.bind(prim, &operands).expect("a pass keeps the types of a graph, but for weakness")
    })
}
