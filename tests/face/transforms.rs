//! The section "Transforms" of the API page, as far as it exists; exactness belongs to the laws.

use tracewell::prelude::*;

use crate::{assert_close, numbers};

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
    assert_close(&y2, &numbers(&y), 1e-14);
    assert_close(&y3, &numbers(&y), 1e-14);
    assert_close(&push(&dx), &numbers(&dy), 1e-12);
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
    assert_close(&per_example, &numbers(&whole), 1e-12);
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
    assert_close(&forward, &numbers(&reverse), 1e-12);
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

#[test]
fn gradients_with_something_beside() {
    let f = |x: &Array| {
        let y = x.sin();
        (y.square().sum(), (y, x.convert(I32)))
    };
    let x = Array::from([0.5f64, 1.5]);
    let ((value, (sine, whole)), slope) = value_and_grad_aux(f)(&x);
    assert_close(&value, &[0.5f64.sin().powi(2) + 1.5f64.sin().powi(2)], 1e-14);
    assert_close(&sine, &[0.5f64.sin(), 1.5f64.sin()], 1e-14);
    assert_eq!(whole.to_string(), "[0 1]");
    assert_close(&slope, &[1.0f64.sin(), 3.0f64.sin()], 1e-14);
    let (slope, _) = tracewell::jit(grad_aux(f)).call(&x);
    assert_close(&slope, &[1.0f64.sin(), 3.0f64.sin()], 1e-14);
    // What is beside has no gradient here, but one outside.
    let outer = grad(|x: &Array| grad_aux(f)(x).1.0.sum())(&x);
    assert_close(&outer, &[0.5f64.cos(), 1.5f64.cos()], 1e-14);
    let failed = value_and_grad_aux(|x: &Array| -> Result<(Array, Array)> { Ok((x.clone(), x.sum())) })(&x);
    assert!(failed.unwrap_err().message().contains("returns one float, found f64[2]"));
}

#[test]
fn only_floats_have_gradients() {
    let p = (Array::from([1.0f32]), vec![Array::from([1i32]), Array::from([true])]);
    let f = |p: &(Array, Vec<Array>)| -> Result<Array> { Ok(p.0.sum()) };
    let error = grad(f)(&p).unwrap_err();
    assert_eq!(error.message(), "`grad` by `x.1[0]`, which is i32[1]: only floats have derivatives");
}

#[test]
fn axes_of_every_array() {
    let f = |(x, (y, z)): &(Array, (Array, Array))| (x * y + z, (x.sum(), z.sum()));
    let x = Array::from([[1.0f64, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let y = Array::from([10.0f64, 20.0]);
    let z = Array::from([[1.0f64, 0.0], [0.0, 1.0], [1.0, 1.0]]);
    let p = (x.clone(), (y.clone(), z.clone()));
    // Columns of x, rows of z, all of y; the results at axis 1, at axis 0 and not at all.
    let (a, (b, _)) = vmap_axes(f, (1, (None, 0)), (1, 0))(&p);
    assert_eq!(a.shape(), &[2, 3]);
    assert_close(&a, &[11.0, 20.0, 31.0, 80.0, 101.0, 121.0], 1e-14);
    assert_close(&b, &[5.0, 7.0, 9.0], 1e-14);
    let listed = vmap_axes(f, vec![Some(1), None, Some(0)], vec![Some(-1), Some(0), Some(0)])(&p);
    assert_close(&listed.0, &numbers(&a), 0.0);
    let shared = vmap_axes(|(x, y): &(Array, Array)| (x.sum(), y.sum()), (1, None), (0, None));
    let (sums, total) = shared(&(x.clone(), y.clone()));
    assert_close(&sums, &[5.0, 7.0, 9.0], 1e-14);
    assert_eq!(total.item::<f64>(), 30.0);

    // In each other: an outer product.
    let product = |x: &Array, y: &Array| {
        vmap(|a: &Array| vmap_axes(|(a, b): &(Array, Array)| a * b, (None, 0), 0)(&(a.clone(), y.clone())))(x)
    };
    assert_close(&product(&y, &y), &[100.0, 200.0, 200.0, 400.0], 1e-14);
}

#[test]
fn wrong_axes_are_named() {
    let x = Array::zeros([2, 3], F64);
    let shared = vmap_axes(|x: &Array| -> Result<Array> { Ok(x.sum()) }, 0, None)(&x);
    assert_eq!(
        shared.unwrap_err().message(),
        "`vmap` gives `y` no axis, but it differs from example to example"
    );
    let outside = vmap_axes(|x: &Array| -> Result<Array> { Ok(x.sum()) }, 0, 1)(&x);
    assert_eq!(
        outside.unwrap_err().message(),
        "`vmap` has no axis 1 for `y`, which with its batch is f64[2]"
    );
    let few = vmap_axes(|x: &(Array, Array)| -> Result<Array> { Ok(x.0.sum()) }, vec![Some(0)], 0);
    assert_eq!(
        few(&(x.clone(), x)).unwrap_err().message(),
        "`vmap_axes` was given 1 axes for 2 arrays of the arguments"
    );
}

/// Products and sums are `mul_add` under every transform, and nowhere else.
#[test]
fn contracted_functions() {
    let numbers = |array: &Array| array.to_vec::<f32>().unwrap();
    let x = Array::from([0.1f32, 0.7, 1.3, 2.9]);
    let f = |x: &Array| 0.3 * x + x.sin();
    let fused = |x: &Array| x.mul_add(0.3, x.sin());
    let expected = numbers(&fused(&x));
    assert_ne!(numbers(&f(&x)), expected);
    let contracted = [
        contract(f)(&x),
        jit(|x: &Array| contract(f)(x)).call(&x),
        contract(|x: &Array| jit(f).call(x))(&x),
        vmap(contract(f))(&x),
        contract(vmap(f))(&x),
        contract(checkpoint(f))(&x),
        contract(|x: &Array| cond(&x.sum().gt(0.0), || f(x), || x.clone()))(&x),
    ];
    contracted.iter().for_each(|y| assert_eq!(numbers(y), expected));
    // What is captured, structures, errors of one's own.
    let outside = x.cos();
    let pair = contract(|(a, b): &(Array, Array)| vec![a * b - &outside, &outside - b * a]);
    let both = pair(&(x.clone(), outside.clone()));
    assert_eq!(numbers(&both[0]), numbers(&x.mul_add(&outside, -&outside)));
    assert_eq!(numbers(&both[1]), numbers(&(-&outside).mul_add(&x, &outside)));
    let failed = contract(|x: &Array| -> Result<Array> { Ok(x.dot(&Array::ones([9], F32))) })(&x);
    assert!(failed.is_err());
    // Loops.
    let coefficients = Array::from([0.3f32, 0.7]);
    let horner = |x: &Array| scan(x.clone(), &coefficients, |s: &Array, c: &Array| (s * x + c, s.clone())).0;
    assert_eq!(numbers(&contract(horner)(&x)), numbers(&x.mul_add(&x, 0.3).mul_add(&x, 0.7)));
    // The derivative of what is contracted: `0.3 × 1 + cos x × 1`.
    let slope = grad(|x: &Array| contract(f)(x).sum())(&x);
    assert_eq!(numbers(&slope), numbers(&(x.cos() + 0.3)));
    // And the derivative contracted: `x × y' + x' × y`, of which one product is rounded.
    let g = |x: &Array| (x.sin() * x.exp()).sum();
    let many = Array::from((0..64).map(|i| 0.1 * i as f32).collect::<Vec<f32>>());
    let by_hand = many.sin().mul_add(many.exp(), many.exp() * many.cos());
    assert_eq!(numbers(&contract(grad(g))(&many)), numbers(&by_hand));
    assert_ne!(numbers(&grad(g)(&many)), numbers(&by_hand));
    // Integers are exact anyway.
    let whole = contract(|x: &Array| x * x + x)(&Array::from([1, 2]));
    assert_eq!(whole.to_vec::<i32>().unwrap(), [2, 6]);
}

#[test]
fn shapes_without_values() {
    let f = |x: &Array| (x.dot(&x.t()), vec![x.sum_axes(&[0])]);
    let y = eval_shape(f, &Array::zeros([4, 3], F32));
    assert_eq!((y.0.ty().to_string(), y.1[0].ty().to_string()), ("f32[4,4]".into(), "f32[3]".into()));
    let failed = eval_shape(|x: &Array| -> Result<Array> { Ok(x.dot(x)) }, &Array::zeros([4, 3], F32));
    assert!(failed.is_err());
    // What it returns can be an argument again.
    assert_eq!(eval_shape(|x: &Array| x.exp(), &y.0).shape(), &[4, 4]);
}

/// The work of derivatives grows linearly with their order.
mod work {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tracewell::observe::{Event, Observer, Value, observing};
    use tracewell::prelude::*;
    use tracewell::primitive::{ParamValue, Prim};

    /// Counts how often an exponential was run, also inside of calls.
    #[derive(Default)]
    struct Exponentials(AtomicUsize);

    impl Observer for Exponentials {
        fn observe(&self, event: &Event<'_>) {
            let is_abstract = |value: &Value| matches!(value, Value::Traced(t) if t.value().is_none());
            if let Event::Bind { prim, results, known: false, .. } = event
                && !results.iter().any(is_abstract)
            {
                self.0.fetch_add(exponentials(prim), Ordering::Relaxed);
            }
        }
    }

    fn exponentials(prim: &Prim) -> usize {
        let mut count = usize::from(prim.name() == "exp");
        prim.rules().each_param(&mut |_, value| {
            if let ParamValue::Graph(graph) = value {
                count += graph.equations.iter().map(|equation| exponentials(&equation.prim)).sum::<usize>();
            }
        });
        count
    }

    fn runs(f: impl FnOnce() -> Array) -> usize {
        let counter = Arc::new(Exponentials::default());
        observing(counter.clone(), || drop(f()));
        counter.0.load(Ordering::Relaxed)
    }

    fn chain(x: &Array) -> Array {
        (0..10).fold(x.clone(), |x, _| (0.1 * x).exp())
    }

    jit! {
        fn jitted_chain(x: &Array) -> Array { chain(x) }
    }

    #[test]
    fn every_order_runs_the_chain_once() {
        let x = Array::from(0.5f64);
        let g1 = |x: &Array| grad(chain)(x);
        let g2 = move |x: &Array| grad(g1)(x);
        let g3 = move |x: &Array| grad(g2)(x);
        assert_eq!([runs(|| g1(&x)), runs(|| g2(&x)), runs(|| g3(&x))], [10, 10, 10]);
    }

    /// A compiled call is run with what the derivative will need of its inside, and so not again for that.
    #[test]
    fn every_order_runs_the_jitted_chain_once() {
        let x = Array::from(0.5f64);
        let g1 = |x: &Array| grad(|x: &Array| jitted_chain(x))(x);
        let g2 = move |x: &Array| grad(g1)(x);
        let g3 = move |x: &Array| grad(g2)(x);
        assert_eq!([runs(|| g1(&x)), runs(|| g2(&x)), runs(|| g3(&x))], [10, 10, 10]);
    }

    /// What was computed inside of a call is found again also where captured values come before it.
    #[test]
    fn a_jitted_chain_among_captured_values() {
        let (x, s) = (Array::from([0.5f64, -0.25]), Array::from([1.5f64, 2.0]));
        let outer = |f: fn(&Array) -> Array| {
            let inner = |s: &Array| {
                let y = s.sin();
                grad(|x: &Array| (f(&(x * &y)) * s.exp() * f(x)).sum())(&x).sum()
            };
            crate::numbers(&grad(inner)(&s))
        };
        let (plain, jitted) = (outer(chain), outer(|x| jitted_chain(x)));
        assert!(plain.iter().zip(&jitted).all(|(a, b)| (a - b).abs() <= 1e-14), "{plain:?} {jitted:?}");
    }

    #[test]
    fn a_gradient_has_the_exponentials_of_its_function() {
        let graph = trace(|x: &Array| grad(chain)(x), &Array::from(0.5f64)).unwrap();
        let exps = graph.equations.iter().filter(|equation| equation.prim.name() == "exp").count();
        assert_eq!(exps, 10);
    }
}

#[test]
fn functions_that_fail_have_no_pullback() {
    let x = Array::from([1.0f64, 2.0]);
    let f = |x: &Array| -> Result<Array> { Ok(x.square()) };
    let (y, pull) = vjp(f, &x).unwrap();
    assert_close(&y, &[1.0, 4.0], 0.0);
    assert_close(&pull(&x), &[2.0, 8.0], 0.0);
    let (_, push) = linearize(f, &x).unwrap();
    assert_close(&push(&x), &[2.0, 8.0], 0.0);
    let wrong = |x: &Array| -> Result<Array> { Ok(x + Array::zeros([3], F64)) };
    assert!(vjp(wrong, &x).is_err());
    assert!(linearize(wrong, &x).is_err());
}

#[test]
fn a_tree_as_one_array_and_back() {
    let p = (Array::from([[1.0f64, 2.0], [3.0, 4.0]]), vec![Array::from(5.0f64), Array::zeros([0], F64)]);
    let (flat, unravel) = tree::ravel(&p);
    assert_close(&flat, &[1.0, 2.0, 3.0, 4.0, 5.0], 0.0);
    let loss = |p: &(Array, Vec<Array>)| (p.0.square().sum() * &p.1[0]).sin();
    let by_tree = tree::ravel(&grad(loss)(&p)).0;
    assert_close(&grad(|flat: &Array| loss(&unravel(flat)))(&flat), &numbers(&by_tree), 1e-13);
    let h = hessian(|flat: &Array| loss(&unravel(flat)))(&flat);
    assert_eq!(h.shape(), &[5, 5]);
    assert_close(&h, &numbers(&h.t()), 1e-12);
    let mixed = (Array::from(1.0f64), Array::from(1i32));
    let error = trace(|x: &(Array, Array)| tree::ravel(x).0, &mixed).unwrap_err();
    assert_eq!(error.message(), "`ravel` takes a tree of one element type, found f64 and `x.1` of i32[]");
}
