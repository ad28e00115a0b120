//! `jvp` and `linearize` leave the value alone: their primal results are those of eval, bit for bit.

use tracewell_array::Tensor;
use tracewell_graph::{Example, eval};
use tracewell_transform::{jvp, linearize};

use super::Outcome;
use super::inputs::wild;
use super::rng::Rng;
use super::same::same;
use super::single::{choices, floats, refuses_derivative, single, sound};

/// Checks every choice of varying operands, and none.
pub(super) fn check(example: &Example, seed: u64) -> Result<Outcome, String> {
    let graph = single(example)?;
    let mut rng = Rng::new(seed);
    let x = wild(&mut rng, &graph.input_types());
    let expected = eval(&graph, &x)?;
    for active in choices(&floats(example)).into_iter().chain([vec![false; x.len()]]) {
        if refuses_derivative(&graph, &active) {
            continue;
        }
        let (derivative, _) = sound(jvp(&graph, &active), |(g, _)| vec![g])?;
        let tangents = wild(&mut rng, &derivative.input_types()[x.len()..]);
        let together = eval(&derivative, &x.iter().cloned().chain(tangents).collect::<Vec<_>>())?;
        let split = sound(linearize(&graph, &active), |s| vec![&s.primal, &s.linear])?;
        let apart = eval(&split.primal, &x)?;
        for (name, made, found) in [("jvp", &derivative, &together), ("linearize", &split.primal, &apart)] {
            // Weakness included: what a derivative returns is promoted as the value would have been.
            if made.output_types()[..expected.len()] != graph.output_types() {
                let (made, types) = (made.output_types(), graph.output_types());
                return Err(format!("{name} varying {active:?} is typed {made:?}, the value {types:?}"));
            }
            equal(found, &expected).map_err(|e| format!("{name} varying {active:?}, {e}"))?;
        }
    }
    Ok(Outcome::Checked)
}

fn equal(found: &[Tensor], expected: &[Tensor]) -> Result<(), String> {
    if found.len() < expected.len() {
        return Err(format!("{} results where {} are due", found.len(), expected.len()));
    }
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        same(found, expected).map_err(|e| format!("result {k}: {e}"))?;
    }
    Ok(())
}
