//! What holds of every repro: it reads back, it is recorded again when it is replayed, it gets no larger.

use tracewell::prelude::*;
use tracewell::repro::{self, Repro};

use crate::mistakes::wrong_programs;
use crate::scenarios::SCENARIOS;
use crate::yield_table::repro_of;

/// Programs whose replay is another program by nature, and why.
const OTHERS: &[(&str, &str)] = &[
    ("escaped_tracer", "of several that are still alive, the replay finds another one first"),
    ("recursion", "the function that calls itself is not the same object"),
];

#[test]
fn what_is_replayed_is_recorded_again() {
    let mut others = Vec::new();
    for (name, run) in SCENARIOS.iter().copied().chain(wrong_programs()) {
        if OTHERS.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let Some(first) = repro_of(run) else { continue };
        let second = std::thread::spawn({
            let first = first.clone();
            move || repro::collect(|| first.replay()).1
        });
        let first = Repro::new(first.tree().without_places());
        let second = second.join().unwrap();
        let second = Repro::new(second.tree().without_places());
        if first.to_text() != second.to_text() {
            others.push(format!("{name}:\n{}\n{}", first.to_text(), second.to_text()));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn recording_changes_no_result() {
    let (x, w) = (Array::linspace(-1.0, 1.0, 12, F32).reshape([4, 3]), Array::ones([3, 3], F32));
    let program = || {
        let step = jit(|(x, w): &(Array, Array)| {
            let loss =
                |w: &Array| scan(Array::zeros([3], F32), x, |h, x| ((h.dot(w) + x).tanh(), h.sum())).1.sum();
            value_and_grad(loss)(w)
        });
        let (loss, gradient) = step.call(&(x.clone(), w.clone()));
        let rows = vmap(|row: &Array| row.sin().cumsum(0))(&x);
        let noise = checkpoint(|x: &Array| random::normal(&random::key(3), [4, 3], F32) * x)(&x);
        (
            loss.to_vec::<f32>().unwrap(),
            gradient.to_vec::<f32>().unwrap(),
            rows.to_vec::<f32>().unwrap(),
            noise.to_vec::<f32>().unwrap(),
        )
    };
    let plain = program();
    let (recorded, _) = repro::collect(program);
    let folder = std::env::temp_dir().join(format!("tracewell-laws-{}", std::process::id()));
    let armed = repro::writing_to(&folder, program);
    let bits = |all: &(Vec<f32>, Vec<f32>, Vec<f32>, Vec<f32>)| -> Vec<u32> {
        [&all.0, &all.1, &all.2, &all.3].into_iter().flatten().map(|x| x.to_bits()).collect()
    };
    assert_eq!(bits(&plain), bits(&recorded));
    assert_eq!(bits(&plain), bits(&armed));
    assert!(!folder.exists(), "nothing is written for a program that does not fail");
}

#[test]
fn a_reduction_reproduces_and_is_never_larger() {
    let slow = ["a_time_limit", "a_large_input", "huge_array", "huge_result"];
    for (name, run) in SCENARIOS.iter().copied() {
        if slow.contains(&name) {
            continue;
        }
        let Some(repro) = repro_of(run) else { continue };
        let small = std::thread::spawn({
            let repro = repro.clone();
            move || repro.reduce()
        });
        let small = small.join().unwrap();
        assert!(small.tree().size() <= repro.tree().size(), "{name}");
        let again = small.clone();
        let verdict = std::thread::spawn(move || again.run()).join().unwrap();
        assert!(verdict.is_reproduced(), "{name}: {verdict:?}\n{}", small.to_text());
        assert!(small.tree().leaves() <= 3, "{name}:\n{}", small.to_text());
        syn::parse_file(&small.to_rust())
            .unwrap_or_else(|error| panic!("{name}: {error}\n{}", small.to_rust()));
    }
}

#[test]
fn numbers_of_a_reduction_are_simple() {
    let x = Array::from([3.75f32, -2.5, 8.0]);
    let run = || repro::check_nans(|| jit(|x: &Array| -> Result<Array> { Ok(x * 1.5 / 0.0) }).call(&x));
    let small = repro::assert_reproduces(run).reduce();
    assert_eq!(small.failure().unwrap().message, "`div` gave inf for finite operands, first at [0]");
    let text = small.to_text();
    assert!(small.run().is_reproduced(), "{text}");
    for number in ["3.75", "2.5", "8.0", "5.625", "1.5"] {
        assert!(!text.contains(number), "{text}");
    }
}
