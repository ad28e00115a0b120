//! Asking for data on a user's behalf: allowed for known and concrete values, a teaching error for abstract ones.

use tracewell_array::Tensor;
use tracewell_graph::Location;

use crate::error::{Error, ErrorKind};
use crate::frame::{Frame, current, leaked};
use crate::observe::{Event, notify};
use crate::value::{Tracer, Value};

/// The data of a value, as asked by a user's line through `what` (such as `item()`).
pub fn ask(value: &Value, what: &str, location: &Location) -> Result<Tensor, Error> {
    let Value::Traced(tracer) = value else {
        return value.known().ok_or_else(|| Error::bug("an untraced value has no data"));
    };
    if tracer.frame().is_closed() && tracer.value().is_none() {
        notify(&Event::Leak { tracer });
        return Err(leaked(tracer));
    }
    let Some(data) = tracer.value() else { return Err(abstract_value(tracer, what)) };
    // Every frame being recorded now may go another way for another value, so none may be cached.
    if let Some(inner) = current() {
        inner.set_asked_through();
    }
    notify(&Event::AskValue { tracer, location });
    Ok(data.clone())
}

/// The error for asking an abstract tracer: the argument it came from, and the ways out.
fn abstract_value(tracer: &Tracer, what: &str) -> Error {
    let frame = tracer.frame();
    let origin = match frame.argument_name(tracer.var()) {
        Some(name) => format!("it is the argument `{name}`"),
        None => {
            let names = frame.dependencies(tracer.var());
            let from = if names.is_empty() { "no argument".to_string() } else { quoted(&names) };
            format!("it was made at {} and depends on {from}", tracer.made())
        }
    };
    Error::new(
        ErrorKind::AbstractValue,
        format!(
            "`{what}` asked for the value of Traced<{}>, which is not known while {} is traced for {}",
            tracer.ty(),
            frame.describe(),
            frame.api().name()
        ),
    )
    .help(origin)
    .help("to choose by value inside a traced function use `select`")
    .help("to keep a Rust `if`, mark the argument `#[static_arg]`, or move the `if` outside")
}

fn quoted(names: &[String]) -> String {
    let all: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    all.join(", ")
}

impl Frame {
    /// The names of the arguments that a variable depends on.
    pub fn dependencies(&self, var: tracewell_graph::Var) -> Vec<String> {
        let recording = self.recording();
        let mut needed = std::collections::BTreeSet::from([var]);
        for equation in recording.builder.equations().iter().rev() {
            if equation.outputs.iter().any(|v| needed.contains(v)) {
                needed.extend(equation.inputs.iter().filter_map(|a| a.var()));
            }
        }
        let of = |(v, name): &(tracewell_graph::Var, String)| needed.contains(v).then(|| name.clone());
        recording.arguments.iter().filter_map(of).collect()
    }
}
