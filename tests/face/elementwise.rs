//! Elementwise methods and operators as users meet them; exactness belongs to the laws and the edges.

use expect_test::expect;
use tracewell::prelude::*;

use crate::assert_close;

#[test]
fn operators_on_integers_and_bools() {
    let x = Array::from([12, -7, 5]);
    assert_eq!((&x % 5).to_string(), "[ 2 -2  0]");
    assert_eq!((&x & 6).to_string(), "[4 0 4]");
    assert_eq!((&x | 1).to_string(), "[13 -7  5]");
    assert_eq!((1 ^ &x).to_string(), "[13 -8  4]");
    assert_eq!((!&x).to_string(), "[-13   6  -6]");
    assert_eq!((&x << 2).to_string(), "[ 48 -28  20]");
    assert_eq!((&x >> 1).to_string(), "[ 6 -4  2]");
    assert_eq!((&x.convert(U32) >> 28).to_string(), "[ 0 15  0]");
    let mask = x.gt(0) & !x.eq(5);
    assert_eq!(mask.to_string(), "[ true false false]");
    assert_eq!((mask | x.lt(0)).to_string(), "[ true  true false]");
}

#[test]
fn integers_become_floats_where_floats_are_needed() {
    let x = Array::from([1, 4]);
    assert_eq!(x.pow(0.5).dtype(), F32);
    assert_close(&x.pow(0.5), &[1.0, 2.0], 1e-6);
    assert_eq!(x.powi(2).dtype(), I32);
    assert_eq!(x.is_finite().to_string(), "[ true  true]");
    assert_eq!(Array::from([1i64]).atan2(1).dtype(), F64);
}

/// Where the quotient of differentials is not defined or not finite, as JAX has it.
#[test]
fn derivatives_at_edges() {
    let by_base = |x: f64, y: f64| grad(move |x: &Array| x.pow(y).sum())(&Array::from([x]));
    assert_close(&by_base(0.0, 2.0), &[0.0], 0.0);
    assert_close(&by_base(0.0, 1.0), &[1.0], 0.0);
    assert_close(&by_base(0.0, 0.0), &[0.0], 0.0);
    assert_close(&by_base(-2.0, 3.0), &[12.0], 1e-14);
    let by_exponent =
        |x: f64, y: f64| grad(move |y: &Array| Array::from([x]).pow(y).sum())(&Array::from([y]));
    assert_close(&by_exponent(0.0, 2.0), &[0.0], 0.0);
    assert_close(&by_exponent(2.0, 3.0), &[8.0 * 2f64.ln()], 1e-14);
    let x = Array::from([-1.0f64, 0.0, 0.5, 1.0, 3.0]);
    assert_close(&grad(|x: &Array| x.clamp(0.0, 1.0).sum())(&x), &[0.0, 0.0, 1.0, 0.0, 0.0], 0.0);
    assert_close(&grad(|x: &Array| x.round().sum())(&x), &[0.0; 5], 0.0);
    assert_close(&grad(|x: &Array| x.powi(0).sum())(&x), &[0.0; 5], 0.0);
    assert_close(&grad(|x: &Array| x.powi(2).sum())(&x), &[-2.0, 0.0, 1.0, 2.0, 6.0], 0.0);
}

/// Values of `mpmath.psi(0, x)` and `mpmath.psi(1, x)`.
#[test]
fn gamma_functions_have_two_derivatives() {
    let lgamma = |x: &Array| x.lgamma().sum();
    let first = move |x: &Array| grad(lgamma)(x).sum();
    let x = Array::from([1.0f64, 2.5]);
    assert_close(&grad(lgamma)(&x), &[-0.577_215_664_901_532_9, 0.703_156_640_645_243_2], 1e-14);
    assert_close(&grad(first)(&x), &[1.644_934_066_848_226_4, 0.490_357_756_100_234_84], 1e-14);
}

#[test]
fn what_has_no_derivative_says_so() {
    let f = |x: &Array| -> Result<Array> { Ok(x.nextafter(1.0).sum()) };
    let error = grad(f)(&Array::zeros([2], F32)).err().unwrap().to_string();
    assert!(error.starts_with("`nextafter` has no derivative: it is made of steps"), "{error}");
}

#[test]
fn mistakes_name_a_way_out() {
    let message = |f: fn(&Array) -> Array| {
        let error =
            tracewell::jit(move |x: &Array| -> Result<Array> { Ok(f(x)) }).call(&Array::zeros([2], F32));
        let error = error.err().unwrap().to_string();
        let told = |line: &&str| !line.contains("-->") && !line.contains("note:");
        error.lines().filter(told).map(str::trim).collect::<Vec<_>>().join("; ")
    };
    let messages = [
        message(|x| x & 1),
        message(|x| x.count_ones()),
        message(|x| x << 1),
        message(|x| x.bitcast(F64)),
        message(|x| x.bitcast(BOOL)),
        message(|x| x.convert(I32).powi(-1)),
        message(|x| x.clamp(Array::zeros([3], F32), 1.0)),
        message(|x| x.mul_add(2.0, Array::zeros([3], F32))),
        message(|x| x.convert(I32).mul_add(2, 1)),
        message(|x| x.mul_add(x.convert(C64), 1.0)),
    ];
    expect![[r#"
        `and` expects integers or bools, found f32[2]; help: `.convert(I32)` first, or compare: `x.gt(0.0)`
        `population_count` expects integers, found f32[2]; help: `.convert(I32)` first
        `shift_left` expects integers, found f32[2]; help: `.convert(I32)` first
        cannot bitcast f32[2] to f64: elements have 32 and 64 bits; help: `.convert` keeps the values instead
        cannot bitcast f32[2] to bool: bools have no bits of their own; help: `.convert` instead
        cannot raise i32[2] to the power -1; help: `.convert(F32)` first
        cannot clamp f32[3] and f32[2] and f64[]: axis 0 is 3 and 2; help: axes are aligned from the last; sizes must be equal, or 1; `reshape` to add an axis
        cannot multiply and add f32[2] and f64[] and f32[3]: axis 0 is 2 and 3; help: axes are aligned from the last; sizes must be equal, or 1; `reshape` to add an axis
        `mul_add` expects a float array, found i32[2]; help: `.convert(F32)` first
        `mul_add` expects a real float array, found c64[2]; help: `.re()`, `.im()` and `.abs()` are real"#]]
    .assert_eq(&messages.join("\n"));
}

/// Repeated and converted as by operators; one rounding in derivatives of every order.
#[test]
fn products_and_sums_rounded_once() {
    let x = Array::from([4097.0f32, 2.0]);
    let squares = x.mul_add(&x, Array::from([[-16_785_408.0f32], [0.0]]));
    assert_eq!(squares.to_string(), "[[ 1.0000000e+00 -1.6785404e+07]\n [ 1.6785408e+07  4.0000000e+00]]");
    let half = Array::from([1, 3]).mul_add(0.5, 1);
    assert_eq!((half.to_string().as_str(), half.dtype()), ("[1.5 2.5]", F32));
    let wide = x.mul_add(Array::from([1.0f64]), 0);
    assert_eq!(wide.dtype(), F64);

    let f = |(a, b, c): &(Array, Array, Array)| a.mul_add(b, c).powi(2).sum();
    let at = (Array::from([2.0f64]), Array::from([3.0f64]), Array::from([1.0f64]));
    let (by_a, by_b, by_c) = grad(f)(&at);
    assert_close(&by_a, &[42.0], 0.0);
    assert_close(&by_b, &[28.0], 0.0);
    assert_close(&by_c, &[14.0], 0.0);
    let cube = |x: &Array| (x * x).mul_add(x, 1.0);
    assert_close(&grad(grad(grad(cube)))(&Array::from(5.0f64)), &[6.0], 0.0);
    assert_close(&vmap(grad(cube))(&Array::from([1.0f64, 2.0])), &[3.0, 12.0], 0.0);
}

/// Every polygamma function is a derivative of the one before it, on both sides of zero.
#[test]
fn digamma_has_derivatives_of_every_order() {
    let second = |x: &Array| grad(grad(Array::digamma))(x);
    // ψ'' and ψ''' at 1/2 are -14 ζ(3) and π⁴; the values at -1/2 follow by the recurrence.
    for (x, expected) in [(0.5, -16.82879664423432), (1.0, -2.4041138063191885), (-0.5, -0.8287966442343199)]
    {
        let found: f64 = second(&Array::from(x)).item();
        assert!((found / expected - 1.0).abs() < 1e-12, "ψ''({x}) = {found}, not {expected}");
    }
    for (x, expected) in [(0.5, 97.40909103400244), (1.0, 6.493939402266829), (-0.5, 193.40909103400244)] {
        let found: f64 = grad(second)(&Array::from(x)).item();
        assert!((found / expected - 1.0).abs() < 1e-11, "ψ'''({x}) = {found}, not {expected}");
    }
    let single: f32 = second(&Array::from(0.5f32)).item();
    assert!((single / -16.828_796 - 1.0).abs() < 1e-5, "{single}");
}
