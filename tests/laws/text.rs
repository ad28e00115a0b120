//! The text of an equation reads back as the equation: what graphs are stored in and repros are made of.

use tracewell_graph::text::{Resolve, read, write_with_locations};
use tracewell_graph::{Example, ParamValue, Prim};

use super::Outcome;
use super::single::single;

/// Checks that reading what was written gives the same graph, which is written in the same way.
pub(super) fn check(example: &Example, _: u64) -> Result<Outcome, String> {
    let graph = single(example)?;
    let text = write_with_locations(&graph);
    let again = read(&text, &Only(&example.prim)).map_err(|e| format!("its text does not read: {e}"))?;
    if again != graph {
        return Err(format!("its text reads back as another graph:\n{text}"));
    }
    if write_with_locations(&again) != text {
        return Err(format!("what is read is written in another way:\n{text}"));
    }
    Ok(Outcome::Checked)
}

/// Knows the example's own primitive, if it is not built in.
struct Only<'p>(&'p Prim);

impl Resolve for Only<'_> {
    fn resolve(&self, name: &str, params: &[(String, ParamValue)]) -> Option<Prim> {
        let mut own = Vec::new();
        self.0.rules().each_param(&mut |name, value| own.push((name.to_string(), value)));
        (name == self.0.name() && own == params).then(|| self.0.clone())
    }
}
