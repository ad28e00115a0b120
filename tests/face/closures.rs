//! Functions that return functions, and closures over tracers at any depth.

use std::sync::Mutex;

use tracewell::ErrorKind;
use tracewell::prelude::*;

use crate::assert_close;

/// A function that returns a function, which captures its argument.
fn scaled(by: &Array) -> impl Fn(&Array) -> Array + use<> {
    let by = by.clone();
    move |x| x * &by
}

/// A function of functions.
fn twice(f: impl Fn(&Array) -> Array) -> impl Fn(&Array) -> Array {
    move |x| f(&f(x))
}

#[test]
fn a_returned_function_that_captures_a_tracer_is_called_in_the_same_trace() {
    // by² x, of which the derivative by `by` is 2 by x.
    let f = |by: &Array| twice(scaled(by))(&Array::from(3.0f64));
    assert_close(&f(&Array::from(2.0f64)), &[12.0], 1e-12);
    assert_close(&grad(f)(&Array::from(2.0f64)), &[12.0], 1e-12);
    assert_close(&tracewell::jit(f).call(&Array::from(2.0f64)), &[12.0], 1e-12);
    assert_close(&vmap(f)(&Array::from([1.0f64, 2.0])), &[3.0, 12.0], 1e-12);
    assert_close(&tracewell::jit(move |x: &Array| grad(f)(x)).call(&Array::from(2.0f64)), &[12.0], 1e-12);
}

#[test]
fn a_returned_function_is_an_error_after_its_trace() {
    type Kept = Box<dyn Fn(&Array) -> Array + Send>;
    let kept: Mutex<Option<Kept>> = Mutex::new(None);
    grad(|by: &Array| {
        *kept.lock().unwrap() = Some(Box::new(scaled(&by.exp())));
        by.clone()
    })(&Array::from(2.0f64));
    let kept = kept.into_inner().unwrap().unwrap();
    let f = tracewell::jit(move |x: &Array| -> Result<Array> { Ok(kept(x)) });
    let error = f.call(&Array::from(1.0f64)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LeakedTracer, "{error}");
    assert_eq!(error.message(), "a traced f64[] was used after its trace had ended");
}

#[test]
fn a_closure_over_a_tracer_is_given_to_vmap_of_grad() {
    let xs = Array::from([1.0f64, 2.0, 3.0]);
    // Σᵢ d/dx sin(a x) = Σᵢ a cos(a xᵢ); by a: Σᵢ cos(a xᵢ) - a xᵢ sin(a xᵢ).
    let f = |a: &Array| {
        let inner = |x: &Array| (a * x).sin();
        vmap(grad(inner))(&xs).sum()
    };
    let a = 0.7f64;
    let expected: f64 = [1.0, 2.0, 3.0].iter().map(|x| (a * x).cos() - a * x * (a * x).sin()).sum();
    assert_close(&grad(f)(&Array::from(a)), &[expected], 1e-12);
    let jitted = tracewell::jit(f);
    assert_close(&grad(|a: &Array| jitted.call(a))(&Array::from(a)), &[expected], 1e-12);
}

#[test]
fn three_levels_of_capture() {
    // x³ y² z, each level with an argument of its own, the innermost with all of them.
    let f = |x: &Array| {
        let along_y = |y: &Array| {
            let along_z = tracewell::jit(|z: &Array| x * x * x * y * y * z);
            along_z.call(&Array::from(5.0f64))
        };
        grad(along_y)(&Array::from(3.0f64))
    };
    // By y: 2 x³ y z = 30 x³.
    assert_close(&vmap(f)(&Array::from([1.0f64, 2.0])), &[30.0, 240.0], 1e-12);
    // By x of that: 90 x².
    assert_close(&vmap(grad(f))(&Array::from([1.0f64, 2.0])), &[90.0, 360.0], 1e-12);
    assert_close(&grad(grad(f))(&Array::from(2.0f64)), &[360.0], 1e-12);
}

#[test]
fn the_order_of_three_levels_is_free() {
    // d/dx sin(x y z) for a batch of z, with y = x: every order captures what is around.
    let (x, zs) = (Array::from(0.5f64), Array::from([1.0f64, 2.0]));
    let expected: Vec<f64> = [1.0f64, 2.0].iter().map(|z| 0.5 * z * (0.25 * z).cos()).collect();
    let inner = |x: &Array, y: &Array, z: &Array| (x * y * z).sin();
    let jit_grad_vmap =
        tracewell::jit(|y: &Array| vmap(|z: &Array| grad(|x: &Array| inner(x, y, z))(&x))(&zs));
    assert_close(&jit_grad_vmap.call(&x), &expected, 1e-12);
    let vmap_jit_grad =
        vmap(|z: &Array| tracewell::jit(|y: &Array| grad(|x: &Array| inner(x, y, z))(&x)).call(&x));
    assert_close(&vmap_jit_grad(&zs), &expected, 1e-12);
    let vmap_grad_jit =
        vmap(|z: &Array| grad(|y: &Array| tracewell::jit(|x: &Array| inner(x, y, z)).call(&x))(&x));
    assert_close(&vmap_grad_jit(&zs), &expected, 1e-12);
}

#[test]
fn a_function_that_returns_a_jitted_closure() {
    let make = |by: &Array| {
        let by = by.clone();
        tracewell::jit(move |x: &Array| x * &by)
    };
    let slope = grad(|by: &Array| make(by).call(&make(by).call(&Array::from(3.0f64))))(&Array::from(2.0f64));
    assert_close(&slope, &[12.0], 1e-12);
}

#[test]
fn a_pullback_is_used_inside_another_trace() {
    // The pullback of x² at a is 2 a ct; its derivative by a is 2 ct.
    let f = |a: &Array| {
        let (_, pull) = vjp(|x: &Array| x.square(), a);
        pull(&Array::from(3.0f64))
    };
    assert_close(&grad(f)(&Array::from(2.0f64)), &[6.0], 1e-12);
    assert_close(&vmap(f)(&Array::from([1.0f64, 2.0])), &[6.0, 12.0], 1e-12);
}

#[test]
fn a_list_of_closures_over_tracers() {
    type Step<'x> = Box<dyn Fn(&Array) -> Array + 'x>;
    let f = |x: &Array| {
        let steps: Vec<Step<'_>> = vec![Box::new(|y| y * x), Box::new(|y| y + x), Box::new(|y| y.square())];
        steps.iter().fold(Array::from(1.0f64), |y, step| step(&y))
    };
    // (2x)², of which the derivative is 8x.
    assert_close(&grad(f)(&Array::from(3.0f64)), &[24.0], 1e-12);
    assert_close(&tracewell::jit(move |x: &Array| grad(f)(x)).call(&Array::from(3.0f64)), &[24.0], 1e-12);
}
