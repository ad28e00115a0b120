//! Derivative rules of the user's own: under every transform, in each other, to higher order.

use expect_test::expect;
use tracewell::prelude::*;

use crate::{assert_close, numbers};

/// `log(1 + exp(x))` with a rule that does not overflow.
fn log1pexp(x: &Array) -> Array {
    custom_jvp(
        |x: &Array| (1.0 + x.exp()).log(),
        |x: &Array, dx: &Array| {
            let y = (1.0 + x.exp()).log();
            (y, (1.0 - 1.0 / (1.0 + x.exp())) * dx)
        },
    )(x)
}

/// The identity, whose gradients are clipped.
fn clip_gradient(lo: f64, hi: f64, x: &Array) -> Array {
    custom_vjp(|x: &Array| (x.clone(), ()), move |_: &(), g: &Array| g.maximum(lo).minimum(hi))(x)
}

/// `sin`, by a pullback that keeps the cosine.
fn wave(x: &Array) -> Array {
    custom_vjp(|x: &Array| (x.sin(), x.cos()), |c: &Array, g: &Array| c * g)(x)
}

#[test]
fn a_rule_that_does_not_overflow() {
    let x = Array::from(100.0f64);
    let naive = |x: &Array| (1.0 + x.exp()).log();
    assert!(grad(|x: &Array| naive(&(x * 10.0)))(&x).item::<f64>().is_nan());
    assert_eq!(grad(|x: &Array| log1pexp(&(x * 10.0)))(&x).item::<f64>(), 10.0);
    let (y, dy) = jvp(log1pexp, &x, &Array::from(2.0f64));
    assert_eq!((y.item::<f64>(), dy.item::<f64>()), (100.0, 2.0));
}

/// σ and its derivatives at 0.3, to the third.
#[test]
fn higher_orders_differentiate_the_rule() {
    let x = 0.3f64;
    let s = 1.0 / (1.0 + (-x).exp());
    let expected = [s, s * (1.0 - s), s * (1.0 - s) * (1.0 - 2.0 * s)];
    let g1 = |x: &Array| grad(log1pexp)(x);
    let g2 = move |x: &Array| grad(g1)(x);
    let g3 = move |x: &Array| grad(g2)(x);
    let at = Array::from(x);
    assert_close(&g1(&at), &expected[..1], 1e-12);
    assert_close(&g2(&at), &expected[1..2], 1e-12);
    assert_close(&g3(&at), &expected[2..], 1e-11);
    assert_close(&tracewell::jit(g3).call(&at), &expected[2..], 1e-11);
    let forwards = |x: &Array| jvp(log1pexp, x, &Array::from(1.0f64)).1;
    assert_close(&jvp(forwards, &at, &Array::from(1.0f64)).1, &expected[1..2], 1e-12);
    assert_close(&grad(forwards)(&at), &expected[1..2], 1e-12);
    assert_close(&hessian(|x: &Array| log1pexp(x).sum())(&Array::from([x])), &expected[1..2], 1e-12);
}

#[test]
fn pullbacks_to_higher_orders() {
    let x = 0.7f64;
    let at = Array::from(x);
    let g1 = |x: &Array| grad(wave)(x);
    let g2 = move |x: &Array| grad(g1)(x);
    let g3 = move |x: &Array| grad(g2)(x);
    assert_close(&wave(&at), &[x.sin()], 1e-15);
    assert_close(&g1(&at), &[x.cos()], 1e-14);
    assert_close(&g2(&at), &[-x.sin()], 1e-14);
    assert_close(&g3(&at), &[-x.cos()], 1e-14);
    assert_close(&tracewell::jit(g2).call(&at), &[-x.sin()], 1e-14);
    // The pullback is linear, so that its adjoint is the forward mode.
    let one = Array::from(1.0f64);
    assert_close(&jvp(wave, &at, &one).1, &[x.cos()], 1e-14);
    assert_close(&jvp(g1, &at, &one).1, &[-x.sin()], 1e-14);
    let (_, push) = linearize(wave, &at);
    assert_close(&push(&Array::from(2.0f64)), &[2.0 * x.cos()], 1e-14);
    assert_close(&hvp(|x: &Array| wave(x), &at, &one), &[-x.sin()], 1e-14);
}

#[test]
fn clipped_gradients() {
    let f = |x: &Array| (clip_gradient(-0.1, 0.1, x) * Array::from([3.0f64, -0.05, -7.0])).sum();
    let x = Array::from([1.0f64, 2.0, 3.0]);
    assert_eq!(f(&x).item::<f64>(), 3.0 - 0.1 - 21.0);
    assert_close(&grad(f)(&x), &[0.1, -0.05, -0.1], 1e-15);
    assert_close(&tracewell::jit(grad(f)).call(&x), &[0.1, -0.05, -0.1], 1e-15);
    let rows = Array::from([[1.0f64, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_close(&vmap(grad(f))(&rows), &[0.1, -0.05, -0.1, 0.1, -0.05, -0.1], 1e-15);
    assert_close(&grad(|rows: &Array| vmap(f)(rows).sum())(&rows), &numbers(&vmap(grad(f))(&rows)), 1e-15);
}

#[test]
fn what_is_not_linear_has_no_forward_mode() {
    let f = |x: &Array| -> Result<Array> { Ok(clip_gradient(-0.1, 0.1, x)) };
    let error = jvp(f, &Array::from(1.0f64), &Array::from(1.0f64)).unwrap_err();
    expect![
        "`custom_vjp` has no derivative: its backward rule is not linear in the cotangents, so that it has no forward mode: use `grad` or `vjp`"
    ]
    .assert_eq(error.message());
}

/// The square root of `a` as the fixed point of `x ↦ (x + a/x)/2`, differentiated at the fixed point.
#[test]
fn a_fixed_point_is_differentiated_implicitly() {
    fn step(a: &Array, x: &Array) -> Array {
        0.5 * (x + a / x)
    }
    fn root(a: &Array) -> Array {
        custom_vjp(
            |a: &Array| {
                let x = (0..30).fold(a.clone(), |x, _| step(a, &x));
                (x.clone(), (a.clone(), x))
            },
            |(a, x): &(Array, Array), g: &Array| {
                // w = g + w ∂f/∂x, then w ∂f/∂a.
                let (_, pull_x) = vjp(|x: &Array| step(a, x), x);
                let w = (0..30).fold(g.clone(), |w, _| g + pull_x(&w));
                vjp(|a: &Array| step(a, x), a).1(&w)
            },
        )(a)
    }
    let a = Array::from(2.0f64);
    assert_close(&root(&a), &[2f64.sqrt()], 1e-14);
    assert_close(&grad(root)(&a), &[0.5 / 2f64.sqrt()], 1e-12);
    assert_close(&grad(|a: &Array| grad(root)(a))(&a), &[-0.25 * 2f64.powf(-1.5)], 1e-10);
    assert_close(&tracewell::jit(grad(root)).call(&a), &[0.5 / 2f64.sqrt()], 1e-12);
}

#[test]
fn rules_in_rules_in_batches_in_gradients() {
    // Both rules lie by a factor, so that it shows which was used: 2 for the outer, 3 for the inner.
    let inner = |x: &Array| {
        custom_jvp(|x: &Array| x.square(), |x: &Array, dx: &Array| (x.square(), 3.0 * 2.0 * x * dx))(x)
    };
    let outer = move |x: &Array| {
        custom_vjp(
            move |x: &Array| (inner(x).sum(), x.clone()),
            move |x: &Array, g: &Array| 2.0 * g * grad(move |x: &Array| inner(x).sum())(x),
        )(x)
    };
    let x = Array::from([1.0f64, 2.0]);
    assert_close(&grad(outer)(&x), &[12.0, 24.0], 1e-14);
    let xs = Array::from([[1.0f64, 2.0], [3.0, 4.0]]);
    let batched = |xs: &Array| vmap(outer)(xs).sum();
    assert_close(&grad(batched)(&xs), &[12.0, 24.0, 36.0, 48.0], 1e-14);
    assert_close(&tracewell::jit(grad(batched)).call(&xs), &[12.0, 24.0, 36.0, 48.0], 1e-14);
    assert_close(&vmap(grad(outer))(&xs), &[12.0, 24.0, 36.0, 48.0], 1e-14);
    // d/dx of 2·3·2x once more, along with the inner rule for the derivative of x itself: 12.
    assert_close(&grad(move |x: &Array| grad(outer)(x).sum())(&x), &[12.0, 12.0], 1e-14);
}

/// What all examples share gets the sum of their cotangents.
#[test]
fn shared_arguments_under_vmap() {
    let f = |p: &(Array, Array)| {
        custom_vjp(
            |(w, x): &(Array, Array)| ((w * x).sum(), (w.clone(), x.clone())),
            |(w, x): &(Array, Array), g: &Array| (g * x, g * w),
        )(p)
    };
    let w = Array::from([1.0f64, 2.0]);
    let xs = Array::from([[1.0f64, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let total = |w: &Array| vmap_axes(f, (None, 0), 0)(&(w.clone(), xs.clone())).sum();
    assert_close(&grad(total)(&w), &[9.0, 12.0], 1e-14);
}

#[test]
fn trees_with_integers_and_several_results() {
    let f = |p: &(Array, Array)| {
        custom_jvp(
            |(x, n): &(Array, Array)| (x * n.convert(F64), n + 1),
            |(x, n): &(Array, Array), (dx, dn): &(Array, Array)| {
                assert_eq!(dn.dtype(), I32);
                ((x * n.convert(F64), n + 1), (10.0 * dx, dn.clone()))
            },
        )(p)
    };
    let n = Array::from([2i32, 3]);
    let slope = grad(|x: &Array| f(&(x.clone(), n.clone())).0.sum())(&Array::from([1.0f64, 1.0]));
    assert_close(&slope, &[10.0, 10.0], 0.0);
}

#[test]
fn captured_tracers_are_operands() {
    // Captured by a function inside another trace: constant for this derivative.
    let f = |x: &Array, s: &Array| {
        custom_jvp(|x: &Array| x * s, |x: &Array, dx: &Array| (x * s, 5.0 * s * dx))(x)
    };
    let (x, s) = (Array::from([1.0f64, 2.0]), Array::from([3.0f64, 4.0]));
    let g = tracewell::jit(|(x, s): &(Array, Array)| grad(|x: &Array| f(x, s).sum())(x));
    assert_close(&g.call(&(x.clone(), s.clone())), &[15.0, 20.0], 1e-14);
    let per_row =
        vmap(|s: &Array| grad(|x: &Array| f(x, s).sum())(&x))(&Array::from([[1.0f64, 1.0], [2.0, 2.0]]));
    assert_close(&per_row, &[5.0, 5.0, 10.0, 10.0], 1e-14);
    // The outer derivative goes through the rule, in which `s` is an ordinary operand.
    let outer = grad(|s: &Array| grad(|x: &Array| f(x, s).sum())(&x).sum())(&s);
    assert_close(&outer, &[5.0, 5.0], 1e-14);
}

#[test]
fn a_derivative_by_what_was_captured_names_it() {
    let x = Array::from([1.0f64, 2.0]);
    let error = grad(|s: &Array| -> Result<Array> {
        let f = custom_vjp(|x: &Array| (x * s, ()), |_: &(), g: &Array| g * s);
        Ok(f(&x).sum())
    })(&x)
    .unwrap_err();
    expect![
        "`custom_vjp` has no derivative: a function given to it captured `x`, by which this differentiates, and its rule is about its argument only: make it part of the argument"
    ]
    .assert_eq(error.message());
    let error = grad(|s: &Array| -> Result<Array> {
        let t = s.sin();
        let f = custom_jvp(|x: &Array| x * &t, |x: &Array, dx: &Array| (x * &t, &t * dx));
        Ok(f(&x).sum())
    })(&x)
    .unwrap_err();
    assert!(error.message().contains("captured the f64[2] made at"), "{error}");
    // Held constant on purpose, it is none.
    let ok = grad(|s: &Array| {
        let t = stop_gradient(s);
        custom_vjp(|x: &Array| (x * &t, ()), |_: &(), g: &Array| g * &t)(&(s * 1.0)).sum()
    })(&x);
    assert_close(&ok, &[1.0, 2.0], 1e-14);
}

#[test]
fn wrong_rules_are_named() {
    let x = Array::from([1.0f64, 2.0]);
    let error = grad(|x: &Array| -> Result<Array> {
        Ok(custom_vjp(|x: &Array| (x.sin(), ()), |_: &(), g: &Array| g.sum())(x).sum())
    })(&x)
    .unwrap_err();
    expect!["a derivative rule gave f64[] for `x`, expected f64[2]"].assert_eq(error.message());
    let error = grad(|x: &Array| -> Result<Array> {
        Ok(custom_jvp(|x: &Array| x.sin(), |x: &Array, dx: &Array| (x.sin(), dx * dx))(x).sum())
    })(&x)
    .unwrap_err();
    expect!["`mul` is not linear in the operand it was transposed for"].assert_eq(error.message());
    let error = grad(|x: &Array| -> Result<Array> {
        Ok(custom_jvp(
            |x: &Array| x.sin(),
            |x: &Array, dx: &Array| {
                if dx.sum().item::<f64>() > 0.0 { (x.sin(), dx.clone()) } else { (x.sin(), -dx) }
            },
        )(x)
        .sum())
    })(&x)
    .unwrap_err();
    assert!(error.message().starts_with("`item()` asked for the value of a traced f64[]"), "{error}");
}

/// A Rust `if` on a value works in the function, outside `jit!`.
#[test]
fn functions_with_rules_see_values() {
    let f = |x: &Array| {
        custom_jvp(
            |x: &Array| if x.item::<f64>() > 1.0 { x.square() } else { x * 3.0 },
            |x: &Array, dx: &Array| (x.square(), 7.0 * dx),
        )(x)
    };
    let (value, slope) = value_and_grad(f)(&Array::from(2.0f64));
    assert_eq!((value.item::<f64>(), slope.item::<f64>()), (4.0, 7.0));
}

#[test]
fn a_failure_inside_is_handed_to_the_caller() {
    let f = custom_jvp(
        |x: &Array| -> Result<Array> { Ok(x + Array::zeros([3], F64)) },
        |x: &Array, dx: &Array| (x.clone(), dx.clone()),
    );
    let error = grad(|x: &Array| -> Result<Array> { Ok(f(x)?.sum()) })(&Array::zeros([2], F64)).unwrap_err();
    assert!(error.to_string().contains("cannot add f64[2] and f64[3]"), "{error}");
    assert!(error.to_string().contains("for custom_jvp"), "{error}");
}
