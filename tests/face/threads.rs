//! Threads: jit inside parallel iterators, parallel iterators inside jit, races, recursion.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use tracewell::prelude::*;

jit! {
    fn square_plus(x: &Array, y: Scalar) -> Array { x.square() + &y }
}

#[test]
fn jit_inside_a_parallel_iterator() {
    let results: Vec<f32> = (0..200)
        .into_par_iter()
        .map(|i| square_plus(&Array::full([1 + i % 7], 2.0, F32), i as f32).max().item())
        .collect();
    for (i, result) in results.into_iter().enumerate() {
        assert_eq!(result, 4.0 + i as f32);
    }
}

#[test]
fn a_parallel_iterator_inside_jit() {
    let f = tracewell::jit(|x: &Array| {
        let parts: Vec<Array> = (0..8).into_par_iter().map(|i| x * i as f32).collect();
        parts.iter().fold(Array::weak(0.0), |sum, part| sum + part)
    });
    let x = Array::from([1.0f32, 2.0]);
    for _ in 0..3 {
        assert_eq!(f.call(&x).to_string(), "[28. 56.]");
    }
}

#[test]
fn a_jitted_function_on_worker_threads_inside_jit() {
    let f = tracewell::jit(|x: &Array| {
        let parts: Vec<Array> = (0..4).into_par_iter().map(|i| square_plus(x, i as f32)).collect();
        parts.iter().fold(Array::weak(0.0), |sum, part| sum + part)
    });
    assert_eq!(f.call(&Array::from([1.0f32, 2.0])).to_string(), "[10. 22.]");
}

#[test]
fn a_gradient_on_worker_threads_inside_jit() {
    let f = tracewell::jit(|x: &Array| {
        let parts: Vec<Array> =
            (1..4).into_par_iter().map(|i| grad(|y: &Array| (y * y * x).sum() * i as f32)(x)).collect();
        parts.iter().fold(Array::weak(0.0), |sum, part| sum + part)
    });
    assert_eq!(f.call(&Array::from([1.0f32, 2.0])).to_string(), "[12. 48.]");
}

jit! {
    fn endless(x: &Array) -> Array { endless(x) + 1.0 }
    fn endless_result(x: &Array) -> Result<Array> { Ok(endless_result(x)? + 1.0) }
    fn falling(x: &Array, #[static_arg] n: u32) -> Array {
        if n == 0 { x.clone() } else { falling(x, n - 1) * 2.0 }
    }
}

#[test]
fn recursion_with_the_same_types_is_an_error() {
    let x = Array::from([1.0f32]);
    let error = endless_result(&x).unwrap_err();
    assert_eq!(error.kind(), tracewell::ErrorKind::Recursion);
    assert!(error.message().contains("`endless_result` calls itself"), "{error}");
    let panic = std::panic::catch_unwind(|| endless(&x)).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("`endless` calls itself"), "{text}");
    // The state is clean afterwards.
    assert_eq!(endless_result(&x).unwrap_err().kind(), tracewell::ErrorKind::Recursion);
}

#[test]
fn recursion_with_another_static_argument_is_fine() {
    assert_eq!(falling(&Array::from([1.0f32]), 5).item::<f32>(), 32.0);
}

static RACED: AtomicUsize = AtomicUsize::new(0);

jit! {
    fn raced(x: &Array) -> Array {
        RACED.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(20));
        x.exp() * 2.0
    }
}

#[test]
fn eight_threads_racing_for_one_key_trace_once() {
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for i in 0..8 {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                let y = raced(&Array::full([5], f64::from(i) * 0.1, F32));
                crate::assert_close(&y, &[2.0 * (f64::from(i) * 0.1).exp(); 5], 1e-6);
            });
        }
    });
    assert_eq!(RACED.load(Ordering::Relaxed), 1);
}

#[test]
fn two_functions_that_call_each_other_from_two_threads_do_not_wait_for_ever() {
    jit! {
        fn ping(x: &Array, #[static_arg] n: u32) -> Array {
            std::thread::sleep(std::time::Duration::from_millis(1));
            if n == 0 { x.clone() } else { pong(x, n - 1) + 1.0 }
        }
        fn pong(x: &Array, #[static_arg] n: u32) -> Array {
            std::thread::sleep(std::time::Duration::from_millis(1));
            if n == 0 { x.clone() } else { ping(x, n - 1) + 1.0 }
        }
    }
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        for first in [true, false] {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                let x = Array::from(0.0f32);
                let y = if first { ping(&x, 9) } else { pong(&x, 9) };
                assert_eq!(y.item::<f32>(), 9.0);
            });
        }
    });
}
