//! Roots and error functions.

use super::float::Math;
use super::log::Parts;
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `erf x = x + x p(x²)` below 0.92, for `f32`: relative error 2^-26.
const ERF_SMALL_F32: [f64; 6] = [
    0.12837915122509003,
    -0.3761249780654907,
    0.11281844973564148,
    -0.02676744945347309,
    0.004994249902665615,
    -0.0005995921674184501,
];

/// `erf x = 1 - 2^p(x)` from 0.92 up to where it rounds to 1, for `f32`: relative error 2^-25.
const ERF_LARGE_F32: [f64; 6] = [
    -0.0028361869044601917,
    -1.6156493425369263,
    -0.9394472241401672,
    -0.13103991746902466,
    0.022345229983329773,
    -0.0017891208408400416,
];

/// `2^r` where it is the smaller part of a sum, for `f32`: relative error 2^-23.
const POWER_F32: [f64; 6] = [
    1.0000001192092896,
    0.6931472420692444,
    0.2402191162109375,
    0.05550083518028259,
    0.00968555361032486,
    0.0013521445216611028,
];

/// `erf x = x + x p(x²)` below 1, for `f32`: relative error 2^-29.
const ERF_F32: [f64; 7] = [
    0.12837916612625122,
    -0.3761262595653534,
    0.11283578723669052,
    -0.026853347197175026,
    0.005187163595110178,
    -0.0007997893844731152,
    7.807194924680516e-05,
];

/// `erf x = x + x p(x²)` below 1, for `f64`: relative error 2^-56.
const ERF_F64: [f64; 13] = [
    0.1283791670955126,
    -0.376126389031841,
    0.11283791670971091,
    -0.02686617064802952,
    0.005223977652758273,
    -0.0008548328547755963,
    0.00012055386991727093,
    -1.492690987271162e-05,
    1.648166172006833e-06,
    -1.656502152916825e-07,
    1.6075853334965863e-08,
    -1.674133780661016e-09,
    1.4865837562009587e-10,
];

/// `erf x = 1 - e^-p(x)` from 1 up to where it rounds to 1, for `f64`: error 2^-60.
const ERF_TAIL_F64: [f64; 20] = [
    2.9406026413419772e-08,
    1.1283788964640453,
    0.6366208407346553,
    0.10277045370906783,
    -0.01912719657584101,
    -0.0002037624108728373,
    0.0016768725461415795,
    -0.0005543060510542213,
    -2.0437699037550905e-05,
    0.0001097708519533372,
    -6.423680505582027e-05,
    2.4062323155531995e-05,
    -6.711697697341554e-06,
    1.4506064053250626e-06,
    -2.442038968281524e-07,
    3.157531970459545e-08,
    -3.0363444085662337e-09,
    2.0474729422511267e-10,
    -8.641092709089971e-12,
    1.7171595828662632e-13,
];

/// `e^(x²) erfc x = p((x - K) / (x + K)) / (x + K)` from ¾ to 10 with `K` = 2.5, for `f32`: relative error
/// 2^-30.
const ERFC_F32: [f64; 9] = [
    1.0540318489074707,
    -0.8046518564224243,
    0.45391419529914856,
    -0.1712505966424942,
    0.02835957705974579,
    0.00838612113147974,
    -0.004799683578312397,
    -0.000405896978918463,
    0.0006262791575863957,
];

/// `e^(x²) erfc x = p((x - K) / (x + K)) / (x + K)` from ¾ to 27 with `K` = 4, for `f64`: relative error
/// 2^-60.
const ERFC_F64: [f64; 22] = [
    1.095995661000491,
    -0.976548729080882,
    0.7732087022652371,
    -0.5408538313132387,
    0.3308515878780117,
    -0.1740109372397676,
    0.07638151490933774,
    -0.026370053343789526,
    0.006112055655419926,
    -0.0002809588263407065,
    -0.00045505268629306394,
    0.0001768125537603515,
    -3.6351202261720405e-06,
    -1.8859765650587168e-05,
    4.694073359326979e-06,
    1.4211882475465985e-06,
    -8.450302392615544e-07,
    -7.056645108966731e-08,
    1.2191027667399437e-07,
    -3.742715685094192e-09,
    -1.3160473697339538e-08,
    1.979004345955914e-09,
];

/// What the first coefficient lost by rounding, for each type.
const ERFC_LOW: (f64, f64) = (-2.900752965099035e-08, 5.767196194752589e-17);

/// `erf⁻¹ x = x p(w - 2.5)` with `w = -ln(1 - x²)` up to 5, for `f32`: relative error 2^-27.
const ERF_INV_F32: [f64; 10] = [
    1.5014094114303589,
    0.24664027988910675,
    -0.004177388269454241,
    -0.00125274364836514,
    0.0002183457836508751,
    -4.962077582604252e-06,
    -3.4631134440132882e-06,
    4.65852110664855e-07,
    2.327031189963691e-08,
    -8.765055348192163e-09,
];

/// `erf⁻¹ x = x p(√w - 3)` with `w` from 5, for `f32`: relative error 2^-26.
const ERF_INV_TAIL_F32: [f64; 10] = [
    2.832976818084717,
    1.0016748905181885,
    0.009445231407880783,
    -0.00763686140999198,
    0.005687402561306953,
    -0.0035992444027215242,
    0.0014841624069958925,
    -5.3930121794110164e-05,
    -0.0003090400423388928,
    0.00011432762403273955,
];

/// `erf⁻¹ x = x p(w - 3.125)` with `w = -ln(1 - x²)` up to 6.25, for `f64`: relative error 2^-58.
const ERF_INV_F64: [f64; 25] = [
    1.6536545626831027,
    0.24015818242558834,
    -0.006033670871426997,
    -0.0007407025341545653,
    0.00018673420802052987,
    -1.3882523394165599e-05,
    -1.3654691772600304e-06,
    4.2347881707769656e-07,
    -2.907038990426175e-08,
    -4.112660610864359e-09,
    1.0512225747223893e-09,
    -5.414296082428987e-11,
    -1.2978508085360116e-11,
    2.6305076874426593e-12,
    -8.07917111844154e-14,
    -4.0016699628375734e-14,
    6.533104439537455e-15,
    -3.977944866616752e-17,
    -1.2341876003767498e-16,
    1.5537629782386027e-17,
    6.93319561688623e-19,
    -3.4843479900971134e-19,
    1.6642896864439213e-20,
    3.2131346506143896e-21,
    -3.02136004542518e-22,
];

/// `erf⁻¹ x = x p(√w - 3.25)` with `w` from 6.25 to 16, for `f64`: relative error 2^-55.
const ERF_INV_TAIL_F64: [f64; 20] = [
    3.0838856104922208,
    1.005258967694166,
    0.005370914553575021,
    -0.003751208508275811,
    0.002491442096804616,
    -0.0016882755338817773,
    0.000953289367312225,
    -0.00035503783561819795,
    2.403122143060525e-05,
    6.82872821192161e-05,
    -4.7318786708708056e-05,
    1.2464298141232471e-05,
    2.9250908631019063e-06,
    -3.983750030918924e-06,
    1.499908258713588e-06,
    -3.073160507357328e-08,
    -2.725452899231692e-07,
    1.3429906221222883e-07,
    1.1967378771622463e-09,
    -1.6300184011298334e-08,
];

/// `erf⁻¹ x = x p(√w - 5)` with `w` from 16, for `f64`: relative error 2^-57.
const ERF_INV_END_F64: [f64; 19] = [
    4.849906401408584,
    1.0103004648645455,
    -0.0001387193183809741,
    -0.00021503011983103906,
    7.599527811744617e-05,
    -1.9681770650192075e-05,
    4.52605232731483e-06,
    -9.930297444903e-07,
    2.290537790330238e-07,
    -6.755481505278856e-08,
    2.9016027064132738e-08,
    -1.5258059013183246e-08,
    7.825647370973993e-09,
    -3.4676894839066986e-09,
    1.3120504884704381e-09,
    -4.398755331562326e-10,
    7.155354802417717e-11,
    4.3465158570868304e-11,
    -2.0806245259102366e-11,
];

/// `(1 + f)^(-1/3)` for `1 + f` between `√½` and `√2`, for `f32`: relative error 2^-14.
const RCBRT_F32: [f64; 5] =
    [0.9999765753746033, -0.33290067315101624, 0.22436100244522095, -0.1889186054468155, 0.12839055061340332];

/// `(1 + f)^(-1/3)` for `1 + f` between `√½` and `√2`, for `f64`: relative error 2^-22.
const RCBRT_F64: [f64; 8] = [
    0.9999999455301967,
    -0.33333629524862285,
    0.22223838382264846,
    -0.1725959134284399,
    0.14314901847080203,
    -0.12951676156636668,
    0.12746130155723412,
    -0.08194714288785994,
];

/// The error function, at most 2 ulp in `f32`, where networks want it fast, and 1.5 ulp in `f64`: an odd polynomial for
/// small `|x|`, above it `1 - e^-p(|x|)`, which needs fewer digits of `p` the larger `|x|` is.
pub fn erf(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let square = m.mul(x, x);
    let p = m.poly_of(square, &ERF_SMALL_F32, &ERF_F64);
    let small = m.fma(x, p, x);
    let magnitude = m.abs(x);
    // Beyond this the result rounds to 1; before it, keep the other polynomial out of its cancellation.
    let limit = m.pick(3.95, 5.95);
    let clamped = m.at_most(magnitude, limit);
    let of_magnitude: fn(&mut Math<'_>, Value) -> Value = m.pick(erf_large_narrow, erf_large_wide);
    let large = of_magnitude(m, clamped);
    let sign = m.sign(x);
    let large = m.flip(large, sign);
    let border = m.pick(0.92, 1.0);
    let is_small = m.below(magnitude, border);
    m.select(is_small, small, large)
}

/// `1 - 2^p(x)`
fn erf_large_narrow(m: &mut Math<'_>, x: Value) -> Value {
    let p = m.poly(x, &ERF_LARGE_F32);
    let (shifted, k) = m.round(p, 1.0);
    let r = m.sub(p, k);
    let e = m.poly(r, &POWER_F32);
    let power = m.exp2_int(shifted);
    let one = m.c(1.0);
    m.fnma(power, e, one)
}

/// `1 - e^-p(x)`
fn erf_large_wide(m: &mut Math<'_>, x: Value) -> Value {
    let p = m.poly(x, &ERF_TAIL_F64);
    let p = m.neg(p);
    let reduced = m.exp_reduce(p);
    let power = m.exp2_int(reduced.k.0);
    let e = m.add(reduced.r, reduced.tail);
    let e = m.fma(power, e, power);
    let one = m.c(1.0);
    m.sub(one, e)
}

/// `1 - erf x`, at most 2 ulp: below ¾ from the polynomial of `erf`; above it `e^-x²` times a polynomial in
/// `(x - K) / (x + K)` over `x + K`, everything but the small terms in two parts; `2 - erfc |x|` for negative
/// `x`.
pub fn erfc(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let (one, two) = (m.c(1.0), m.c(2.0));
    let square = m.mul(x, x);
    let p = m.poly_of(square, &ERF_F32, &ERF_F64);
    let negated = m.neg(x);
    let sum = m.fast_two_sum(one, negated);
    let small = m.fma(negated, p, sum.lo);
    let small = m.add(sum.hi, small);
    let magnitude = m.abs(x);
    let is_small = m.below(magnitude, 0.75);
    // Beyond this the result is zero: as in `exp`, without a product that underflows.
    let limit = m.pick(10.1, 27.3);
    let nothing = m.above(magnitude, limit);
    let magnitude = m.select(nothing, one, magnitude);
    let zero = m.c(0.0);
    let large = m.erfc_large(magnitude);
    let large = m.select(nothing, zero, large);
    let mirrored = m.sub(two, large);
    let negative = m.below(x, 0.0);
    let large = m.select(negative, mirrored, large);
    m.select(is_small, small, large)
}

impl Math<'_> {
    /// `erfc x` from ¾ up to the limit.
    fn erfc_large(&mut self, x: Value) -> Value {
        let centre = self.pick(2.5, 4.0);
        let (centre, minus, one) = (self.c(centre), self.c(-centre), self.c(1.0));
        let denominator = self.two_sum(x, centre);
        let numerator = self.two_sum(x, minus);
        let inverse = self.div(one, denominator.hi);
        let t = self.mul(numerator.hi, inverse);
        // What t lost counts through the slope of the polynomial, for which three terms are enough.
        let lost = self.fnma(t, denominator.hi, numerator.hi);
        let lost = self.add(lost, numerator.lo);
        let lost = self.fnma(t, denominator.lo, lost);
        let lost = self.mul(lost, inverse);
        let coefficients: &[f64] = self.pick(&ERFC_F32, &ERFC_F64);
        let slope = self.poly(t, &[coefficients[1], 2.0 * coefficients[2], 3.0 * coefficients[3]]);
        let rest = self.horner(t, coefficients[1..].iter().copied());
        let rest = self.mul(t, rest);
        let first = self.c(coefficients[0]);
        let mut p = self.two_sum(first, rest);
        let low = self.pick(ERFC_LOW.0, ERFC_LOW.1);
        let low = self.c(low);
        p.lo = self.add(p.lo, low);
        p.lo = self.fma(slope, lost, p.lo);
        let negated = self.neg(x);
        let square = self.two_product(negated, x);
        let (e, k) = self.exp_parts(square);
        let e = self.fast_two_sum(e.hi, e.lo);
        let product = self.product(e, p);
        let y = self.quotient(product, denominator);
        let y = self.join(y);
        self.ldexp(y, k)
    }
}

/// `1 / √x`, at most 1.5 ulp.
pub fn rsqrt(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let root = m.sqrt(x);
    let one = m.c(1.0);
    m.div(one, root)
}

/// The cube root, at most 1 ulp: `|x| = 2^(3q + r) m`; a polynomial for `m^(-1/3)`, a step of cubic
/// convergence, and a last step for the root itself, whose residual is computed exactly.
pub fn cbrt(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    let Parts { e, f, .. } = m.log_reduce(magnitude);
    let (shifted, q) = m.round(e, 1.0 / 3.0);
    let minus_three = m.c(-3.0);
    let r = m.fma(q, minus_three, e);
    let one = m.c(1.0);
    let (up, down) = (m.above(r, 0.0), m.below(r, 0.0));
    let mut by_rest = |zero: f64, plus: f64, minus: f64| {
        let (zero, plus, minus) = (m.c(zero), m.c(plus), m.c(minus));
        let value = m.select(up, plus, zero);
        m.select(down, minus, value)
    };
    let power = by_rest(1.0, 2.0, 0.5);
    let root_of_power = by_rest(1.0, 2f64.powf(-1.0 / 3.0), 2f64.powf(1.0 / 3.0));
    let a = m.add(one, f);
    let a = m.mul(a, power);
    let y = m.poly_of(f, &RCBRT_F32, &RCBRT_F64);
    let y = m.mul(y, root_of_power);
    // y (1 + h/3 + 2h²/9) with h = 1 - a y³.
    let square = m.mul(y, y);
    let cube = m.mul(square, y);
    let h = m.fnma(a, cube, one);
    let step = m.poly(h, &[1.0 / 3.0, 2.0 / 9.0]);
    let step = m.mul(step, h);
    let y = m.fma(step, y, y);
    // The root is a y²; its residual a - root³ in two parts, over 3 root², which is 3 / y² / a.
    let square = m.mul(y, y);
    let root = m.mul(a, square);
    let root_square = m.two_product(root, root);
    let residual = m.fnma(root_square.hi, root, a);
    let residual = m.fnma(root_square.lo, root, residual);
    let third = m.scale(square, 1.0 / 3.0);
    let root = m.fma(residual, third, root);
    let scale = m.exp2_int(shifted);
    let root = m.mul(root, scale);
    let sign = m.sign(x);
    let root = m.flip(root, sign);
    // Zeros, infinities and NaN are their own roots.
    let (zero, infinity) = (m.c(0.0), m.c(f64::INFINITY));
    let positive = m.lt(zero, magnitude);
    let root = m.select(positive, root, x);
    let finite = m.lt(magnitude, infinity);
    m.select(finite, root, x)
}

/// The inverse of `erf`, at most 4 ulp: `x` times polynomials in `w = -ln(1 - x²)` and, in the tails, in
/// `√w`. Infinite at ±1, NaN beyond.
pub fn erf_inv(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let one = m.c(1.0);
    let rest = m.fnma(x, x, one);
    let log = m.log(rest);
    let w = m.neg(log);
    let root = m.sqrt(w);
    let (centre, border) = m.pick((-2.5, 5.0), (-3.125, 6.25));
    let centred = m.offset(w, centre);
    // Term by term: at either end the powers are large and alternate.
    let coefficients: &[f64] = m.pick(&ERF_INV_F32, &ERF_INV_F64);
    let middle = m.horner(centred, coefficients.iter().copied());
    let centre = m.pick(-3.0, -3.25);
    let centred = m.offset(root, centre);
    let tail = m.poly_of(centred, &ERF_INV_TAIL_F32, &ERF_INV_TAIL_F64);
    let mut tail = tail;
    // The tail of `f32` ends before this.
    if m.pick(false, true) {
        let centred = m.offset(root, -5.0);
        let end = m.poly(centred, &ERF_INV_END_F64);
        let is_end = m.above(w, 16.0);
        tail = m.select(is_end, end, tail);
    }
    let infinity = m.c(f64::INFINITY);
    let pole = m.equals(rest, 0.0);
    let tail = m.select(pole, infinity, tail);
    // One of three hundred numbers: loops are made for where there is none.
    let border = m.c(border);
    let is_tail = m.at_or_above(w, border);
    let is_tail = m.rarely(is_tail);
    let p = m.select(is_tail, tail, middle);
    m.mul(x, p)
}
