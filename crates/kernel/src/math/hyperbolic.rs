//! Hyperbolic functions and their inverses.
//!
//! From exponential and logarithm with arguments or results in two parts; odd functions that would cancel
//! near zero have a polynomial there.

use super::exp::Reduced;
use super::float::{LN_2, Math, Pair};
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `sinh x = x + x³ p(x²)` below 1, for `f32`: relative error 2^-31.
const SINH_F32: [f64; 4] =
    [0.1666666716337204, 0.00833331048488617, 0.0001984289410756901, 2.7822304673463805e-06];

/// `sinh x = x + x³ p(x²)` below 1, for `f64`: relative error 2^-61.
const SINH_F64: [f64; 7] = [
    0.16666666666666669,
    0.008333333333332912,
    0.000198412698415933,
    2.7557319106835557e-06,
    2.5052130978869433e-08,
    1.6056661284632307e-10,
    7.776518824064578e-13,
];

/// `asinh x = x + x³ p(x²)` below ½, for `f32`: relative error 2^-29.
const ASINH_F32: [f64; 5] = [
    -0.1666664332151413,
    0.07498639822006226,
    -0.04438278451561928,
    0.028159743174910545,
    -0.013220258988440037,
];

/// `asinh x = x + x³ p(x²)` below ½, for `f64`: relative error 2^-60.
const ASINH_F64: [f64; 12] = [
    -0.1666666666666661,
    0.07499999999984398,
    -0.04464285712780174,
    0.030381943714628233,
    -0.022372138304765265,
    0.01735238600744552,
    -0.0139602217608661,
    0.011512909274218705,
    -0.009533799542458516,
    0.007464622252494985,
    -0.004745937148750576,
    0.001716987291247742,
];

/// `tanh r = r + r³ p(r²)` below 0.725, for `f32`: relative error 2^-24.7, but 2^-26 from 0.55 to 0.66.
const TANH_F32: [f64; 5] = [
    -0.3333306312561035,
    0.13326594233512878,
    -0.053406693041324615,
    0.019727611914277077,
    -0.004835437051951885,
];

impl Math<'_> {
    /// `x + x³ p(x²)`
    pub(super) fn odd_poly(&mut self, x: Value, narrow: &[f64], wide: &[f64]) -> Value {
        let square = self.mul(x, x);
        let p = self.poly_of(square, narrow, wide);
        let cube = self.mul(square, x);
        self.fma(cube, p, x)
    }

    /// `e^x / 4` in two parts and `e^-x / 4`, for `x >= 0`: the quarter does not overflow where sinh does
    /// not.
    fn exp_quarters(&mut self, x: Value) -> (Pair, Value) {
        // Above the point of overflow, below that where 2^(k-2) is infinite.
        let limit = self.pick(89.7, 710.8);
        let x = self.at_most(x, limit);
        let reduced = self.exp_reduce(x);
        let lost = self.exp_lost(&reduced);
        let Reduced { k, r, tail, .. } = reduced;
        let (bits, two) = (self.bits(k.0), self.int(2));
        let bits = self.sub(bits, two);
        let power = self.exp2_bits(bits);
        let one = self.c(1.0);
        let sum = self.fast_two_sum(one, r);
        let lo = self.add(sum.lo, lost);
        let lo = self.add(lo, tail);
        let p = self.fast_two_sum(sum.hi, lo);
        let hi = self.mul(power, p.hi);
        let lo = self.mul(power, p.lo);
        let sixteenth = self.c(0.0625);
        let inverse = self.div(sixteenth, hi);
        (Pair { hi, lo }, inverse)
    }

    /// `ln(1 + argument)`, or `ln x + ln 2` where `x` is so large that its square is out of range or counts
    /// for nothing.
    fn or_log_of_double(&mut self, x: Value, argument: Pair) -> Value {
        let large = self.pick(16_777_216.0, 9_007_199_254_740_992.0);
        let large = self.above(x, large);
        let zero = self.c(0.0);
        let argument = self.select_pair(large, Pair { hi: x, lo: zero }, argument);
        let (y, ..) = self.log1p_pair(argument.hi, argument.lo);
        let ln2 = self.split(LN_2);
        let doubled = self.add(y, ln2.hi);
        let y = self.select(large, doubled, y);
        // Infinity and NaN are their own results.
        let finite = self.below(x, f64::INFINITY);
        self.select(finite, y, x)
    }
}

/// `tanh x`, at most 2 ulp in `f32`, where networks want it fast, and 1 ulp in `f64`.
pub fn tanh(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    // Beyond this the result rounds to 1.
    let limit = m.pick(10.0, 20.0);
    let magnitude = m.at_most(magnitude, limit);
    let of_magnitude: fn(&mut Math<'_>, Value) -> Value = m.pick(tanh_narrow, tanh_wide);
    let y = of_magnitude(m, magnitude);
    let sign = m.sign(x);
    m.flip(y, sign)
}

/// For `x = k ln 4 + r` and `a = (16^k - 1) / 2` the addition theorem gives `(a (1 + n) + n) / (a (1 + n) + 1)`
/// with `n = tanh r`.
///
/// Up to 0.725 `k` is 0 and the quotient `n`, exactly. Beyond, where the result is above 0.6, it is 1 less a
/// quotient that makes all errors but the last small. So one formula does for both, and one polynomial.
fn tanh_narrow(m: &mut Math<'_>, x: Value) -> Value {
    let (k, power) = sixteenfold(m, x);
    let step = m.c(-2.0 * std::f64::consts::LN_2);
    let r = m.fma(k, step, x);
    let n = m.odd_poly(r, &TANH_F32, &TANH_F32);
    let (four, half, minus_half) = (m.c(4.0), m.c(0.5), m.c(-0.5));
    let a = m.fma(power, four, minus_half);
    let above = m.fma(power, four, half);
    let denominator = m.fma(n, a, above);
    // 0 or 1: what the quotient is added to.
    let whole = m.at_most(k, 1.0);
    let numerator = m.sub(n, whole);
    let quotient = m.div(numerator, denominator);
    m.add(whole, quotient)
}

/// `k = round(0.69 x)`, up to 7, and `16^k / 8`.
///
/// A factor of `1 / ln 4` would give the smallest remainders. With this one `k` becomes 1 a little later, where
/// less cancels, and the remainders grow with `k`, but count for less where it is large.
fn sixteenfold(m: &mut Math<'_>, x: Value) -> (Value, Value) {
    // As in [`Math::round`], with what makes an exponent of `k`: four times 31 stands for 2^-3.
    let (factor, magic) = (m.c(0.69), m.c(12_582_912.0 + 31.0));
    let shifted = m.fma(x, factor, magic);
    let k = m.sub(shifted, magic);
    let bits = m.bits(shifted);
    let bits = m.shl(bits, 25);
    (k, m.float(bits))
}

/// `t / (t + 2)` with `t = e^2x - 1` in two parts.
fn tanh_wide(m: &mut Math<'_>, x: Value) -> Value {
    let doubled = m.add(x, x);
    let t = m.expm1_pair(doubled);
    let t = m.fast_two_sum(t.hi, t.lo);
    let two = m.c(2.0);
    let mut denominator = m.two_sum(two, t.hi);
    denominator.lo = m.add(denominator.lo, t.lo);
    let y = m.quotient(t, denominator);
    m.join(y)
}

/// `sinh x`, at most 1 ulp: an odd polynomial below 1, else `(e^|x| - e^-|x|) / 2`.
pub fn sinh(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let (e, inverse) = m.exp_quarters(magnitude);
    let lo = m.sub(e.lo, inverse);
    let large = m.add(e.hi, lo);
    let large = m.add(large, large);
    let small = m.odd_poly(magnitude, &SINH_F32, &SINH_F64);
    let is_small = m.below(magnitude, 1.0);
    let y = m.select(is_small, small, large);
    let sign = m.sign(x);
    m.flip(y, sign)
}

/// `cosh x`, at most 1 ulp: `(e^|x| + e^-|x|) / 2`.
pub fn cosh(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let (e, inverse) = m.exp_quarters(magnitude);
    let lo = m.add(e.lo, inverse);
    let y = m.add(e.hi, lo);
    m.add(y, y)
}

/// `asinh x`, at most 1.5 ulp: an odd polynomial below ½, else `ln(|x| + √(x² + 1))` with both roundings
/// undone.
pub fn asinh(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let square = m.two_product(magnitude, magnitude);
    let one = m.c(1.0);
    let radicand = m.two_sum(one, square.hi);
    let root = m.sqrt(radicand.hi);
    let short = m.fnma(root, root, radicand.hi);
    let short = m.add(short, radicand.lo);
    let short = m.add(short, square.lo);
    let double = m.add(root, root);
    let short = m.div(short, double);
    // log1p of |x| + √(x² + 1) - 1, the difference being exact: the root is at least 1.
    let above = m.sub(root, one);
    let mut sum = m.two_sum(magnitude, above);
    sum.lo = m.add(sum.lo, short);
    let large = m.or_log_of_double(magnitude, sum);
    let small = m.odd_poly(magnitude, &ASINH_F32, &ASINH_F64);
    let is_small = m.below(magnitude, 0.5);
    let y = m.select(is_small, small, large);
    let sign = m.sign(x);
    m.flip(y, sign)
}

/// `acosh x`, at most 1.5 ulp: `ln(1 + t + √(2t + t²))` with `t = x - 1`, which is exact; NaN below 1.
pub fn acosh(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let t = m.offset(x, -1.0);
    let square = m.two_product(t, t);
    let double = m.add(t, t);
    let radicand = m.two_sum(double, square.hi);
    let root = m.sqrt(radicand.hi);
    let short = m.fnma(root, root, radicand.hi);
    let short = m.add(short, radicand.lo);
    let short = m.add(short, square.lo);
    let double = m.add(root, root);
    let short = m.div(short, double);
    // At 1 the root is 0 and the correction 0/0.
    let zero = m.c(0.0);
    let positive = m.lt(zero, root);
    let short = m.select(positive, short, zero);
    let mut sum = m.two_sum(t, root);
    sum.lo = m.add(sum.lo, short);
    let y = m.or_log_of_double(x, sum);
    let nan = m.c(f64::NAN);
    let outside = m.below(x, 1.0);
    m.select(outside, nan, y)
}

/// `atanh x`, at most 1 ulp: half of `ln(1 + 2|x| / (1 - |x|))` with the quotient in two parts.
pub fn atanh(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let negated = m.neg(magnitude);
    let (one, zero) = (m.c(1.0), m.c(0.0));
    let denominator = m.fast_two_sum(one, negated);
    let doubled = m.add(magnitude, magnitude);
    let quotient = m.quotient(Pair { hi: doubled, lo: zero }, denominator);
    let (y, ..) = m.log1p_pair(quotient.hi, quotient.lo);
    let y = m.scale(y, 0.5);
    let (pole, nan) = (m.c(f64::INFINITY), m.c(f64::NAN));
    let at_pole = m.equals(magnitude, 1.0);
    let y = m.select(at_pole, pole, y);
    let outside = m.above(magnitude, 1.0);
    let y = m.select(outside, nan, y);
    let sign = m.sign(x);
    m.flip(y, sign)
}
