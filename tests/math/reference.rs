//! Exact results of `f32` arguments, as far as `f64` can hold them: relative errors of some 2^-50, where those
//! that are measured are above 2^-25.
//!
//! The standard library (that is, the C library), `libm`, and formulas where both lack a function or digits.
//! Half of all `f32` are so small or so large that a few terms are as good, which is faster; where a result is
//! below all `f32` or above them, any such number will do.

use std::f64::consts::{FRAC_2_SQRT_PI, FRAC_PI_2, LN_2, PI};

use tracewell_kernel::math::Function;

/// A function computed by another way.
#[derive(Clone, Copy, Debug)]
pub enum Reference {
    /// Of one argument.
    One(fn(f64) -> f64),
    /// Of two arguments.
    Two(fn(f64, f64) -> f64),
}

impl Reference {
    /// The reference of a function; every function has one.
    pub fn of(function: &Function) -> Reference {
        use Reference::{One, Two};
        match function.name {
            "exp" => One(exp),
            "exp2" => One(exp2),
            "expm1" => One(expm1),
            "logistic" => One(logistic),
            "log" => One(|x| if x < 0.0 { f64::NAN } else { x.ln() }),
            "log2" => One(|x| if x < 0.0 { f64::NAN } else { x.log2() }),
            "log10" => One(|x| if x < 0.0 { f64::NAN } else { x.log10() }),
            "log1p" => One(log1p),
            "pow" => Two(f64::powf),
            "sqrt" => One(f64::sqrt),
            "rsqrt" => One(|x| 1.0 / x.sqrt()),
            "cbrt" => One(f64::cbrt),
            "sin" => One(|x| if small(x) { odd(x, -1.0 / 6.0, 1.0 / 120.0) } else { x.sin() }),
            "cos" => One(|x| if small(x) { even(x, -0.5, 1.0 / 24.0) } else { x.cos() }),
            "tan" => One(|x| if small(x) { odd(x, 1.0 / 3.0, 2.0 / 15.0) } else { x.tan() }),
            "asin" => One(asin),
            "acos" => One(|x| if small(x) { FRAC_PI_2 - asin(x) } else { acos(x) }),
            "atan" => One(atan),
            "atan2" => Two(f64::atan2),
            "sinh" => One(sinh),
            "cosh" => One(cosh),
            "tanh" => One(tanh),
            "asinh" => One(asinh),
            "acosh" => One(acosh),
            "atanh" => One(atanh),
            "erf" => One(erf),
            "erfc" => One(erfc),
            "erf_inv" => One(erf_inv),
            "lgamma" => One(lgamma),
            "digamma" => One(digamma),
            "trigamma" => One(trigamma),
            other => unreachable!("`{other}` has no reference: write one here"),
        }
    }
}

/// Below every `f32`.
const NOTHING: f64 = 1e-60;
/// Above every `f32`, as far as rounding goes.
const TOO_LARGE: f64 = f64::INFINITY;

/// Where three terms are enough for functions whose terms fall by `x²`.
fn small(x: f64) -> bool {
    x.abs() < 1.0 / 1024.0
}

/// Where three terms are enough for functions whose terms fall by `x`.
fn tiny(x: f64) -> bool {
    x.abs() < 1.0 / 1_048_576.0
}

/// `x + a x³ + b x⁵`, and zero as it is: `-0 + 0` would be `+0`.
fn odd(x: f64, a: f64, b: f64) -> f64 {
    let square = x * x;
    if x == 0.0 { x } else { x + x * square * (a + b * square) }
}

/// `1 + a x² + b x⁴`
fn even(x: f64, a: f64, b: f64) -> f64 {
    let square = x * x;
    1.0 + square * (a + b * square)
}

fn exp(x: f64) -> f64 {
    match x {
        _ if tiny(x) => 1.0 + x * (1.0 + 0.5 * x),
        _ if x > 89.0 => TOO_LARGE,
        _ if x < -105.0 => NOTHING * f64::from(x > f64::NEG_INFINITY),
        _ => x.exp(),
    }
}

fn exp2(x: f64) -> f64 {
    match x {
        _ if tiny(x) => exp(x * LN_2),
        _ if x > 129.0 => TOO_LARGE,
        _ if x < -152.0 => NOTHING * f64::from(x > f64::NEG_INFINITY),
        _ => x.exp2(),
    }
}

fn expm1(x: f64) -> f64 {
    match x {
        _ if tiny(x) => x * (1.0 + x * (0.5 + x / 6.0)),
        _ if x > 89.0 => TOO_LARGE,
        _ if x < -50.0 => -1.0,
        _ => x.exp_m1(),
    }
}

fn logistic(x: f64) -> f64 {
    match x {
        _ if tiny(x) => 0.5 + 0.25 * x,
        _ if x > 50.0 => 1.0,
        _ if x < -105.0 => NOTHING * f64::from(x > f64::NEG_INFINITY),
        _ => 1.0 / (1.0 + (-x).exp()),
    }
}

fn log1p(x: f64) -> f64 {
    match x {
        _ if x < -1.0 => f64::NAN,
        _ if tiny(x) => x * (1.0 + x * (-0.5 + x / 3.0)),
        _ => x.ln_1p(),
    }
}

fn asin(x: f64) -> f64 {
    match x {
        _ if small(x) => odd(x, 1.0 / 6.0, 3.0 / 40.0),
        _ if x.abs() > 1.0 => f64::NAN,
        _ => x.asin(),
    }
}

fn acos(x: f64) -> f64 {
    if x.abs() > 1.0 { f64::NAN } else { x.acos() }
}

fn atan(x: f64) -> f64 {
    match x {
        _ if small(x) => odd(x, -1.0 / 3.0, 1.0 / 5.0),
        _ if x.abs() > 1e8 => FRAC_PI_2.copysign(x) - 1.0 / x,
        _ => x.atan(),
    }
}

fn sinh(x: f64) -> f64 {
    match x {
        _ if small(x) => odd(x, 1.0 / 6.0, 1.0 / 120.0),
        _ if x.abs() > 90.0 => TOO_LARGE.copysign(x),
        _ => x.sinh(),
    }
}

fn cosh(x: f64) -> f64 {
    match x {
        _ if small(x) => even(x, 0.5, 1.0 / 24.0),
        _ if x.abs() > 90.0 => TOO_LARGE,
        _ => x.cosh(),
    }
}

fn tanh(x: f64) -> f64 {
    match x {
        _ if small(x) => odd(x, -1.0 / 3.0, 2.0 / 15.0),
        _ if x.abs() > 25.0 => 1f64.copysign(x),
        _ => x.tanh(),
    }
}

fn asinh(x: f64) -> f64 {
    match x {
        _ if small(x) => odd(x, -1.0 / 6.0, 3.0 / 40.0),
        _ if x.abs() > 1e9 => (x.abs().ln() + LN_2).copysign(x),
        _ => libm::asinh(x),
    }
}

fn acosh(x: f64) -> f64 {
    match x {
        _ if x < 1.0 => f64::NAN,
        _ if x > 1e9 => x.ln() + LN_2,
        _ => libm::acosh(x),
    }
}

fn atanh(x: f64) -> f64 {
    match x {
        _ if small(x) => odd(x, 1.0 / 3.0, 1.0 / 5.0),
        _ if x.abs() > 1.0 => f64::NAN,
        _ if x.abs() == 1.0 => f64::INFINITY.copysign(x),
        _ => libm::atanh(x),
    }
}

fn erf(x: f64) -> f64 {
    match x {
        _ if small(x) => FRAC_2_SQRT_PI * odd(x, -1.0 / 3.0, 1.0 / 10.0),
        _ if x.abs() > 6.5 => 1f64.copysign(x),
        _ => libm::erf(x),
    }
}

fn erfc(x: f64) -> f64 {
    match x {
        _ if small(x) => 1.0 - erf(x),
        _ if x > 11.0 => NOTHING * f64::from(x < f64::INFINITY),
        _ if x < -6.5 => 2.0,
        _ => libm::erfc(x),
    }
}

/// A first guess of 6 digits, by series in `w = -ln(1 - x²)` (Giles 2010), and one step of Halley, which has
/// three times as many.
fn erf_inv(x: f64) -> f64 {
    const CENTRE: [f64; 9] = [
        1.50140941,
        0.246640727,
        -0.00417768164,
        -0.00125372503,
        0.000218580870,
        -4.39150654e-06,
        -3.5233877e-06,
        3.43273939e-07,
        2.81022636e-08,
    ];
    const TAIL: [f64; 9] = [
        2.83297682,
        1.00167406,
        0.00943887047,
        -0.0076224613,
        0.00573950773,
        -0.00367342844,
        0.00134934322,
        0.000100950558,
        -0.000200214257,
    ];
    if small(x) {
        return odd(x, PI / 12.0, 7.0 * PI * PI / 480.0) / FRAC_2_SQRT_PI;
    }
    let a = x.abs();
    if a.is_nan() || a >= 1.0 {
        return if a == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    }
    // Exact in f64: an f32 that is not small has few bits.
    let rest = 1.0 - a;
    let w = -(rest * (1.0 + a)).ln();
    let guess = if w < 5.0 { horner(w - 2.5, &CENTRE) } else { horner(w.sqrt() - 3.0, &TAIL) };
    let y = a * guess;
    // How much too large, seen from whichever end has the digits.
    let over = if a < 0.5 { libm::erf(y) - a } else { rest - libm::erfc(y) };
    let step = over / (FRAC_2_SQRT_PI * (-y * y).exp());
    (y - step / (1.0 + y * step)).copysign(x)
}

fn horner(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

const EULER: f64 = 0.577_215_664_901_532_9;

fn lgamma(x: f64) -> f64 {
    match x {
        _ if tiny(x) => -x.abs().ln() - x * (EULER - x * PI * PI / 12.0),
        _ if x < 0.0 && x == x.floor() => f64::INFINITY,
        _ => libm::lgamma(x),
    }
}

/// The recurrence up to 16, then the asymptotic series; reflected for negative arguments.
fn digamma(x: f64) -> f64 {
    const SERIES: [f64; 7] =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
    if tiny(x) {
        return -1.0 / x - EULER + x * PI * PI / 6.0;
    }
    if x < 0.0 {
        let r = x - x.round();
        if r == 0.0 || x.is_infinite() {
            return f64::NAN;
        }
        return digamma(1.0 - x) - PI / (PI * r).tan();
    }
    let (mut shifted, mut sum) = (x, 0.0);
    while shifted < 16.0 {
        sum += 1.0 / shifted;
        shifted += 1.0;
    }
    if shifted == f64::INFINITY {
        return shifted;
    }
    let square = 1.0 / (shifted * shifted);
    shifted.ln() - 0.5 / shifted - square * horner(square, &SERIES) - sum
}

/// The recurrence up to 20, then the asymptotic series; reflected for negative arguments.
fn trigamma(x: f64) -> f64 {
    const SERIES: [f64; 7] =
        [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];
    if tiny(x) {
        return 1.0 / (x * x) + PI * PI / 6.0;
    }
    if x < 0.0 {
        let sine = (PI * (x - x.round())).sin();
        return if x.is_infinite() { f64::NAN } else { (PI / sine).powi(2) - trigamma(1.0 - x) };
    }
    let (mut shifted, mut sum) = (x, 0.0);
    while shifted < 20.0 {
        sum += 1.0 / (shifted * shifted);
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let square = inverse * inverse;
    inverse + square * (0.5 + inverse * horner(square, &SERIES)) + sum
}
