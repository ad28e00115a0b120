//! The part of a graph between given variables and given outputs.

use tracewell_graph::{Atom, Equation, Graph, GraphBuilder, Var};

use crate::env::Env;

/// The graph that computes `outputs` when `inputs` are given, and where each variable went. Equations that are to be
/// `kept` are in it, whoever needs their results.
///
/// `inputs` may be any variables, defined by equations or not, each named once; whatever only they need is left
/// out. An input of the old graph that the outputs need must be among them.
pub(crate) fn extract(
    graph: &Graph,
    name: String,
    inputs: &[Var],
    outputs: &[Atom],
    keep: &dyn Fn(&Equation) -> bool,
) -> (Graph, Env<Var>) {
    let mut given = vec![false; graph.types.len()];
    inputs.iter().for_each(|var| given[var.0 as usize] = true);

    // Backwards: an equation is needed if one of its results is, and then so are its operands.
    let mut needed = vec![false; graph.types.len()];
    let need = |needed: &mut [bool], atom: &Atom| {
        if let Atom::Var(var) = atom
            && !given[var.0 as usize]
        {
            needed[var.0 as usize] = true;
        }
    };
    outputs.iter().for_each(|atom| need(&mut needed, atom));
    let mut kept: Vec<&Equation> = Vec::new();
    for equation in graph.equations.iter().rev() {
        if equation.outputs.iter().any(|var| needed[var.0 as usize]) || keep(equation) {
            debug_assert!(
                equation.outputs.iter().all(|var| !given[var.0 as usize]),
                "cut through an equation"
            );
            equation.inputs.iter().for_each(|atom| need(&mut needed, atom));
            kept.push(equation);
        }
    }

    let mut builder = GraphBuilder::new();
    let mut places: Env<Var> = Env::new(graph);
    for &var in inputs {
        let place = builder.input(graph.ty(var).clone());
        places.define(var, place);
    }
    let moved = |places: &Env<Var>, atom: &Atom| match atom {
        Atom::Var(var) => Atom::Var(*places.get(*var)),
        Atom::Splat(_) => atom.clone(),
    };
    for equation in kept.into_iter().rev() {
        builder.at(equation.location.clone());
        let operands: Vec<Atom> = equation.inputs.iter().map(|atom| moved(&places, atom)).collect();
        let types = equation.outputs.iter().map(|&var| graph.ty(var).clone());
        let results = builder.push(equation.prim.clone(), &operands, types);
        for (&var, result) in equation.outputs.iter().zip(results) {
            places.define(var, result.var().expect("an equation defines variables"));
        }
    }
    let outputs = outputs.iter().map(|atom| moved(&places, atom)).collect();
    // The inputs were added first, so finishing renumbers nothing and `places` stays right.
    (builder.finish(name, outputs), places)
}
