//! What goes by rows gives for some rows what it gives for all.

use tracewell_array::Tensor;
use tracewell_graph::{Example, eval, some_rows};

use super::Outcome;
use super::inputs::wild;
use super::rng::Rng;
use super::same::same;
use super::single::{single, sound};

/// Checks every way to cut the rows of a result evenly.
pub(super) fn check(example: &Example, seed: u64) -> Result<Outcome, String> {
    let graph = single(example)?;
    let types = graph.output_types();
    let [out] = types.as_slice() else { return Ok(Outcome::NotApplicable("it has several results or none")) };
    let all = out.shape.iter().next().unwrap_or(0);
    let inputs = wild(&mut Rng::new(seed), &graph.input_types());
    let whole = &eval(&graph, &inputs)?[0];
    let mut outcome = Outcome::NotApplicable("its rows cannot be cut, or meet in it");
    for rows in (1..all).filter(|&rows| all.is_multiple_of(rows)) {
        let Some(some) = some_rows(&graph, [], &[true], [all, rows]) else {
            let rules = example.prim.rules();
            if !example.prim.has_effect() && rules.of_rows(&example.inputs, out, rows).is_some() {
                return Err(format!("its rule says how to make {rows} of {all} rows, and that is not typed"));
            }
            continue;
        };
        let some = sound(Ok(some), |some| vec![&some.graph])?;
        for first in (0..all).step_by(rows) {
            let given = inputs.iter().zip(&some.inputs);
            let given: Vec<Tensor> = given
                .map(|(x, &has)| if has { part(x, first, rows) } else { Ok(x.clone()) })
                .collect::<Result<_, _>>()?;
            same(&eval(&some.graph, &given)?[0], &part(whole, first, rows)?)
                .map_err(|e| format!("rows {first} to {} of {all}: {e}", first + rows))?;
        }
        outcome = Outcome::Checked;
    }
    Ok(outcome)
}

/// Some rows of an array.
fn part(tensor: &Tensor, first: usize, rows: usize) -> Result<Tensor, String> {
    let shape = tensor.shape().with(0, rows);
    let row = shape.len() / rows;
    let literals: Vec<_> = tensor.literals().skip(first * row).take(rows * row).collect();
    Tensor::from_literals(tensor.dtype(), shape, &literals).map_err(|e| e.to_string())
}
