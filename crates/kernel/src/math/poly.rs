//! Polynomials by fused multiply-add.
//!
//! Coefficients are listed from the constant term up, as `f64`; those of `f32` polynomials are exact in
//! `f32`. All are minimax fits (Remez exchange). Each coefficient was rounded in turn and the rest refitted,
//! except in the longest polynomials, where it gains nothing.

use super::float::Math;
use crate::ir::Value;

/// Above this many coefficients the even and odd halves are evaluated side by side: one more multiplication,
/// half the latency.
const LONG: usize = 8;

impl Math<'_> {
    /// `c[0] + c[1] x + c[2] x² + …`
    pub(super) fn poly(&mut self, x: Value, coefficients: &[f64]) -> Value {
        if coefficients.len() < LONG {
            return self.horner(x, coefficients.iter().copied());
        }
        let square = self.mul(x, x);
        let even = self.horner(square, coefficients.iter().copied().step_by(2));
        let odd = self.horner(square, coefficients.iter().copied().skip(1).step_by(2));
        self.fma(odd, x, even)
    }

    /// The polynomial with the first list for `f32`, the second for `f64`.
    pub(super) fn poly_of(&mut self, x: Value, narrow: &[f64], wide: &[f64]) -> Value {
        let coefficients = self.pick(narrow, wide);
        self.poly(x, coefficients)
    }

    /// The same one term at a time: slower, and more accurate where the terms alternate.
    pub(super) fn horner(&mut self, x: Value, coefficients: impl DoubleEndedIterator<Item = f64>) -> Value {
        let mut coefficients = coefficients.rev();
        let highest = coefficients.next().expect("a polynomial has coefficients");
        let mut sum = self.c(highest);
        for coefficient in coefficients {
            let coefficient = self.c(coefficient);
            sum = self.fma(sum, x, coefficient);
        }
        sum
    }
}
