//! Concrete tracers: a Rust `if`, `match` or `while` on a value works under derivatives and is reported; and every
//! case of the `divide` of JAX's page on tracing.

use std::sync::{Arc, Mutex};

use tracewell::ErrorKind;
use tracewell::observe::{Event, Observer, observing};
use tracewell::prelude::*;

use crate::assert_close;

/// It looks at its divisor.
fn divide((x, y): &(Array, Array)) -> Array {
    if y.item::<f32>() >= 1.0 { x / y } else { Array::from(0.0f32) }
}

fn try_divide(pair: &(Array, Array)) -> Result<Array> {
    Ok(divide(pair))
}

jit! {
    fn divide_by_static(x: &Array, #[static_arg] y: f32) -> Array {
        if y >= 1.0 { x / y } else { Array::from(0.0f32) }
    }
}

fn pair(x: f32, y: f32) -> (Array, Array) {
    (Array::from(x), Array::from(y))
}

#[track_caller]
fn assert_abstract<T>(result: Result<T>, api: &str) {
    let error = result.err().expect("an error");
    assert_eq!(error.kind(), ErrorKind::AbstractValue, "{error}");
    assert!(error.message().ends_with(&format!("not known while tracing for {api}")), "{error}");
}

#[test]
fn divide_of_regular_values() {
    assert_eq!(divide(&pair(3.0, 2.0)).item::<f32>(), 1.5);
    assert_eq!(divide(&pair(3.0, 0.5)).item::<f32>(), 0.0);
}

#[test]
fn divide_under_jit_is_an_error() {
    assert_abstract(tracewell::jit(try_divide).call(&pair(3.0, 2.0)), "jit");
}

#[test]
fn divide_under_jit_with_a_static_divisor() {
    assert_eq!(divide_by_static(&Array::from(3.0f32), 2.0).item::<f32>(), 1.5);
    assert_eq!(divide_by_static(&Array::from(3.0f32), 0.5).item::<f32>(), 0.0);
}

#[test]
fn divide_under_grad() {
    let (dx, dy) = grad(divide)(&pair(3.0, 2.0));
    assert_eq!((dx.item::<f32>(), dy.item::<f32>()), (0.5, -0.75));
    let (dx, dy) = grad(divide)(&pair(3.0, 0.5));
    assert_eq!((dx.item::<f32>(), dy.item::<f32>()), (0.0, 0.0), "the other branch");
}

#[test]
fn divide_under_grad_by_the_dividend_alone() {
    let y = Array::from(2.0f32);
    let slope = grad(|x: &Array| divide(&(x.clone(), y.clone())))(&Array::from(3.0f32));
    assert_eq!(slope.item::<f32>(), 0.5);
}

#[test]
fn divide_under_jvp() {
    let (y, dy) = jvp(divide, &pair(3.0, 2.0), &pair(1.0, 1.0));
    assert_eq!((y.item::<f32>(), dy.item::<f32>()), (1.5, -0.25));
}

#[test]
fn divide_under_vjp() {
    let (y, pull) = vjp(divide, &pair(3.0, 2.0));
    let (dx, dy) = pull(&Array::from(2.0f32));
    assert_eq!((y.item::<f32>(), dx.item::<f32>(), dy.item::<f32>()), (1.5, 1.0, -1.5));
}

#[test]
fn divide_under_linearize() {
    let (y, push) = linearize(divide, &pair(3.0, 2.0));
    assert_eq!((y.item::<f32>(), push(&pair(1.0, 0.0)).item::<f32>()), (1.5, 0.5));
}

#[test]
fn divide_under_vmap_is_an_error() {
    let pairs = (Array::from([3.0f32, 4.0]), Array::from([2.0f32, 0.5]));
    assert_abstract(vmap(try_divide)(&pairs), "vmap");
}

#[test]
fn divide_under_contract_is_an_error() {
    assert_abstract(contract(try_divide)(&pair(3.0, 2.0)), "contract");
}

#[test]
fn divide_under_trace_is_an_error() {
    assert_abstract(trace(divide, &pair(3.0, 2.0)), "trace");
}

#[test]
fn divide_under_grad_inside_jit_is_an_error() {
    let f = tracewell::jit(|x: &(Array, Array)| -> Result<(Array, Array)> { grad(try_divide)(x) });
    assert_abstract(f.call(&pair(3.0, 2.0)), "jit");
}

#[test]
fn divide_under_grad_inside_vmap_is_an_error() {
    let pairs = (Array::from([3.0f32, 4.0]), Array::from([2.0f32, 0.5]));
    let f = |x: &(Array, Array)| -> Result<(Array, Array)> { grad(try_divide)(x) };
    assert_abstract(vmap(f)(&pairs), "vmap");
}

#[test]
fn divide_by_a_static_divisor_under_grad() {
    let slope = grad(|x: &Array| divide_by_static(x, 2.0))(&Array::from(3.0f32));
    assert_eq!(slope.item::<f32>(), 0.5);
}

/// `bool(y >= 1.)`, `int(y)` and `float(y)` of the page.
#[test]
fn every_way_to_ask_works_for_a_concrete_value_and_for_no_abstract_one() {
    let ways: [fn(&Array) -> Array; 3] = [
        |y| if y.ge(1.0).item::<bool>() { y.square() } else { y.clone() },
        |y| if y.convert(I64).item::<i64>() >= 1 { y.square() } else { y.clone() },
        |y| if y.item::<f32>() >= 1.0 { y.square() } else { y.clone() },
    ];
    for way in ways {
        assert_eq!(grad(way)(&Array::from(2.0f32)).item::<f32>(), 4.0);
        assert_eq!(grad(way)(&Array::from(0.5f32)).item::<f32>(), 1.0);
        let f = tracewell::jit(move |y: &Array| -> Result<Array> { Ok(way(y)) });
        assert_abstract(f.call(&Array::from(2.0f32)), "jit");
    }
}

#[test]
fn what_is_computed_from_concrete_and_regular_values_is_concrete() {
    let scale = Array::from(3.0f32);
    let f = |x: &Array| {
        let y = (x * &scale + 1.0).sin();
        assert!(y.is_traced());
        if y.item::<f32>() > 0.0 { y } else { -y }
    };
    assert_close(&grad(f)(&Array::from(0.25f32)), &[3.0 * 1.75f64.cos()], 1e-6);
}

#[test]
fn a_value_asked_for_is_a_regular_one() {
    // As a Rust number it is held constant.
    let slope = grad(|x: &Array| x * x.item::<f32>())(&Array::from(3.0f32));
    assert_eq!(slope.item::<f32>(), 3.0);
}

#[test]
fn the_shape_of_an_abstract_tracer_is_a_regular_value() {
    let f = tracewell::jit(|x: &Array| if x.shape().size(0) > 2 { x.sum() } else { x.max() });
    assert_eq!(f.call(&Array::from([1.0f32, 2.0, 3.0])).item::<f32>(), 6.0);
    assert_eq!(f.call(&Array::from([1.0f32, 2.0])).item::<f32>(), 2.0);
}

#[test]
fn an_abstract_tracer_prints_its_type() {
    let seen = Mutex::new(String::new());
    let f = tracewell::jit(|x: &Array| {
        *seen.lock().unwrap() = x.to_string();
        x.cos()
    });
    assert_eq!(f.call(&Array::from(0.0f32)).item::<f32>(), 1.0);
    assert_eq!(*seen.lock().unwrap(), "Traced<f32[]> for x");
}

/// The lines on which values were asked for.
#[derive(Default)]
struct Asked(Mutex<Vec<u32>>);

impl Observer for Asked {
    fn observe(&self, event: &Event<'_>) {
        if let Event::AskValue { value, location, .. } = event
            && let Some(tracer) = value.tracer()
        {
            assert!(tracer.value().is_some(), "only concrete tracers answer");
            assert!(location.file.ends_with("concrete.rs"));
            self.0.lock().unwrap().push(location.line);
        }
    }
}

/// What a function is under every derivative, with the lines on which it asked.
#[track_caller]
fn under_every_derivative(f: fn(&Array) -> Array, x: f64, value: f64, slope: f64, lines: &[u32]) {
    let (x, one) = (Array::from(x), Array::from(1.0f64));
    let asked = Arc::new(Asked::default());
    observing(asked.clone(), || {
        assert_close(&grad(f)(&x), &[slope], 1e-12);
        let (y, dx) = value_and_grad(f)(&x);
        assert_close(&y, &[value], 1e-12);
        assert_close(&dx, &[slope], 1e-12);
        let (y, dy) = jvp(f, &x, &one);
        assert_close(&y, &[value], 1e-12);
        assert_close(&dy, &[slope], 1e-12);
        let (_, pull) = vjp(f, &x);
        assert_close(&pull(&one), &[slope], 1e-12);
        let (_, push) = linearize(f, &x);
        assert_close(&push(&one), &[slope], 1e-12);
    });
    assert_eq!(*asked.0.lock().unwrap(), lines.repeat(5), "each derivative runs the function once");
}

#[test]
fn an_if_under_every_derivative() {
    const LINE: u32 = line!() + 2;
    fn f(x: &Array) -> Array {
        if x.item::<f64>() > 1.0 { x.square() } else { x.sin() }
    }
    under_every_derivative(f, 3.0, 9.0, 6.0, &[LINE]);
    under_every_derivative(f, 0.5, 0.5f64.sin(), 0.5f64.cos(), &[LINE]);
}

#[test]
fn a_match_under_every_derivative() {
    const LINE: u32 = line!() + 2;
    fn f(x: &Array) -> Array {
        match x.floor().item::<f64>() as i64 {
            0 => x.clone(),
            1 => x.square(),
            n => x.square() * x * n,
        }
    }
    under_every_derivative(f, 0.5, 0.5, 1.0, &[LINE]);
    under_every_derivative(f, 1.5, 2.25, 3.0, &[LINE]);
    under_every_derivative(f, 2.0, 16.0, 24.0, &[LINE]);
}

#[test]
fn a_while_under_every_derivative() {
    const LINE: u32 = line!() + 3;
    fn f(x: &Array) -> Array {
        let mut y = x.clone();
        while y.item::<f64>() < 10.0 {
            y = &y * &y;
        }
        y
    }
    // 2, 4, 16: asked three times.
    under_every_derivative(f, 2.0, 16.0, 32.0, &[LINE, LINE, LINE]);
}

#[test]
fn an_abstract_value_that_is_asked_for_is_no_branch() {
    let asked = Arc::new(Asked::default());
    observing(asked.clone(), || {
        assert_abstract(tracewell::jit(try_divide).call(&pair(3.0, 2.0)), "jit");
    });
    assert!(asked.0.lock().unwrap().is_empty());
}
