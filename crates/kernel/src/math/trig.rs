//! Trigonometric functions and their inverses.
//!
//! `x = k π/2 + r` with `k = round(x 2/π)` and `|r| <= π/4`; `k π/2` is subtracted in three parts (Cody and
//! Waite), of which fused multiply-add makes the first exact, and the second where it cancels. This holds
//! while `k` is well below `2^22` (`f32`) or `2^51` (`f64`). The polynomials reach a little beyond π/4,
//! because `2/π` is rounded and `k` may be the neighbour of the nearest integer.
//!
//! Larger arguments of `f32` are multiplied by the digits of `1/(2π)` that matter at their exponent (Payne and
//! Hanek), which costs one and a half sines; both reductions lead to the same polynomials. In `f64` the choice
//! is among twenty sets of digits and would make every sine three times as long: there the functions are NaN
//! from [`LIMIT_F64`] on. NaN is seen, a wrong sine is not.

use std::f64::consts::FRAC_2_PI;

use super::float::{Math, Pair, Split};
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `sin r = r + r³ p(r²)` for `f32`: relative error 2^-26.7.
const SIN_F32: [f64; 3] = [-0.1666664332151413, 0.008331513963639736, -0.00019435548165347427];

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
const COS_F32: [f64; 3] = [0.041666630655527115, -0.001388661446981132, 2.4357237634831108e-05];

/// `cos r = 1 - r²/2 + r⁴ p(r²)` for `f64`: error 2^-63.1.
const COS_F64: [f64; 6] = [
    0.041666666666666546,
    -0.0013888888888864907,
    2.4801587283745254e-05,
    -2.7557312707877405e-07,
    2.0875502244511396e-09,
    -1.1348362292432155e-11,
];

/// `asin x = x + x³ p(x²)` below ½, for `f32`: relative error 2^-27.
const ASIN_F32: [f64; 5] = [
    0.16666752099990845,
    0.07495307177305222,
    0.04546969383955002,
    0.024181168526411057,
    0.04216565191745758,
];

/// `asin x = x + x³ p(x²)` below ½, for `f64`: relative error 2^-60.
const ASIN_F64: [f64; 13] = [
    0.1666666666666676,
    0.07499999999970824,
    0.04464285717466227,
    0.030381942702244404,
    0.022372215217994974,
    0.017351606760291842,
    0.013980894654310379,
    0.011398230395075986,
    0.010784423368213504,
    0.003689575173383788,
    0.021750541910301516,
    -0.02106248456869217,
    0.03266949949680622,
];

/// `atan x = x + x³ p(x²)` up to ½, for `f32`: relative error 2^-27.
const ATAN_F32: [f64; 5] = [
    -0.333332359790802,
    0.19994273781776428,
    -0.14175459742546082,
    0.10161776840686798,
    -0.051350343972444534,
];

/// `atan x = x + x³ p(x²)` up to ½, for `f64`: relative error 2^-57.
const ATAN_F64: [f64; 12] = [
    -0.3333333333333298,
    0.19999999999903015,
    -0.1428571427637069,
    0.11111110658729534,
    -0.09090896217153097,
    0.07692073423304606,
    -0.06663805208259731,
    0.0585826057984537,
    -0.051218317991208115,
    0.04186016097972537,
    -0.027427247223137413,
    0.010111629212666624,
];

/// π/2 in three parts of full precision, for `f32`.
const PI_2_F32: [u64; 3] = [0x3ff9_21fb_6000_0000, 0xbe67_77a5_c000_0000, 0xbcde_e59d_a000_0000];
/// π/2 in three parts of full precision, for `f64`.
const PI_2_F64: [u64; 3] = [0x3ff9_21fb_5444_2d18, 0x3c91_a626_3314_5c07, 0xb91f_1976_b7ed_8fbc];

/// `1/(2π)` in parts `m 2^-p`, each of at most 24 bits, for `f32`.
const TURNS_F32: [(i32, i32); 7] = [
    (0x1_45f3, 19),
    (0xdb_9391, 48),
    (0xa9_4fe1, 77),
    (0xea_fa3f, 103),
    (-0x0b_2c89, 124),
    (0x6d_b14b, 153),
    (-0xcd_8779, 179),
];
/// Exponents from which the first, the first two and the first three parts make whole turns of any `f32`, and
/// the next is still short enough for its product to have an exact fraction.
const WHOLE_F32: [i32; 3] = [50, 76, 102];
/// `1.5 * 2^21`: the `f32` sum with a smaller number has a last place of ¼.
const QUARTERS: f64 = 3_145_728.0;
/// Keeps the last parts, and their products, normal.
const SCALE_F32: i32 = 32;

/// The last number of the short reduction of `f32`, before `2^19`. Further on the third part of `k π/2` reaches the last
/// place of `r` and rounds it once more.
const NEAR_F32: f64 = 524_287.968_75;
/// Where the reduction of `f64` ends: `2^48`.
pub const LIMIT_F64: f64 = 281_474_976_710_656.0;

/// `π/4`
const PI_4: Split = Split::new(0x3fe9_21fb_5444_2d18, 0x3c81_a626_3314_5c07);
/// `2π`
const TURN: Split = Split::new(0x4019_21fb_5444_2d18, 0x3cb1_a626_3314_5c07);
/// `π/2`
const PI_2: Split = Split::new(0x3ff9_21fb_5444_2d18, 0x3c91_a626_3314_5c07);

/// `|x|` as `k π/2 + r`.
struct Reduced {
    /// `k` in its low bits.
    k: Value,
    r: Value,
}

/// `x` as `k π/2 + 2π (turns.hi + turns.lo)`.
struct FarReduced {
    /// `k` in its low bits.
    k: Value,
    turns: Pair,
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
        let near = Reduced { k: self.bits(shifted), r };
        if self.pick(false, true) {
            return near;
        }
        let is_far = self.is_far(x);
        let FarReduced { k, turns } = self.trig_reduce_far(is_far, x);
        let turn = self.split(TURN);
        let rest = self.mul(turns.lo, turn.hi);
        let rest = self.fma(turns.hi, turn.lo, rest);
        let r = self.fma(turns.hi, turn.hi, rest);
        Reduced { k: self.select(is_far, k, near.k), r: self.select(is_far, r, near.r) }
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
        let (near_k, near) = (self.bits(shifted), self.fast_two_sum(r.hi, lost));
        if self.pick(false, true) {
            return (near_k, near);
        }
        let is_far = self.is_far(x);
        let FarReduced { k, turns } = self.trig_reduce_far(is_far, x);
        let turn = self.split(TURN);
        let r = self.product(turns, turn);
        let r = self.fast_two_sum(r.hi, r.lo);
        (self.select(is_far, k, near_k), self.select_pair(is_far, r, near))
    }

    /// Whether `x` is beyond the short reduction. NaN is not: it stays NaN in either.
    fn is_far(&mut self, x: Value) -> Value {
        let is_far = self.above(x, NEAR_F32);
        self.rarely(is_far)
    }

    /// The reduction of `f32` after [`NEAR_F32`] to the end; NaN for infinity.
    ///
    /// `x` is an integer of 24 bits and a power of two. Of its products with the parts of `1/(2π)`, those before
    /// the four chosen are whole turns. Of the chosen ones, the first has less than 24 bits after the point; the
    /// second may have turns and more bits, so it is split; the third is a fraction, the last a correction.
    fn trig_reduce_far(&mut self, is_far: Value, x: Value) -> FarReduced {
        // The products of small numbers would be subnormal, which costs ten times the time.
        let border = self.c(2f64.powi(19));
        let x = self.select(is_far, x, border);
        let parts = TURNS_F32.map(|(m, p)| self.c(f64::from(m) * 2f64.powi(SCALE_F32 - p)));
        let [first, second, third] = WHOLE_F32.map(|exponent| self.c(2f64.powi(exponent)));
        let below_second = self.lt(x, second);
        let parts: [Value; 5] = std::array::from_fn(|i| self.select(below_second, parts[i], parts[i + 2]));
        let border = self.select(below_second, first, third);
        let below_border = self.lt(x, border);
        let parts: [Value; 4] = std::array::from_fn(|i| self.select(below_border, parts[i], parts[i + 1]));
        let x = self.scale(x, 2f64.powi(-SCALE_F32));
        let minus_x = self.neg(x);

        // Its product less what rounding makes of it is exact, but may have turns of its own.
        let whole = self.mul(minus_x, parts[0]);
        let whole = self.round_even(whole);
        let a = self.fma(x, parts[0], whole);
        let a = self.fraction(a);
        let b = self.mul(x, parts[1]);
        let minus_b_lost = self.fma(minus_x, parts[1], b);
        let b = self.fraction(b);
        let c = self.mul(x, parts[2]);
        let minus_c_lost = self.fma(minus_x, parts[2], c);

        // The nearest quarter, by a sum that has a last place of a quarter.
        let quarters = self.add(a, b);
        let small = self.sub(c, minus_b_lost);
        let quarters = self.add(quarters, small);
        let shifted = self.offset(quarters, QUARTERS);
        let quarters = self.offset(shifted, -QUARTERS);

        // From the largest to the smallest. The first sum is exact in two parts, as `a` is a multiple of the last
        // place of `b`; the next is exact where a term cancels it.
        let a = self.sub(a, quarters);
        let ab = self.fast_two_sum(a, b);
        let hi = self.sub(ab.hi, minus_b_lost);
        let lo = self.sub(ab.hi, hi);
        let lo = self.sub(lo, minus_b_lost);
        let lo = self.add(lo, ab.lo);
        let sum = self.fast_two_sum(hi, c);
        let lo = self.fma(x, parts[3], lo);
        let lo = self.sub(lo, minus_c_lost);
        let lo = self.add(lo, sum.lo);
        FarReduced { k: self.bits(shifted), turns: Pair { hi: sum.hi, lo } }
    }

    /// What a number is above the nearest integer.
    fn fraction(&mut self, x: Value) -> Value {
        let whole = self.round_even(x);
        self.sub(x, whole)
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

    /// `sin r` and `cos r` for `|r| <= π/4`.
    pub(super) fn sin_cos(&mut self, r: Value) -> (Value, Value) {
        let square = self.mul(r, r);
        let p = self.poly_of(square, &SIN_F32, &SIN_F64);
        let cube = self.mul(square, r);
        let sin = self.fma(cube, p, r);
        let cos = self.cos_pair(square);
        (sin, self.join(cos))
    }

    /// Sine of the reduced argument, or cosine where `k` is odd; the sign flips where bit 1 of `k` is set.
    fn sin_reduced(&mut self, k: Value, r: Value) -> Value {
        let (sin, cos) = self.sin_cos(r);
        let (low, second) = (self.int(1), self.int(2));
        let odd = self.and(k, low);
        let even = self.is_zero(odd);
        let y = self.select(even, sin, cos);
        let sign = self.and(k, second);
        let top = self.pick(30, 62);
        let sign = self.shl(sign, top);
        self.flip(y, sign)
    }

    /// NaN where the reduction of `f64` has no digits left.
    fn trig_limit(&mut self, magnitude: Value, y: Value) -> Value {
        if self.pick(true, false) {
            return y;
        }
        let inside = self.below(magnitude, LIMIT_F64);
        let nan = self.c(f64::NAN);
        self.select(inside, y, nan)
    }
}

/// `sin x`, at most 2 ulp. NaN at infinity, and in `f64` from 2^48 ([`LIMIT_F64`]) on.
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

/// `cos x`, at most 2 ulp. NaN at infinity, and in `f64` from 2^48 ([`LIMIT_F64`]) on.
pub fn cos(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let Reduced { k, r } = m.trig_reduce(magnitude);
    let one = m.int(1);
    let k = m.add(k, one);
    let y = m.sin_reduced(k, r);
    m.trig_limit(magnitude, y)
}

/// `tan x`, at most 1.5 ulp. NaN at infinity, and in `f64` from 2^48 ([`LIMIT_F64`]) on.
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

impl Math<'_> {
    /// The odd polynomial of arcsine for `|x|`: at `|x|` itself below ½, else at `√((1 - |x|) / 2)`, from
    /// which `asin |x| = π/2 - 2 asin √((1 - |x|) / 2)`. Returns whether it is the latter, the argument, and
    /// what to add to it. The root is NaN outside of the domain.
    fn asin_parts(&mut self, magnitude: Value) -> (Value, Pair) {
        let large = self.above(magnitude, 0.5);
        let half = self.c(0.5);
        let minus_half = self.c(-0.5);
        let halved = self.fma(magnitude, minus_half, half);
        let square = self.mul(magnitude, magnitude);
        let square = self.select(large, halved, square);
        let root = self.sqrt(halved);
        let argument = self.select(large, root, magnitude);
        let p = self.poly_of(square, &ASIN_F32, &ASIN_F64);
        let cube = self.mul(square, argument);
        (large, Pair { hi: argument, lo: self.mul(cube, p) })
    }

    /// `constant + atan t` for `|t| <= ½` and a constant that is 0 or larger.
    fn atan_sum(&mut self, constant: Pair, t: Value) -> Value {
        let square = self.mul(t, t);
        let p = self.poly_of(square, &ATAN_F32, &ATAN_F64);
        let cube = self.mul(square, t);
        let sum = self.fast_two_sum(constant.hi, t);
        let lo = self.fma(cube, p, constant.lo);
        let lo = self.add(sum.lo, lo);
        self.add(sum.hi, lo)
    }

    /// `constant - x` for an `x` that is not larger.
    fn less(&mut self, constant: Pair, x: Pair) -> Value {
        let negated = self.neg(x.hi);
        let sum = self.fast_two_sum(constant.hi, negated);
        let lo = self.sub(constant.lo, x.lo);
        let lo = self.add(lo, sum.lo);
        self.add(sum.hi, lo)
    }
}

/// `asin x`, at most 1.5 ulp: an odd polynomial below ½, else through the half angle; NaN beyond 1.
pub fn asin(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let (large, parts) = m.asin_parts(magnitude);
    let small = m.join(parts);
    let doubled = m.double(parts);
    let right = m.split(PI_2);
    let rest = m.less(right, doubled);
    let y = m.select(large, rest, small);
    let sign = m.sign(x);
    m.flip(y, sign)
}

/// `acos x`, at most 1.5 ulp: `π/2 - asin x` below ½, else through the half angle; NaN beyond 1.
pub fn acos(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let (large, parts) = m.asin_parts(magnitude);
    let doubled = m.double(parts);
    let direct = m.join(doubled);
    // π - 2 asin √(…) for large negative x, π/2 - asin x for small x.
    let sign = m.sign(x);
    let signed = Pair { hi: m.flip(parts.hi, sign), lo: m.flip(parts.lo, sign) };
    let right = m.split(PI_2);
    let flat = m.double(right);
    let constant = m.select_pair(large, flat, right);
    let part = m.select_pair(large, doubled, signed);
    let rest = m.less(constant, part);
    let positive = m.is_zero(sign);
    let far = m.select(positive, direct, rest);
    m.select(large, far, rest)
}

/// `atan x`, at most 2 ulp: an odd polynomial at `x` up to ½, at `(x - 1) / (x + 1)` up to 2 (the difference
/// is exact), at `-1 / x` beyond.
pub fn atan(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let (one, zero, minus_one) = (m.c(1.0), m.c(0.0), m.c(-1.0));
    let middle = m.above(magnitude, 0.5);
    let large = m.above(magnitude, 2.0);
    let (below_one, above_one) = (m.sub(magnitude, one), m.add(magnitude, one));
    let numerator = m.select(middle, below_one, magnitude);
    let numerator = m.select(large, minus_one, numerator);
    let denominator = m.select(middle, above_one, one);
    let denominator = m.select(large, magnitude, denominator);
    let t = m.div(numerator, denominator);
    let (eighth, right) = (m.split(PI_4), m.split(PI_2));
    let constant = m.select_pair(middle, eighth, Pair { hi: zero, lo: zero });
    let constant = m.select_pair(large, right, constant);
    let y = m.atan_sum(constant, t);
    let sign = m.sign(x);
    m.flip(y, sign)
}

/// The angle of the point `(x, y)`, at most 2 ulp: arctangent of the smaller over the larger coordinate, and
/// of their difference over their sum where that is smaller, placed in its octant. Special values as in C.
pub fn atan2(b: &mut KernelBuilder, y: Value, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let (height, width) = (m.abs(y), m.abs(x));
    let steep = m.lt(width, height);
    let smaller = m.select(steep, width, height);
    let larger = m.select(steep, height, width);
    // The sum of the largest numbers must not overflow, the border below not be subnormal.
    let (top, bottom, up) = m.pick(
        (f64::from(f32::MAX), 2f64.powi(-100), 2f64.powi(50)),
        (f64::MAX, 2f64.powi(-1000), 2f64.powi(100)),
    );
    let (one, zero, quarter, up) = (m.c(1.0), m.c(0.0), m.c(0.25), m.c(up));
    let (huge, tiny) = (m.above(larger, top / 4.0), m.below(larger, bottom));
    let factor = m.select(huge, quarter, one);
    let factor = m.select(tiny, up, factor);
    let (smaller, larger) = (m.mul(smaller, factor), m.mul(larger, factor));
    // Two zeros count as the axis, two infinities as the diagonal.
    let equal = m.same(smaller, larger);
    let origin = m.same(larger, zero);
    let stand_in = m.select(origin, zero, one);
    let smaller = m.select(equal, stand_in, smaller);
    let larger = m.select(equal, one, larger);
    let border = m.scale(larger, 0.5);
    let diagonal = m.lt(border, smaller);
    let (difference, sum) = (m.sub(smaller, larger), m.add(smaller, larger));
    let numerator = m.select(diagonal, difference, smaller);
    let denominator = m.select(diagonal, sum, larger);
    let t = m.div(numerator, denominator);
    // The octant: eighths of a turn to add to or subtract from.
    let (sign_x, sign_y) = (m.sign(x), m.sign(y));
    let right_side = m.is_zero(sign_x);
    let (two, four) = (m.c(2.0), m.c(4.0));
    let eighths = m.select(diagonal, one, zero);
    let rest = m.sub(two, eighths);
    let eighths = m.select(steep, rest, eighths);
    let rest = m.sub(four, eighths);
    let eighths = m.select(right_side, eighths, rest);
    let none = m.int(0);
    let top_bit = m.pick(i64::from(i32::MIN), i64::MIN);
    let top_bit = m.int(top_bit);
    let turned = m.select(steep, top_bit, none);
    let turned = m.xor(turned, sign_x);
    let t = m.flip(t, turned);
    let eighth = m.split(PI_4);
    let mut constant = m.two_product(eighths, eighth.hi);
    constant.lo = m.fma(eighths, eighth.lo, constant.lo);
    let angle = m.atan_sum(constant, t);
    m.flip(angle, sign_y)
}
