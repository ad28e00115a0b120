//! Batching is a loop: each row of the batched results is the result on the rows of the batched operands.

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Example, Graph, eval};
use tracewell_transform::batch;

use super::Outcome;
use super::inputs::wild;
use super::rng::Rng;
use super::same::same;
use super::single::{choices, single, sound};

/// Checks every choice of batched operands, over batches of several, of one and of none.
pub(super) fn check(example: &Example, seed: u64) -> Result<Outcome, String> {
    let graph = single(example)?;
    let choices = choices(&vec![true; graph.inputs.len()]);
    if choices.is_empty() {
        return Ok(Outcome::NotApplicable("it has no operands"));
    }
    let mut rng = Rng::new(seed);
    for batched in choices {
        for size in [3, 1, 0] {
            check_size(&mut rng, &graph, size, &batched)
                .map_err(|e| format!("batching {batched:?} by {size}: {e}"))?;
        }
    }
    Ok(Outcome::Checked)
}

fn check_size(rng: &mut Rng, graph: &Graph, size: usize, batched: &[bool]) -> Result<(), String> {
    let (whole, has_axis) = sound(batch(graph, size, batched), |(g, _)| vec![g])?;
    let inputs = wild(rng, &whole.input_types());
    let found = eval(&whole, &inputs)?;
    for (k, (found, expected)) in found.iter().zip(whole.output_types()).enumerate() {
        if !ArrayType::of(found).matches(&expected) {
            return Err(format!("result {k} is {:?}, typed {expected}", ArrayType::of(found)));
        }
    }
    for row in 0..size {
        let at_row = |t: &Tensor, batched: bool| if batched { t.rows().nth(row) } else { Some(t.clone()) };
        let rows: Vec<Tensor> =
            inputs.iter().zip(batched).filter_map(|(t, &batched)| at_row(t, batched)).collect();
        for (k, expected) in eval(graph, &rows)?.iter().enumerate() {
            let found =
                at_row(&found[k], has_axis[k]).ok_or_else(|| format!("result {k} has no row {row}"))?;
            same(&found, expected).map_err(|e| format!("result {k}, row {row}: {e}"))?;
        }
    }
    Ok(())
}
