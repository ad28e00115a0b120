//! `checking_purity`: a jitted function is staged twice, and both graphs must be the same.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering};

use expect_test::{Expect, expect};
use tracewell::ErrorKind;
use tracewell::prelude::*;

use crate::without_lines;

#[track_caller]
fn check<R: Tree>(f: impl Fn(&Array) -> Result<R>, expected: Expect) {
    let f = tracewell::jit(f);
    let error = checking_purity(|| f.call(&Array::from([1.0f32, 2.0]))).err().expect("an error");
    assert_eq!(error.kind(), ErrorKind::Impure);
    expected.assert_eq(&without_lines(&error.to_string()));
}

#[test]
fn a_counter_is_found() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    const LINE: u32 = line!() + 4;
    jit! {
        fn counted(x: &Array) -> Result<Array> {
            let n = CALLS.fetch_add(1, Ordering::Relaxed);
            Ok(x.sin() * n)
        }
    }
    let error = checking_purity(|| counted(&Array::from([1.0f32, 2.0]))).unwrap_err();
    assert_eq!(error.location().unwrap().line, LINE, "the line of the equation that differs");
    expect![[r#"
        `counted` was traced twice for the same types, and equation 1 differs
          --> here, while tracing `counted` (here) for jit
          note: first: %2: f32[2] = mul %1, 0.0:f32[2]
                then:  %2: f32[2] = mul %1, 1.0:f32[2]
          note: it runs when it is traced, not at each call: what it reads besides its arguments is held constant
          help: pass what changes as an argument: an `Array`, a `Scalar`, or a `#[static_arg]`"#]].assert_eq(&without_lines(&error.to_string()));
}

#[test]
fn a_random_array_is_found_at_the_line_that_uses_it() {
    let state = Cell::new(1u32);
    let random = || {
        state.set(state.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        state.get() as f32 / u32::MAX as f32
    };
    check(
        |x| {
            let hidden = x.sin();
            Ok(hidden + Array::from([random(), 0.0]))
        },
        expect![[r#"
            a closure was traced twice for the same types, and equation 1 differs
              --> here, while tracing a closure (here) for jit
              note: first: %2: f32[2] = constant[value=f32[2]{0.23645553,0.0}]
                    then:  %2: f32[2] = constant[value=f32[2]{0.36927068,0.0}]
              note: it runs when it is traced, not at each call: what it reads besides its arguments is held constant
              help: pass what changes as an argument: an `Array`, a `Scalar`, or a `#[static_arg]`"#]],
    );
}

#[test]
fn the_time_is_found() {
    let start = std::time::Instant::now();
    let f = tracewell::jit(|x: &Array| -> Result<Array> {
        std::thread::sleep(std::time::Duration::from_millis(1));
        Ok(x * start.elapsed().as_secs_f64())
    });
    let error = checking_purity(|| f.call(&Array::from([1.0f32]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Impure);
}

#[test]
fn state_that_it_changes_is_found() {
    let terms = RefCell::new(Vec::new());
    check(
        |x| {
            terms.borrow_mut().push(2.0);
            Ok(terms.borrow().iter().fold(x.clone(), |sum, term| sum * *term))
        },
        expect![[r#"
            a closure was traced twice for the same types, and equation 1 differs
              --> here, while tracing a closure (here) for jit
              note: first: return %1
                    then:  %2: f32[2] = mul %1, 2.0:f32[2]
              note: it runs when it is traced, not at each call: what it reads besides its arguments is held constant
              help: pass what changes as an argument: an `Array`, a `Scalar`, or a `#[static_arg]`"#]],
    );
}

#[test]
fn a_graph_that_gets_shorter_is_found() {
    let first = Cell::new(true);
    check(
        |x| Ok(if first.replace(false) { x.sin().cos() } else { x.sin() }),
        expect![[r#"
        a closure was traced twice for the same types, and equation 1 differs
          --> here, while tracing a closure (here) for jit
          note: first: %2: f32[2] = cos %1
                then:  return %1
          note: it runs when it is traced, not at each call: what it reads besides its arguments is held constant
          help: pass what changes as an argument: an `Array`, a `Scalar`, or a `#[static_arg]`"#]],
    );
}

#[test]
fn another_choice_of_results_is_found() {
    let first = Cell::new(true);
    check(
        |x| {
            let y = x.sin();
            Ok(if first.replace(false) { x.clone() } else { y })
        },
        expect![[r#"
            a closure was traced twice for the same types, and their results differ
              --> here, while tracing a closure (here) for jit
              note: first: return %0
                    then:  return %1
              note: it runs when it is traced, not at each call: what it reads besides its arguments is held constant
              help: pass what changes as an argument: an `Array`, a `Scalar`, or a `#[static_arg]`"#]],
    );
}

#[derive(Clone, Tree)]
struct Named {
    x: Array,
    #[tree(static)]
    name: &'static str,
}

#[test]
fn another_static_value_in_the_result_is_found() {
    let first = Cell::new(true);
    check(
        |x| Ok(Named { x: x.sin(), name: if first.replace(false) { "first" } else { "then" } }),
        expect![[r#"
        a closure was traced twice for the same types, and their results differ
          --> here, while tracing a closure (here) for jit
          note: the structure of the result, or a static value in it, is another
          note: it runs when it is traced, not at each call: what it reads besides its arguments is held constant
          help: pass what changes as an argument: an `Array`, a `Scalar`, or a `#[static_arg]`"#]],
    );
}

#[test]
fn state_that_others_changed_since_the_trace_is_found() {
    let scale = Cell::new(1.0);
    let f = tracewell::jit(|x: &Array| -> Result<Array> { Ok(x * scale.get()) });
    let x = Array::from([3.0f32]);
    assert_eq!(checking_purity(|| f.call(&x)).unwrap().item::<f32>(), 3.0, "the same twice");
    scale.set(2.0);
    assert_eq!(f.call(&x).unwrap().item::<f32>(), 3.0, "without the check the trace is used as it is");
    let error = checking_purity(|| f.call(&x)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Impure);
}

#[test]
fn the_inner_function_is_named() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    jit! {
        fn inner(x: &Array) -> Array { x * CALLS.fetch_add(1, Ordering::Relaxed) }
    }
    jit! {
        fn outer(x: &Array) -> Result<Array> { Ok(grad(|x: &Array| inner(x).sum())(x)) }
    }
    let error = checking_purity(|| outer(&Array::from([1.0f32]))).unwrap_err();
    assert!(error.message().starts_with("`inner` was traced twice"), "{error}");
}

#[test]
fn pure_functions_pass() {
    let scale = Array::from([2.0f64, 3.0]);
    let x = Array::from([0.5f64, 2.0]);
    jit! {
        fn scaled(x: &Array, scale: &Array, #[static_arg] power: i32) -> Array { (x * scale).powi(power).sum() }
    }
    checking_purity(|| {
        for _ in 0..2 {
            scaled(&x, &scale, 3);
            grad(|x: &Array| scaled(x, &scale, 2))(&x);
            let f = tracewell::jit(|x: &Array| {
                let inner = tracewell::jit(|y: &Array| y * x + &scale);
                inner.call(&x.sin()).sum()
            });
            crate::assert_close(&f.call(&x), &[0.5 * 0.5f64.sin() + 2.0 + 2.0 * 2f64.sin() + 3.0], 1e-12);
        }
    });
}

#[test]
fn the_check_nests_and_belongs_to_its_thread() {
    let calls = AtomicU32::new(0);
    let f = || tracewell::jit(|x: &Array| -> Result<Array> { Ok(x * calls.fetch_add(1, Ordering::Relaxed)) });
    let x = Array::from([1.0f32]);
    checking_purity(|| {
        checking_purity(|| assert!(f().call(&x).is_err()));
        assert!(f().call(&x).is_err());
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(f().call(&x).is_ok()));
        });
    });
    assert!(f().call(&x).is_ok());
}

#[test]
fn a_trace_costs_one_more_at_any_depth() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    jit! {
        fn deep(x: &Array, #[static_arg] depth: u32) -> Array {
            CALLS.fetch_add(1, Ordering::Relaxed);
            if depth == 0 { x.sin() } else { deep(x, depth - 1) + 1.0 }
        }
    }
    checking_purity(|| deep(&Array::from([1.0f32]), 9));
    let calls = CALLS.load(Ordering::Relaxed);
    assert!(
        calls <= 10 * 11,
        "{calls} traces of ten functions, 2¹⁰ if each were traced twice by each around it"
    );
}
