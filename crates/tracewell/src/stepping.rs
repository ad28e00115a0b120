//! Running a graph one compiled primitive at a time: how values inside of compiled functions become known.

use std::sync::Arc;

use tracewell_array::Tensor;
use tracewell_graph::prim::Call;
use tracewell_graph::{ArrayType, Atom, Equation, Graph, Lowering, Prim};
use tracewell_trace::{Error, Executor, Value};

/// The results of one primitive; `None` where an operand is not known, or where it has an effect: what was done once is
/// not done again.
pub(crate) fn step(
    prim: &Prim,
    operands: &[Option<Tensor>],
    types: &[ArrayType],
    executor: &dyn Executor,
) -> Result<Option<Vec<Tensor>>, Error> {
    if prim.has_effect() {
        return Ok(None);
    }
    if operands.is_empty()
        && let Some(data) = constant_data(prim)
    {
        return Ok(Some(vec![data]));
    }
    let known: Option<Vec<Value>> = operands.iter().map(|operand| operand.clone().map(Value::from)).collect();
    let Some(known) = known else { return Ok(None) };
    crate::checks::unchecked(|| executor.execute(prim, &known, types)).map(Some)
}

/// The data that a primitive without operands has as its result: the very data, by which it is found again.
pub(crate) fn constant_data(prim: &Prim) -> Option<Tensor> {
    let types = prim.rules().type_rule(&[]).ok()?;
    match prim.rules().lower(&[], &types) {
        Ok(Lowering::Constant(data)) => Some(data),
        _ => None,
    }
}

/// The data of every variable of a graph, as far as it is known.
pub(crate) struct Values(Vec<Option<Tensor>>);

impl Values {
    /// Of a graph on these inputs.
    pub(crate) fn new(graph: &Graph, inputs: &[Option<Tensor>]) -> Values {
        let mut values = vec![None; graph.types.len()];
        for (var, tensor) in graph.inputs.iter().zip(inputs) {
            values[var.0 as usize] = tensor.clone();
        }
        Values(values)
    }

    /// The data of an operand.
    pub(crate) fn of(&self, atom: &Atom) -> Option<Tensor> {
        match atom {
            Atom::Var(var) => self.0[var.0 as usize].clone(),
            Atom::Splat(splat) => Some(Tensor::full(splat.literal, splat.shape.clone())),
        }
    }

    /// The data of an equation's operands.
    pub(crate) fn operands(&self, equation: &Equation) -> Vec<Option<Tensor>> {
        equation.inputs.iter().map(|atom| self.of(atom)).collect()
    }

    /// Keeps the results of an equation.
    pub(crate) fn keep(&mut self, equation: &Equation, results: Option<Vec<Tensor>>) {
        for (var, tensor) in equation.outputs.iter().zip(results.into_iter().flatten()) {
            self.0[var.0 as usize] = Some(tensor);
        }
    }
}

/// The types of an equation's results.
pub(crate) fn result_types(graph: &Graph, equation: &Equation) -> Vec<ArrayType> {
    equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect()
}

/// The primitive that calls a graph.
pub(crate) fn call_of(graph: &Arc<Graph>) -> Prim {
    Call { graph: graph.clone() }.into()
}

/// The graph that a primitive calls, if it does.
pub(crate) fn called(prim: &Prim) -> Option<&Arc<Graph>> {
    match prim {
        Prim::Call(call) => Some(&call.graph),
        _ => None,
    }
}
