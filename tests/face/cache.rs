//! The trace cache: what shares an entry, and what does not.

use std::sync::atomic::{AtomicUsize, Ordering};

use tracewell::prelude::*;

#[derive(Clone, Tree)]
struct Metres {
    value: Array,
}

#[derive(Clone, Tree)]
struct Feet {
    value: Array,
}

trait Length: Tree {
    fn in_metres(&self) -> Array;
}

impl Length for Metres {
    fn in_metres(&self) -> Array {
        self.value.clone()
    }
}

impl Length for Feet {
    fn in_metres(&self) -> Array {
        &self.value * 0.3048
    }
}

jit! {
    fn doubled<L: Length>(length: &L) -> Array { length.in_metres() * 2.0 }
}

#[test]
fn two_structs_with_equal_leaves_do_not_share_an_entry() {
    let value = Array::from([1.0f64]);
    assert_eq!(doubled(&Metres { value: value.clone() }).item::<f64>(), 2.0);
    assert_eq!(doubled(&Feet { value }).item::<f64>(), 0.6096);
}

#[derive(Clone, Tree)]
struct Wrapped<T: Tree> {
    inner: T,
}

#[derive(Clone, Tree)]
struct Plus(Array);
#[derive(Clone, Tree)]
struct Minus(Array);

trait Sign: Tree {
    fn signed(&self) -> Array;
}
impl Sign for Plus {
    fn signed(&self) -> Array {
        self.0.clone()
    }
}
impl Sign for Minus {
    fn signed(&self) -> Array {
        -&self.0
    }
}

jit! {
    fn signed<T: Sign>(x: &Vec<Wrapped<T>>) -> Array { x[0].inner.signed() }
}

#[test]
fn type_identity_counts_at_every_level() {
    let x = Array::from(1.0f32);
    assert_eq!(signed(&vec![Wrapped { inner: Plus(x.clone()) }]).item::<f32>(), 1.0);
    assert_eq!(signed(&vec![Wrapped { inner: Minus(x) }]).item::<f32>(), -1.0);
}

static TRACES: AtomicUsize = AtomicUsize::new(0);

jit! {
    fn counted(x: &Array, #[static_arg] power: f64) -> Array {
        TRACES.fetch_add(1, Ordering::Relaxed);
        let _ = power;
        x + 1.0
    }
}

#[test]
fn a_signature_is_traced_once() {
    let mut expected = 0;
    let mut check = |x: &Array, power: f64, new: bool| {
        expected += usize::from(new);
        counted(x, power);
        assert_eq!(TRACES.load(Ordering::Relaxed), expected, "{x:?} {power}");
    };
    check(&Array::zeros([3], F32), 1.0, true);
    check(&Array::ones([3], F32), 1.0, false);
    check(&Array::zeros([4], F32), 1.0, true);
    check(&Array::zeros([3, 1], F32), 1.0, true);
    check(&Array::zeros([3], F64), 1.0, true);
    check(&Array::zeros([3], F32), 2.0, true);
    check(&Array::zeros([3], F32), 0.0, true);
    check(&Array::zeros([3], F32), -0.0, true);
    check(&Array::zeros([3], F32), f64::NAN, true);
    check(&Array::zeros([3], F32), f64::NAN, false);
    check(&Array::weak(1.0), 1.0, true);
    check(&Array::from(1.0f64), 1.0, true);
    check(&Array::zeros([4], F32), 1.0, false);
}

/// What is done at once is found again by everything that makes a difference, and by nothing else.
#[test]
fn operations_that_are_found_again_are_those_of_their_operands() {
    let (x, square) = (Array::from([1.0f32, 2.0]), Array::from([[1.0f32, 2.0], [3.0, 4.0]]));
    for _ in 0..3 {
        assert_eq!((&x + (Array::weak(1.0) + Array::weak(2.0))).dtype(), F32);
        assert_eq!((&x + (Array::from(1.0f64) + Array::from(2.0f64))).dtype(), F64);
        assert_eq!((&x + 1.0).to_vec::<f32>().unwrap(), [2.0, 3.0]);
        assert_eq!((&x + 2.0).to_vec::<f32>().unwrap(), [3.0, 4.0]);
        assert_eq!((&x + &x).to_vec::<f32>().unwrap(), [2.0, 4.0]);
        assert_eq!((&x - &x).to_vec::<f32>().unwrap(), [0.0, 0.0]);
        assert_eq!((&square + &square).shape(), &[2, 2]);
        assert_eq!(square.sum_axes(&[0]).to_vec::<f32>().unwrap(), [4.0, 6.0]);
        assert_eq!(square.sum_axes(&[1]).to_vec::<f32>().unwrap(), [3.0, 7.0]);
    }
}

#[test]
fn closures_of_one_type_with_other_captures_do_not_share() {
    let add = |n: f32| {
        let n = Array::from(n);
        tracewell::jit(move |x: &Array| x + &n)
    };
    let x = Array::from([1.0f32]);
    let (one, two) = (add(1.0), add(2.0));
    assert_eq!(one.call(&x).item::<f32>(), 2.0);
    assert_eq!(two.call(&x).item::<f32>(), 3.0);
    assert_eq!(one.call(&x).item::<f32>(), 2.0);
}

#[test]
fn entries_of_a_dropped_closure_are_forgotten() {
    if std::env::var_os("TRACEWELL_TEST_DROPPED").is_none() {
        // The cache is of the whole process, so this runs in one of its own.
        return crate::alone("cache::entries_of_a_dropped_closure_are_forgotten", "TRACEWELL_TEST_DROPPED");
    }
    let x = Array::from([1.0f32]);
    let build = || tracewell::jit(|x: &Array| x * 3.0);
    let kept = build();
    kept.call(&x);
    let before = tracewell::cache_stats().traces;
    for _ in 0..50 {
        let dropped = build();
        dropped.call(&x);
        assert_eq!(tracewell::cache_stats().traces, before + 1);
    }
    assert_eq!(tracewell::cache_stats().traces, before, "the entry of the one that is kept is there");
}

#[test]
fn capturing_a_tracer_of_an_outer_trace() {
    let f = |x: &Array| {
        let inner = tracewell::jit(|y: &Array| y * x);
        (inner.call(&x.sin()) + inner.call(&x.cos())).sum()
    };
    let x = Array::from([0.3f64, 0.7]);
    let slope = grad(f)(&x);
    let expected: Vec<f64> =
        [0.3f64, 0.7].iter().map(|x| x.sin() + x.cos() + x * (x.cos() - x.sin())).collect();
    crate::assert_close(&slope, &expected, 1e-12);
    crate::assert_close(&tracewell::jit(move |x: &Array| grad(f)(x)).call(&x), &expected, 1e-12);
}

#[test]
fn a_rebuilt_closure_is_traced_but_not_compiled_again() {
    if std::env::var_os("TRACEWELL_TEST_REBUILT").is_none() {
        // The counter is of the whole process, so this runs in one of its own.
        return crate::alone(
            "cache::a_rebuilt_closure_is_traced_but_not_compiled_again",
            "TRACEWELL_TEST_REBUILT",
        );
    }
    let x = Array::from([1.0f32, 2.0]);
    let build = |scale: f32| tracewell::jit(move |x: &Array| (x * scale).sin());
    build(3.0).call(&x);
    let compiled = tracewell::cache_stats().compiled;
    for _ in 0..5 {
        build(3.0).call(&x);
    }
    assert_eq!(tracewell::cache_stats().compiled, compiled, "the same graph");
    let building = tracewell::cache_stats().building;
    let other = build(4.0);
    other.call(&x);
    let stats = tracewell::cache_stats();
    assert_eq!(stats.compiled, compiled + 1, "another graph");
    assert!(stats.building > building, "it took time");
    other.call(&x);
    assert_eq!(tracewell::cache_stats().building, stats.building, "a warm call takes none");
}
