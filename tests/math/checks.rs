//! The math functions keep what they state: at their worst arguments, along a stride over all, and in `f64`.

use std::fmt::Write as _;

use tests::math::{
    Reference, Seen, Tally, Walk, error_f32, error_f64, f64_error, f64_error_evaluated, points, show, worst,
};
use tracewell_kernel::math::FUNCTIONS;

/// Not a multiple of two, so that last digits differ; prime, so that nothing else repeats.
const STRIDE: usize = 2_003;

/// Something to do when a number is not what the page says.
const WAY_OUT: &str = "the expansion has changed: `cargo xtask exhaustive` measures it again";

/// The evaluator gives the same errors as machine code, and both those that were found when all arguments were
/// walked.
#[test]
fn worst_arguments() {
    let page = include_str!("../../docs/math.md");
    let mut report = String::new();
    for function in FUNCTIONS {
        let name = function.name;
        let stored = worst(name).unwrap_or_else(|| panic!("{name} was never walked"));
        let walk = Walk::new(function).expect("functions compile");
        let (mut compiled, mut evaluated) = (Tally::default(), Tally::default());
        walk.run(stored.bits.iter().copied(), &mut compiled).expect("machine code runs");
        walk.evaluate(stored.bits.iter().copied(), &mut evaluated).expect("kernels evaluate");
        assert_eq!(compiled, evaluated, "{name}");
        let (error, bits) = compiled.largest().unwrap_or_default();
        if error > function.ulp[0] {
            let at = show(function, bits);
            writeln!(report, "{name}: {error:.3} ulp, stated {}, at {at}", function.ulp[0]).expect("a text");
        }
        let same = format!("{error:.3}") == stored.error && stored.bits.first() == Some(&bits);
        if stored.complete && !same {
            writeln!(report, "{name}: {error:.3} ulp, found {}: {WAY_OUT}", stored.error).expect("a text");
        }
        if !page.contains(&format!("\n| `{name}` | {} |", stored.error)) {
            writeln!(report, "{name}: docs/math.md does not say {}: {WAY_OUT}", stored.error)
                .expect("a text");
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// No error is larger than the largest that was found when all arguments were walked.
#[test]
fn a_stride_over_all_arguments() {
    let mut report = String::new();
    for function in FUNCTIONS {
        let walk = Walk::new(function).expect("functions compile");
        let mut tally = Tally::default();
        let stride = if function.arity() == 1 { STRIDE } else { STRIDE / 31 };
        walk.numbers((0..walk.len()).step_by(stride), &mut tally).expect("machine code runs");
        let walked = worst(function.name).filter(|worst| worst.complete);
        let found = walked.and_then(|worst| worst.error.parse::<f64>().ok());
        let bound = found.map_or(function.ulp[0], |found| function.ulp[0].min(found + 0.0005));
        let (error, bits) = tally.largest().unwrap_or_default();
        if !(error <= bound) || tally.counts[4] > 0 {
            let at = show(function, bits);
            writeln!(report, "{}: {error:.3} ulp, {bound:.3} allowed, at {at}", function.name)
                .expect("a text");
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn stored_results_of_f64() {
    let mut report = String::new();
    for function in FUNCTIONS {
        for seen in [f64_error(function), f64_error_evaluated(function)] {
            let Seen { error, at, points } = seen.expect("functions compile");
            assert!(points >= 400, "{} has {points} stored results", function.name);
            if !(error <= function.ulp[1]) {
                let (name, bound) = (function.name, function.ulp[1]);
                writeln!(report, "{name}: {error:.3} ulp, stated {bound}, at {at}").expect("a text");
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// What `f32` is measured by agrees with the stored results to far more digits than are measured.
#[test]
fn references_have_digits() {
    let mut report = String::new();
    for function in FUNCTIONS {
        let mut compared = 0;
        for point in points(function.name) {
            // Outside of what `f32` can hold a reference may say anything above or below it.
            let held = |x: f64| x.abs() > 1e-37 && x.abs() < 1e38;
            // No `f32` is that near to 1.
            let close = |x: f64| x.abs() != 1.0 && (x as f32).abs() == 1.0;
            if !point.arguments.iter().all(|x| held(*x) && !close(*x)) || !held(point.exact.value) {
                continue;
            }
            let found = match Reference::of(function) {
                Reference::One(f) => f(point.arguments[0]),
                Reference::Two(f) => f(point.arguments[0], point.arguments[1]),
            };
            let floor = function.floor.map_or(0.0, |floor| floor(point.arguments[0]));
            let error = (found - point.exact.value).abs() / point.exact.value.abs().max(floor);
            compared += 1;
            if !(error < 2e-15) {
                writeln!(report, "{}: {error:e} at {:?}", function.name, point.arguments).expect("a text");
            }
        }
        assert!(compared >= 80, "{} is compared at {compared} points", function.name);
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn errors_are_distances_in_units() {
    let least = f64::from(f32::from_bits(1));
    for (got, exact, error) in [
        (1.0, 1.0, 0.0),
        (1.0, 1.0 + f64::from(f32::EPSILON) / 4.0, 0.25),
        (f32::from_bits(1), 1.5 * least, 0.5),
        (0.0, least / 4.0, 0.25),
        (f32::INFINITY, f64::from(f32::MAX), 1.0),
        (f32::INFINITY, 1e300, 0.0),
        (f32::MAX, 1e300, 1.0),
        (f32::NAN, f64::NAN, 0.0),
        (-0.0, -0.0, 0.0),
        (-0.0, 0.0, f64::INFINITY),
        (-0.0, least / 4.0, f64::INFINITY),
        (least as f32, 0.0, f64::INFINITY),
        (f32::NAN, 1.0, f64::INFINITY),
        (1.0, f64::NAN, f64::INFINITY),
        (f32::MAX, f64::INFINITY, f64::INFINITY),
        (f32::INFINITY, f64::NEG_INFINITY, f64::INFINITY),
    ] {
        assert_eq!(error_f32(got, exact, 0.0), error, "{got:e} for {exact:e}");
    }
    assert_eq!(error_f32(1e-3, 2e-3, 1.0), (1e-3f32 as f64 - 2e-3).abs() * 2f64.powi(23));
    for (got, exact, rest, error) in [
        (1.0, 1.0, 0.25, 0.25),
        (1f64.next_up(), 1.0, 0.25, 0.75),
        (-1f64.next_up(), -1.0, 0.25, 0.75),
        (f64::INFINITY, f64::MAX, 0.25, 0.75),
        (5e-324, 0.0, 0.25, 0.75),
        (0.0, 0.0, 0.0, 0.0),
        (-0.0, 0.0, 0.0, f64::INFINITY),
        (f64::NAN, 0.0, 0.0, f64::INFINITY),
        (f64::MAX, f64::INFINITY, 0.0, f64::INFINITY),
        (f64::NEG_INFINITY, f64::MAX, 0.0, f64::INFINITY),
    ] {
        assert_eq!(error_f64(got, exact, rest, 0.0), error, "{got:e} for {exact:e}");
    }
}
