//! Exponentials.
//!
//! `e^x = 2^k e^r` with `k = round(x / ln 2)` and `|r| <= ln 2 / 2`: the product `k ln 2` is subtracted in
//! two parts, the first exactly, and `e^r = 1 + r + r² q(r)` with a polynomial `q`.

use std::f64::consts::LOG2_E;

use super::float::{LN_2, Math, Pair};
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `q` for `f32`: relative error of `e^r` 2^-28.
const EXP_F32: [f64; 5] = [
    0.4999999403953552,
    0.16666516661643982,
    0.04166809841990471,
    0.008369204588234425,
    0.0013839651364833117,
];

/// `q` for `f64`: relative error of `e^r` 2^-63.
const EXP_F64: [f64; 11] = [
    0.5,
    0.16666666666666688,
    0.041666666666666824,
    0.008333333333313877,
    0.0013888888888778186,
    0.0001984126990342304,
    2.4801587557483768e-05,
    2.7557228627166215e-06,
    2.755707065822018e-07,
    2.5113951131831245e-08,
    2.097634795020302e-09,
];

/// `q` of `2^r = 1 + r q(r)` for `f32`: relative error 2^-27.
const EXP2_F32: [f64; 6] = [
    0.6931472420692444,
    0.24022655189037323,
    0.05550272390246391,
    0.009617074392735958,
    0.0013417861191555858,
    0.00015818432439118624,
];

/// `q` of `2^r = 1 + r q(r)` for `f64`: relative error 2^-59.
const EXP2_F64: [f64; 12] = [
    std::f64::consts::LN_2,
    0.2402265069591007,
    0.05550410866482337,
    0.00961812910763025,
    0.0013333558146020577,
    0.0001540353038907104,
    1.5252734194095903e-05,
    1.321549088756403e-06,
    1.0177915811508926e-07,
    7.053231181740094e-09,
    4.476395105074279e-10,
    2.818944672252446e-11,
];

/// `x` as `k ln 2 + r`.
pub(super) struct Reduced {
    /// `k` in both forms of [`Math::round`].
    pub(super) k: (Value, Value),
    /// `x` less `k` times the first part of `ln 2`, exact.
    exact: Value,
    /// `exact` less `k` times the second part, rounded.
    pub(super) r: Value,
    /// `r² q(r)`
    pub(super) tail: Value,
}

impl Math<'_> {
    /// The reduction, for an `x` that is clamped to where `2^k` makes sense.
    pub(super) fn exp_reduce(&mut self, x: Value) -> Reduced {
        let k = self.round(x, LOG2_E);
        let ln2 = self.split(LN_2.negated());
        let exact = self.fma(k.1, ln2.hi, x);
        let r = self.fma(k.1, ln2.lo, exact);
        let q = self.poly_of(r, &EXP_F32, &EXP_F64);
        let square = self.mul(r, r);
        Reduced { k, exact, r, tail: self.mul(square, q) }
    }

    /// What rounding `r` lost.
    pub(super) fn exp_lost(&mut self, reduced: &Reduced) -> Value {
        let ln2 = self.split(LN_2.negated());
        let lost = self.sub(reduced.exact, reduced.r);
        self.fma(reduced.k.1, ln2.lo, lost)
    }

    /// `x` where the exponential neither overflows nor underflows by much, else the nearest such number.
    pub(super) fn exp_clamp(&mut self, x: Value) -> Value {
        let (lo, hi) = self.pick((-104.0, 89.0), (-746.0, 710.0));
        let x = self.at_most(x, hi);
        self.at_least(x, lo)
    }

    pub(super) fn exp(&mut self, x: Value) -> Value {
        let (lo, hi) = self.pick((-104.0, 89.0), (-746.0, 710.0));
        let (one, zero) = (self.c(1.0), self.c(0.0));
        // Where the result is zero, that of another argument is thrown away: a product that underflows takes
        // a hundred times as long as one that does not, and masks of -1e9 are common.
        let nothing = self.below(x, lo);
        let x = self.at_most(x, hi);
        let x = self.select(nothing, zero, x);
        let Reduced { k, r, tail, .. } = self.exp_reduce(x);
        let p = self.add(r, tail);
        let p = self.add(one, p);
        let y = self.ldexp(p, k);
        self.select(nothing, zero, y)
    }

    /// `e^x` of a clamped sum, as a number near 1 in two parts and the `k` of the power of two. The low part
    /// is up to a tenth of the high part.
    pub(super) fn exp_parts(&mut self, x: Pair) -> (Pair, (Value, Value)) {
        let reduced = self.exp_reduce(x.hi);
        let lost = self.exp_lost(&reduced);
        let Reduced { k, r, tail, .. } = reduced;
        let one = self.c(1.0);
        let sum = self.fast_two_sum(one, r);
        let small = self.add(lost, x.lo);
        // e^(r + small) = e^r + e^r small.
        let about = self.add(sum.hi, tail);
        let small = self.fma(small, about, sum.lo);
        let p = self.add(tail, small);
        (Pair { hi: sum.hi, lo: p }, k)
    }

    /// `2^(x factor)` in `f32` as `2^k (1 + rest)`: the first form of `k` ([`Math::round`]), and the rest. The factor is
    /// rounded, and what that loses is made good.
    fn exp_of_product(&mut self, x: Value, factor: f64) -> (Value, Value) {
        let rounded = f64::from(factor as f32);
        let (shifted, minus_k) = self.round_negated(x, rounded);
        let (high, low) = (self.c(rounded), self.c(factor - rounded));
        let r = self.fma(x, high, minus_k);
        let r = self.fma(x, low, r);
        let q = self.poly(r, &EXP2_F32);
        (shifted, self.mul(r, q))
    }

    /// `e^x - 1` for `x` clamped by the caller to where `2^k` is normal. The low part is up to a tenth of the
    /// high part.
    pub(super) fn expm1_pair(&mut self, x: Value) -> Pair {
        let reduced = self.exp_reduce(x);
        let power = self.exp2_int(reduced.k.0);
        self.expm1_scaled(reduced, power, 1.0)
    }

    /// Half of `e^x - 1`: `2^(k-1)` does not overflow where `2^k` does.
    fn expm1_half(&mut self, x: Value) -> Pair {
        let reduced = self.exp_reduce(x);
        let (bits, one) = (self.bits(reduced.k.0), self.int(1));
        let bits = self.sub(bits, one);
        let power = self.exp2_bits(bits);
        self.expm1_scaled(reduced, power, 0.5)
    }

    /// `power (1 + r + tail) - scale` for `power = 2^k scale`: the large parts first.
    fn expm1_scaled(&mut self, reduced: Reduced, power: Value, scale: f64) -> Pair {
        let lost = self.exp_lost(&reduced);
        let Reduced { r, tail, .. } = reduced;
        let scale = self.c(scale);
        // Zero, or at least as large as the other part: the sum is exact.
        let whole = self.sub(power, scale);
        let part = self.mul(power, r);
        let sum = self.fast_two_sum(whole, part);
        let tail = self.add(lost, tail);
        Pair { hi: sum.hi, lo: self.fma(power, tail, sum.lo) }
    }
}

/// `e^x`, at most 1 ulp.
pub fn exp(b: &mut KernelBuilder, x: Value) -> Value {
    Math::new(b, x).exp(x)
}

/// `2^x`, at most 1 ulp: `k = round(x)`, `2^r = 1 + r q(r)` for the rest.
pub fn exp2(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let (lo, hi) = m.pick((-151.0, 129.0), (-1076.0, 1025.0));
    let (one, zero) = (m.c(1.0), m.c(0.0));
    // As in `exp`.
    let nothing = m.below(x, lo);
    let x = m.at_most(x, hi);
    let x = m.select(nothing, zero, x);
    let k = m.round(x, 1.0);
    let r = m.sub(x, k.1);
    let q = m.poly_of(r, &EXP2_F32, &EXP2_F64);
    let p = m.fma(r, q, one);
    let y = m.ldexp(p, k);
    m.select(nothing, zero, y)
}

/// `e^x - 1`, at most 1.5 ulp: `2^k - 1 + 2^k (e^r - 1)` with the rounding errors carried along.
pub fn expm1(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    // Below, the result rounds to -1; above, it is infinite.
    let (lo, hi) = m.pick((-18.0, 89.0), (-40.0, 710.0));
    let clamped = m.at_most(x, hi);
    let clamped = m.at_least(clamped, lo);
    let y = m.expm1_half(clamped);
    let y = m.join(y);
    let y = m.add(y, y);
    // Halving would cost a subnormal its last bit, and the sum a zero its sign.
    let magnitude = m.abs(x);
    let tiny = m.pick(f64::from(f32::EPSILON) / 4.0, f64::EPSILON / 4.0);
    let tiny = m.below(magnitude, tiny);
    m.select(tiny, x, y)
}

/// `1 / (1 + e^-x)`, at most 2 ulp.
pub fn logistic(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let of: fn(&mut Math<'_>, Value) -> Value = m.pick(logistic_narrow, logistic_wide);
    of(m, x)
}

/// One quotient with both sides scaled down: so `e^-x` does not overflow where the result is still a number, and that
/// is rounded once where it is subnormal.
fn logistic_narrow(m: &mut Math<'_>, x: Value) -> Value {
    const SCALE: f64 = 1.0 / (1u64 << 32) as f64;
    let (scale, zero) = (m.c(SCALE), m.c(0.0));
    // As in `exp`; and above 20 the result is 1.
    let nothing = m.below(x, -104.0);
    let x = m.at_most(x, 20.0);
    let x = m.select(nothing, zero, x);
    let (shifted, rest) = m.exp_of_product(x, -LOG2_E);
    let power = m.exp2_int_times(shifted, SCALE);
    // The sum of two powers of two is exact but where one hardly counts; there, what it lost is added again.
    let sum = m.fast_two_sum(power, scale);
    let small = m.fma(power, rest, sum.lo);
    let denominator = m.add(sum.hi, small);
    let y = m.div(scale, denominator);
    m.select(nothing, zero, y)
}

/// From `e^-|x|`, which cannot overflow, with the rounding of the sum undone.
fn logistic_wide(m: &mut Math<'_>, x: Value) -> Value {
    let magnitude = m.abs(x);
    let negated = m.neg(magnitude);
    let e = m.exp(negated);
    let (one, zero) = (m.c(1.0), m.c(0.0));
    let denominator = m.fast_two_sum(one, e);
    let negative = m.below(x, 0.0);
    let numerator = m.select(negative, e, one);
    let y = m.quotient(Pair { hi: numerator, lo: zero }, denominator);
    m.join(y)
}
