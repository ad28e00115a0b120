//! Trigonometric functions and their inverses.
//!
//! `x = k π/2 + r` with `k = round(x 2/π)` and `|r| <= π/4`; `k π/2` is subtracted in three parts (Cody and
//! Waite), of which fused multiply-add makes the first exact, and the second where it cancels. This holds while
//! `k` is well below `2^22` (`f32`) or `2^51` (`f64`). The polynomials reach a little beyond π/4, because `2/π` is
//! rounded and `k` may be the neighbour of the nearest integer.
//!
//! Beyond [`LIMIT_F32`] and [`LIMIT_F64`] the functions are NaN. A reduction for larger arguments needs some
//! hundreds of bits of `2/π` chosen by exponent, which without tables or branches would cost every argument
//! more than the function itself; NaN is seen, a wrong sine is not.

use std::f64::consts::FRAC_2_PI;

use super::float::{Math, Pair};
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `sin r = r + r³ p(r²)` for `f32`: relative error 2^-26.7.
const SIN_F32: [f64; 3] = [
    -0.1666664332151413,
    0.008331513963639736,
    -0.00019435548165347427,
];

/// `sin r = r + r³ p(r²)` for `f64`: relative error 2^-56.9.
const SIN_F64: [f64; 6] = [
    -0.16666666666666602,
    0.008333333333315008,
    -0.0001984126982397046,
    2.7557311703655662e-06,
    -2.505045308795018e-08,
    1.5879497429489047e-10,
];

/// `cos r = 1 - r²/2 + r⁴ p(r²)` for `f32`: error 2^-31.7.
const COS_F32: [f64; 3] = [
    0.041666630655527115,
    -0.001388661446981132,
    2.4357237634831108e-05,
];

/// `cos r = 1 - r²/2 + r⁴ p(r²)` for `f64`: error 2^-63.1.
const COS_F64: [f64; 6] = [
    0.041666666666666546,
    -0.0013888888888864907,
    2.4801587283745254e-05,
    -2.7557312707877405e-07,
    2.0875502244511396e-09,
    -1.1348362292432155e-11,
];

/// π/2 in three parts of full precision, for `f32`.
const PI_2_F32: [u64; 3] = [0x3ff9_21fb_6000_0000, 0xbe67_77a5_c000_0000, 0xbcde_e59d_a000_0000];
/// π/2 in three parts of full precision, for `f64`.
const PI_2_F64: [u64; 3] = [0x3ff9_21fb_5444_2d18, 0x3c91_a626_3314_5c07, 0xb91f_1976_b7ed_8fbc];

/// Where the reduction of `f32` ends: `2^21`.
pub const LIMIT_F32: f64 = 2_097_152.0;
/// Where the reduction of `f64` ends: `2^48`.
pub const LIMIT_F64: f64 = 281_474_976_710_656.0;

/// `|x|` as `k π/2 + r`.
struct Reduced {
    /// `k` in its low bits.
    k: Value,
    r: Value,
}

impl Math<'_> {
    fn trig_reduce(&mut self, x: Value) -> Reduced {
        let (shifted, k) = self.round(x, FRAC_2_PI);
        let parts = self.pick(PI_2_F32, PI_2_F64);
        let mut r = x;
        for part in parts {
            let part = self.c(-f64::from_bits(part));
            r = self.fma(k, part, r);
        }
        Reduced { k: self.bits(shifted), r }
    }

    /// The same with what rounding `r` lost.
    fn trig_reduce_pair(&mut self, x: Value) -> (Value, Pair) {
        let (shifted, k) = self.round(x, FRAC_2_PI);
        let parts = self.pick(PI_2_F32, PI_2_F64);
        let [first, second, third] = parts.map(|part| self.c(-f64::from_bits(part)));
        let exact = self.fma(k, first, x);
        let product = self.two_product(k, second);
        let r = self.two_sum(exact, product.hi);
        let lost = self.add(r.lo, product.lo);
        let lost = self.fma(k, third, lost);
        (self.bits(shifted), self.fast_two_sum(r.hi, lost))
    }

    /// `cos r` as a rounded sum and the rest, up to a fifth of it.
    fn cos_pair(&mut self, square: Value) -> Pair {
        let p = self.poly_of(square, &COS_F32, &COS_F64);
        let half = self.scale(square, 0.5);
        let one = self.c(1.0);
        let hi = self.sub(one, half);
        let lo = self.sub(one, hi);
        let lo = self.sub(lo, half);
        let fourth = self.mul(square, square);
        Pair { hi, lo: self.fma(fourth, p, lo) }
    }

    /// Sine of the reduced argument, or cosine where `k` is odd; the sign flips where bit 1 of `k` is set.
    fn sin_reduced(&mut self, k: Value, r: Value) -> Value {
        let square = self.mul(r, r);
        let p = self.poly_of(square, &SIN_F32, &SIN_F64);
        let cube = self.mul(square, r);
        let sin = self.fma(cube, p, r);
        let cos = self.cos_pair(square);
        let cos = self.join(cos);
        let (low, second) = (self.int(1), self.int(2));
        let odd = self.and(k, low);
        let even = self.is_zero(odd);
        let y = self.select(even, sin, cos);
        let sign = self.and(k, second);
        let top = self.pick(30, 62);
        let sign = self.shl(sign, top);
        self.flip(y, sign)
    }

    /// NaN where the reduction has no digits left.
    fn trig_limit(&mut self, magnitude: Value, y: Value) -> Value {
        let limit = self.pick(LIMIT_F32, LIMIT_F64);
        let inside = self.below(magnitude, limit);
        let nan = self.c(f64::NAN);
        self.select(inside, y, nan)
    }
}

/// `sin x`, at most 1.5 ulp for `|x|` below 2^21 (`f32`) or 2^48 (`f64`); NaN beyond.
pub fn sin(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let Reduced { k, r } = m.trig_reduce(magnitude);
    let y = m.sin_reduced(k, r);
    // The sine of the magnitude with the sign of the argument: also right for -0.
    let sign = m.sign(x);
    let y = m.flip(y, sign);
    m.trig_limit(magnitude, y)
}

/// `cos x`, at most 1.5 ulp for `|x|` below 2^21 (`f32`) or 2^48 (`f64`); NaN beyond.
pub fn cos(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let Reduced { k, r } = m.trig_reduce(magnitude);
    let one = m.int(1);
    let k = m.add(k, one);
    let y = m.sin_reduced(k, r);
    m.trig_limit(magnitude, y)
}

/// `tan x`, at most 1 ulp for `|x|` below 2^21 (`f32`) or 2^48 (`f64`); NaN beyond.
///
/// The quotient of sine and cosine of `r`, both in two parts; for odd `k` the negated reciprocal.
pub fn tan(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let (k, r) = m.trig_reduce_pair(magnitude);
    let square = m.mul(r.hi, r.hi);
    let p = m.poly_of(square, &SIN_F32, &SIN_F64);
    let cube = m.mul(square, r.hi);
    let tail = m.fma(cube, p, r.lo);
    let sin = m.fast_two_sum(r.hi, tail);
    let mut cos = m.cos_pair(square);
    cos.lo = m.fnma(r.hi, r.lo, cos.lo);
    let cos = m.fast_two_sum(cos.hi, cos.lo);
    let one = m.int(1);
    let odd = m.and(k, one);
    let even = m.is_zero(odd);
    let above = m.select_pair(even, sin, cos);
    let below = m.select_pair(even, cos, sin);
    let y = m.quotient(above, below);
    let y = m.join(y);
    let top = m.pick(31, 63);
    let odd = m.shl(odd, top);
    let sign = m.sign(x);
    let sign = m.xor(sign, odd);
    let y = m.flip(y, sign);
    m.trig_limit(magnitude, y)
}
