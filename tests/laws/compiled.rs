//! Compiled is evaluated: machine code gives what eval gives, whichever passes run and however kernels are shared;
//! and it gives what the evaluator of the kernel language gives for the same program, bit for bit.

use tracewell_array::Tensor;
use tracewell_graph::{Example, eval};
use tracewell_kernel::FftKind;

use super::Outcome;
use super::allowance::Allowance;
use super::inputs::{Region, gentle, wild};
use super::rng::Rng;
use super::same::same;
use super::single::single;
use crate::differential::{Compiled, WAYS};

/// Checks every way to compile, on ordinary numbers and on wild ones.
pub(super) fn check(example: &Example, seed: u64) -> Result<Outcome, String> {
    let graph = single(example)?;
    let mut rng = Rng::new(seed);
    let types = graph.input_types();
    let points = [gentle(&mut rng, &types, Region::Signed), wild(&mut rng, &types), wild(&mut rng, &types)];
    let mut tried: Vec<Compiled> = Vec::new();
    for way in WAYS {
        let compiled = Compiled::new(&graph, way).map_err(|e| format!("{way}: {e}"))?;
        // On one equation most ways give the same program, which need not run again.
        if tried.iter().any(|other| other.program() == compiled.program()) {
            continue;
        }
        for x in &points {
            let check = || {
                let found = compiled.run(x)?;
                let allowance = Allowance::at(example, &graph, x)?;
                allowance.judge(&found, &eval(&graph, x)?)?;
                same_program(&compiled, x, &found)
            };
            check().map_err(|e| format!("{way}, on {x:?}: {e}\n{}", compiled.program()))?;
        }
        tried.push(compiled);
    }
    Ok(Outcome::Checked)
}

/// That machine code computes what its program says. The order of additions inside `gemm` and `fft` is the library's, and
/// so are the steps of factorizations.
fn same_program(compiled: &Compiled, inputs: &[Tensor], found: &[Tensor]) -> Result<(), String> {
    // The text of a program is all there is to it.
    let text = compiled.program().to_string();
    let of_library = ["gemm f", "cholesky", "triangular_solve", "lu", "qr", "svd", "eig"];
    let calls = FftKind::ALL.iter().any(|kind| text.contains(&format!("call {} ", kind.name())));
    if calls || of_library.iter().any(|name| text.contains(&format!("call {name}"))) {
        return Ok(());
    }
    for (k, (found, expected)) in found.iter().zip(compiled.evaluate(inputs)?).enumerate() {
        same(found, &expected).map_err(|e| format!("result {k} against the evaluated program: {e}"))?;
    }
    Ok(())
}
