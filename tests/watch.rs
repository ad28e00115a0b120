//! Watching programs: the tape, the op trace, pages and dumps. A process of its own, because the op trace is of all
//! threads.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "watch/contexts.rs"]
mod contexts;
#[path = "watch/export.rs"]
mod export;
#[path = "watch/op_trace.rs"]
mod op_trace;
#[path = "watch/queries.rs"]
mod queries;
#[path = "watch/reverse.rs"]
mod reverse;
#[path = "watch/stages.rs"]
mod stages;
#[path = "watch/tape.rs"]
mod tape;
#[path = "watch/update.rs"]
mod update;

use tracewell::prelude::*;
use tracewell::tape::Node;

/// The bits of an array, and its type.
fn bits(array: &Array) -> String {
    let words: Vec<String> = match array.dtype() {
        F32 => array.to_vec::<f32>().unwrap().iter().map(|x| format!("{:08x}", x.to_bits())).collect(),
        F64 => array.to_vec::<f64>().unwrap().iter().map(|x| format!("{:016x}", x.to_bits())).collect(),
        _ => vec![array.to_string()],
    };
    format!("{} {}", array.ty(), words.join(" "))
}

/// The names of the children of a node.
fn names(node: Node<'_>) -> Vec<String> {
    node.children().map(|child| child.name().to_string()).collect()
}
