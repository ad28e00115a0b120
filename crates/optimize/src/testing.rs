//! Trying a pass on a text.

use expect_test::Expect;
use tracewell_graph::text::{NoCustom, read, write};
use tracewell_graph::{Graph, verify};

/// Runs a pass on a function with this head and these lines, and compares the lines that it makes.
pub(crate) fn check(pass: fn(&Graph) -> Graph, head: &str, lines: &str, expected: Expect) {
    let text = format!("func @f{head} {{\n{lines}\n}}\n");
    let graph = read(&text, &NoCustom).unwrap_or_else(|error| panic!("{error}"));
    let result = pass(&graph);
    verify(&result).unwrap_or_else(|errors| panic!("{errors}"));
    let text = write(&result);
    let body: Vec<&str> = text.lines().skip(1).filter(|line| *line != "}").map(str::trim_start).collect();
    expected.assert_eq(&(body.join("\n") + "\n"));
}
