//! Random graphs: recording changes no bit, and a broken step of the compiler is reduced to a few calls.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tests::generate;
use tests::recorded::{changes_no_bit, jitted};
use tracewell::__private::{Fault, breaking, has_wide_vectors};
use tracewell::prelude::*;
use tracewell::primitive::apply;

/// How many graphs are looked at, unless `TRACEWELL_SEEDS` says otherwise.
fn seeds(usual: u64) -> u64 {
    std::env::var("TRACEWELL_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn recording_changes_no_bit() {
    for seed in 0..seeds(20) {
        let (graph, inputs) = generate::graph(seed, 10);
        let text = graph.to_string();
        changes_no_bit(jitted(graph, inputs)).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
    }
}

/// The steps that can be broken on this machine.
fn faults() -> Vec<Fault> {
    let mut all = vec![Fault::Lowering, Fault::Fusion, Fault::Tail, Fault::Rewrite];
    all.extend(has_wide_vectors().then_some(Fault::Wide));
    all
}

#[test]
fn a_broken_step_is_reduced_to_a_few_calls() {
    let wanted = seeds(1);
    for fault in faults() {
        let found = (0..100 * wanted).filter(|&seed| is_reduced(seed, fault)).take(wanted as usize).count();
        assert_eq!(found as u64, wanted, "too few graphs have what is broken by {fault:?}");
    }
}

/// Whether a fault breaks a random program: then that is reduced to three calls at most.
fn is_reduced(seed: u64, fault: Fault) -> bool {
    let (graph, inputs) = generate::graph(seed, 10);
    let text = graph.to_string();
    let inputs: Vec<Array> = inputs.into_iter().map(Array::from).collect();
    let f = jit(|x: &Vec<Array>| {
        let mut y = apply(&graph, x);
        // Hardly ever is something negated twice by chance.
        if let (Fault::Rewrite, Some(y)) = (fault, y.iter_mut().find(|y| y.dtype() == F32)) {
            *y = -(-&*y);
        }
        y
    });
    let checked = || {
        let run = AssertUnwindSafe(|| repro::check_compiled(|| f.call(&inputs)));
        repro::collect(|| catch_unwind(run)).1
    };
    // What is too rough to be compared is no work of the fault.
    let broken = breaking(fault, checked);
    if broken.failure().is_none() || checked().failure().is_some() {
        return false;
    }
    let small = breaking(fault, || broken.reduce());
    let verdict = breaking(fault, || small.run());
    let what = format!("seed {seed}, {fault:?}");
    assert!(verdict.is_reproduced(), "{what}: {verdict:?}\n{}\n{text}", small.to_text());
    let leaves = small.tree().leaves();
    assert!(leaves <= 3, "{what}: {leaves} calls\n{}\n{text}", small.to_text());
    true
}
