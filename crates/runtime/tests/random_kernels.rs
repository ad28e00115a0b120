//! Random kernels as machine code and by evaluation.

mod common;

use common::{Machine, check};
use tracewell_codegen::Target;
use tracewell_kernel::generate;

fn compare(target: &Target, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let case = generate::kernel(seed);
        check(&Machine::new(&case.kernel, target), &case.inputs, &case.sizes);
    }
}

/// How many kernels to try: `TRACEWELL_SEEDS`, few by default.
fn seeds(few: u64) -> u64 {
    std::env::var("TRACEWELL_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

#[test]
fn host() {
    compare(Target::host(), 0..seeds(400));
}

#[test]
fn loops() {
    for target in common::other_widths().iter().chain([Target::host()]) {
        for seed in 0..seeds(300) {
            let case = generate::loops(seed);
            check(&Machine::new(&case.kernel, target), &case.inputs, &case.sizes);
        }
    }
}

#[test]
fn other_widths() {
    for target in common::other_widths() {
        compare(&target, 0..seeds(120));
    }
}

#[test]
fn baseline() {
    compare(&Target::named(&[]).expect("the baseline"), 1_000_000..1_000_000 + seeds(60));
}
