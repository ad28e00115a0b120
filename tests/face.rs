//! The face: every program of the API page that can run by now, and one test for each promise of the spine.

#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "face/abort.rs"]
mod abort;
#[path = "face/arrays.rs"]
mod arrays;
#[path = "face/cache.rs"]
mod cache;
#[path = "face/checkpoint.rs"]
mod checkpoint;
#[path = "face/closures.rs"]
mod closures;
#[path = "face/complex.rs"]
mod complex;
#[path = "face/concrete.rs"]
mod concrete;
#[path = "face/control.rs"]
mod control;
#[path = "face/control_errors.rs"]
mod control_errors;
#[path = "face/cumulative.rs"]
mod cumulative;
#[path = "face/custom.rs"]
mod custom;
#[path = "face/donation.rs"]
mod donation;
#[path = "face/dynamic.rs"]
mod dynamic;
#[path = "face/effects.rs"]
mod effects;
#[path = "face/effects_in_loops.rs"]
mod effects_in_loops;
#[path = "face/elementwise.rs"]
mod elementwise;
#[path = "face/errors.rs"]
mod errors;
#[path = "face/events.rs"]
mod events;
#[path = "face/indexing.rs"]
mod indexing;
#[path = "face/jit.rs"]
mod jit;
#[path = "face/leaks.rs"]
mod leaks;
#[path = "face/linalg.rs"]
mod linalg;
#[path = "face/memory.rs"]
mod memory;
#[path = "face/misses.rs"]
mod misses;
#[path = "errors/mod.rs"]
mod mistakes;
#[path = "face/newton.rs"]
mod newton;
#[path = "oracle/mod.rs"]
mod oracle;
#[path = "face/places.rs"]
mod places;
#[path = "face/primitives.rs"]
mod primitives;
#[path = "face/purity.rs"]
mod purity;
#[path = "face/random.rs"]
mod random;
#[path = "face/sorting.rs"]
mod sorting;
#[path = "face/threads.rs"]
mod threads;
#[path = "face/tour.rs"]
mod tour;
#[path = "face/training.rs"]
mod training;
#[path = "face/transforms.rs"]
mod transforms;
#[path = "face/windows.rs"]
mod windows;

/// The elements, in `f64` for comparison.
fn numbers(array: &tracewell::Array) -> Vec<f64> {
    array.convert(tracewell::F64).to_vec().unwrap()
}

/// Whether arrays agree to a relative error.
#[track_caller]
fn assert_close(found: &tracewell::Array, expected: &[f64], tolerance: f64) {
    let found = numbers(found);
    assert_eq!(found.len(), expected.len(), "{found:?} against {expected:?}");
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() <= tolerance * y.abs().max(1.0), "{found:?} against {expected:?}");
    }
}

/// The text with every `file:line:column` of a test as `here`.
fn without_lines(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(".rs:") {
        let before = &rest[..at];
        let start = before.rfind([' ', '(']).map_or(0, |i| i + 1);
        out.push_str(&before[..start]);
        out.push_str("here");
        let tail = &rest[at + ".rs:".len()..];
        let end = tail.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(tail.len());
        // A colon that ends the place is not part of it.
        let end = end - (tail[..end].len() - tail[..end].trim_end_matches(':').len());
        rest = &tail[end..];
    }
    out + rest
}

/// Runs one test again in a process of its own, where the environment variable is set.
fn alone(test: &str, variable: &str) {
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads", "1"])
        .env(variable, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{text}\n{}", String::from_utf8_lossy(&child.stderr));
    assert!(text.contains("1 passed"), "{text}");
}
