//! The reference evaluator: each equation by its primitive's `eval`, in order. The oracle, never the engine.

use std::borrow::Cow;

use tracewell_array::Tensor;

use crate::graph::{Atom, Graph};

/// The outputs of a graph on concrete inputs. Inputs of the wrong types are an error that names both.
pub fn eval(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    if inputs.len() != graph.inputs.len() {
        return Err(format!("`{}` takes {} inputs, found {}", graph.name, graph.inputs.len(), inputs.len()));
    }
    let mut values: Vec<Option<Tensor>> = vec![None; graph.types.len()];
    for (i, (&var, tensor)) in graph.inputs.iter().zip(inputs).enumerate() {
        let ty = graph.ty(var);
        if ty.dtype != tensor.dtype() || ty.shape != *tensor.shape() {
            let found = format!("{}{}", tensor.dtype(), tensor.shape());
            return Err(format!("input {i} of `{}` is {ty}, found {found}", graph.name));
        }
        values[var.0 as usize] = Some(tensor.clone());
    }
    for equation in &graph.equations {
        let operands: Vec<Tensor> = equation
            .inputs
            .iter()
            .map(|a| value(&values, a).map(Cow::into_owned))
            .collect::<Result<_, _>>()?;
        let results = equation.prim.rules().eval(&operands)?;
        for (&var, result) in equation.outputs.iter().zip(results) {
            values[var.0 as usize] = Some(result);
        }
    }
    graph.outputs.iter().map(|a| value(&values, a).map(Cow::into_owned)).collect()
}

fn value<'v>(values: &'v [Option<Tensor>], atom: &Atom) -> Result<Cow<'v, Tensor>, String> {
    match atom {
        Atom::Var(var) => values
            .get(var.0 as usize)
            .and_then(Option::as_ref)
            .map(Cow::Borrowed)
            .ok_or_else(|| format!("%{} is used before it is defined", var.0)),
        Atom::Splat(splat) => Ok(Cow::Owned(Tensor::full(splat.literal, splat.shape.clone()))),
    }
}
