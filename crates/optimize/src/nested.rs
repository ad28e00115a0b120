//! Passes on the graphs that control flow runs.

use tracewell_graph::Graph;

use crate::rebuild::rebuild_all;

/// A pass on one graph, not on those that it runs.
type Alone = fn(&Graph) -> Graph;

/// Runs a pass on a graph, then on the graphs that its equations run, and so on within them. For passes after which
/// there is less to do inside.
pub(crate) fn outside_in(graph: Graph, pass: Alone) -> Graph {
    inside(pass(&graph), &mut |inner| outside_in(inner.clone(), pass))
}

/// The same of a pass about control flow, which has nothing to do where there is none.
pub(crate) fn control_outside_in(graph: Graph, pass: Alone) -> Graph {
    if !has_control(&graph) {
        return graph;
    }
    inside(pass(&graph), &mut |inner| control_outside_in(inner.clone(), pass))
}

/// The same from the innermost graphs on. For passes that move something out.
pub(crate) fn control_inside_out(graph: Graph, pass: Alone) -> Graph {
    if !has_control(&graph) {
        return graph;
    }
    pass(&inside(graph, &mut |inner| control_inside_out(inner.clone(), pass)))
}

fn has_control(graph: &Graph) -> bool {
    graph.equations.iter().any(|equation| equation.prim.is_control())
}

/// The graph with other graphs to run.
fn inside(graph: Graph, new: &mut dyn FnMut(&Graph) -> Graph) -> Graph {
    if !has_control(&graph) {
        return graph;
    }
    rebuild_all(&graph, |builder, equation, operands| {
        let prim = equation.prim.with_graphs(new);
        // Its results may have become weaker, and then so does what is made of them.
        builder.bind(prim, &operands).expect("a pass keeps the types of a graph, but for weakness")
    })
}
