//! Logarithms.
//!
//! `x = 2^e m` with `m` between `√½` and `√2`; with `f = m - 1` and `s = f / (2 + f)`,
//! `ln m = f - (f²/2 - s (f²/2 + s² p(s²)))` with a polynomial `p`: only the small terms are rounded.

use super::float::{LN_2, LOG2_E, LOG10_2, LOG10_E, Math, Pair, Split, TWO_THIRDS};
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `p` for `f32`: relative error of `ln m` 2^-29.
const LOG_F32: [f64; 3] = [0.6666677594184875, 0.39977580308914185, 0.2987092137336731];

/// `p` for `f64`: relative error of `ln m` 2^-58.
const LOG_F64: [f64; 7] = [
    0.6666666666666734,
    0.39999999999416586,
    0.2857142874206132,
    0.22222198599473542,
    0.18183563251633872,
    0.1531407185346083,
    0.1479579009926182,
];

/// `2 atanh s = 2s + s³ (2/3 + s² p(s²))` for `f32`: relative error 2^-36.
const POW_F32: [f64; 3] = [0.40000152587890625, 0.2854708731174469, 0.2341979593038559];

/// `2 atanh s = 2s + s³ (2/3 + s² p(s²))` for `f64`: relative error 2^-66.
const POW_F64: [f64; 7] = [
    0.40000000000002256,
    0.28571428570099666,
    0.22222222519911405,
    0.1818178436667231,
    0.15386757442230017,
    0.13256812918021277,
    0.13196393598555042,
];

/// A positive number as `2^e (1 + f)`.
pub(super) struct Parts {
    pub(super) e: Value,
    pub(super) f: Value,
    /// Where the number is subnormal, zero, or has the sign bit: that is rare, and loops are made for where it is not so.
    pub(super) low: Value,
}

impl Math<'_> {
    /// Splits a positive number, which may be subnormal.
    pub(super) fn log_reduce(&mut self, x: Value) -> Parts {
        let significand = self.significand();
        let (smallest, up, exponent) = self.pick(
            (f64::from(f32::MIN_POSITIVE), 33_554_432.0, -25.0),
            (f64::MIN_POSITIVE, 18_014_398_509_481_984.0, -54.0),
        );
        // Positive floats are in the order of their bits, and all others below.
        let bits = self.bits(x);
        let smallest = self.bits_of(smallest);
        let low = self.lt(bits, smallest);
        let low = self.rarely(low);
        let scaled = self.scale(x, up);
        let x = self.select(low, scaled, x);
        let (lowered, zero) = (self.c(exponent), self.c(0.0));
        let adjust = self.select(low, lowered, zero);
        // The bits as a number in units of the exponent, counted from √½ and kept positive.
        let bits = self.bits(x);
        let (root, one) = (self.bits_of(std::f64::consts::FRAC_1_SQRT_2), self.bits_of(1.0));
        let shift = self.sub(one, root);
        let shifted = self.add(bits, shift);
        let biased = self.shr(shifted, significand);
        // A small integer in the low bits of 2^significand is that number above it.
        let (magic, bias) = self.pick((8_388_608.0, 127.0), (4_503_599_627_370_496.0, 1023.0));
        let magic_bits = self.bits_of(magic);
        let e = self.or(biased, magic_bits);
        let e = self.float(e);
        let e = self.offset(e, -(magic + bias));
        let e = self.add(e, adjust);
        let mask = self.int((1 << significand) - 1);
        let m = self.and(shifted, mask);
        let m = self.add(m, root);
        let m = self.float(m);
        Parts { e, f: self.offset(m, -1.0), low }
    }

    /// `ln(1 + f) - f` for `1 + f` between `√½` and `√2`.
    pub(super) fn log_tail(&mut self, f: Value) -> Value {
        let two = self.c(2.0);
        let denominator = self.add(two, f);
        let s = self.div(f, denominator);
        let square = self.mul(s, s);
        let p = self.poly_of(square, &LOG_F32, &LOG_F64);
        let half = self.scale(f, 0.5);
        let half = self.mul(half, f);
        let inner = self.fma(square, p, half);
        let negated = self.neg(half);
        self.fma(s, inner, negated)
    }

    /// `y = ln x` where `x` is positive and finite, else what IEEE says; `is_low` is that of its parts.
    pub(super) fn log_special(&mut self, x: Value, y: Value, is_low: Value) -> Value {
        let (nan, pole) = (self.c(f64::NAN), self.c(f64::NEG_INFINITY));
        let (bits, none) = (self.bits(x), self.int(0));
        let negative = self.lt(bits, none);
        let low = self.select(negative, nan, y);
        let zero = self.equals(x, 0.0);
        let low = self.select(zero, pole, low);
        let y = self.select(is_low, low, y);
        // Infinity and NaN are their own logarithms.
        let infinity = self.bits_of(f64::INFINITY);
        let high = self.at_or_above(bits, infinity);
        let high = self.rarely(high);
        self.select(high, x, y)
    }

    pub(super) fn log(&mut self, x: Value) -> Value {
        let Parts { e, f, low } = self.log_reduce(x);
        let tail = self.log_tail(f);
        let ln2 = self.split(LN_2);
        let y = self.fma(e, ln2.lo, tail);
        let y = self.add(f, y);
        let y = self.fma(e, ln2.hi, y);
        self.log_special(x, y, low)
    }

    /// `ln x` of a positive finite number to about ten bits more than the type has, and where it is low.
    fn log_pair(&mut self, x: Value) -> (Pair, Value) {
        let Parts { e, f, low: is_low } = self.log_reduce(x);
        let (two, zero) = (self.c(2.0), self.c(0.0));
        let denominator = self.fast_two_sum(two, f);
        let s = self.quotient(Pair { hi: f, lo: zero }, denominator);
        let s = self.fast_two_sum(s.hi, s.lo);
        let square = self.product(s, s);
        let cube = self.product(square, s);
        // 2/3 + s² p: the product is small beside 2/3, its rounding does not count.
        let p = self.poly_of(square.hi, &POW_F32, &POW_F64);
        let p = self.mul(square.hi, p);
        let two_thirds = self.split(TWO_THIRDS);
        let mut factor = self.fast_two_sum(two_thirds.hi, p);
        factor.lo = self.add(factor.lo, two_thirds.lo);
        let small = self.product(cube, factor);
        let ln2 = self.split(LN_2);
        let mut whole = self.two_product(e, ln2.hi);
        whole.lo = self.fma(e, ln2.lo, whole.lo);
        // In order of size: e ln 2 is 0 or larger than 2s, and that larger than the rest.
        let doubled = self.add(s.hi, s.hi);
        let first = self.fast_two_sum(whole.hi, doubled);
        let second = self.fast_two_sum(first.hi, small.hi);
        let lo = self.fma(two, s.lo, small.lo);
        let lo = self.add(lo, whole.lo);
        let rounding = self.add(first.lo, second.lo);
        let lo = self.add(lo, rounding);
        (self.fast_two_sum(second.hi, lo), is_low)
    }

    /// The logarithm to another base: `e factor_2 + ln m factor_e`.
    fn log_base(&mut self, x: Value, factor_2: Option<Split>, factor_e: Split) -> Value {
        let Parts { e, f, low } = self.log_reduce(x);
        let tail = self.log_tail(f);
        let factor = self.split(factor_e);
        let mut y = self.two_product(f, factor.hi);
        y.lo = self.fma(f, factor.lo, y.lo);
        y.lo = self.fma(tail, factor.hi, y.lo);
        let y = match factor_2 {
            None => {
                let y = self.join(y);
                self.add(e, y)
            }
            Some(factor) => {
                let factor = self.split(factor);
                y.lo = self.fma(e, factor.lo, y.lo);
                let y = self.join(y);
                self.fma(e, factor.hi, y)
            }
        };
        self.log_special(x, y, low)
    }

    /// `ln(1 + x + rest)` for `x > -1` and a `rest` that is at most a few ulp of `x`; the rounded sum with 1, and where that
    /// is low.
    pub(super) fn log1p_pair(&mut self, x: Value, rest: Value) -> (Value, Value, Value) {
        let one = self.c(1.0);
        let sum = self.two_sum(one, x);
        let Parts { e, f, low } = self.log_reduce(sum.hi);
        // Where nothing was scaled the argument itself is exact, its sum with 1 is not.
        let unscaled = self.equals(e, 0.0);
        let f = self.select(unscaled, x, f);
        let zero = self.c(0.0);
        let lost = self.select(unscaled, zero, sum.lo);
        let lost = self.add(lost, rest);
        let correction = self.div(lost, sum.hi);
        let tail = self.log_tail(f);
        let tail = self.add(tail, correction);
        let ln2 = self.split(LN_2);
        let y = self.fma(e, ln2.lo, tail);
        let y = self.add(f, y);
        (self.fma(e, ln2.hi, y), sum.hi, low)
    }
}

/// `ln x`, at most 1 ulp.
pub fn log(b: &mut KernelBuilder, x: Value) -> Value {
    Math::new(b, x).log(x)
}

/// `log2 x`, at most 1.5 ulp; exact for powers of two.
pub fn log2(b: &mut KernelBuilder, x: Value) -> Value {
    Math::new(b, x).log_base(x, None, LOG2_E)
}

/// `log10 x`, at most 1 ulp.
pub fn log10(b: &mut KernelBuilder, x: Value) -> Value {
    Math::new(b, x).log_base(x, Some(LOG10_2), LOG10_E)
}

/// `ln(1 + x)`, at most 1 ulp: the logarithm of the rounded sum, corrected by what rounding lost.
pub fn log1p(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let zero = m.c(0.0);
    let (y, sum, low) = m.log1p_pair(x, zero);
    let y = m.log_special(sum, y, low);
    // Zeros keep their sign.
    let zero = m.equals(x, 0.0);
    m.select(zero, x, y)
}

/// `x^y`, at most 1 ulp: `e^(y ln |x|)` with the exponent in two parts; special values as in IEEE 754 `pow`.
pub fn pow(b: &mut KernelBuilder, x: Value, y: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let (log, low) = m.log_pair(magnitude);
    let log_hi = m.log_special(magnitude, log.hi, low);
    let exponent = m.two_product(y, log_hi);
    let lo = m.fma(y, log.lo, exponent.lo);
    let clamped = m.exp_clamp(exponent.hi);
    // Where the exponent was clamped its rounding error is meaningless, perhaps NaN.
    let zero = m.c(0.0);
    let inside = m.same(clamped, exponent.hi);
    let lo = m.select(inside, lo, zero);
    let (z, k) = m.exp_parts(Pair { hi: clamped, lo });
    let z = m.join(z);
    let z = m.ldexp(z, k);
    // 1^y and x^0 are 1 even for NaN and infinities.
    let one = m.c(1.0);
    let unit = m.equals(magnitude, 1.0);
    let z = m.select(unit, one, z);
    // Odd integers keep the sign of x; negative numbers have no other real powers.
    let whole = m.trunc(y);
    let integer = m.same(whole, y);
    let half = m.scale(y, 0.5);
    let half_whole = m.trunc(half);
    let even = m.same(half_whole, half);
    let (sign, none) = (m.sign(x), m.int(0));
    let odd_sign = m.select(even, none, sign);
    let sign = m.select(integer, odd_sign, none);
    let z = m.flip(z, sign);
    let nan = m.c(f64::NAN);
    let real = m.select(integer, z, nan);
    let finite = m.above(x, f64::NEG_INFINITY);
    let real = m.select(finite, real, z);
    let negative = m.below(x, 0.0);
    let z = m.select(negative, real, z);
    let trivial = m.equals(y, 0.0);
    let z = m.select(trivial, one, z);
    let unit = m.equals(x, 1.0);
    m.select(unit, one, z)
}
