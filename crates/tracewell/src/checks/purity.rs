//! `checking_purity`: jitted functions are staged twice, and both graphs must be the same.

use std::cell::Cell;

use tracewell_graph::text::{Line, write_line};
use tracewell_graph::{Equation, Graph, Location};
use tracewell_trace::{Error, ErrorKind, Switch};

use super::RETRACE;
use crate::key::Key;
use crate::tree::Tree;

thread_local! {
    static CHECKING: Cell<usize> = const { Cell::new(0) };
}

/// On where jitted functions are staged twice.
pub(crate) static CHECK_PURITY: Switch = Switch::new(&CHECKING);

/// Runs `f`; a jitted function whose graph is another when it is traced a second time is an error that names the
/// first equation that differs, and its line.
///
/// A jitted function runs when it is traced and not at each call, so that its graph may depend on nothing but its
/// arguments: not on a counter, the time, a random number or state that it changes. Inside, every call traces the
/// function again and compares the graph with that in the cache, or with one of a second trace if there is none.
/// What a function does besides without a trace in its graph, such as printing, is not found. The check holds for
/// calls on the current thread.
///
/// ```
/// use std::cell::Cell;
/// use tracewell::prelude::*;
///
/// let calls = Cell::new(0);
/// let f = jit(|x: &Array| -> Result<Array> {
///     calls.set(calls.get() + 1);
///     Ok(x * calls.get())
/// });
/// let error = checking_purity(|| f.call(&Array::from([1.0f32]))).unwrap_err();
/// assert_eq!(error.message(), "a closure was traced twice for the same types, and equation 0 differs");
/// ```
pub fn checking_purity<R>(f: impl FnOnce() -> R) -> R {
    RETRACE.on(|| CHECK_PURITY.on(f))
}

/// What one trace of a function came to.
pub(crate) struct Seen<'g> {
    graph: &'g Graph,
    /// The structure of its result.
    result: Key,
}

impl<'g> Seen<'g> {
    pub(crate) fn new<Y: Tree>(graph: &'g Graph, result: &Y) -> Seen<'g> {
        let mut key = Key::new();
        result.structure(&mut key);
        Seen { graph, result: key }
    }
}

/// An error if two traces of a function for the same types came to different things.
pub(crate) fn compare(function: Option<&str>, first: &Seen<'_>, then: &Seen<'_>) -> Result<(), Error> {
    let Some(difference) = difference(first, then) else { return Ok(()) };
    let function = function.map_or("a closure".to_string(), |name| format!("`{name}`"));
    let what = match difference {
        Some(Line::Equation(number)) => format!("equation {number} differs"),
        Some(Line::Signature) => "what they capture differs".to_string(),
        Some(Line::Return) | None => "their results differ".to_string(),
    };
    let message = format!("{function} was traced twice for the same types, and {what}");
    let error = Error::new(ErrorKind::Impure, message);
    let error = match difference {
        Some(line) => {
            error.note(format!("first: {}\nthen:  {}", text(first.graph, line), text(then.graph, line)))
        }
        None => error.note("the structure of the result, or a static value in it, is another"),
    };
    let place =
        difference.and_then(|line| location(then.graph, line).or_else(|| location(first.graph, line)));
    let error = place.into_iter().fold(error, Error::at);
    Err(error
        .note("it runs when it is traced, not at each call: what it reads besides its arguments is held constant")
        .help("pass what changes as an argument: an `Array`, a `Scalar`, or a `#[static_arg]`"))
}

/// The first line that differs, if any does; without a line, where only the structure of the results differs.
fn difference(first: &Seen<'_>, then: &Seen<'_>) -> Option<Option<Line>> {
    let (a, b) = (first.graph, then.graph);
    if a.input_types() != b.input_types() {
        return Some(Some(Line::Signature));
    }
    let same = |(x, y): (&Equation, &Equation)| x == y && x.outputs.iter().all(|&var| a.ty(var) == b.ty(var));
    let count = a.equations.iter().zip(&b.equations).take_while(|&pair| same(pair)).count();
    if count < a.equations.len().max(b.equations.len()) {
        return Some(Some(Line::Equation(count)));
    }
    if a.outputs != b.outputs {
        return Some(Some(Line::Return));
    }
    (first.result != then.result).then_some(None)
}

fn text(graph: &Graph, line: Line) -> String {
    match line {
        Line::Equation(number) if number >= graph.equations.len() => write_line(graph, Line::Return),
        line => write_line(graph, line),
    }
}

/// The user's line of an equation. A constant has none of its own, so that it is that of its first use.
fn location(graph: &Graph, line: Line) -> Option<Location> {
    let Line::Equation(number) = line else { return None };
    let equation = graph.equations.get(number)?;
    if !equation.inputs.is_empty() {
        return equation.location.clone();
    }
    let uses = |user: &&Equation| {
        user.inputs.iter().filter_map(|atom| atom.var()).any(|var| equation.outputs.contains(&var))
    };
    let user = graph.equations.iter().find(uses);
    user.unwrap_or(equation).location.clone()
}
