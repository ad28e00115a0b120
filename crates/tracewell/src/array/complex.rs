//! Complex numbers: made of their parts, and taken apart.

use tracewell_graph::Location;
use tracewell_graph::prim::{self, Atan2};

use super::operators::{binary, fit, unify};
use super::{Array, Operand, apply, or_raise};

/// The complex numbers with these real and imaginary parts. Integers become floats; parts are broadcast.
///
/// ```
/// use tracewell::prelude::*;
///
/// let z = complex(&Array::from([3.0f32, 0.0]), &Array::from([4.0f32, -1.0]));
/// assert_eq!(z.dtype(), C64);
/// assert_eq!(z.to_string(), "[3.+4.j 0.-1.j]");
/// assert_eq!(z.abs().to_string(), "[5. 1.]");
/// ```
#[track_caller]
pub fn complex(re: impl Operand, im: impl Operand) -> Array {
    let location = Location::caller();
    let [re, im] = [re.operand(), im.operand()].map(|x| Array::from_value(x).as_float(&location));
    let parts = unify("make complex numbers of", [re.value().clone(), im.value().clone()], &location);
    apply(prim::Complex {}, &or_raise(parts, &location), &location)
}

impl Array {
    /// The real parts; a real array is its own.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let z = Array::from([Complex::new(1.0f32, 2.0), Complex::new(3.0, -4.0)]);
    /// assert_eq!(z.re().to_string(), "[1. 3.]");
    /// ```
    #[doc(alias = "real")]
    #[track_caller]
    pub fn re(&self) -> Array {
        match self.dtype().is_complex() {
            true => apply(prim::Real {}, &[self.value().clone()], &Location::caller()),
            false => self.clone(),
        }
    }

    /// The imaginary parts; zeros of a real array.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let z = Array::from([Complex::new(1.0f32, 2.0), Complex::new(3.0, -4.0)]);
    /// assert_eq!(z.im().to_string(), "[ 2. -4.]");
    /// ```
    #[doc(alias = "imag")]
    #[track_caller]
    pub fn im(&self) -> Array {
        match self.dtype().is_complex() {
            true => apply(prim::Imag {}, &[self.value().clone()], &Location::caller()),
            false => Array::zeros(self.shape(), self.dtype()),
        }
    }

    /// The complex conjugates; a real array is its own.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let z = Array::from([Complex::new(1.0f32, 2.0), Complex::new(3.0, -4.0)]);
    /// assert_eq!(z.conj().to_string(), "[1.-2.j 3.+4.j]");
    /// assert_eq!((&z * z.conj()).re().to_string(), "[ 5. 25.]");
    /// ```
    #[track_caller]
    pub fn conj(&self) -> Array {
        match self.dtype().is_complex() {
            true => apply(prim::Conj {}, &[self.value().clone()], &Location::caller()),
            false => self.clone(),
        }
    }

    /// The angles of the numbers in the complex plane, from -π to π.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let z = Array::from([Complex::new(0.0f64, 2.0), Complex::new(-1.0, 0.0)]);
    /// assert_eq!(z.angle().to_string(), "[1.57079633 3.14159265]");
    /// ```
    #[doc(alias = "arg")]
    #[track_caller]
    pub fn angle(&self) -> Array {
        let location = Location::caller();
        let z = self.as_float(&location);
        if !z.dtype().is_complex() {
            return binary("take the angle of", Atan2 {}, 0.0, z, &location);
        }
        let of = |part: prim::Prim| apply(part, &[z.value().clone()], &location);
        let (re, im) = (of(prim::Real {}.into()), of(prim::Imag {}.into()));
        binary("take the angle of", Atan2 {}, im, re, &location)
    }

    /// The array as complex numbers: a real one has imaginary parts of zero.
    pub(crate) fn as_complex(&self, location: &Location) -> Array {
        let x = self.as_float(location);
        let dtype = x.dtype().complex().unwrap_or(x.dtype());
        if dtype == x.dtype() {
            return x;
        }
        let weak = x.ty().weak;
        Array::from_value(or_raise(fit(x.value(), dtype, weak, x.shape(), location), location))
    }
}
