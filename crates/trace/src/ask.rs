//! Asking for data on a user's behalf: allowed for known and concrete values, a teaching error for abstract ones.

use std::collections::BTreeSet;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Location, Var};

use crate::api::Api;
use crate::error::{Cause, Error, ErrorKind};
use crate::frame::{Frame, current};
use crate::leak::leaked;
use crate::observe::{Event, notify};
use crate::value::{Tracer, Value};

/// The data of a value, as asked by a user's line through `what` (such as `item()`).
pub fn ask(value: &Value, what: &str, location: &Location) -> Result<Tensor, Error> {
    let Value::Traced(tracer) = value else {
        notify(&Event::AskValue { value, what, location });
        return value.known().ok_or_else(|| Error::bug("an untraced value has no data"));
    };
    let asked =
        |error: Error| error.caused_by(|| Cause::Ask { value: value.clone(), what: what.to_string() });
    if tracer.frame().is_closed() && tracer.value().is_none() {
        notify(&Event::Leak { tracer });
        return Err(asked(leaked(tracer)));
    }
    let Some(data) = tracer.value() else { return Err(asked(abstract_value(tracer, what))) };
    // Every frame being recorded now may go another way for another value, so none may be cached.
    if let Some(inner) = current() {
        inner.set_asked_through();
    }
    notify(&Event::AskValue { value, what, location });
    Ok(data.clone())
}

/// The error for asking an abstract tracer: the arguments it depends on and by which lines, and the ways out.
fn abstract_value(tracer: &Tracer, what: &str) -> Error {
    let api = tracer.frame().hides_values();
    // A weak type is of no interest here.
    let ty = ArrayType { weak: false, ..tracer.ty().clone() };
    let message = format!(
        "`{what}` asked for the value of a traced {ty}, which is not known while tracing for {}",
        api.name()
    );
    let mut origin = Origin::default();
    origin.follow(tracer.frame(), tracer.var());
    let error = Error::new(ErrorKind::AbstractValue, message).note(origin.describe());
    if origin.arguments.is_empty() {
        return error.help("compute it before, outside of the traced function, and capture the result");
    }
    if what != "item()" {
        return error.help("return the array from the traced function and ask outside");
    }
    let keep = match api {
        Api::Jit | Api::Lower => "mark the argument it depends on `#[static_arg]`, or move it outside",
        Api::Vmap => "call the function for each example in a loop",
        _ => "move it outside of the traced function",
    };
    error
        .help("to choose by value inside a traced function use `select` or `cond`; to repeat by value, `while_loop`")
        .help(format!("to keep a Rust `if` or loop, {keep}"))
}

/// How many lines between the arguments and a value are named; those nearest to the value.
const LINES: usize = 5;

/// What a value was made from.
#[derive(Default)]
struct Origin {
    /// The names of the arguments.
    arguments: Vec<String>,
    /// The lines between, in the order in which they ran, each once and with the last primitive it bound.
    lines: Vec<(Location, String)>,
}

impl Origin {
    /// In words: the arguments, and the lines nearest to the value.
    fn describe(&self) -> String {
        let names: Vec<String> = self.arguments.iter().map(|name| format!("`{name}`")).collect();
        let count = self.lines.len();
        let skipped = count.saturating_sub(LINES);
        let which = if skipped > 0 { format!(", the last {LINES} of {count}") } else { String::new() };
        let mut text = match names.as_slice() {
            [] => format!("it depends on no argument, and was made by these lines{which}"),
            [name] if count == 0 => return format!("it is the argument {name}"),
            [name] => format!("it depends on the argument {name} by these lines{which}"),
            names => format!("it depends on the arguments {} by these lines{which}", names.join(", ")),
        };
        for (location, primitive) in &self.lines[skipped..] {
            text.push_str(&format!("\n{location} ({primitive})"));
        }
        text
    }

    /// Adds what a variable was made from, traces around its own first.
    fn follow(&mut self, frame: &Frame, var: Var) {
        let recording = frame.recording();
        let mut needed = BTreeSet::from([var]);
        let mut lines: Vec<(Location, String)> = Vec::new();
        for equation in recording.builder.equations().iter().rev() {
            if !equation.outputs.iter().any(|v| needed.contains(v)) {
                continue;
            }
            needed.extend(equation.inputs.iter().filter_map(|a| a.var()));
            // A constant has no line of its own.
            if let Some(location) = &equation.location
                && !equation.inputs.is_empty()
                && lines.iter().all(|(known, _)| known != location)
            {
                lines.push((location.clone(), equation.prim.name().to_string()));
            }
        }
        let is_needed = |var: &Var| needed.contains(var);
        let arguments: Vec<String> =
            recording.arguments.iter().filter(|(v, _)| is_needed(v)).map(|(_, name)| name.clone()).collect();
        let captured = recording.captured.iter().filter(|(_, v)| is_needed(v));
        let captured: Vec<Tracer> = captured.filter_map(|(value, _)| value.tracer().cloned()).collect();
        drop(recording);
        captured.iter().for_each(|tracer| self.follow(tracer.frame(), tracer.var()));
        for name in arguments {
            if !self.arguments.contains(&name) {
                self.arguments.push(name);
            }
        }
        self.lines.extend(lines.into_iter().rev());
    }
}
