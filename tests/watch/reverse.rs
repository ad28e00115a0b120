//! Reverse mode as a user's program on a tape, and the other programs of the example.

use tracewell::prelude::*;

use crate::bits;

#[path = "../../crates/tracewell/examples/tape.rs"]
#[allow(dead_code, reason = "the example's `main` is not called here")]
mod example;

#[test]
fn reverse_mode_on_a_tape_agrees_with_grad() {
    let xs = (Array::from([0.5f32, 1.5, -0.25]), Array::from([2.0f32, 3.0, 4.0]));
    let tape = Tape::call(example::model, &xs);
    let found = example::gradient(&tape);
    let expected = grad(example::model)(&xs);
    for (found, expected) in found.iter().zip([&expected.0, &expected.1]) {
        let (found, expected) = (found.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{found:?} against {expected:?}");
        }
    }
}

#[test]
fn a_recursive_random_program_is_recorded() {
    let (n, beta) = (Array::from(3i32), Array::from(0.3f32));
    let key = random::key(7);
    let plain = bits(&example::geom(&n, &beta, &key));
    let tape = Tape::record(|| example::geom(&n, &beta, &key));
    assert_eq!(bits(&tape.value().unwrap()), plain);
    let calls = tape.nodes().filter(|node| node.name() == "geom").count();
    assert_eq!(
        calls as i32,
        tape.value().unwrap().item::<i32>() - 3 + 1,
        "one call more than the number grew"
    );
}
