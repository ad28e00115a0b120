//! Effects inside branches and loops, and loops that are stopped.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tracewell::prelude::*;
use tracewell::{ErrorKind, jit};

/// What a function prints at once, jitted, and under `grad` of its sum outside and inside `jit!`: all the same.
#[track_caller]
fn prints(f: impl Fn(&Array) -> Array + Copy, x: &Array, expected: &str) {
    assert_eq!(capturing_prints(|| f(x)).1, expected, "at once");
    assert_eq!(capturing_prints(|| jit(f).call(x)).1, expected, "jitted");
    let sum = |x: &Array| f(x).sum();
    assert_eq!(capturing_prints(|| grad(sum)(x)).1, expected, "under `grad`");
    assert_eq!(
        capturing_prints(|| jit(|x: &Array| grad(sum)(x)).call(x)).1,
        expected,
        "under `grad` in `jit!`"
    );
}

fn vector() -> Array {
    Array::from([1.0f32, 2.0, 3.0])
}

#[test]
fn every_turn_of_a_scan() {
    let f = |xs: &Array| {
        let (last, all) = scan(Array::from(0.0f32), xs, |sum: &Array, x: &Array| {
            debug_print!("turn");
            let sum = sum + x * x;
            debug_print!("{} {}", x, &sum);
            (sum.clone(), sum.sin())
        });
        debug_print!("last {}", &last);
        last * all
    };
    prints(f, &vector(), "turn\n1.0 1.0\nturn\n2.0 5.0\nturn\n3.0 14.0\nlast 14.0\n");
}

#[test]
fn a_loop_that_is_there_for_its_effects() {
    let f = |x: &Array| {
        fori_loop(0..3, (), |i: &Array, _: &()| debug_print!("{} of {}", i, x));
        x * 2.0
    };
    let expected = "0 of [1. 2. 3.]\n1 of [1. 2. 3.]\n2 of [1. 2. 3.]\n";
    prints(f, &vector(), expected);
    // What it computes from constants alone is printed in every turn all the same.
    let f = |x: &Array| {
        fori_loop(0..2, x.clone(), |_: &Array, y: &Array| {
            debug_print!("{:.2}", x.exp().sum());
            y + 1.0
        })
    };
    prints(f, &Array::from([0.0f32]), "1.00\n1.00\n");
}

#[test]
fn conditions_and_bodies_of_while_loops() {
    let f = |x: &Array| {
        while_loop(
            x.clone(),
            |x: &Array| {
                debug_print!("is {} small?", x);
                x.lt(5.0)
            },
            |x: &Array| {
                debug_print!("no: {}", x);
                x * 2.0
            },
        )
    };
    let expected = "is 2.0 small?\nno: 2.0\nis 4.0 small?\nno: 4.0\nis 8.0 small?\n";
    let x = Array::from(2.0f32);
    assert_eq!(capturing_prints(|| f(&x)).1, expected);
    assert_eq!(capturing_prints(|| jit(f).call(&x)).1, expected);
    assert_eq!(capturing_prints(|| jvp(f, &x, &x)).1, expected);
    assert_eq!(capturing_prints(|| jit(move |x: &Array| jvp(f, x, x)).call(&x)).1, expected);
}

#[test]
fn only_the_branch_that_is_taken() {
    let f = |x: &Array| {
        cond(
            &x.sum().gt(0.0),
            || {
                debug_print!("positive {}", x);
                x.sin()
            },
            || {
                debug_print!("negative");
                -x
            },
        )
    };
    prints(f, &vector(), "positive [1. 2. 3.]\n");
    prints(f, &-vector(), "negative\n");
    let f = |x: &Array| {
        fori_loop(0..3, x.clone(), |i: &Array, y: &Array| {
            cond(
                &i.eq(1),
                || {
                    debug_print!("one");
                    y.sin()
                },
                || y.clone(),
            )
        })
    };
    prints(f, &vector(), "one\n");
}

#[test]
fn elements_of_a_map_and_nested_loops_in_order() {
    let f = |xs: &Array| {
        map(xs, |x: &Array| {
            debug_print!("x {}", x);
            let y = fori_loop(0..2, x.clone(), |i: &Array, y: &Array| {
                debug_print!("  {} {}", i, y);
                y * 10.0
            });
            y.sin()
        })
    };
    let expected = "x 1.0\n  0 1.0\n  1 10.0\nx 2.0\n  0 2.0\n  1 20.0\nx 3.0\n  0 3.0\n  1 30.0\n";
    prints(f, &vector(), expected);
    // Long enough that it would be split over threads.
    let n = 5000;
    let f = |xs: &Array| {
        map(xs, |x: &Array| {
            debug_print!("{}", x.sum());
            x.sin().exp().sin().exp().sum()
        })
    };
    let xs = Array::iota([n, 3], 0, I32).convert(F32);
    let expected: String = (0..n).map(|i| format!("{}.0\n", 3 * i)).collect();
    assert_eq!(capturing_prints(|| jit(f).call(&xs)).1, expected);
}

#[test]
fn batches_of_loops() {
    let f = |x: &Array| {
        fori_loop(0..2, x.clone(), |i: &Array, y: &Array| {
            debug_print!("{} {}", i, y);
            y + 1.0
        })
    };
    let expected = "0 1.0\n0 2.0\n0 3.0\n1 2.0\n1 3.0\n1 4.0\n";
    assert_eq!(capturing_prints(|| vmap(f)(&vector())).1, expected);
    assert_eq!(capturing_prints(|| jit(move |x: &Array| vmap(f)(x)).call(&vector())).1, expected);
}

#[test]
fn checks_stop_loops() {
    let f = |x: &Array| -> Result<Array> {
        fori_loop(0..10, x.clone(), |i: &Array, y: &Array| {
            debug_print!("{}", i);
            check!(y.lt(5.0), "too large in turn {}: {}", i, y);
            Ok(y * 2.0)
        })
    };
    let x = Array::from([1.0f32, 0.0]);
    for run in [&(|x: &Array| f(x)) as &dyn Fn(&Array) -> Result<Array>, &|x: &Array| jit(f).call(x)] {
        let (result, text) = capturing_prints(|| run(&x));
        let error = result.unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Check, "too large in turn 3: [8. 0.]"));
        assert_eq!(text, "0\n1\n2\n3\n");
        assert!(run(&Array::from([0.0f32, 0.0])).is_ok());
    }
}

#[test]
fn callbacks_in_loops() {
    static SEEN: Mutex<Vec<i32>> = Mutex::new(Vec::new());
    fn record(i: &Array) -> Array {
        let i: i32 = i.item();
        SEEN.lock().unwrap().push(i);
        if i == 7 {
            panic!("seven")
        }
        Array::from(i * i)
    }
    let f = |n: &Array| -> Result<Array> {
        let turn = |i: &Array, sum: &Array| Ok(sum + ordered_callback(&Array::zeros([], I32), record, i));
        fori_loop(Array::from(0)..n.clone(), Array::from(0), turn)
    };
    let run = jit(f);
    assert_eq!(run.call(&Array::from(4)).unwrap().item::<i32>(), 14);
    let error = run.call(&Array::from(100)).unwrap_err();
    assert_eq!(error.message(), "a callback panicked: seven");
    assert_eq!(*SEEN.lock().unwrap(), [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7]);
    // A pure one that does not depend on the turn may be called once.
    let f = |x: &Array| {
        fori_loop(0..3, x.clone(), |_: &Array, y: &Array| y + callback(x, |x: &Array| x.exp(), x))
    };
    assert_eq!(jit(f).call(&Array::from([0.0f32])).to_string(), "[3.]");
}

/// Threads do not share turns that carry nothing but have effects, however long they take.
#[test]
fn turns_with_effects_keep_their_order() {
    static SEEN: Mutex<Vec<i32>> = Mutex::new(Vec::new());
    fn record(i: &Array) -> Array {
        SEEN.lock().unwrap().push(i.item());
        i.clone()
    }
    let f = |xs: &Array| {
        let numbers = Array::from((0..12).collect::<Vec<i32>>());
        let turn = |(): &(), (i, x): &(Array, Array)| {
            ((), x.dot(x).sum() + ordered_callback(&Array::zeros([], I32), record, i))
        };
        scan((), &(numbers, xs.clone()), turn).1
    };
    let made = jit(f).call(&Array::ones([12, 128, 128], F32));
    assert_eq!(made.slice(s![3]).item::<f32>(), 2_097_155.0);
    assert_eq!(*SEEN.lock().unwrap(), (0..12).collect::<Vec<i32>>());
}

#[test]
fn endless_loops_are_stopped() {
    let f = jit(|x: &Array| -> Result<Array> {
        while_loop(x.clone(), |x: &Array| Ok(x.sum().ge(0.0)), |x: &Array| Ok(x + 1.0))
    });
    for n in [1, 100] {
        let x = Array::zeros([n], F32);
        let start = Instant::now();
        let error = with_time_limit(Duration::from_millis(50), || f.call(&x)).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Stopped, "the time limit of 50ms was exceeded")
        );
        assert!(start.elapsed() < Duration::from_secs(30));
        let handle = Cancel::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                handle.cancel();
            });
            let error = with_cancel(&handle, || f.call(&x)).unwrap_err();
            assert_eq!(error.message(), "the call was cancelled");
        });
    }
    assert_eq!(f.call(&Array::from([-5.0f32])).unwrap().to_string(), "[-5.]");
}
