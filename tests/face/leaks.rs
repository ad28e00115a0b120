//! `checking_leaks`: a traced array that outlives its trace is found when the trace ends.

use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use tracewell::ErrorKind;
use tracewell::observe::{EventLog, observing};
use tracewell::prelude::*;
use tracewell::primitive::{Defined, bind};

use crate::without_lines;

/// A place outside of every trace.
type Kept = Mutex<Vec<Array>>;

fn keep(kept: &Kept, x: &Array) {
    kept.lock().unwrap().push(x.clone());
}

#[track_caller]
fn check<T>(result: Result<T>, expected: Expect) {
    let error = result.err().expect("an error");
    assert_eq!(error.kind(), ErrorKind::LeakedTracer);
    expected.assert_eq(&without_lines(&error.to_string()));
}

#[test]
fn a_stored_tracer_is_found_when_its_trace_ends() {
    let kept = Kept::default();
    let mut line = 0;
    let x = Array::zeros([3], F32);
    let error = checking_leaks(|| {
        line = line!() + 2;
        let f = tracewell::jit(|x: &Array| -> Result<Array> {
            let hidden = x.tanh();
            keep(&kept, &hidden);
            Ok(hidden.sum())
        });
        f.call(&x).unwrap_err()
    });
    assert_eq!(error.location().unwrap().line, line, "the line that made it");
    check::<()>(
        Err(error),
        expect![[r#"
        a traced f32[3] is still alive after its trace has ended
          --> here, while tracing a closure (here) for jit
          note: it was made at here, while tracing a closure (here) for jit
          note: something that outlives the function refers to it: a captured cell, a static, a channel, a function
          help: return the array from the traced function instead of storing it outside"#]],
    );
}

#[test]
fn without_the_check_it_is_found_only_when_it_is_used() {
    let kept = Kept::default();
    let f = tracewell::jit(|x: &Array| -> Result<Array> {
        keep(&kept, &x.tanh());
        Ok(x.sum())
    });
    let x = Array::zeros([3], F32);
    assert!(f.call(&x).is_ok());
    assert!(checking_leaks(|| f.call(&x)).is_err(), "also where the cache has a trace");
    assert!(f.call(&x).is_ok(), "the check is over");
}

#[test]
fn a_named_function_and_its_argument_are_named() {
    static KEPT: Kept = Kept::new(Vec::new());
    jit! {
        fn loss(layers: &[(Array, Array)], x: &Array) -> Result<Array> {
            keep(&KEPT, &layers[1].0);
            Ok(x.dot(&layers[0].0).sum())
        }
    }
    let layer = (Array::ones([2, 2], F32), Array::ones([2], F32));
    let layers = [layer.clone(), layer];
    check(
        checking_leaks(|| loss(&layers[..], &Array::ones([2], F32))),
        expect![[r#"
        a traced f32[2,2] is still alive after its trace has ended
          --> here, while tracing `loss` for jit
          note: it is the argument `layers[1].0` of `loss` (here), which was traced for jit
          note: something that outlives the function refers to it: a captured cell, a static, a channel, a function
          help: return the array from the traced function instead of storing it outside"#]],
    );
}

#[test]
fn a_result_that_is_stored_too_is_found() {
    let kept = Kept::default();
    let f = tracewell::jit(|x: &Array| -> Result<(Array, Array)> {
        let hidden = x.tanh();
        keep(&kept, &hidden);
        Ok((hidden.sum(), hidden))
    });
    check(
        checking_leaks(|| f.call(&Array::zeros([3], F32))),
        expect![[r#"
        a traced f32[3] is still alive after its trace has ended
          --> here, while tracing a closure (here) for jit
          note: it was made at here, while tracing a closure (here) for jit
          note: something that outlives the function refers to it: a captured cell, a static, a channel, a function
          help: return the array from the traced function instead of storing it outside"#]],
    );
}

#[test]
fn several_are_counted() {
    let kept = Kept::default();
    let f = |x: &Array| -> Result<Array> {
        (0..4).for_each(|n| keep(&kept, &(x + n)));
        Ok(x.sum())
    };
    check(
        checking_leaks(|| grad(f)(&Array::zeros([3], F32))),
        expect![[r#"
        a traced f32[3] is still alive after its trace has ended
          --> here, while tracing a closure (here) for grad
          note: it was made at here, while tracing a closure (here) for grad
          note: 4 traced arrays are still alive, of which it is the first
          note: something that outlives the function refers to it: a captured cell, a static, a channel, a function
          help: return the array from the traced function instead of storing it outside"#]],
    );
}

#[test]
fn every_transform_is_checked() {
    let kept = Kept::default();
    let f = |x: &Array| -> Result<Array> {
        keep(&kept, &x.sin());
        Ok(x.sum())
    };
    let x = Array::zeros([3], F32);
    checking_leaks(|| {
        assert!(grad(f)(&x).is_err());
        assert!(value_and_grad(f)(&x).is_err());
        assert!(jvp(f, &x, &x).is_err());
        assert!(vmap(f)(&x.reshape([1, 3])).is_err());
        assert!(contract(f)(&x).is_err());
        assert!(trace(f, &x).is_err());
    });
    assert!(jvp(f, &x, &x).is_ok());
}

#[test]
fn a_stored_function_that_captures_a_tracer_is_found() {
    type Function = Box<dyn Fn(&Array) -> Array + Send + Sync>;
    let kept: Mutex<Vec<Function>> = Mutex::default();
    let f = |x: &Array| -> Result<Array> {
        let y = x.exp();
        kept.lock().unwrap().push(Box::new(move |z| z * &y));
        Ok(x.sum())
    };
    let error = checking_leaks(|| grad(f)(&Array::zeros([3], F32))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeakedTracer);
    let g = |x: &Array| -> Result<Array> {
        let (y, pull) = vjp(|x: &Array| x.exp().sum(), x);
        kept.lock().unwrap().push(pull);
        Ok(y)
    };
    let error = checking_leaks(|| tracewell::jit(g).call(&Array::zeros([3], F32))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeakedTracer, "a pullback holds what it was linearised at");
}

struct Cubed;
impl Defined for Cubed {
    fn expand(&self, x: &[Array]) -> Vec<Array> {
        vec![x[0].square() * &x[0]]
    }
}

jit! {
    fn cubes(x: &Array) -> Array { bind(Cubed, &[x]).sum() }
}

#[test]
fn programs_that_keep_nothing_pass() {
    let x = Array::from([0.5f64, 2.0]);
    checking_leaks(|| {
        for _ in 0..2 {
            cubes(&x);
            grad(cubes)(&x);
            hessian(cubes)(&x);
            jacfwd(|x: &Array| x.square())(&x);
            jacrev(|x: &Array| x.square())(&x);
            vmap(grad(|x: &Array| x.square()))(&x);
            // Closures over tracers, jitted and not, two functions deep.
            grad(|x: &Array| {
                let inner = tracewell::jit(|y: &Array| y * x);
                let sum = (inner.call(&x.sin()) + inner.call(&x.cos())).sum();
                let (_, pull) = vjp(|y: &Array| y * x, x);
                sum + pull(x).sum() + vmap(|y: &Array| y * x.sum())(x).sum()
            })(&x);
            // A result that is an argument, or the same array twice.
            tracewell::jit(|x: &Array| (x.clone(), x.clone())).call(&x);
            // A value of the trace outside.
            tracewell::jit(|x: &Array| tracewell::jit(|_: &Array| x.clone()).call(x)).call(&x);
        }
    });
}

#[test]
fn a_mistake_inside_is_still_the_mistake_that_is_told() {
    let kept = Kept::default();
    let f = tracewell::jit(|x: &Array| -> Result<Array> {
        keep(&kept, &x.sin());
        Ok(x + Array::zeros([4], F32))
    });
    let error = checking_leaks(|| f.call(&Array::zeros([3], F32))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type);
}

#[test]
fn the_check_nests_and_belongs_to_its_thread() {
    let kept = Kept::default();
    let x = Array::zeros([3], F32);
    let f = |x: &Array| -> Result<Array> {
        keep(&kept, &x.sin());
        Ok(x.sum())
    };
    checking_leaks(|| {
        checking_leaks(|| assert!(grad(f)(&x).is_err()));
        assert!(grad(f)(&x).is_err());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(grad(f)(&x).is_ok(), "another thread, another switch"));
        });
    });
}

#[test]
fn what_a_worker_of_the_trace_stores_is_found() {
    let kept = Kept::default();
    let f = |x: &Array| -> Result<Array> {
        std::thread::scope(|scope| {
            scope.spawn(|| keep(&kept, &x.sin()));
        });
        Ok(x.sum())
    };
    assert!(checking_leaks(|| tracewell::jit(f).call(&Array::zeros([3], F32))).is_err());
}

#[test]
fn observers_see_it() {
    let kept = Kept::default();
    let log = Arc::new(EventLog::new());
    observing(log.clone(), || {
        let f = |x: &Array| -> Result<Array> {
            keep(&kept, &x.sin());
            Ok(x.sum())
        };
        checking_leaks(|| tracewell::jit(f).call(&Array::zeros([3], F32))).unwrap_err();
    });
    expect![[r#"
        jit closure(f32[3]) at here
          enter closure(traced f32[3])
            sin traced f32[3] -> traced f32[3] at here
            reduce_sum traced f32[3] -> traced f32[] at here
          return traced f32[]
          leak f32[3]
          raise LeakedTracer: a traced f32[3] is still alive after its trace has ended
        jit failed: a traced f32[3] is still alive after its trace has ended
    "#]]
    .assert_eq(&without_lines(&log.text()));
}
