//! Functions of complex numbers: what each is, for reference evaluation, and how it is computed from functions of the
//! parts.
//!
//! The formulas neither overflow nor cancel where the result is an ordinary number; what holds at infinities and NaN
//! is in docs/numerics.md.

use tracewell_array::{Complex64, DType};
use tracewell_kernel::Comparison;

use super::sheet::Sheet;
use super::{Atan2, Log};
use crate::error::RuleError;
use crate::graph::Atom;
use crate::primitive::Lowering;
use crate::ty::ArrayType;

/// How a function of complex numbers is computed.
pub(super) enum Split {
    /// The same of the real parts, and of the imaginary parts.
    Parts,
    /// By a formula.
    Formula(fn(&mut Sheet, &[Atom]) -> Atom),
}

impl Split {
    pub(super) fn lowering(self, name: &str, inputs: &[ArrayType]) -> Lowering {
        match self {
            Split::Parts => Lowering::Parts,
            Split::Formula(formula) => Sheet::lowering(name, inputs, formula),
        }
    }
}

/// The lowering of a primitive on complex operands, if it has one; one without refuses them in its type rule.
pub(super) fn split_or_none(
    name: &str,
    inputs: &[ArrayType],
    splits: impl IntoIterator<Item = Split>,
) -> Option<Result<Lowering, RuleError>> {
    let complex = inputs.first().is_some_and(|ty| ty.dtype.is_complex());
    complex.then(|| match splits.into_iter().next() {
        Some(split) => Ok(split.lowering(name, inputs)),
        None => Err(RuleError::Unsupported { primitive: name.into(), why: "it has no complex form".into() }),
    })
}

/// `a × b`
pub(super) fn mul(s: &mut Sheet, x: &[Atom]) -> Atom {
    let ((a, b), (c, d)) = (s.parts(&x[0]), s.parts(&x[1]));
    let (ac, bd) = (s.mul(&a, &c), s.mul(&b, &d));
    let (ad, bc) = (s.mul(&a, &d), s.mul(&b, &c));
    let (re, im) = (s.sub(&ac, &bd), s.add(&ad, &bc));
    s.complex(&re, &im)
}

/// `a / b`, divided by the larger part of `b` first, so that its square is never taken.
pub(super) fn div(s: &mut Sheet, x: &[Atom]) -> Atom {
    let ((a, b), (c, d)) = (s.parts(&x[0]), s.parts(&x[1]));
    let (size_c, size_d) = (s.abs(&c), s.abs(&d));
    let wide = s.compare(Comparison::Ge, &size_c, &size_d);
    let (large, small) = (s.select(&wide, &c, &d), s.select(&wide, &d, &c));
    let (first, second) = (s.select(&wide, &a, &b), s.select(&wide, &b, &a));
    // Both are zero, or neither has to be: `0/0` would make NaN of what is infinite.
    let (by_zero, zero) = (s.is_zero(&large), s.fill(&large, 0.0));
    let ratio = s.div(&small, &large);
    let ratio = s.select(&by_zero, &zero, &ratio);
    let scaled = s.mul(&small, &ratio);
    let size = s.add(&large, &scaled);
    let (up, down) = (s.mul(&second, &ratio), s.mul(&first, &ratio));
    let (re, im) = (s.add(&first, &up), s.sub(&second, &down));
    let (re, im) = (s.div(&re, &size), s.div(&im, &size));
    let opposite = s.neg(&im);
    let im = s.select(&wide, &im, &opposite);
    s.complex(&re, &im)
}

/// The larger and the smaller of the sizes of two parts, and the square of their ratio: at most 1, and 0 of zeros.
fn scaled(s: &mut Sheet, a: &Atom, b: &Atom) -> (Atom, Atom) {
    let (a, b) = (s.abs(a), s.abs(b));
    let (large, small) = (s.max(&a, &b), s.min(&a, &b));
    let ratio = s.div(&small, &large);
    // Of two zeros, or of two infinities, there is no ratio.
    let equal = s.compare(Comparison::Eq, &small, &large);
    let (nothing, zero, one) = (s.is_zero(&large), s.fill(&large, 0.0), s.fill(&large, 1.0));
    let same = s.select(&nothing, &zero, &one);
    let ratio = s.select(&equal, &same, &ratio);
    (large, s.mul(&ratio, &ratio))
}

/// `|z|`, of which no square overflows.
pub(super) fn abs(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    size(s, &a, &b)
}

fn size(s: &mut Sheet, a: &Atom, b: &Atom) -> Atom {
    let (large, square) = scaled(s, a, b);
    let one = s.fill(&large, 1.0);
    let sum = s.add(&one, &square);
    let root = s.sqrt(&sum);
    s.mul(&large, &root)
}

/// `z / |z|`, and 0 of 0. A power of two goes out first, so that neither part is lost.
pub(super) fn sign(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (size_a, size_b) = (s.abs(&a), s.abs(&b));
    let large = s.max(&size_a, &size_b);
    let (nothing, one) = (s.is_zero(&large), s.fill(&large, 1.0));
    let divisor = s.select(&nothing, &one, &large);
    let (a, b) = (s.div(&a, &divisor), s.div(&b, &divisor));
    let length = size(s, &a, &b);
    let length = s.select(&nothing, &one, &length);
    let (re, im) = (s.div(&a, &length), s.div(&b, &length));
    s.complex(&re, &im)
}

/// `log|z| + i arg z`
pub(super) fn log(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (large, square) = scaled(s, &a, &b);
    let (log, rest) = (s.bind(Log {}, &[large]), s.log1p(&square));
    let half = s.fill(&rest, 0.5);
    let rest = s.mul(&half, &rest);
    let (re, im) = (s.add(&log, &rest), s.bind(Atan2 {}, &[b, a]));
    s.complex(&re, &im)
}

/// A logarithm to another base.
fn log_times(s: &mut Sheet, x: &[Atom], factor: f64) -> Atom {
    let log = s.log(&x[0]);
    let (re, im) = s.parts(&log);
    let factor = s.fill(&re, factor);
    let (re, im) = (s.mul(&re, &factor), s.mul(&im, &factor));
    s.complex(&re, &im)
}

pub(super) fn log2(s: &mut Sheet, x: &[Atom]) -> Atom {
    log_times(s, x, std::f64::consts::LOG2_E)
}

pub(super) fn log10(s: &mut Sheet, x: &[Atom]) -> Atom {
    log_times(s, x, std::f64::consts::LOG10_E)
}

/// The root with no negative real part: `√((|z| + |a|) / 2)` is one part, and the other is `b` over twice that.
pub(super) fn sqrt(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (length, width) = (size(s, &a, &b), s.abs(&a));
    let (half, zero) = (s.fill(&a, 0.5), s.fill(&a, 0.0));
    let (length, width) = (s.mul(&half, &length), s.mul(&half, &width));
    let sum = s.add(&length, &width);
    let root = s.sqrt(&sum);
    let halved = s.mul(&half, &b);
    let other = s.div(&halved, &root);
    let nothing = s.is_zero(&root);
    let other = s.select(&nothing, &b, &other);
    let right = s.compare(Comparison::Ge, &a, &zero);
    let (across, up) = (s.abs(&other), s.with_sign(&root, &b));
    let (re, im) = (s.select(&right, &root, &across), s.select(&right, &other, &up));
    s.complex(&re, &im)
}

pub(super) fn rsqrt(s: &mut Sheet, x: &[Atom]) -> Atom {
    let root = s.sqrt(&x[0]);
    let one = s.fill(&root, 1.0);
    s.div(&one, &root)
}

/// `e^a (cos b + i sin b)`
pub(super) fn exp(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (size, cos, sin) = (s.exp(&a), s.cos(&b), s.sin(&b));
    let (re, im) = (s.mul(&size, &cos), s.mul(&size, &sin));
    s.complex(&re, &im)
}

pub(super) fn logistic(s: &mut Sheet, x: &[Atom]) -> Atom {
    // With `t = e^-|a|`: `1 / (1 + e^-z)` where `a` is not negative and `e^z / (1 + e^z)` where it is, both by
    // `|1 + t e^ib|²`. Nothing overflows, and small results keep their digits.
    let (a, b) = s.parts(&x[0]);
    let (size, zero, one) = (s.abs(&a), s.fill(&a, 0.0), s.fill(&a, 1.0));
    let negated = s.neg(&size);
    let t = s.exp(&negated);
    let (cos, sin) = (s.cos(&b), s.sin(&b));
    let (u, v) = (s.mul(&t, &cos), s.mul(&t, &sin));
    let above = s.add(&one, &u);
    let (square, rest, t) = (s.mul(&above, &above), s.mul(&v, &v), s.mul(&t, &t));
    let below = s.add(&u, &t);
    let under = s.add(&square, &rest);
    let is_negative = s.compare(Comparison::Lt, &a, &zero);
    let over = s.select(&is_negative, &below, &above);
    let (re, im) = (s.div(&over, &under), s.div(&v, &under));
    s.complex(&re, &im)
}

/// `sin a cosh b + i cos a sinh b`
pub(super) fn sin(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (sin, cos, cosh, sinh) = (s.sin(&a), s.cos(&a), s.cosh(&b), s.sinh(&b));
    let (re, im) = (s.mul(&sin, &cosh), s.mul(&cos, &sinh));
    s.complex(&re, &im)
}

/// `cos a cosh b - i sin a sinh b`
pub(super) fn cos(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (sin, cos, cosh, sinh) = (s.sin(&a), s.cos(&a), s.cosh(&b), s.sinh(&b));
    let (re, im) = (s.mul(&cos, &cosh), s.mul(&sin, &sinh));
    let im = s.neg(&im);
    s.complex(&re, &im)
}

/// `sinh a cos b + i cosh a sin b`
pub(super) fn sinh(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (sin, cos, cosh, sinh) = (s.sin(&b), s.cos(&b), s.cosh(&a), s.sinh(&a));
    let (re, im) = (s.mul(&sinh, &cos), s.mul(&cosh, &sin));
    s.complex(&re, &im)
}

/// `cosh a cos b + i sinh a sin b`
pub(super) fn cosh(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (sin, cos, cosh, sinh) = (s.sin(&b), s.cos(&b), s.cosh(&a), s.sinh(&a));
    let (re, im) = (s.mul(&cosh, &cos), s.mul(&sinh, &sin));
    s.complex(&re, &im)
}

pub(super) fn tanh(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (re, im) = tanh_of(s, &a, &b);
    s.complex(&re, &im)
}

/// `tan z = -i tanh iz`
pub(super) fn tan(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (a, b) = s.parts(&x[0]);
    let (re, im) = tanh_of(s, &b, &a);
    s.complex(&im, &re)
}

/// `tanh(a + ib)` with `t = tan b`, `h = sinh a`: `((1 + t²) h √(1 + h²) + it) / (1 + (1 + t²) h²)`. Where `a` is so
/// large that nothing but ±1 is left, it is cut off before `h²` overflows.
fn tanh_of(s: &mut Sheet, a: &Atom, b: &Atom) -> (Atom, Atom) {
    let limit = if s.dtype(a) == DType::F32 { 10.0 } else { 20.0 };
    let (most, least, one) = (s.fill(a, limit), s.fill(a, -limit), s.fill(a, 1.0));
    let a = s.min(a, &most);
    let a = s.max(&a, &least);
    let (t, h) = (s.tan(b), s.sinh(&a));
    let (tt, hh) = (s.mul(&t, &t), s.mul(&h, &h));
    let steep = s.add(&one, &tt);
    let bound = s.add(&one, &hh);
    let (root, weight) = (s.sqrt(&bound), s.mul(&steep, &h));
    let (above, weighted) = (s.mul(&weight, &root), s.mul(&weight, &h));
    let below = s.add(&one, &weighted);
    (s.div(&above, &below), s.div(&t, &below))
}

/// `exp(b log a)`; of a zero base 1 for a zero exponent, else 0.
pub(super) fn pow(s: &mut Sheet, x: &[Atom]) -> Atom {
    let (base_zero, exponent_zero) = (s.is_zero(&x[0]), s.is_zero(&x[1]));
    let (zero, one) = (s.fill(&x[0], 0.0), s.fill(&x[0], 1.0));
    let base = s.select(&base_zero, &one, &x[0]);
    let log = s.log(&base);
    let product = s.mul(&x[1], &log);
    let power = s.exp(&product);
    let at_zero = s.select(&exponent_zero, &one, &zero);
    s.select(&base_zero, &at_zero, &power)
}

/// The same functions for reference evaluation, by other ways.
pub(super) mod reference {
    use super::Complex64;

    pub(in super::super) fn div(a: Complex64, b: Complex64) -> Complex64 {
        // Scaled by a power of two, so that the square of `b` exists.
        let size = b.re.abs().max(b.im.abs());
        if size == 0.0 || !size.is_finite() {
            return Complex64::new(a.re / b.re.abs(), a.im / b.re.abs());
        }
        let scale = (-size.log2().floor()).exp2();
        let (b, scale) = if scale.is_finite() && scale > 0.0 { (b * scale, scale) } else { (b, 1.0) };
        let product = a * scale * b.conj();
        product / (b.re * b.re + b.im * b.im)
    }

    pub(in super::super) fn sign(z: Complex64) -> Complex64 {
        if z == Complex64::ZERO { z } else { Complex64::from_polar(1.0, z.arg()) }
    }

    pub(in super::super) fn log(z: Complex64) -> Complex64 {
        let (a, b, size) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()), z.norm());
        // Near 1 only the difference from it has digits left.
        let near_one = size > 0.5 && size < 2.0;
        let log = if near_one { ((a - 1.0) * (a + 1.0) + b * b).ln_1p() / 2.0 } else { size.ln() };
        Complex64::new(log, z.arg())
    }

    pub(in super::super) fn rsqrt(z: Complex64) -> Complex64 {
        div(Complex64::ONE, z.sqrt())
    }

    /// From an exponential that does not overflow.
    pub(in super::super) fn tanh(z: Complex64) -> Complex64 {
        let (a, (sin, cos)) = (z.re.clamp(-350.0, 350.0), z.im.sin_cos());
        let below = a.sinh() * a.sinh() + cos * cos;
        Complex64::new(a.sinh() * a.cosh() / below, sin * cos / below)
    }

    pub(in super::super) fn tan(z: Complex64) -> Complex64 {
        let tanh = tanh(Complex64::new(-z.im, z.re));
        Complex64::new(tanh.im, -tanh.re)
    }

    pub(in super::super) fn logistic(z: Complex64) -> Complex64 {
        if z.re < 0.0 {
            let e = z.exp();
            div(e, Complex64::ONE + e)
        } else {
            div(Complex64::ONE, Complex64::ONE + (-z).exp())
        }
    }

    pub(in super::super) fn pow(a: Complex64, b: Complex64) -> Complex64 {
        match (a == Complex64::ZERO, b == Complex64::ZERO) {
            (true, true) => Complex64::ONE,
            (true, false) => Complex64::ZERO,
            _ => (b * log(a)).exp(),
        }
    }
}
