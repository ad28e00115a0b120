//! Tracers that outlive their trace: found when they are used, or, where that is switched on, as soon as the
//! trace ends.
//!
//! A trace that is watched remembers weakly every tracer made in it. Whatever is alive at its end, beyond what
//! its result refers to, was stored somewhere that outlives it.

use std::cell::Cell;

use rustc_hash::FxHashMap;
use tracewell_graph::Var;

use crate::error::{Error, ErrorKind};
use crate::frame::Frame;
use crate::observe::{Event, notify};
use crate::switch::Switch;
use crate::value::{Tracer, Value, WeakTracer};

thread_local! {
    static WATCHING: Cell<usize> = const { Cell::new(0) };
}

/// On where traces that begin on this thread are watched.
pub static WATCH_TRACERS: Switch = Switch::new(&WATCHING);

/// The tracers made in a trace that was watched.
#[derive(Debug, Default)]
pub struct Made {
    pub(crate) tracers: Vec<WeakTracer>,
    /// Names of arguments by their variable.
    pub(crate) arguments: Vec<(Var, String)>,
}

impl Made {
    /// An error if a tracer is still alive though the trace has ended. Those that `held` refers to, the result of
    /// the function, are no matter, unless others refer to them too.
    pub fn check<'v>(&self, held: impl IntoIterator<Item = &'v Value>) -> Result<(), Error> {
        let mut holds: FxHashMap<usize, usize> = FxHashMap::default();
        for tracer in held.into_iter().filter_map(Value::tracer) {
            *holds.entry(tracer.address()).or_default() += 1;
        }
        let escaped: Vec<Tracer> = self
            .tracers
            .iter()
            .filter_map(WeakTracer::upgrade)
            // One more reference is ours, of this moment.
            .filter(|tracer| tracer.references() > 1 + holds.get(&tracer.address()).copied().unwrap_or(0))
            .collect();
        let Some(first) = escaped.first() else { return Ok(()) };
        notify(&Event::Leak { tracer: first });
        Err(self.still_alive(first, escaped.len()))
    }

    fn still_alive(&self, tracer: &Tracer, count: usize) -> Error {
        let message = format!("a traced {} is still alive after its trace has ended", tracer.ty());
        let name = self.arguments.iter().find(|(var, _)| *var == tracer.var()).map(|(_, name)| name.as_str());
        let error = Error::new(ErrorKind::LeakedTracer, message).at(tracer.made().clone());
        let error = error.note(origin(tracer, name));
        let error = match count {
            1 => error,
            count => error.note(format!("{count} traced arrays are still alive, of which it is the first")),
        };
        error
            .note("something that outlives the function refers to it: a captured cell, a static, a channel, a function")
            .help(RETURN_IT)
    }
}

const RETURN_IT: &str = "return the array from the traced function instead of storing it outside";

/// The error for a tracer used after its trace.
pub(crate) fn leaked(tracer: &Tracer) -> Error {
    let message = format!("a traced {} was used after its trace had ended", tracer.ty());
    Error::new(ErrorKind::LeakedTracer, message).note(origin(tracer, None)).help(RETURN_IT)
}

/// The error for a tracer of a trace that is going on elsewhere.
pub(crate) fn foreign(tracer: &Tracer, here: &Frame) -> Error {
    let message = format!("a traced {} was used in {}, another trace", tracer.ty(), here.describe());
    Error::new(ErrorKind::LeakedTracer, message)
        .note(origin(tracer, None))
        .help("give it to the other function as an argument")
}

/// Where a tracer was made, and in which trace.
fn origin(tracer: &Tracer, name: Option<&str>) -> String {
    let frame = tracer.frame();
    let (function, api) = (frame.describe(), frame.api().name());
    match name {
        Some(name) => format!("it is the argument `{name}` of {function}, which was traced for {api}"),
        None if tracer.made() == frame.location() => {
            format!("it is an argument of {function}, which was traced for {api}")
        }
        None => format!("it was made at {}, while tracing {function} for {api}", tracer.made()),
    }
}
