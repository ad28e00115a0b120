//! The numbers of a matrix: real ones, or complex ones.

use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};

use tracewell_array::{Complex64, DType, Literal};

/// What the textbook needs of a number.
pub(super) trait Number:
    Copy + PartialEq + Debug + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    fn nan() -> Self;
    fn real(x: f64) -> Self;
    fn re(self) -> f64;
    fn complex(self) -> Complex64;
    fn conj(self) -> Self;
    /// The magnitude.
    fn size(self) -> f64;
    /// The sum of the magnitudes of the parts, by which pivots are chosen.
    fn spread(self) -> f64;
    fn over(self, by: Self) -> Self;
    fn is_finite(self) -> bool;
    fn of(literal: Literal) -> Self;
    fn literal(self, dtype: DType) -> Literal;
}

impl Number for f64 {
    fn nan() -> f64 {
        f64::NAN
    }
    fn real(x: f64) -> f64 {
        x
    }
    fn re(self) -> f64 {
        self
    }
    fn complex(self) -> Complex64 {
        self.into()
    }
    fn conj(self) -> f64 {
        self
    }
    fn size(self) -> f64 {
        self.abs()
    }
    fn spread(self) -> f64 {
        self.abs()
    }
    fn over(self, by: f64) -> f64 {
        self / by
    }
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
    fn of(literal: Literal) -> f64 {
        literal.as_f64()
    }
    fn literal(self, dtype: DType) -> Literal {
        Literal::from_f64(dtype, self)
    }
}

impl Number for Complex64 {
    fn nan() -> Complex64 {
        Complex64::new(f64::NAN, f64::NAN)
    }
    fn real(x: f64) -> Complex64 {
        x.into()
    }
    fn re(self) -> f64 {
        self.re
    }
    fn complex(self) -> Complex64 {
        self
    }
    fn conj(self) -> Complex64 {
        Complex64::new(self.re, -self.im)
    }
    fn size(self) -> f64 {
        self.re.hypot(self.im)
    }
    fn spread(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
    /// By the larger part, so that no square is out of range.
    fn over(self, by: Complex64) -> Complex64 {
        let scale = by.re.abs().max(by.im.abs());
        let (re, im) = (by.re / scale, by.im / scale);
        let square = re * re + im * im;
        let product = self * Complex64::new(re, -im);
        Complex64::new(product.re / square / scale, product.im / square / scale)
    }
    fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    fn of(literal: Literal) -> Complex64 {
        literal.as_complex()
    }
    fn literal(self, dtype: DType) -> Literal {
        Literal::from_complex(dtype, self)
    }
}
