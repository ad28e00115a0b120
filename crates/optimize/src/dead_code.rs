//! Equations that no result depends on disappear. Primitives have no effects, so that none is needed for its own
//! sake. Inputs stay, used or not.

use tracewell_graph::{Atom, Graph};

use crate::rebuild::{Results, keep, rebuild};

/// Removes equations that no output depends on.
pub fn dead_code(graph: &Graph) -> Graph {
    let mut live = vec![false; graph.types.len()];
    let mark = |live: &mut [bool], atom: &Atom| {
        if let Atom::Var(var) = atom {
            live[var.0 as usize] = true;
        }
    };
    graph.outputs.iter().for_each(|atom| mark(&mut live, atom));
    for equation in graph.equations.iter().rev() {
        if equation.outputs.iter().any(|v| live[v.0 as usize]) {
            equation.inputs.iter().for_each(|atom| mark(&mut live, atom));
            // The other results of a live equation are defined with it.
            equation.outputs.iter().for_each(|v| live[v.0 as usize] = true);
        }
    }
    let mut at = 0;
    let mut kept = Vec::with_capacity(graph.equations.len());
    kept.extend(graph.equations.iter().map(|eq| eq.outputs.iter().any(|v| live[v.0 as usize])));
    let mut slim = graph.clone();
    slim.equations.retain(|_| {
        at += 1;
        kept[at - 1]
    });
    rebuild(&slim, |builder, equation, operands| -> Results { keep(builder, graph, equation, &operands) })
}
