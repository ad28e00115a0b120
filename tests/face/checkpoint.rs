//! Less memory for more work: what is kept for a backward pass, and what is computed again.

use expect_test::expect;
use tracewell::prelude::*;

use crate::{assert_close, numbers};

fn layer(x: &Array) -> Array {
    x.sin().exp().tanh()
}

/// How often a primitive is applied in a graph.
fn count(graph: &tracewell::Graph, name: &str) -> usize {
    graph.equations.iter().filter(|equation| equation.prim.name() == name).count()
}

/// What is kept, without the folder that the tests are in.
fn kept(f: impl Fn(&Array) -> Array, x: &Array) -> String {
    let lines: Vec<String> = saved_residuals(f, x)
        .unwrap()
        .iter()
        .map(|residual| {
            let text = residual.to_string();
            match text.split_once(" at ") {
                Some((what, _)) => what.to_string(),
                None => text,
            }
        })
        .collect();
    lines.join("\n")
}

#[test]
fn values_and_derivatives_are_those_of_the_function() {
    let x = Array::from([0.3f64, -0.7, 1.1]);
    for policy in [
        Policy::Nothing,
        Policy::Everything,
        Policy::Dots,
        Policy::Primitives(vec!["exp".into(), "cos".into()]),
        Policy::Names(vec!["nobody".into()]),
    ] {
        let f = |x: &Array| checkpoint_with(layer, policy.clone())(x).sum();
        let plain = |x: &Array| layer(x).sum();
        assert_close(&f(&x), &numbers(&plain(&x)), 1e-15);
        assert_close(&grad(f)(&x), &numbers(&grad(plain)(&x)), 1e-14);
        let (g, h) = (|x: &Array| grad(f)(x).sum(), |x: &Array| grad(plain)(x).sum());
        assert_close(&grad(g)(&x), &numbers(&grad(h)(&x)), 1e-12);
        assert_close(&jvp(f, &x, &x).1, &numbers(&jvp(plain, &x, &x).1), 1e-14);
        assert_close(&hessian(f)(&x), &numbers(&hessian(plain)(&x)), 1e-12);
        assert_close(
            &vmap(grad(|x: &Array| f(&(x * 1.0))))(&x.reshape([3, 1])),
            &numbers(&grad(plain)(&x)),
            1e-14,
        );
    }
}

#[test]
fn what_is_kept() {
    let x = Array::from([0.3f64, -0.7, 1.1]);
    expect![[r#"
        f64[3] computed by `cos`
        f64[3] computed by `exp`
        f64[3] computed by `sub`"#]]
    .assert_eq(&kept(|x| layer(x).sum(), &x));
    expect!["f64[3] from the argument `x`"].assert_eq(&kept(|x| checkpoint(layer)(x).sum(), &x));
    let exps = Policy::Primitives(vec!["exp".into()]);
    expect![[r#"
        f64[3] from the argument `x`
        f64[3] computed by `checkpoint`"#]]
    .assert_eq(&kept(|x| checkpoint_with(layer, exps.clone())(x).sum(), &x));
    // Nothing is kept of what is linear, stopped, or a second result of the same kind.
    expect![""].assert_eq(&kept(|x| (2.0 * x - 1.0).sum(), &x));
    expect![""].assert_eq(&kept(|x| (stop_gradient(&layer(x)) + x).sum(), &x));
    expect!["f64[3] from the argument `x`"].assert_eq(&kept(|x| (x * x * 1.0).sum(), &x));
}

#[test]
fn residuals_name_their_line_and_path() {
    let p = (Array::from([1.0f64, 2.0]), vec![Array::from([3.0f64, 4.0])]);
    let found = saved_residuals(|(a, b): &(Array, Vec<Array>)| (a * &b[0]).exp().sum(), &p).unwrap();
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(texts[0], "f64[2] from the argument `x.0`");
    assert_eq!(texts[1], "f64[2] from the argument `x.1[0]`");
    assert!(texts[2].starts_with("f64[2] computed by `exp` at tests/face/checkpoint.rs:"), "{texts:?}");
    let error = saved_residuals(|x: &Array| x.clone(), &Array::from([1i32])).unwrap_err();
    expect!["`saved_residuals` by `x`, which is i32[1]: only floats have derivatives"]
        .assert_eq(error.message());
}

/// Compiled, the backward pass computes the exponentials again; without a checkpoint it does not.
#[test]
fn no_pass_undoes_it() {
    let chain = |x: &Array| (0..4).fold(x.clone(), |x, _| x.exp());
    let x = Array::from([0.1f64, 0.2]);
    let exps = |f: &dyn Fn(&Array) -> Array| {
        let both = tracewell::jit(|x: &Array| value_and_grad(|x: &Array| f(x).sum())(x));
        let lowered = both.lower(&x).unwrap();
        (count(lowered.optimized(), "exp"), numbers(&both.call(&x).1))
    };
    let (plain, expected) = exps(&chain);
    let (again, found) = exps(&|x| checkpoint(chain)(x));
    let (kept, _) = exps(&|x| checkpoint_with(chain, Policy::Everything)(x));
    assert_eq!((plain, again, kept), (4, 8, 4));
    assert_eq!(found, expected);
}

#[test]
fn captured_values_and_rust_branches() {
    let x = Array::from(2.0f64);
    let f = |x: &Array| {
        let s = x.square();
        checkpoint(|y: &Array| if y.item::<f64>() > 1.0 { (y * &s).sin() } else { y.clone() })(x)
    };
    // d sin(x³) = 3x² cos(x³): also by what was captured.
    assert_close(&grad(f)(&x), &[12.0 * 8f64.cos()], 1e-13);
}

#[test]
fn checkpoints_in_checkpoints_in_batches() {
    let inner = |x: &Array| checkpoint(|x: &Array| x.sin().exp())(x);
    let outer = move |x: &Array| checkpoint(move |x: &Array| inner(&inner(x)).sum())(x);
    let plain = |x: &Array| x.sin().exp().sin().exp().sum();
    let xs = Array::from([[0.1f64, 0.2], [0.3, 0.4]]);
    let expected = numbers(&vmap(grad(plain))(&xs));
    assert_close(&vmap(grad(outer))(&xs), &expected, 1e-13);
    assert_close(&grad(move |xs: &Array| vmap(outer)(xs).sum())(&xs), &expected, 1e-13);
    assert_close(&tracewell::jit(vmap(grad(outer))).call(&xs), &expected, 1e-13);
}
