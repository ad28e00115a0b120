//! Rewrites of single equations by the rules in `rules`, each looking at most one equation further back.
//!
//! One walk: operands are simplified before what uses them, so a rule sees simplified operands and nothing is
//! visited twice.

use smallvec::{SmallVec, smallvec};
use tracewell_graph::{ArrayType, Atom, Equation, Graph, GraphBuilder};

use crate::rebuild::{Operands, rebuild};
use crate::rules::{Application, RULES, Rewrite, Scene};

/// Rewrites in a row of one equation. Each makes it simpler, so that more are a mistake in a rule.
const MAX_REWRITES: usize = 16;

/// Applies the rules to every equation.
pub fn simplify(graph: &Graph) -> Graph {
    // For each variable of the new graph, the equation that defines it.
    let mut defined: Vec<Option<usize>> = Vec::new();
    let reads = graph.reads();
    rebuild(graph, |builder, equation, operands| {
        let types: SmallVec<[ArrayType; 1]> = equation.outputs.iter().map(|&v| graph.ty(v).clone()).collect();
        let is_alone = |(old, _): &(&Atom, &Atom)| old.var().is_some_and(|var| reads[var.0 as usize] == 1);
        let alone: Operands =
            equation.inputs.iter().zip(&operands).filter(is_alone).map(|(_, new)| new.clone()).collect();
        match rewrite(builder, &defined, equation, operands, &types, &alone) {
            Rewrite::Use(atom) => smallvec![atom],
            Rewrite::Apply(application) => {
                let results = builder.push(application.prim, &application.operands, types);
                for result in &results {
                    if let Atom::Var(var) = result {
                        defined.resize(var.0 as usize + 1, None);
                        defined[var.0 as usize] = Some(builder.equations().len() - 1);
                    }
                }
                results
            }
        }
    })
}

/// What the equation is after all rewrites.
fn rewrite(
    builder: &GraphBuilder,
    defined: &[Option<usize>],
    equation: &Equation,
    operands: Operands,
    types: &[ArrayType],
    alone: &[Atom],
) -> Rewrite {
    let mut application = Box::new(Application { prim: equation.prim.clone(), operands });
    let [ty] = types else { return Rewrite::Apply(application) };
    for _ in 0..MAX_REWRITES {
        let Application { prim, operands } = &*application;
        let scene = Scene { builder, defined, prim, operands, ty, alone };
        match RULES.iter().find_map(|rule| rule(&scene)) {
            // A rewrite that would change a type, be it only its weakness, is not one.
            Some(Rewrite::Use(atom)) if builder.ty(&atom) == *ty => return Rewrite::Use(atom),
            Some(Rewrite::Apply(next)) if scene.gives(&next) => application = next,
            _ => break,
        }
    }
    Rewrite::Apply(application)
}
