//! The section "Transforms" of the API page, as far as it exists; exactness belongs to the laws.

use tracewell::prelude::*;

use crate::assert_close;

#[test]
fn derivatives_of_any_order() {
    let f = |x: &Array| (x.sin() * x.exp()).sum();
    let x = Array::from([0.5f64, -1.0]);
    let (s, c, e) = (|x: f64| x.sin(), |x: f64| x.cos(), |x: f64| x.exp());
    let first: Vec<f64> = [0.5, -1.0].iter().map(|&x| e(x) * (s(x) + c(x))).collect();
    let second: Vec<f64> = [0.5, -1.0].iter().map(|&x| 2.0 * e(x) * c(x)).collect();
    let third: Vec<f64> = [0.5, -1.0].iter().map(|&x| 2.0 * e(x) * (c(x) - s(x))).collect();
    let g1 = move |x: &Array| grad(f)(x);
    let g2 = move |x: &Array| grad(move |x: &Array| g1(x).sum())(x);
    let g3 = move |x: &Array| grad(move |x: &Array| g2(x).sum())(x);
    assert_close(&g1(&x), &first, 1e-12);
    assert_close(&g2(&x), &second, 1e-12);
    assert_close(&g3(&x), &third, 1e-12);
    assert_close(&tracewell::jit(g3).call(&x), &third, 1e-12);
}

#[test]
fn forward_and_reverse_agree() {
    let f = |x: &Array| x.tanh().dot(&x.t()).sum_axes(&[1]);
    let x = Array::from([[0.1f64, 0.2], [0.3, -0.4]]);
    let dx = Array::from([[1.0f64, -1.0], [0.5, 2.0]]);
    let (y, dy) = jvp(f, &x, &dx);
    let (y2, push) = linearize(f, &x);
    let (y3, pull) = vjp(f, &x);
    assert_close(&y2, &crate::numbers(&y), 1e-14);
    assert_close(&y3, &crate::numbers(&y), 1e-14);
    assert_close(&push(&dx), &crate::numbers(&dy), 1e-12);
    let ct = Array::from([0.7f64, -0.2]);
    let left: f64 = (&dy * &ct).sum().item();
    let right: f64 = (pull(&ct) * &dx).sum().item();
    assert!((left - right).abs() < 1e-12);
}

#[test]
fn batching_equals_a_loop() {
    let f = |x: &Array| (x.square().sum().sqrt() + 1.0).log();
    let xs = Array::from([[1.0f64, 2.0], [3.0, 4.0], [-1.0, 0.5]]);
    let batched = vmap(f)(&xs);
    let expected: Vec<f64> = [[1.0f64, 2.0], [3.0, 4.0], [-1.0, 0.5]]
        .iter()
        .map(|[a, b]| ((a * a + b * b).sqrt() + 1.0).ln())
        .collect();
    assert_close(&batched, &expected, 1e-12);
    let per_example = vmap(grad(f))(&xs);
    assert_eq!(per_example.shape(), &[3, 2]);
    let whole = grad(|xs: &Array| vmap(f)(xs).sum())(&xs);
    assert_close(&per_example, &crate::numbers(&whole), 1e-12);
}

#[test]
fn a_tree_of_parameters_has_a_gradient_of_its_structure() {
    let p = (Array::from([1.0f64, 2.0]), vec![Array::from(3.0f64)]);
    let (value, g) = value_and_grad(|(w, b): &(Array, Vec<Array>)| (w * &b[0]).sum())(&p);
    assert_eq!(value.item::<f64>(), 9.0);
    assert_eq!(g.0.to_string(), "[3. 3.]");
    assert_eq!(g.1[0].item::<f64>(), 3.0);
}

#[test]
fn a_rust_if_on_a_value_works_under_grad_outside_jit() {
    let f = |x: &Array| if x.item::<f64>() > 1.0 { x.square() } else { x * 3.0 };
    assert_eq!(grad(f)(&Array::from(2.0f64)).item::<f64>(), 4.0);
    assert_eq!(grad(f)(&Array::from(0.5f64)).item::<f64>(), 3.0);
    assert_eq!(grad(|x: &Array| grad(f)(x))(&Array::from(2.0f64)).item::<f64>(), 2.0);
}

#[test]
fn a_user_error_passes_through_unchanged() {
    #[derive(Debug)]
    enum Mine {
        Own(&'static str),
        Library(Error),
    }
    impl From<Error> for Mine {
        fn from(error: Error) -> Mine {
            Mine::Library(error)
        }
    }
    let x = Array::from([1.0f32]);
    let own = grad(|_: &Array| Err::<Array, Mine>(Mine::Own("no")))(&x);
    assert!(matches!(own, Err(Mine::Own("no"))));
    let ours = grad(|x: &Array| Ok::<Array, Mine>(x + Array::zeros([2, 2], F32)))(&x);
    match ours {
        Err(Mine::Library(error)) => assert!(error.message().contains("returns one float"), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn captured_arrays_and_functions_that_return_functions() {
    let scale = Array::from([2.0f64, 3.0]);
    let make = |power: usize| {
        let scale = scale.clone();
        move |x: &Array| (0..power).fold(x.clone(), |y, _| y * &scale).sum()
    };
    assert_eq!(grad(make(1))(&Array::from([1.0f64, 1.0])).to_string(), "[2. 3.]");
    assert_eq!(grad(make(2))(&Array::from([1.0f64, 1.0])).to_string(), "[4. 9.]");
    let outer = grad(|x: &Array| {
        let inner = grad(|y: &Array| (y * x).square().sum())(&x.sin());
        inner.sum()
    });
    // d/dx Σ 2 sin(x) x²
    let x: f64 = 0.8;
    assert_close(&outer(&Array::from([x])), &[2.0 * (x.cos() * x * x + 2.0 * x * x.sin())], 1e-12);
}

#[test]
fn jacobians_and_hessians() {
    let f = |x: &Array| x.dot(&x.t()).sin();
    let x = Array::from([[0.1f64, 0.2], [0.3, -0.4]]);
    let (forward, reverse) = (jacfwd(f)(&x), jacrev(f)(&x));
    assert_eq!(forward.shape(), &[2, 2, 2, 2]);
    assert_close(&forward, &crate::numbers(&reverse), 1e-12);
    let rosenbrock = |x: &Array| {
        let a = x.dot(&Array::from([1.0f64, 0.0]));
        let b = x.dot(&Array::from([0.0f64, 1.0]));
        (1.0 - &a).square() + 100.0 * (b - a.square()).square()
    };
    let at = Array::from([1.0f64, 1.0]);
    let h = hessian(rosenbrock)(&at);
    assert_close(&h, &[802.0, -400.0, -400.0, 200.0], 1e-12);
    assert_close(&hvp(rosenbrock, &at, &Array::from([1.0f64, 2.0])), &[2.0, 0.0], 1e-12);
    assert_close(&tracewell::jit(hessian(rosenbrock)).call(&at), &[802.0, -400.0, -400.0, 200.0], 1e-12);
}
