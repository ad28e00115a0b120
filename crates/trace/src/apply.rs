//! Applying a graph: its primitives are bound, one by one, into whatever is traced outside.

use tracewell_array::Tensor;
use tracewell_graph::{Atom, Graph, Location};

use crate::bind::bind_known;
use crate::error::Error;
use crate::value::Value;

/// The outputs of a graph on values of the surrounding trace, or on known data.
pub fn apply(graph: &Graph, inputs: &[Value], location: &Location) -> Result<Vec<Value>, Error> {
    apply_known(graph, inputs, &[], location)
}

/// The same where the data of some variables is known already: their equations are recorded, not computed.
pub fn apply_known(
    graph: &Graph,
    inputs: &[Value],
    known: &[Option<Tensor>],
    location: &Location,
) -> Result<Vec<Value>, Error> {
    let mut values: Vec<Option<Value>> = vec![None; graph.types.len()];
    for (var, value) in graph.inputs.iter().zip(inputs) {
        values[var.0 as usize] = Some(value.clone());
    }
    for equation in &graph.equations {
        let operands: Vec<Value> =
            equation.inputs.iter().map(|a| look(&values, a)).collect::<Result<_, _>>()?;
        let data: Option<Vec<Tensor>> =
            equation.outputs.iter().map(|v| known.get(v.0 as usize).cloned().flatten()).collect();
        // Nothing is known of an equation without results: it is there for its effect.
        let data = data.filter(|data| !data.is_empty());
        let place = equation.location.as_ref().unwrap_or(location);
        let results = bind_known(&equation.prim, &operands, data, place)?;
        for (var, value) in equation.outputs.iter().zip(results) {
            values[var.0 as usize] = Some(value);
        }
    }
    graph.outputs.iter().map(|a| look(&values, a)).collect()
}

fn look(values: &[Option<Value>], atom: &Atom) -> Result<Value, Error> {
    match atom {
        Atom::Splat(splat) => Ok(Value::Splat(splat.clone())),
        Atom::Var(var) => values[var.0 as usize]
            .clone()
            .ok_or_else(|| Error::bug(format!("%{} is used before it is defined", var.0))),
    }
}
