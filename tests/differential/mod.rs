//! Graphs run both ways: compiled to machine code, and evaluated by the oracle.
//!
//! What can go wrong on the way is one text: a stage that refuses a graph, a panic, results that disagree. The
//! law of compilation asks for exact results on one equation; here are whole graphs, which agree up to rounding.

mod count;
mod report;
mod way;
mod wide;

pub use count::uses;
pub use report::{Seeded, report};
pub use way::{Compiled, WAYS, Way};
pub use wide::error;

use std::panic::{AssertUnwindSafe, catch_unwind};

use tracewell_array::Tensor;
use tracewell_graph::text::{NoCustom, read, write_with_locations};
use tracewell_graph::{Graph, eval};

use crate::generate::{agree, eval_coarsely, eval_roughly, eval_with_other_nans};

/// So many other roundings are tried before a difference counts.
const ROUNDINGS: u64 = 32;

/// What is known of a graph whose compiled results are those of the evaluator.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Agreement {
    /// Results that were not compared, because other roundings of the evaluator change them just as much: among
    /// thousands of random graphs there are some in which `3.0` meets `2.9999999`.
    pub skipped: usize,
    /// How far the results are from those of the graph in `f64`: see [`error()`].
    pub error: Option<f64>,
}

/// Whether a graph, compiled and run in one way, gives what the evaluator gives; the error says how it does not.
pub fn check(graph: &Graph, inputs: &[Tensor], way: Way) -> Result<Agreement, String> {
    guarded(|| {
        let expected = eval(graph, inputs)?;
        let found = Compiled::new(graph, way)?.run(inputs)?;
        let mut agreement = Agreement { skipped: 0, error: error(graph, inputs, &found) };
        let whole = agree(graph, &found, &expected);
        if whole.is_ok() || found.len() != expected.len() {
            return whole.map(|()| agreement);
        }
        for (output, (found, expected)) in graph.outputs.iter().zip(found.iter().zip(&expected)) {
            let alone = Graph { outputs: vec![output.clone()], ..graph.clone() };
            let (found, expected) = (std::slice::from_ref(found), std::slice::from_ref(expected));
            let sensitive = |noise: u64| {
                let rough = [eval_roughly, eval_with_other_nans, eval_coarsely];
                rough.iter().any(|eval| agree(&alone, &eval(&alone, inputs, noise), expected).is_err())
            };
            if agree(&alone, found, expected).is_err() {
                if !(1..=ROUNDINGS).any(sensitive) {
                    return whole.map(|()| agreement);
                }
                agreement.skipped += 1;
            }
        }
        Ok(agreement)
    })
}

/// Whether the text of a graph reads back as the same graph and the same text.
pub fn check_text(graph: &Graph) -> Result<(), String> {
    guarded(|| {
        let text = write_with_locations(graph);
        let again = read(&text, &NoCustom).map_err(|error| format!("its text does not read: {error}"))?;
        if again != *graph || write_with_locations(&again) != text {
            return Err("its text reads back as another graph".to_owned());
        }
        Ok(())
    })
}

/// Makes a panic an error like any other.
fn guarded<T>(f: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a text")))
    })
}
