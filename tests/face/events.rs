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
        expect![[r#"
            vmap closure(f32[2,2]) at events.rs:25
              enter closure(traced f32[2])
                grad closure(traced f32[2]) at events.rs:25
                  enter closure(traced f32[2])
                    jit scaled(traced f32[2], f32[2]) at events.rs:25
                      enter scaled(traced f32[2], traced f32[2])
                        mul traced f32[2], traced f32[2] -> traced f32[2] at events.rs:10
                        sin traced f32[2] -> traced f32[2] at events.rs:10
                        reduce_sum traced f32[2] -> traced f32[] at events.rs:10
                      return traced f32[]
                      call traced f32[2], f32[2] -> traced f32[] at events.rs:25
                    jit = traced f32[]
                  return traced f32[]
                  known constant  -> concrete f32[2] at events.rs:25
                  call traced f32[2], concrete f32[2] -> traced f32[], traced f32[2] at events.rs:25
                  call concrete f32[2], traced f32[2], 1.0:f32[] -> traced f32[2] at events.rs:25
                grad = traced f32[2]
              return traced f32[2]
              constant  -> f32[2] at events.rs:25
              call f32[2,2], f32[2] -> f32[2], f32[2,2] at events.rs:25
              call f32[2], f32[2,2], 1.0:f32[] -> f32[2,2] at events.rs:25
            vmap = f32[2,2]
        "#]],
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
        expect![[r#"
            jit closure(f32[2,2]) at events.rs:60
              enter closure(traced f32[2,2])
                sin traced f32[2,2] -> traced f32[2,2] at events.rs:59
                raise Index: axis 2 is out of range for f32[2,2]
              fail
            jit failed: axis 2 is out of range for f32[2,2]
        "#]],
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
        expect![[r#"
            vjp closure(f32[]) at events.rs:78
              enter closure(concrete f32[])
                ask f32[] at events.rs:78
                mul concrete f32[], concrete f32[] -> concrete f32[] at events.rs:78
              return concrete f32[]
              known mul f32[], f32[] -> f32[] at events.rs:78
            vjp = f32[]
            vjp returns a function
            a returned function pullback(f32[]) at events.rs:78
              mul f32[], f32[] -> f32[] at events.rs:78
              mul f32[], f32[] -> f32[] at events.rs:78
              add f32[], f32[] -> f32[] at events.rs:78
            a returned function = f32[]
        "#]],
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
        expect![[r#"
            jit closure(f32[1]) at events.rs:106
              cache hit closure at events.rs:106
            jit = f32[1]
        "#]],
    );
}
