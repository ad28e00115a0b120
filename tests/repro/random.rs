//! Random graphs: recording changes no bit, and a broken step of the compiler is reduced to a few calls.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tests::generate;
use tracewell::__private::{Fault, breaking};
use tracewell::prelude::*;
use tracewell::primitive;
use tracewell_array::{Tensor, with_element};

/// How many graphs are looked at, unless `TRACEWELL_SEEDS` says otherwise.
fn seeds(usual: u64) -> u64 {
    std::env::var("TRACEWELL_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A random program, and what it is called on.
fn program(seed: u64) -> (impl Fn() -> Vec<Array>, String) {
    let (graph, inputs) = generate::graph(seed, 10);
    let text = graph.to_string();
    let inputs: Vec<Array> = inputs.into_iter().map(Array::from).collect();
    (move || jit(|x: &Vec<Array>| primitive::apply(&graph, x)).call(&inputs), text)
}

fn bits(arrays: &[Array]) -> Vec<Tensor> {
    let one = |x: &Array| {
        with_element!(x.dtype(), T => {
            Tensor::from_vec(x.to_vec::<T>().expect("its own type"), x.shape().clone()).expect("its own shape")
        })
    };
    arrays.iter().map(one).collect()
}

#[test]
fn recording_changes_no_bit() {
    let folder = std::env::temp_dir().join(format!("tracewell-random-{}", std::process::id()));
    for seed in 0..seeds(20) {
        let (run, text) = program(seed);
        let plain = bits(&run());
        let (recorded, repro) = repro::collect(&run);
        let armed = repro::writing_to(&folder, &run);
        for (other, how) in [(bits(&recorded), "recorded"), (bits(&armed), "armed")] {
            let same = plain.iter().zip(&other).all(|(a, b)| a.bits_eq(b));
            assert!(same && plain.len() == other.len(), "seed {seed}, {how}\n{text}");
        }
        assert!(repro.failure().is_none() && repro.run().is_reproduced(), "seed {seed}\n{text}");
    }
    assert!(!folder.exists(), "nothing is written for programs that do not fail");
}

#[test]
fn a_broken_step_is_reduced_to_a_few_calls() {
    let (mut found, wanted) = (0, seeds(4));
    for seed in 0..200 * wanted {
        if found == wanted {
            break;
        }
        let fault = [Fault::Lowering, Fault::Fusion, Fault::Tail, Fault::Rewrite][seed as usize % 4];
        let (run, text) = program(seed);
        let checked = || {
            let run = AssertUnwindSafe(|| repro::check_compiled(&run));
            repro::collect(|| catch_unwind(run)).1
        };
        // What is too rough to be compared is no work of the fault.
        let broken = breaking(fault, checked);
        if broken.failure().is_none() || checked().failure().is_some() {
            continue;
        }
        found += 1;
        breaking(fault, || {
            let small = broken.reduce();
            let verdict = small.run();
            assert!(
                verdict.is_reproduced(),
                "seed {seed}, {fault:?}: {verdict:?}\n{}\n{text}",
                small.to_text()
            );
            // What a vector tail is given cannot be a constant, which would leave no loop: what makes it stays.
            let most = if fault == Fault::Tail { 8 } else { 3 };
            let leaves = small.tree().leaves();
            assert!(leaves <= most, "seed {seed}, {fault:?}: {leaves} calls\n{}\n{text}", small.to_text());
        });
    }
    assert_eq!(found, wanted, "too few graphs have what is broken");
}
