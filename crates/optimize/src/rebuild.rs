//! What every pass shares: making a graph anew, equation by equation.

use smallvec::SmallVec;
use tracewell_graph::text::{Line, write_line};
use tracewell_graph::{Atom, Equation, Graph, GraphBuilder};
use tracewell_kernel::steps;

/// The operands of an equation, already those of the new graph.
pub(crate) type Operands = SmallVec<[Atom; 3]>;
/// What an equation's results are in the new graph.
pub(crate) type Results = SmallVec<[Atom; 1]>;

/// The same graph with each equation replaced by what `each` makes of it. Each of these is a step that can be left out.
pub(crate) fn rebuild(
    graph: &Graph,
    mut each: impl FnMut(&mut GraphBuilder, &Equation, Operands) -> Results,
) -> Graph {
    let mut number = 0;
    rebuild_all(graph, |builder, equation, operands| {
        let this = number;
        number += 1;
        let line = || write_line(graph, Line::Equation(this)).trim().to_string();
        match steps::take(line) {
            true => each(builder, equation, operands),
            false => keep(builder, graph, equation, &operands),
        }
    })
}

/// The same as one step, or as none.
pub(crate) fn rebuild_all(
    graph: &Graph,
    mut each: impl FnMut(&mut GraphBuilder, &Equation, Operands) -> Results,
) -> Graph {
    let mut builder = GraphBuilder::new();
    let mut map: Vec<Option<Atom>> = vec![None; graph.types.len()];
    for &var in &graph.inputs {
        map[var.0 as usize] = Some(Atom::Var(builder.input(graph.ty(var).clone())));
    }
    let look = |map: &[Option<Atom>], atom: &Atom| match atom {
        Atom::Var(var) => map[var.0 as usize].clone().expect("operands are defined before they are used"),
        Atom::Splat(_) => atom.clone(),
    };
    for equation in &graph.equations {
        let operands: Operands = equation.inputs.iter().map(|a| look(&map, a)).collect();
        builder.at(equation.location.clone());
        let results = each(&mut builder, equation, operands);
        for (&var, atom) in equation.outputs.iter().zip(results) {
            map[var.0 as usize] = Some(atom);
        }
    }
    let outputs = graph.outputs.iter().map(|a| look(&map, a)).collect();
    builder.finish(graph.name.clone(), outputs)
}

/// Adds the equation as it is, on new operands.
pub(crate) fn keep(
    builder: &mut GraphBuilder,
    graph: &Graph,
    equation: &Equation,
    operands: &[Atom],
) -> Results {
    builder.push(equation.prim.clone(), operands, equation.outputs.iter().map(|&v| graph.ty(v).clone()))
}
