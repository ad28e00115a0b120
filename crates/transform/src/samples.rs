//! What the unit tests share: graphs from texts and back.

use tracewell_graph::{Graph, text, verify};

/// The graph of a text.
#[track_caller]
pub(crate) fn read(text: &str) -> Graph {
    text::read(text, &text::NoCustom).unwrap_or_else(|error| panic!("{error}"))
}

/// The text of a graph that must be well-formed.
#[track_caller]
pub(crate) fn write(graph: &Graph) -> String {
    verify(graph).unwrap_or_else(|errors| panic!("{errors:?}\n{graph}"));
    text::write(graph)
}
