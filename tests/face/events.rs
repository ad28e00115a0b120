//! The event log as text: what an observer sees of nested transforms and of a failure.

use std::sync::Arc;

use expect_test::{Expect, expect};
use tracewell::observe::{EventLog, observing};
use tracewell::prelude::*;

jit! {
    fn scaled(x: &Array, s: &Array) -> Array { (x * s).sin().sum() }
}

fn check(f: impl FnOnce(), expected: Expect) {
    let log = Arc::new(EventLog::new());
    observing(log.clone(), f);
    expected.assert_eq(&log.text());
}

#[test]
fn jit_inside_grad_inside_vmap() {
    let xs = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    let s = Array::from([0.5f32, 0.25]);
    check(
        || {
            vmap(|x: &Array| grad(|x: &Array| scaled(x, &s))(x))(&xs);
        },
        expect![[""]],
    );
}

#[test]
fn a_failure_in_indexing() {
    let xs = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    check(
        || {
            let f = tracewell::jit(|x: &Array| -> Result<Array> { Ok(x.sin().sum_axes(&[2])) });
            f.call(&xs).unwrap_err();
        },
        expect![[""]],
    );
}

#[test]
fn a_branch_on_a_value_and_a_returned_function() {
    let x = Array::from(2.0f32);
    check(
        || {
            let (_, pull) = vjp(|x: &Array| if x.item::<f32>() > 1.0 { x.square() } else { x.clone() }, &x);
            pull(&Array::from(1.0f32));
        },
        expect![[""]],
    );
}

#[test]
fn a_cached_call_is_a_hit_and_nothing_else() {
    let x = Array::from([1.0f32]);
    let f = tracewell::jit(|x: &Array| x.sin() + 1.0);
    f.call(&x);
    check(
        || {
            f.call(&x);
        },
        expect![[""]],
    );
}
