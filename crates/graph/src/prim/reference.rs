//! Functions in `f64` that neither the standard library nor `libm` has, for reference evaluation: slow and by
//! other ways than the expansions they are compared with.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// `1 / (1 + e^-x)`, from an exponential that does not overflow.
pub(super) fn logistic(x: f64) -> f64 {
    if x < 0.0 {
        let e = x.exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

/// The inverse of `erf`, by steps of Halley's method from a rough guess.
pub(super) fn erf_inv(x: f64) -> f64 {
    if x.is_nan() || x.abs() >= 1.0 {
        return if x.abs() == 1.0 { x * f64::INFINITY } else { f64::NAN };
    }
    // `erf y = 2y / √π` up to terms that are too small to matter.
    if x.abs() < 1e-9 {
        return x / FRAC_2_SQRT_PI;
    }
    let a = x.abs();
    let log = (-a * a).ln_1p();
    let middle = 2.0 / (PI * 0.147) + log / 2.0;
    let mut y = ((middle * middle - log / 0.147).sqrt() - middle).sqrt();
    for _ in 0..4 {
        // Near 1 only the complement has digits left; `1 - a` is exact there.
        let off = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let step = off / (FRAC_2_SQRT_PI * (-y * y).exp());
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// `ψ(x)`, the derivative of `ln Γ(x)`, by recurrence to where the asymptotic series has all digits.
pub(super) fn digamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY || (x < 0.0 && x == x.trunc()) {
        return f64::NAN;
    }
    if x < 0.0 {
        let (sin, cos) = (PI * (x - x.round())).sin_cos();
        return digamma(1.0 - x) - PI * cos / sin;
    }
    let (mut y, mut sum) = (x, 0.0);
    while y < 20.0 {
        sum -= 1.0 / y;
        y += 1.0;
    }
    let square = 1.0 / (y * y);
    let terms = [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0];
    y.ln() - 0.5 / y - series(&terms, square) * square + sum
}

/// `ψ'(x)`, likewise.
pub(super) fn trigamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x < 0.0 {
        let sine = (PI * (x - x.round())).sin();
        return (PI / sine).powi(2) - trigamma(1.0 - x);
    }
    let (mut y, mut sum) = (x, 0.0);
    while y < 20.0 {
        sum += 1.0 / y / y;
        y += 1.0;
    }
    let inverse = 1.0 / y;
    let square = inverse * inverse;
    let terms = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0];
    inverse + square / 2.0 + series(&terms, square) * square * inverse + sum
}

/// A polynomial, its constant first.
fn series(terms: &[f64], x: f64) -> f64 {
    terms.iter().rev().fold(0.0, |sum, term| sum * x + term)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of 50 digits, rounded: `mpmath.erfinv`, `mpmath.psi(0, x)` and `mpmath.psi(1, x)`.
    #[test]
    fn known_values() {
        type Case = (fn(f64) -> f64, f64, f64);
        let cases: &[Case] = &[
            (erf_inv, 0.5, 0.4769362762044699),
            (erf_inv, -0.3, -0.2724627147267543),
            (erf_inv, 0.9, 1.1630871536766743),
            (erf_inv, 0.999999999999, 5.042031898572696),
            (erf_inv, -1e-05, -8.862269254759594e-06),
            (erf_inv, 0.01, 0.008862501280950598),
            (digamma, 0.25, -4.2274535333762655),
            (digamma, 1.0, -0.5772156649015329),
            (digamma, 1.4616321449683622, -9.241265521729427e-17),
            (digamma, 7.5, 1.9467574842460869),
            (digamma, 1000000.0, 13.815510057964191),
            (digamma, -0.5, 0.03648997397857652),
            (digamma, -3.25, 4.46627587235028),
            (trigamma, 0.25, 17.19732915450711),
            (trigamma, 1.0, 1.6449340668482264),
            (trigamma, 3.5, 0.3303577561002349),
            (trigamma, 30.0, 0.033895060357739946),
            (trigamma, -0.5, 8.934802200544679),
        ];
        for &(f, x, y) in cases {
            let found = f(x);
            assert!((found - y).abs() <= 1e-15 * y.abs().max(1.0), "at {x}: {found}, expected {y}");
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(erf_inv(1.0), f64::INFINITY);
        assert_eq!(erf_inv(-1.0), f64::NEG_INFINITY);
        assert!(erf_inv(1.5).is_nan());
        assert_eq!(erf_inv(-0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!(digamma(0.0), f64::NEG_INFINITY);
        assert_eq!(digamma(-0.0), f64::INFINITY);
        assert!(digamma(-3.0).is_nan());
        assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
        assert_eq!(trigamma(0.0), f64::INFINITY);
        assert_eq!(trigamma(-2.0), f64::INFINITY);
        assert_eq!(trigamma(f64::INFINITY), 0.0);
        assert_eq!(logistic(-1000.0), 0.0);
        assert!(logistic(-720.0) > 0.0);
    }
}
