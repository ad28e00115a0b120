//! The numbers of a matrix: real ones, or complex ones.

use std::ops::{Add, Div, Mul, Neg, Sub};

use faer::traits::{ComplexField, RealField};

use tracewell_array::{Complex64, Element};

use super::{eig, factor};

/// What factorizations need of a number.
pub(super) trait Number:
    ComplexField
    + Element
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    const HALF: Self;
    const NAN: Self;
    fn conjugate(self) -> Self;
    /// The root of a pivot, if it is positive and finite.
    fn pivot_root(self) -> Option<Self>;
    /// The sum of the magnitudes of the parts, by which pivots are chosen.
    fn spread(self) -> f64;
    fn is_finite(self) -> bool;
    /// What a row of an upper triangle is multiplied with, so that its diagonal element is real.
    fn diagonal_turn(self, is_last: bool) -> Self;

    // What there is of some numbers only; the verifier refuses the others.
    fn svd(
        a: &[Self],
        sizes: (usize, usize),
        values: &mut [Self],
        vectors: Option<(&mut [Self], &mut [Self])>,
    );
    fn eigh(a: &[Self], n: usize, values: &mut [Self], vectors: &mut [Self]);
    fn eig(a: &[Self], n: usize, values: &mut [Self], vectors: &mut [Self]);
}

/// What is needed besides for vectors of real matrices.
pub(super) trait Float: Number + RealField + PartialOrd {
    const DECIDES: Self;
    fn root(self) -> Self;
    fn magnitude(self) -> Self;
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Number for $t {
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const HALF: $t = 0.5;
            const NAN: $t = $t::NAN;
            fn conjugate(self) -> $t {
                self
            }
            fn pivot_root(self) -> Option<$t> {
                (self > 0.0 && $t::is_finite(self)).then(|| self.sqrt())
            }
            fn spread(self) -> f64 {
                f64::from(self.abs())
            }
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            fn diagonal_turn(self, _: bool) -> $t {
                1.0
            }
            fn svd(a: &[$t], sizes: (usize, usize), values: &mut [$t], vectors: Option<(&mut [$t], &mut [$t])>) {
                factor::svd(a, sizes, values, vectors);
            }
            fn eigh(a: &[$t], n: usize, values: &mut [$t], vectors: &mut [$t]) {
                factor::eigh(a, n, values, vectors);
            }
            fn eig(_: &[$t], _: usize, _: &mut [$t], _: &mut [$t]) {
                unreachable!("eigenvalues of any matrix are complex, and so is the matrix here")
            }
        }

        impl Float for $t {
            const DECIDES: $t = tracewell_kernel::linalg::DECIDES as $t;
            fn root(self) -> $t {
                self.sqrt()
            }
            fn magnitude(self) -> $t {
                self.abs()
            }
        }
    )*};
}
floats!(f32 f64);

impl Number for Complex64 {
    const ZERO: Complex64 = Complex64::new(0.0, 0.0);
    const ONE: Complex64 = Complex64::new(1.0, 0.0);
    const HALF: Complex64 = Complex64::new(0.5, 0.0);
    const NAN: Complex64 = Complex64::new(f64::NAN, f64::NAN);
    fn conjugate(self) -> Complex64 {
        self.conj()
    }
    fn pivot_root(self) -> Option<Complex64> {
        self.re.pivot_root().map(Complex64::from)
    }
    fn spread(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
    fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    fn diagonal_turn(self, is_last: bool) -> Complex64 {
        if self.im == 0.0 {
            return Complex64::ONE;
        }
        let size = self.re.hypot(self.im).copysign(self.re);
        Complex64::from(if is_last { -size } else { size }) / self
    }
    fn svd(_: &[Self], _: (usize, usize), _: &mut [Self], _: Option<(&mut [Self], &mut [Self])>) {
        unreachable!("the verifier refuses complex matrices")
    }
    fn eigh(_: &[Self], _: usize, _: &mut [Self], _: &mut [Self]) {
        unreachable!("the verifier refuses complex matrices")
    }
    fn eig(a: &[Complex64], n: usize, values: &mut [Complex64], vectors: &mut [Complex64]) {
        eig::eig(a, n, values, vectors);
    }
}
