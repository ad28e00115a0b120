//! Effects: `debug_print!`, `check!`, callbacks, and stopping calls.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tracewell::prelude::*;
use tracewell::{ErrorKind, jit};

/// What a function prints.
fn printed<R>(f: impl FnOnce() -> R) -> String {
    capturing_prints(f).1
}

/// The message with which a function panics.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(f()))).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

fn vector() -> Array {
    Array::from([1.0f32, 2.0, 3.0])
}

/// The sum of squares, which prints it.
fn loss(x: &Array) -> Array {
    let loss = x.square().sum();
    debug_print!("loss = {}", &loss);
    loss
}

tracewell::jit! {
    fn jitted_loss(x: &Array) -> Array {
        loss(x)
    }
}

#[test]
fn prints_whenever_it_runs() {
    let x = vector();
    assert_eq!(printed(|| loss(&x)), "loss = 14.0\n");
    let f = jit(loss);
    assert_eq!(printed(|| f.call(&x)), "loss = 14.0\n");
    assert_eq!(printed(|| [f.call(&x), f.call(&(2.0 * &x))]), "loss = 14.0\nloss = 56.0\n");
    assert_eq!(printed(|| jitted_loss(&x)), "loss = 14.0\n");
    assert_eq!(printed(|| trace(loss, &x)), "");
    assert_eq!(printed(|| eval_shape(loss, &x)), "");
}

#[test]
fn formats_are_those_of_rust() {
    let text = printed(|| {
        debug_print!("nothing");
        debug_print!("{1} before {0:.2}, step {2:?} {{}}", vector() / 3.0, Array::from(true), 7);
    });
    assert_eq!(text, "nothing\ntrue before [0.33 0.67 1.  ], step i32[] 7 {}\n");
}

#[test]
fn effects_keep_their_order() {
    let f = jit(|x: &Array| {
        debug_print!("x {}", x);
        let y = x.sin();
        debug_print!("again");
        debug_print!("y {:.2}", &y);
        let z = y.dot(&y);
        debug_print!("z {:.2}", &z);
        debug_print!("again");
        let w = z * x;
        debug_print!("first {:.2}", x.slice(s![0]));
        w
    });
    let expected = "x [1. 2. 3.]\nagain\ny [0.84 0.91 0.14]\nz 1.55\nagain\nfirst 1.00\n";
    assert_eq!(printed(|| f.call(&vector())), expected);
    // Equal effects are not merged, and what is printed need not be a result.
    let f = jit(|x: &Array| {
        for _ in 0..3 {
            debug_print!("{}", x.exp() - x.exp());
        }
        x.clone()
    });
    assert_eq!(printed(|| f.call(&vector())), "[0. 0. 0.]\n".repeat(3));
    // Inside a call whose results are not used.
    let f = jit(|x: &Array| {
        jitted_loss(x);
        debug_print!("after");
        x + 1.0
    });
    assert_eq!(printed(|| f.call(&vector())), "loss = 14.0\nafter\n");
}

#[test]
fn each_element_of_a_batch_in_order() {
    let f = |x: &Array| {
        debug_print!("{}", x);
        x.sin()
    };
    let expected = "1.0\n2.0\n3.0\n";
    assert_eq!(printed(|| vmap(f)(&vector())), expected);
    assert_eq!(printed(|| jit(move |x: &Array| vmap(f)(x)).call(&vector())), expected);
    assert_eq!(printed(|| vmap(move |x: &Array| jit(f).call(x))(&vector())), expected);
    let nested = |xy: &(Array, Array)| {
        let (x, y) = xy;
        vmap_axes(
            |xy: &(Array, Array)| {
                debug_print!("{} {}", &xy.0, &xy.1);
                &xy.0 + &xy.1
            },
            (None, 0),
            0,
        )(&(x.clone(), y.clone()))
    };
    let (x, y) = (Array::from([1, 2]), Array::from([10, 20, 30]));
    let text = printed(|| vmap_axes(nested, (0, None), 0)(&(x, y)));
    assert_eq!(text, "1 10\n1 20\n1 30\n2 10\n2 20\n2 30\n");
    // What is the same for the whole batch happens once.
    let f = |x: &Array| {
        debug_print!("once");
        x.sin()
    };
    assert_eq!(printed(|| vmap(f)(&vector())), "once\n");
}

#[test]
fn derivatives_print_the_forward_pass_once() {
    let x = vector();
    let once = "loss = 14.0\n";
    assert_eq!(printed(|| grad(loss)(&x)), once);
    assert_eq!(printed(|| value_and_grad(jitted_loss)(&x)), once);
    assert_eq!(printed(|| jit(|x: &Array| grad(loss)(x)).call(&x)), once);
    assert_eq!(printed(|| jit(|x: &Array| grad(jitted_loss)(x)).call(&x)), once);
    assert_eq!(printed(|| jvp(loss, &x, &x)), once);
    assert_eq!(printed(|| jit(|x: &Array| jvp(jitted_loss, x, x)).call(&x)), once);
    assert_eq!(printed(|| hessian(loss)(&x)), once);
    let rows = tracewell::stack(&[x.clone(), 2.0 * &x], 0);
    let text = "loss = 14.0\nloss = 56.0\n";
    assert_eq!(printed(|| grad(|x: &Array| vmap(loss)(x).sum())(&rows)), text);
    assert_eq!(printed(|| vmap(grad(jitted_loss))(&rows)), text);
    assert_eq!(printed(|| hvp(jitted_loss, &x, &x)), once);
    assert_eq!(printed(|| jacrev(loss)(&x)), once);
    assert_eq!(printed(|| contract(loss)(&x)), once);
    assert_eq!(printed(|| grad(contract(jitted_loss))(&x)), once);
    assert_eq!(printed(|| jit(|x: &Array| contract(grad(loss))(x)).call(&x)), once);
    assert_eq!(printed(|| grad(checkpoint(loss))(&x)), once);
    assert_eq!(printed(|| grad(checkpoint(|x: &Array| jitted_loss(x).sin()))(&x)), once);
    assert_eq!(printed(|| jit(|x: &Array| grad(checkpoint(loss))(x)).call(&x)), once);
    let nested = checkpoint(|x: &Array| jitted_loss(x).sin());
    assert_eq!(printed(|| jit(move |x: &Array| grad(&nested)(x)).call(&x)), once);
    let text = printed(|| {
        let (_, pull) = vjp(loss, &x);
        let (_, push) = linearize(loss, &x);
        debug_print!("made");
        [pull(&Array::from(1.0f32)), pull(&Array::from(2.0f32)), push(&x)]
    });
    assert_eq!(text, format!("{once}{once}made\n"));
    assert_eq!(grad(loss)(&x).to_string(), "[2. 4. 6.]");
}

#[test]
fn rules_of_ones_own_print_when_they_run() {
    let spy = custom_vjp(
        |x: &Array| {
            debug_print!("there {}", x);
            (x.clone(), ())
        },
        |(): &(), ct: &Array| {
            debug_print!("back {}", ct);
            ct.clone()
        },
    );
    let f = |x: &Array| (spy(&(2.0 * x)) * 10.0).sum();
    let x = Array::from([1.0f32, 2.0]);
    let expected = "there [2. 4.]\nback [10. 10.]\n";
    assert_eq!(printed(|| grad(f)(&x)), expected);
    assert_eq!(printed(|| jit(|x: &Array| grad(f)(x)).call(&x)), expected);
    assert_eq!(printed(|| f(&x)), "there [2. 4.]\n");
}

fn positive_log(x: &Array) -> Result<Array> {
    check!(x.gt(0.0), "the logarithm of {:.1}", x);
    Ok(x.log().sum())
}

#[test]
fn checks_fail_with_their_message() {
    let (good, bad) = (vector(), Array::from([1.0f32, -2.0, -3.0]));
    let expect = |result: Result<Array>, notes: &[&str]| {
        let error = result.unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Check, "the logarithm of [ 1. -2. -3.]"));
        assert!(error.location().unwrap().file.ends_with("effects.rs"));
        let text = error.to_string();
        assert!(!text.contains("while tracing"), "{text}");
        notes.iter().for_each(|note| assert!(text.contains(note), "{text}"));
    };
    let elements = ["does not hold for 2 of 3 elements, first at [1]"];
    let f = jit(positive_log);
    assert!(f.call(&good).is_ok());
    expect(f.call(&bad), &elements);
    assert!(f.call(&good).is_ok());
    expect(grad(positive_log)(&bad), &elements);
    assert!(grad(positive_log)(&good).is_ok());
    expect(jit(|x: &Array| grad(positive_log)(x)).call(&bad), &elements);
    let rows = tracewell::stack(&[good.clone(), good.clone(), bad.clone(), bad.clone()], 0);
    expect(vmap(positive_log)(&rows), &[elements[0], "in element 2 of the 4 of `vmap`"]);
    expect(jit(|x: &Array| vmap(positive_log)(x)).call(&rows), &["in element 2 of the 4 of `vmap`"]);

    let text = panic_of(|| check!(bad.gt(0.0)));
    assert!(text.starts_with("`bad.gt(0.0)` does not hold\n"), "{text}");
    let plain = jit(|x: &Array| {
        check!(x.sum().lt(100.0));
        x.clone()
    });
    assert_eq!(plain.call(&good).to_string(), "[1. 2. 3.]");
    let text = panic_of(|| plain.call(&(100.0 * good.clone())));
    assert!(text.contains("`x.sum().lt(100.0)` does not hold"), "{text}");
    let text = panic_of(|| check!(&good, "no condition"));
    assert!(text.contains("takes a condition of bool, found f32[3]"), "{text}");
}

#[test]
fn what_comes_after_a_failing_check_does_not_happen() {
    let f = jit(|x: &Array| -> Result<Array> {
        debug_print!("before");
        check!(x.gt(0.0), "not positive");
        debug_print!("after");
        Ok(x.clone())
    });
    assert_eq!(printed(|| assert!(f.call(&vector()).is_ok())), "before\nafter\n");
    assert_eq!(printed(|| assert!(f.call(&-vector()).is_err())), "before\n");
}

fn sorted(x: &Array) -> Array {
    let mut all = x.to_vec::<f32>().unwrap();
    all.sort_by(f32::total_cmp);
    Array::from(all)
}

#[test]
fn pure_callbacks() {
    let f = |x: &Array| callback(x, sorted, &(x * -1.0)) + 1.0;
    let x = vector();
    assert_eq!(f(&x).to_string(), "[-2. -1.  0.]");
    let g = jit(f);
    assert_eq!(g.call(&x).to_string(), "[-2. -1.  0.]");
    assert_eq!(g.call(&(2.0 * &x)).to_string(), "[-5. -3. -1.]");
    let rows = tracewell::stack(&[x.clone(), x.exp()], 0);
    let expected = tracewell::stack(&[f(&x), f(&x.exp())], 0).to_string();
    assert_eq!(vmap(f)(&rows).to_string(), expected);
    assert_eq!(jit(move |x: &Array| vmap(f)(x)).call(&rows).to_string(), expected);

    // Its calls may be dropped and merged.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let f = jit(|x: &Array| {
        let twice = |x: &Array| {
            CALLS.fetch_add(1, Ordering::Relaxed);
            2.0 * x
        };
        let call = |x: &Array| callback(x, twice, x);
        call(&x.exp());
        call(x) + call(x)
    });
    assert_eq!(f.call(&x).to_string(), "[ 4.  8. 12.]");
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
}

#[test]
fn callbacks_take_and_give_trees() {
    let f = |x: &Array| {
        let like = (Array::zeros([], I32), vec![x.clone()]);
        callback(
            &like,
            |x: &(Array, Array)| (Array::from(x.0.len() as i32), vec![&x.0 + &x.1]),
            &(x.clone(), x * 2.0),
        )
    };
    let x = vector();
    let (count, sum) = jit(f).call(&x);
    assert_eq!((count.item::<i32>(), sum[0].to_string()), (3, "[3. 6. 9.]".to_string()));
    // Another structure is another function, though it captures nothing.
    let g = |xs: &Vec<Array>| {
        callback(&xs[0], |xs: &Vec<Array>| xs.iter().fold(Array::from([0.0f32; 3]), |sum, x| sum + x), xs)
    };
    assert_eq!(jit(g).call(&vec![x.clone()]).to_string(), "[1. 2. 3.]");
    assert_eq!(jit(g).call(&vec![x.clone(), x.clone()]).to_string(), "[2. 4. 6.]");
    // What is captured is part of it.
    for scale in [1.0f32, 2.0] {
        let f = jit(move |x: &Array| callback(x, move |x: &Array| Array::from(scale * x.item::<f32>()), x));
        assert_eq!(f.call(&Array::from(3.0f32)).item::<f32>(), 3.0 * scale);
    }
}

#[test]
fn derivatives_of_callbacks() {
    let f = |x: &Array| callback(x, |x: &Array| x.sin(), x).sum();
    let error = jit(move |x: &Array| -> Result<Array> { Ok(grad(f)(x)) }).call(&vector()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotDifferentiable);
    assert!(error.to_string().contains("`custom_jvp`"), "{error}");
    assert!(panic_of(|| grad(f)(&vector())).contains("`callback` has no derivative"));
    let sin = custom_jvp(
        |x: &Array| callback(x, |x: &Array| x.sin(), x),
        |x: &Array, dx: &Array| (callback(x, |x: &Array| x.sin(), x), x.cos() * dx),
    );
    let slope = grad(|x: &Array| sin(x).sum())(&vector());
    assert_eq!(slope.to_string(), vector().cos().to_string());
    // Held constant it needs none.
    let f = |x: &Array| (callback(x, |x: &Array| x.sin(), &stop_gradient(x)) * x).sum();
    assert_eq!(grad(f)(&vector()).to_string(), vector().sin().to_string());
}

#[test]
fn ordered_callbacks_run_once_and_in_order() {
    static SEEN: Mutex<Vec<f32>> = Mutex::new(Vec::new());
    /// How many were seen before.
    fn record(x: &Array) -> Array {
        let mut seen = SEEN.lock().unwrap();
        seen.push(x.item());
        Array::from(seen.len() as i32 - 1)
    }
    let before = || Array::zeros([], I32);
    let f = move |x: &Array| {
        ordered_callback(&before(), record, x);
        let second = ordered_callback(&before(), record, x);
        second.convert(F32) * x
    };
    let seen = || std::mem::take(&mut *SEEN.lock().unwrap());
    let x = Array::from(5.0f32);
    assert_eq!(f(&x).item::<f32>(), 5.0);
    assert_eq!(seen(), [5.0, 5.0]);
    assert_eq!(jit(f).call(&x).item::<f32>(), 5.0);
    assert_eq!(seen(), [5.0, 5.0]);
    assert_eq!(jvp(f, &x, &x).1.item::<f32>(), 5.0);
    assert_eq!(seen(), [5.0, 5.0]);
    assert_eq!(grad(f)(&x).item::<f32>(), 1.0);
    assert_eq!(seen(), [5.0, 5.0]);
    assert_eq!(jit(move |x: &Array| grad(checkpoint(move |x: &Array| f(x).sin()))(x)).call(&x).len(), 1);
    assert_eq!(seen(), [5.0, 5.0]);
    assert_eq!(vmap(f)(&vector()).to_string(), "[ 3.  8. 15.]");
    assert_eq!(seen(), [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
}

#[test]
fn callbacks_may_use_the_library() {
    // Also while something is traced on the thread, and functions that are jitted.
    let f = |x: &Array| {
        let y = callback(&Array::zeros([], F32), |x: &Array| grad(jitted_loss)(x).sum(), &stop_gradient(x));
        (x * y).sum()
    };
    let text = printed(|| assert_eq!(grad(f)(&vector()).to_string(), "[12. 12. 12.]"));
    assert_eq!(text, "loss = 14.0\n");
    assert_eq!(jit(f).call(&vector()).item::<f32>(), 72.0);
}

#[test]
fn a_panic_in_a_callback_is_an_error() {
    let f = jit(|x: &Array| -> Result<Array> {
        Ok(callback(x, |x: &Array| if x.item::<f32>() > 1.0 { panic!("too large") } else { x.clone() }, x))
    });
    assert!(f.call(&Array::from(1.0f32)).is_ok());
    let error = f.call(&Array::from(2.0f32)).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Library, "a callback panicked: too large"));
    assert!(f.call(&Array::from(1.0f32)).is_ok());
    let plain = |x: &Array| {
        ordered_callback(&(), |_: &Array| panic!("out of luck"), x);
        x.clone()
    };
    assert!(panic_of(|| plain(&vector())).contains("a callback panicked: out of luck"));
    assert!(panic_of(|| jit(plain).call(&vector())).contains("a callback panicked: out of luck"));
    assert!(panic_of(|| vmap(plain)(&vector())).contains("in element 0 of the 3 of `vmap`"));
}

#[test]
fn results_are_what_was_promised() {
    let f = jit(|x: &Array| -> Result<Array> { Ok(callback(x, |x: &Array| x.sum(), x)) });
    let error = f.call(&vector()).unwrap_err();
    assert_eq!(error.message(), "a callback gave f32[] for `result`, expected f32[3]");
    let f = |x: &Array| callback(&vec![x.clone()], |x: &Array| vec![x.clone(), x.clone()], x).remove(0);
    let text = panic_of(|| f(&vector()));
    assert!(text.contains("a callback gave `result[0]`, `result[1]`, expected `result[0]`"), "{text}");
    // A mistake inside has its own line.
    let f = jit(|x: &Array| -> Result<Array> { Ok(callback(x, |x: &Array| x + Array::zeros([4], F32), x)) });
    let error = f.call(&vector()).unwrap_err();
    assert!(error.message().contains("cannot add f32[3] and f32[4]"), "{error}");
    assert!(error.to_string().contains("while running a closure"), "{error}");
}

#[test]
fn graphs_with_effects_are_read_back() {
    let graph = trace(loss, &vector()).unwrap();
    let text = graph.to_string();
    assert!(text.contains("callback[function=\"debug_print"), "{text}");
    assert_eq!(text.parse::<tracewell::Graph>().unwrap(), graph);
}

#[test]
fn calls_are_cancelled() {
    static HANDLE: Mutex<Option<Cancel>> = Mutex::new(None);
    static AFTER: AtomicUsize = AtomicUsize::new(0);
    let f = jit(|x: &Array| -> Result<Array> {
        ordered_callback(&(), |_: &Array| HANDLE.lock().unwrap().iter().for_each(Cancel::cancel), x);
        let y = x.sin();
        ordered_callback(
            &(),
            |_: &Array| {
                AFTER.fetch_add(1, Ordering::Relaxed);
            },
            &y,
        );
        Ok(y)
    });
    assert!(f.call(&vector()).is_ok());
    let handle = Cancel::new();
    *HANDLE.lock().unwrap() = Some(handle.clone());
    let error = with_cancel(&handle, || f.call(&vector())).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Stopped, "the call was cancelled"));
    assert_eq!(AFTER.load(Ordering::Relaxed), 1);
    assert!(with_cancel(&Cancel::new(), || f.call(&vector())).is_ok());
    assert!(f.call(&vector()).is_ok());
}

#[test]
fn calls_take_no_longer_than_they_may() {
    let f = jit(|x: &Array| -> Result<Array> {
        ordered_callback(&(), |_: &Array| std::thread::sleep(Duration::from_millis(100)), x);
        let y = x.sin();
        ordered_callback(&(), |_: &Array| panic!("too late"), &y);
        Ok(y)
    });
    let error = with_time_limit(Duration::from_millis(20), || f.call(&vector())).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Stopped, "the time limit of 20ms was exceeded"));
}
