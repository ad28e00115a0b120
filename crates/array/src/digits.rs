//! The digits of floats, chosen as NumPy chooses them: few, but enough, and points in one column.
//!
//! Invariant: values are held as `f64`, which is exact for every float dtype; how many digits are enough and when
//! an exponent is needed is decided in the dtype itself.

use crate::{DType, Literal};

/// A float on its own: all its digits, unless a number of digits after the point is asked for.
pub(crate) fn scalar_text(literal: Literal, precision: Option<usize>) -> String {
    let (dtype, value) = (literal.dtype(), literal.as_f64());
    if !value.is_finite() {
        return non_finite(value).to_owned();
    }
    if let Some(precision) = precision {
        return format!("{value:.precision$}");
    }
    if value == 0.0 || (1e-4..scalar_limit(dtype)).contains(&value.abs()) {
        let (whole, fraction) = positional(dtype, value, usize::MAX);
        return format!("{whole}.{}", if fraction.is_empty() { "0" } else { &fraction });
    }
    let (whole, fraction, exponent) = scientific(dtype, value, usize::MAX);
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{whole}{point}{fraction}{}", exponent_text(exponent, 2))
}

/// A complex number on its own: whole parts without a point, `(1+2j)`, and no real part where it is zero.
pub(crate) fn complex_text(literal: Literal, precision: Option<usize>) -> String {
    let part = |part: Literal| {
        let text = scalar_text(part, precision);
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    };
    let (re, im) = (part(literal.re()), part(literal.im()));
    if re == "0" {
        return format!("{im}j");
    }
    let sign = if im.starts_with('-') { "" } else { "+" };
    format!("({re}{sign}{im}j)")
}

/// How the floats of one tensor are printed so that their points lie in one column.
pub(crate) struct FloatFormat {
    /// Digits of the exponent, where there is one.
    exponent: Option<usize>,
    /// Digits after the point, at most.
    precision: usize,
    /// Characters before the point.
    left: usize,
    /// Characters after the point.
    right: usize,
    /// Whether a sign is always shown, as between the parts of a complex number.
    signed: bool,
    dtype: DType,
}

impl FloatFormat {
    /// Fits the columns to these values, with at most so many digits after the point.
    pub(crate) fn new(dtype: DType, values: &[f64], precision: usize, signed: bool) -> FloatFormat {
        let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let mut format = FloatFormat { exponent: None, precision, left: 0, right: 0, signed, dtype };
        if wants_exponent(dtype, &finite) {
            let (mut digits, mut fraction_len) = (2, 0);
            for &value in &finite {
                let (whole, fraction, exponent) = scientific(dtype, value, precision);
                format.left = format.left.max(format.sign(whole).len());
                fraction_len = fraction_len.max(fraction.len());
                digits = digits.max(exponent.unsigned_abs().to_string().len());
            }
            format.exponent = Some(digits);
            format.precision = fraction_len;
            format.right = fraction_len + "e+".len() + digits;
        } else {
            for &value in &finite {
                let (whole, fraction) = positional(dtype, value, precision);
                format.left = format.left.max(format.sign(whole).len());
                format.right = format.right.max(fraction.len());
            }
        }
        let others = values.iter().filter(|value| !value.is_finite()).map(|&value| non_finite(value).len());
        let widest = others.max().map_or(0, |len| len.saturating_sub(format.right + ".".len()));
        format.left = format.left.max(widest);
        format
    }

    /// The text with a sign in front, if it is to have one.
    fn sign(&self, text: String) -> String {
        if self.signed && !text.starts_with('-') { format!("+{text}") } else { text }
    }

    /// The text of one of the values.
    pub(crate) fn cell(&self, value: f64) -> String {
        let FloatFormat { exponent, precision, left, right, dtype, .. } = *self;
        if !value.is_finite() {
            let width = left + ".".len() + right;
            return format!("{:>width$}", self.sign(non_finite(value).to_owned()));
        }
        match exponent {
            None => {
                let (whole, fraction) = positional(dtype, value, precision);
                format!("{:>left$}.{fraction:<right$}", self.sign(whole))
            }
            Some(digits) => {
                // Beyond the shortest digits NumPy goes on with the exact ones, not with zeros.
                let (whole, fraction, exponent) = parts(&format!("{value:.precision$e}"));
                format!("{:>left$}.{fraction}{}", self.sign(whole), exponent_text(exponent, digits))
            }
        }
    }
}

/// Whether any of the values would need too many digits without an exponent. NumPy compares in the dtype itself.
fn wants_exponent(dtype: DType, finite: &[f64]) -> bool {
    let magnitudes = || finite.iter().map(|value| value.abs()).filter(|&value| value != 0.0);
    let Some(max) = magnitudes().reduce(f64::max) else { return false };
    let min = magnitudes().fold(max, f64::min);
    let rounded = |value| Literal::from_f64(dtype, value).as_f64();
    max >= upper_limit(dtype) || min < rounded(1e-4) || rounded(max / min) > 1000.0
}

/// From here on an array prints exponents: `1e8`, or as many decimal digits as the dtype is sure of.
fn upper_limit(dtype: DType) -> f64 {
    if dtype == DType::F32 { 1e6 } else { 1e8 }
}

/// From here on a scalar prints an exponent.
fn scalar_limit(dtype: DType) -> f64 {
    if dtype == DType::F32 { 1e6 } else { 1e16 }
}

/// The digits before and after the point: the shortest that tell the value from its neighbours, rounded to
/// `precision`.
fn positional(dtype: DType, value: f64, precision: usize) -> (String, String) {
    let shortest = if dtype == DType::F32 { (value as f32).to_string() } else { value.to_string() };
    let (whole, fraction, _) = digits(dtype, shortest, precision, |digits| format!("{value:.digits$}"));
    (whole, fraction)
}

/// The digits before and after the point, and the exponent, rounded like [`positional`].
fn scientific(dtype: DType, value: f64, precision: usize) -> (String, String, i32) {
    let shortest = if dtype == DType::F32 { format!("{:e}", value as f32) } else { format!("{value:e}") };
    digits(dtype, shortest, precision, |digits| format!("{value:.digits$e}"))
}

/// The parts of the shortest text, or of the exact value where that has to be rounded.
fn digits(
    dtype: DType,
    shortest: String,
    precision: usize,
    exact: impl Fn(usize) -> String,
) -> (String, String, i32) {
    let (whole, fraction, exponent) = parts(&shortest);
    if fraction.len() > precision {
        let (whole, fraction, exponent) = parts(&exact(precision));
        return (whole, fraction.trim_end_matches('0').to_owned(), exponent);
    }
    // Between two texts that are equally short and equally near, Rust takes the larger, NumPy the even one.
    let even = exact(fraction.len());
    if Literal::parse(dtype, &even) == Literal::parse(dtype, &shortest) {
        return parts(&even);
    }
    (whole, fraction, exponent)
}

/// Splits Rust's text of a float at the point and the `e`.
fn parts(text: &str) -> (String, String, i32) {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    (whole.to_owned(), fraction.to_owned(), exponent.parse().unwrap_or(0))
}

fn exponent_text(exponent: i32, digits: usize) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:0digits$}", exponent.unsigned_abs())
}

fn non_finite(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "inf",
        f64::NEG_INFINITY => "-inf",
        _ => "nan",
    }
}
