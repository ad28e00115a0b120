//! An op trace for `chrome://tracing`, Perfetto and the like.

use super::OpTrace;
use crate::json;

impl OpTrace {
    /// As JSON of Chrome's trace events: calls and ops by thread, with types and lines.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let trace = tracing_ops(TraceOptions::default(), || Array::from(2.0f32).sqrt()).1.unwrap();
    /// assert!(trace.to_chrome().contains(r#""name":"sqrt","cat":"op","ph":"X""#));
    /// ```
    pub fn to_chrome(&self) -> String {
        let micros = |nanoseconds: u64| format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
        let event = |name: &str, cat: &str, start: u64, time: u64, thread: usize, args: String| {
            json::object([
                ("name", Some(json::string(name))),
                ("cat", Some(json::string(cat))),
                ("ph", Some(json::string("X"))),
                ("ts", Some(micros(start))),
                ("dur", Some(micros(time))),
                ("pid", Some("1".to_string())),
                ("tid", Some(thread.to_string())),
                ("args", Some(args)),
            ])
        };
        let calls = self.calls.iter().map(|call| {
            let line = call.location.as_ref().map(|location| json::string(&location.to_string()));
            event(
                &call.what,
                "call",
                call.start,
                call.nanoseconds.unwrap_or(0),
                call.thread,
                json::object([("line", line)]),
            )
        });
        let ops = self.ops().map(|op| {
            let record = op.record;
            let types: Vec<String> = record.types.iter().map(ToString::to_string).collect();
            let args = json::object([
                ("types", Some(json::string(&types.join(", ")))),
                ("bytes", Some(bytes(&record.types).to_string())),
                ("line", Some(json::string(&record.location.to_string()))),
            ]);
            event(op.name(), "op", record.start, record.nanoseconds, record.thread, args)
        });
        json::object([("traceEvents", Some(json::list(calls.chain(ops))))]) + "\n"
    }
}

/// How many bytes results of these types have.
pub(super) fn bytes(types: &[tracewell_graph::ArrayType]) -> usize {
    types.iter().map(|ty| ty.shape.len() * ty.dtype.size()).sum()
}
