//! Logarithm of the gamma function and its first two derivatives.
//!
//! From 8 up the asymptotic series of Stirling; below, the recurrence leads to an interval of length 1
//! (`lgamma`) or into the series (`digamma`, `trigamma`), its factors chosen by `select`. Negative arguments
//! are reflected.

use std::f64::consts::PI;

use super::float::Math;
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `ln Γ(1 + v) = v (v - 1) p(v - ½)` for `v` from 0 to 1, for `f32`: relative error 2^-25.
const LGAMMA_F32: [f64; 9] = [
    0.48312896490097046,
    -0.14595969021320343,
    0.06291104108095169,
    -0.03131917864084244,
    0.016808299347758293,
    -0.009275426156818867,
    0.005324677098542452,
    -0.003974693361669779,
    0.0024493997916579247,
];

/// `ln Γ(1 + v) = v (v - 1) p(v - ½)` for `v` from 0 to 1, for `f64`: relative error 2^-56.
const LGAMMA_F64: [f64; 21] = [
    0.4831289505409809,
    -0.14595989591430594,
    0.06291140107456435,
    -0.031308487501054263,
    0.016797098631280795,
    -0.009425622444759607,
    0.0054464578387940065,
    -0.0032120742228515186,
    0.001922916321308276,
    -0.001164411338310822,
    0.0007115189413590058,
    -0.0004380355574750283,
    0.00027131487962178214,
    -0.00016856935672486322,
    0.00010534872600061341,
    -6.794624618635687e-05,
    4.3049391643474264e-05,
    -2.1469867454651632e-05,
    1.3145210064044327e-05,
    -1.8542827343993475e-05,
    1.2172624112799806e-05,
];

/// `ln Γ(x) = (x - ½) (ln x - 1) + c + p(1/x²) / x` from 8 up, for `f32`: error 2^-33.
const STIRLING_F32: [f64; 3] = [0.0833333358168602, -0.002778334077447653, 0.0008121326100081205];

/// `ln Γ(x) = (x - ½) (ln x - 1) + c + p(1/x²) / x` from 8 up, for `f64`: error 2^-64.
const STIRLING_F64: [f64; 7] = [
    0.08333333333333333,
    -0.0027777777777667186,
    0.0007936507859973487,
    -0.0005952357528759653,
    0.000841380528713819,
    -0.0018857531858944977,
    0.004973845979190693,
];

/// `(ln 2π - 1) / 2`, the constant of Stirling's series.
const STIRLING_CONSTANT: f64 = 0.4189385332046727;

/// `ψ(x) = ln x - 1/(2x) + p(1/x²) / x²` from 8 up, for `f32`: error 2^-37.
const DIGAMMA_F32: [f64; 3] = [-0.0833333283662796, 0.008331739343702793, -0.0038220195565372705];

/// `ψ(x) = ln x - 1/(2x) + p(1/x²) / x²` from 8 up, for `f64`: error 2^-64.
const DIGAMMA_F64: [f64; 7] = [
    -0.08333333333333316,
    0.008333333333046315,
    -0.0039682538062626475,
    0.004166623278118073,
    -0.007569504804909553,
    0.02059018329219725,
    -0.061557686971902593,
];

/// `x (x + 1) … (x + 7)`, multiplied out.
const RISING: [f64; 9] = [0.0, 5040.0, 13068.0, 13132.0, 6769.0, 1960.0, 322.0, 28.0, 1.0];
/// Its derivative.
const RISING_SLOPE: [f64; 8] = [5040.0, 26136.0, 39396.0, 27076.0, 9800.0, 1932.0, 196.0, 8.0];

/// `ψ'(x) = 1/x + 1/(2x²) + p(1/x²) / x³` from 8 up: numbers of Bernoulli. The first four are enough for `f32`.
const TRIGAMMA: [f64; 11] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174_611.0 / 330.0,
    854_513.0 / 138.0,
];

impl Math<'_> {
    /// The distance `r` of a number to the nearest integer; `q = |r|`, or `½ - |r|` where that is smaller;
    /// and whether it is.
    fn nearest(&mut self, x: Value) -> (Value, Value, Value) {
        let whole = self.round_even(x);
        let r = self.sub(x, whole);
        let distance = self.abs(r);
        let far = self.above(distance, 0.25);
        let half = self.c(0.5);
        let rest = self.sub(half, distance);
        (r, self.select(far, rest, distance), far)
    }
}

/// `ln |Γ(x)|`, at most 6 ulp for positive `x`; for negative `x`, where it crosses zero near integers, at most 6 ulp
/// of the result, of `ln Γ(-x)` or of 1, whichever is largest. Infinite at zero, negative integers and infinities.
pub fn lgamma(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let a = m.abs(x);
    let one = m.c(1.0);
    let (below_one, large) = (m.below(a, 1.0), m.c(8.0));
    let small = m.lt(a, large);
    // Below 8: Γ(a) = Γ(1 + v) times those of a - 1, a - 2, … that are at least 1, or over a itself.
    let whole = m.floor(a);
    let v = m.sub(a, whole);
    let centred = m.offset(v, -0.5);
    let p = m.poly_of(centred, &LGAMMA_F32, &LGAMMA_F64);
    let less = m.offset(v, -1.0);
    let between = m.mul(v, less);
    let between = m.mul(between, p);
    let mut product = one;
    for i in 1..=6 {
        let factor = m.offset(a, -f64::from(i));
        let short = m.lt(factor, one);
        let factor = m.select(short, one, factor);
        product = m.mul(product, factor);
    }
    let argument = m.select(below_one, a, product);
    let argument = m.select(small, argument, a);
    let log = m.log(argument);
    let negated = m.neg(log);
    let signed = m.select(below_one, negated, log);
    let near = m.add(between, signed);
    // From 8 up: Stirling.
    let inverse = m.div(one, a);
    let square = m.mul(inverse, inverse);
    let series = m.poly_of(square, &STIRLING_F32, &STIRLING_F64);
    let constant = m.c(STIRLING_CONSTANT);
    let rest = m.fma(series, inverse, constant);
    let (first, second) = (m.offset(a, -0.5), m.offset(log, -1.0));
    let far = m.fma(first, second, rest);
    let positive = m.select(small, near, far);
    // ln |Γ(-a)| = -ln(a sin(πa) / π) - ln Γ(a), where below 1 both terms have a logarithm of a that cancels.
    let (_, q, swapped) = m.nearest(a);
    let angle = m.scale(q, PI);
    let (sin, cos) = m.sin_cos(angle);
    let over = m.scale(cos, 1.0 / PI);
    // sin(πq) / π, which is q for the smallest ones.
    let tiny = m.below(q, 1e-9);
    let under = m.scale(sin, 1.0 / PI);
    let under = m.select(tiny, q, under);
    let sine = m.select(swapped, over, under);
    let factor = m.select(below_one, one, a);
    let product = m.mul(sine, factor);
    let log = m.log(product);
    let other = m.select(below_one, between, positive);
    let sum = m.add(log, other);
    let reflected = m.neg(sum);
    // At large integers both terms are infinite.
    let infinity = m.c(f64::INFINITY);
    let pole = m.equals(product, 0.0);
    let reflected = m.select(pole, infinity, reflected);
    let negative = m.below(x, 0.0);
    let y = m.select(negative, reflected, positive);
    let finite = m.lt(a, infinity);
    // NaN stays: its magnitude is not finite and its own result.
    m.select(finite, y, a)
}

/// The derivative of `ln Γ(x)`, at most 16 ulp of the result or, since it crosses zero, of 1 (positive `x`)
/// or `ln(2 - x)` (negative `x`), whichever is larger. Infinite at zero, NaN at negative integers.
pub fn digamma(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let (one, zero) = (m.c(1.0), m.c(0.0));
    let negative = m.below(x, 0.0);
    let mirrored = m.sub(one, x);
    let a = m.select(negative, mirrored, x);
    // Below 8: ψ(a) = ψ(a + 8) - 1/a - … - 1/(a + 7), the sum as one fraction.
    let small = m.below(a, 8.0);
    let shifted = m.offset(a, 8.0);
    let y = m.select(small, shifted, a);
    let numerator = m.poly(a, &RISING_SLOPE);
    let denominator = m.poly(a, &RISING[1..]);
    let denominator = m.mul(denominator, a);
    let sum = m.div(numerator, denominator);
    let sum = m.select(small, sum, zero);
    let log = m.log(y);
    let inverse = m.div(one, y);
    let square = m.mul(inverse, inverse);
    let p = m.poly_of(square, &DIGAMMA_F32, &DIGAMMA_F64);
    let minus_half = m.c(-0.5);
    let series = m.mul(square, p);
    let series = m.fma(inverse, minus_half, series);
    let rest = m.sub(series, sum);
    let positive = m.add(log, rest);
    // ψ(x) = ψ(1 - x) - π cot(πx)
    let (r, q, swapped) = m.nearest(x);
    let angle = m.scale(q, PI);
    let (sin, cos) = m.sin_cos(angle);
    let above = m.select(swapped, sin, cos);
    let below = m.select(swapped, cos, sin);
    let cot = m.div(above, below);
    let sign = m.sign(r);
    let cot = m.flip(cot, sign);
    let minus_pi = m.c(-PI);
    let reflected = m.fma(cot, minus_pi, positive);
    let pole = m.equals(r, 0.0);
    let nan = m.c(f64::NAN);
    let reflected = m.select(pole, nan, reflected);
    m.select(negative, reflected, positive)
}

/// The derivative of [`digamma`], at most 8 ulp. Infinite at zero and negative integers.
pub fn trigamma(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let (one, zero) = (m.c(1.0), m.c(0.0));
    let negative = m.below(x, 0.0);
    let mirrored = m.sub(one, x);
    let a = m.select(negative, mirrored, x);
    // Below 8: ψ'(a) = ψ'(a + 8) + 1/a² + … + 1/(a + 7)², the small ones first.
    let mut sum = zero;
    for i in (0..8).rev() {
        let term = m.offset(a, f64::from(i));
        let inverse = m.div(one, term);
        sum = m.fma(inverse, inverse, sum);
    }
    let small = m.below(a, 8.0);
    let sum = m.select(small, sum, zero);
    let shifted = m.offset(a, 8.0);
    let y = m.select(small, shifted, a);
    let inverse = m.div(one, y);
    let square = m.mul(inverse, inverse);
    let p = m.poly_of(square, &TRIGAMMA[..4], &TRIGAMMA);
    let half = m.c(0.5);
    let rest = m.fma(inverse, p, half);
    let series = m.fma(square, rest, inverse);
    let positive = m.add(series, sum);
    // ψ'(x) = π² / sin²(πx) - ψ'(1 - x)
    let (_, q, swapped) = m.nearest(x);
    let angle = m.scale(q, PI);
    let (sin, cos) = m.sin_cos(angle);
    let sine = m.select(swapped, cos, sin);
    let pi = m.c(PI);
    let ratio = m.div(pi, sine);
    let minus = m.neg(positive);
    let reflected = m.fma(ratio, ratio, minus);
    m.select(negative, reflected, positive)
}
