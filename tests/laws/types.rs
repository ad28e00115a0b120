//! The type rule gives the types of eval's results.

use tracewell_graph::{ArrayType, Example};

use super::Outcome;
use super::inputs::wild;
use super::rng::Rng;

/// Checks that evaluation keeps the promise of the type rule, whatever the values.
pub(super) fn check(example: &Example, seed: u64) -> Result<Outcome, String> {
    let rules = example.prim.rules();
    let promised = rules.type_rule(&example.inputs).map_err(|e| e.to_string())?;
    let results = rules.eval(&wild(&mut Rng::new(seed), &example.inputs))?;
    let found: Vec<ArrayType> = results.iter().map(ArrayType::of).collect();
    let agree = found.len() == promised.len() && found.iter().zip(&promised).all(|(f, p)| f.matches(p));
    if agree { Ok(Outcome::Checked) } else { Err(format!("eval gave {found:?}, the type rule {promised:?}")) }
}
