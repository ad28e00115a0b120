//! What is recorded for repros changes nothing of what a program computes.

use tracewell::prelude::*;
use tracewell::primitive;
use tracewell_array::{Tensor, with_element};
use tracewell_graph::Graph;

/// A jitted function that does what a graph does, called on these.
pub fn jitted(graph: Graph, inputs: Vec<Tensor>) -> impl Fn() -> Vec<Array> {
    let inputs: Vec<Array> = inputs.into_iter().map(Array::from).collect();
    move || jit(|x: &Vec<Array>| primitive::apply(&graph, x)).call(&inputs)
}

/// An error unless a program that does not fail gives the same bits with the recorder and without, its repro gives no
/// failure, and nothing is written.
pub fn changes_no_bit(run: impl Fn() -> Vec<Array>) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("tracewell-recorded-{}", std::process::id()));
    let plain = bits(&run());
    let (recorded, repro) = repro::collect(&run);
    let armed = repro::writing_to(&folder, &run);
    for (other, how) in [(bits(&recorded), "recorded"), (bits(&armed), "armed")] {
        let same = plain.iter().zip(&other).all(|(a, b)| a.bits_eq(b));
        if !same || plain.len() != other.len() {
            return Err(format!("{how}, its results are others"));
        }
    }
    if repro.failure().is_some() || !repro.run().is_reproduced() {
        return Err("its repro fails".to_string());
    }
    match folder.exists() {
        true => Err("something was written though nothing failed".to_string()),
        false => Ok(()),
    }
}

fn bits(arrays: &[Array]) -> Vec<Tensor> {
    let one = |x: &Array| {
        with_element!(x.dtype(), T => {
            Tensor::from_vec(x.to_vec::<T>().expect("its own type"), x.shape().clone()).expect("its own shape")
        })
    };
    arrays.iter().map(one).collect()
}
