//! A graph over one more axis.
//!
//! The batch axis is always the leading one, and a value either has it or is the same for the whole batch. An
//! equation none of whose operands has it is copied: it is computed once, not once for each element.

use tracewell_graph::{Atom, Batched, Cx, Graph, GraphBuilder, RuleError};

use crate::GraphWalks;
use crate::contract::{check_count, check_type};
use crate::env::Env;
use crate::prune::prune;

/// The graph over a leading axis of this size on the `batched` inputs; says which results have it.
pub fn batch(graph: &Graph, size: usize, batched: &[bool]) -> Result<(Graph, Vec<bool>), RuleError> {
    assert_eq!(graph.inputs.len(), batched.len(), "one flag for each input");
    let mut builder = GraphBuilder::new();
    let mut values: Env<Batched> = Env::new(graph);
    for (&var, &batched) in graph.inputs.iter().zip(batched) {
        let ty = graph.ty(var);
        let ty = if batched { ty.with_shape(ty.shape.insert(0, size)) } else { ty.clone() };
        let atom = builder.input(ty).into();
        values.define(var, Batched { atom, batched });
    }
    let value = |values: &Env<Batched>, atom: &Atom| match atom {
        Atom::Var(var) => values.get(*var).clone(),
        Atom::Splat(_) => Batched::no(atom.clone()),
    };

    for equation in &graph.equations {
        builder.at(equation.location.clone());
        let prim = &equation.prim;
        let operands: Vec<Batched> = equation.inputs.iter().map(|atom| value(&values, atom)).collect();
        if operands.iter().all(|operand| !operand.batched) {
            let operands: Vec<Atom> = operands.into_iter().map(|operand| operand.atom).collect();
            let results = builder.bind(prim.clone(), &operands)?;
            for (&var, result) in equation.outputs.iter().zip(results) {
                values.define(var, Batched::no(result));
            }
            continue;
        }
        let mut cx = Cx::new(&mut builder, &GraphWalks, false);
        let results = prim.rules().batch(&mut cx, size, &operands)?;
        check_count(prim, "batch", results.len(), equation.outputs.len())?;
        for (&var, result) in equation.outputs.iter().zip(results) {
            let ty = graph.ty(var);
            let expected =
                if result.batched { ty.with_shape(ty.shape.insert(0, size)) } else { ty.clone() };
            check_type(prim, "batch", &builder.ty(&result.atom), &expected)?;
            values.define(var, result);
        }
    }
    let results: Vec<Batched> = graph.outputs.iter().map(|atom| value(&values, atom)).collect();
    let has_axis = results.iter().map(|result| result.batched).collect();
    let outputs = results.into_iter().map(|result| result.atom).collect();
    let whole = builder.finish(format!("{}_batch", graph.name), outputs);
    Ok((prune(&whole), has_axis))
}
