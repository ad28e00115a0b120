//! Staging: a Rust function run once on tracers becomes a graph.

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Atom, Graph, Location, Prim, Var};

use crate::api::Api;
use crate::error::Error;
use crate::frame::Frame;
use crate::leak::Made;
use crate::value::Value;

/// An argument of a function to stage.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name: a parameter, with the path of a leaf in it.
    pub name: String,
    /// Its type.
    pub ty: ArrayType,
    /// Its data, where known; a frame that evaluates makes the tracer concrete.
    pub value: Option<Tensor>,
}

/// What staging found.
#[derive(Debug)]
pub struct Staged {
    /// Inputs are the captured values, then the arguments. Effects that happened on the way are not in it.
    pub graph: Graph,
    /// Values of outer traces that the function used; for branches and loops, arrays of the program too.
    pub captured: Vec<Value>,
    /// The data of each variable of `graph`, where it was computed on the way.
    pub values: Vec<Option<Tensor>>,
    /// What was run in the place of equations and computed more than their results.
    pub finer: Vec<Finer>,
    /// Whether a value was asked for that the graph does not determine: the graph must not be cached.
    pub asked: bool,
    /// The tracers made on the way, where that was watched.
    pub made: Option<Made>,
}

/// A primitive that was run in the place of an equation: its first results are those of the equation.
#[derive(Clone, Debug)]
pub struct Finer {
    /// The first result of the equation.
    pub var: Var,
    /// What was run.
    pub prim: Prim,
    /// All its results.
    pub values: Vec<Tensor>,
}

/// Runs `function` on tracers for the arguments; the values it returns become the graph's outputs.
pub fn stage(
    api: Api,
    name: Option<&str>,
    location: &Location,
    arguments: &[Argument],
    function: impl FnOnce(&[Value]) -> Result<Vec<Value>, Error>,
) -> Result<Staged, Error> {
    let open = Frame::open(api, name.map(String::from), location.clone());
    let frame = open.0.clone();
    let tracers: Vec<Value> = arguments
        .iter()
        .map(|a| Value::Traced(frame.argument(a.name.clone(), a.ty.clone(), a.value.clone())))
        .collect();
    let results = function(&tracers)?;
    let outputs: Vec<Atom> = results.iter().map(|r| frame.atom(r)).collect::<Result<_, _>>()?;
    drop(open);
    let mut recording = frame.recording();
    let recording = std::mem::take(&mut *recording);
    let mut made = frame.take_made();
    if let Some(made) = &mut made {
        made.arguments = recording.arguments.clone();
    }
    let captured_vars: Vec<_> = recording.captured.iter().map(|(_, var)| *var).collect();
    let argument_vars = recording.arguments.iter().map(|(var, _)| *var);
    let order: Vec<_> = captured_vars.into_iter().chain(argument_vars).collect();
    // The builder numbers inputs first, then results in order; the recorded data is put in that order too.
    let mut rest = recording.values;
    let mut values: Vec<Option<Tensor>> = Vec::with_capacity(rest.len());
    let mut is_input = vec![false; rest.len()];
    let mut finer = recording.finer;
    for var in &order {
        is_input[var.0 as usize] = true;
        values.push(rest[var.0 as usize].take());
    }
    for finer in &mut finer {
        let before = is_input[..finer.var.0 as usize].iter().filter(|input| !**input).count();
        finer.var = Var((order.len() + before) as u32);
    }
    values.extend(rest.into_iter().zip(is_input).filter(|(_, input)| !input).map(|(value, _)| value));
    let graph_name = name.unwrap_or(api.name());
    let graph = recording.builder.finish_with_inputs(graph_name, &order, outputs);
    // What was evaluated as it was recorded had its effects then.
    let graph = if frame.evaluates() && graph.has_effect() { graph.settled() } else { graph };
    debug_assert_eq!(values.len(), graph.types.len());
    let captured = recording.captured.into_iter().map(|(value, _)| value).collect();
    Ok(Staged { graph, captured, values, finer, asked: frame.was_asked(), made })
}
