//! Control flow, made smaller: what it runs for nobody, computes again in every turn or is told needlessly.

mod disappear;
mod exchange;
mod invariant;
mod specialize;
mod trim;

pub use disappear::disappear;
pub use exchange::exchange;
pub use invariant::invariant;
pub use specialize::specialize;
pub(crate) use trim::{needed, trim};

use tracewell_graph::{Atom, Graph, GraphBuilder, Prim, Var};

use crate::rebuild::Results;

/// Those for which the flag holds.
pub(crate) fn chosen<T: Clone>(all: &[T], flags: &[bool]) -> Vec<T> {
    all.iter().zip(flags).filter(|(_, flag)| **flag).map(|(item, _)| item.clone()).collect()
}

fn count(flags: &[bool]) -> usize {
    flags.iter().filter(|flag| **flag).count()
}

/// Adds an equation, typed anew: its operands may be weaker than they were, and then so may be its results.
fn rebind(builder: &mut GraphBuilder, prim: Prim, operands: &[Atom]) -> Results {
    builder.bind(prim, operands).expect("operands differ in weakness only")
}

/// Adds the equations of a graph, typed anew: operands may be weaker than its inputs. Returns its outputs.
fn apply(builder: &mut GraphBuilder, graph: &Graph, operands: &[Atom]) -> Results {
    let mut values: Vec<Option<Atom>> = vec![None; graph.types.len()];
    let define = |values: &mut [Option<Atom>], var: Var, atom: Atom| values[var.0 as usize] = Some(atom);
    for (&var, atom) in graph.inputs.iter().zip(operands) {
        define(&mut values, var, atom.clone());
    }
    let look = |values: &[Option<Atom>], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone().expect("operands are defined before they are used"),
        Atom::Splat(_) => atom.clone(),
    };
    for equation in &graph.equations {
        let operands: Vec<Atom> = equation.inputs.iter().map(|atom| look(&values, atom)).collect();
        builder.at(equation.location.clone());
        let results = rebind(builder, equation.prim.clone(), &operands);
        for (&var, result) in equation.outputs.iter().zip(results) {
            define(&mut values, var, result);
        }
    }
    graph.outputs.iter().map(|atom| look(&values, atom)).collect()
}
