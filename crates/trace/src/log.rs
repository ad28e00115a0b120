//! An observer that writes events as indented lines: for tests, and for people who want to see.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use tracewell_graph::Location;

use crate::observe::{Event, Observer};
use crate::value::Value;

/// Collects one line an event.
#[derive(Debug, Default)]
pub struct EventLog {
    state: Mutex<(String, usize)>,
}

impl EventLog {
    /// An empty log.
    pub fn new() -> EventLog {
        EventLog::default()
    }

    /// The lines so far.
    pub fn text(&self) -> String {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

fn types<'v>(values: impl IntoIterator<Item = &'v Value>) -> String {
    let one = |value: &Value| match value {
        Value::Traced(tracer) if tracer.value().is_some() => format!("concrete {}", value.ty()),
        Value::Traced(_) => format!("traced {}", value.ty()),
        Value::Known(..) => value.ty().to_string(),
        Value::Splat(splat) => format!("{}:{}", splat.literal, splat.ty()),
    };
    values.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Only the file's name: where a checkout lies is of no interest.
fn place(location: &Location) -> String {
    let file = location.file.rsplit(['/', '\\']).next().unwrap_or(&location.file);
    format!("{file}:{}", location.line)
}

impl Observer for EventLog {
    fn observe(&self, event: &Event<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, depth) = &mut *state;
        if matches!(event, Event::ApiExit { .. } | Event::FunctionExit { .. } | Event::TracedExit { .. }) {
            *depth = depth.saturating_sub(1);
        }
        let line = match event {
            // Of no interest to people: the functions and APIs tell more.
            Event::Parameter { .. } | Event::Option { .. } | Event::Run { .. } | Event::Executed { .. } => {
                return;
            }
            Event::TracedEnter { function, called, location } => {
                format!("traced {function}({}) at {}", types(called.values()), place(location))
            }
            Event::TracedExit { results: Some(results) } => format!("traced = {}", types(results.leaves())),
            Event::TracedExit { results: None } => "traced failed".to_string(),
            Event::ApiEnter { api, function, called, location } => format!(
                "{} {}({}) at {}",
                api.name(),
                function.unwrap_or("closure"),
                types(called.values()),
                place(location)
            ),
            Event::ApiExit { api, results: Ok(results) } => {
                format!("{} = {}", api.name(), types(results.leaves()))
            }
            Event::ApiExit { api, results: Err(Some(error)) } => {
                format!("{} failed: {}", api.name(), error.message())
            }
            Event::ApiExit { api, results: Err(None) } => format!("{} failed", api.name()),
            Event::FunctionEnter { function, arguments, .. } => {
                format!("enter {}({})", function.unwrap_or("closure"), types(*arguments))
            }
            Event::FunctionExit { results: Some(results) } => format!("return {}", types(results.leaves())),
            Event::FunctionExit { results: None } => "fail".to_string(),
            Event::Bind { prim, operands, results, known, location } => format!(
                "{}{} {} -> {} at {}",
                if *known { "known " } else { "" },
                prim.name(),
                types(*operands),
                types(*results),
                place(location)
            ),
            // What is known anyway is of no interest either.
            Event::AskValue { value, .. } if value.tracer().is_none() => return,
            Event::AskValue { value, location, .. } => format!("ask {} at {}", value.ty(), place(location)),
            Event::UseKey { location, .. } => format!("use key at {}", place(location)),
            Event::Raise { error } => format!("raise {:?}: {}", error.kind(), error.message()),
            Event::Panic { text } => format!("panic: {}", text.unwrap_or("not text")),
            Event::Leak { tracer } => format!("leak {}", tracer.ty()),
            Event::ReturnedFunction { api, .. } => format!("{} returns a function", api.name()),
            Event::CacheHit { function, location } => format!("cache hit {function} at {}", place(location)),
        };
        let indent = *depth * 2;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:indent$}{line}", "");
        if matches!(event, Event::ApiEnter { .. } | Event::FunctionEnter { .. } | Event::TracedEnter { .. }) {
            *depth += 1;
        }
    }
}
