//! Functions applied to every element.

use tracewell_array::DType;
use tracewell_graph::Location;
use tracewell_graph::prim::{self, Compare, Convert};
use tracewell_kernel::Comparison;

use super::{Array, apply};

/// Functions of floats, each with an example: arguments, and the results as they are printed.
macro_rules! elementwise {
    ($($(#[$doc:meta])* $method:ident $Prim:ident $arguments:literal $results:literal),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            ///
            /// ```
            /// use tracewell::prelude::*;
            ///
            #[doc = concat!("let x = Array::from([", $arguments, "]);")]
            #[doc = concat!("assert_eq!(x.", stringify!($method), "().to_string(), \"", $results, "\");")]
            /// ```
            #[track_caller]
            pub fn $method(&self) -> Array {
                let location = Location::caller();
                apply(prim::$Prim {}, &[self.as_float(&location).value().clone()], &location)
            }
        )*}
    };
}
elementwise! {
    /// The exponential.
    exp Exp "0.0, 1.0" "[1.         2.71828183]",
    /// Two to the power of each element.
    exp2 Exp2 "0.0, 3.0" "[1. 8.]",
    /// The exponential less one, with all digits also near zero.
    expm1 Expm1 "0.0, 1e-10" "[0.e+00 1.e-10]",
    /// The natural logarithm.
    log Log "1.0, 10.0" "[0.         2.30258509]",
    /// The logarithm to base 2.
    log2 Log2 "1.0, 8.0" "[0. 3.]",
    /// The logarithm to base 10.
    log10 Log10 "1.0, 100.0" "[0. 2.]",
    /// The natural logarithm of one more than each element, with all digits also near zero.
    log1p Log1p "0.0, 1e-10" "[0.e+00 1.e-10]",
    /// The sine.
    sin Sin "0.0, 1.0" "[0.         0.84147098]",
    /// The cosine.
    cos Cos "0.0, 1.0" "[1.         0.54030231]",
    /// The tangent.
    tan Tan "0.0, 1.0" "[0.         1.55740772]",
    /// The arcsine; NaN beyond 1.
    asin Asin "0.0, 1.0" "[0.         1.57079633]",
    /// The arccosine; NaN beyond 1.
    acos Acos "0.0, 1.0" "[1.57079633 0.        ]",
    /// The arctangent.
    atan Atan "0.0, 1.0" "[0.         0.78539816]",
    /// The hyperbolic sine.
    sinh Sinh "0.0, 1.0" "[0.         1.17520119]",
    /// The hyperbolic cosine.
    cosh Cosh "0.0, 1.0" "[1.         1.54308063]",
    /// The hyperbolic tangent.
    tanh Tanh "0.0, 1.0" "[0.         0.76159416]",
    /// The inverse hyperbolic sine.
    asinh Asinh "0.0, 1.0" "[0.         0.88137359]",
    /// The inverse hyperbolic cosine; NaN below 1.
    acosh Acosh "1.0, 2.0" "[0.        1.3169579]",
    /// The inverse hyperbolic tangent; NaN beyond 1.
    atanh Atanh "0.0, 0.5" "[0.         0.54930614]",
    /// The logistic function `1 / (1 + exp(-x))`.
    #[doc(alias = "sigmoid")]
    logistic Logistic "0.0, 1.0" "[0.5        0.73105858]",
    /// The error function.
    erf Erf "0.0, 1.0" "[0.         0.84270079]",
    /// One less the error function, with all digits also where that is small.
    erfc Erfc "0.0, 10.0" "[1.00000000e+00 2.08848758e-45]",
    /// The inverse of the error function; NaN beyond 1.
    erf_inv ErfInv "0.0, 0.5" "[0.         0.47693628]",
    /// The logarithm of the magnitude of the gamma function.
    lgamma Lgamma "1.0, 5.0" "[0.         3.17805383]",
    /// The derivative of [`lgamma`](Self::lgamma).
    digamma Digamma "1.0, 2.0" "[-0.57721566  0.42278434]",
    /// The derivative of [`digamma`](Self::digamma), which has none itself.
    trigamma Trigamma "1.0, 2.0" "[1.64493407 0.64493407]",
    /// The square root.
    sqrt Sqrt "4.0, 9.0" "[2. 3.]",
    /// One over the square root.
    rsqrt Rsqrt "4.0, 0.25" "[0.5 2. ]",
    /// The cube root.
    cbrt Cbrt "27.0, -8.0" "[ 3. -2.]",
    /// The largest integers not above the elements.
    floor Floor "1.5, -1.5" "[ 1. -2.]",
    /// The smallest integers not below the elements.
    ceil Ceil "1.5, -1.5" "[ 2. -1.]",
    /// Whether each element is neither infinite nor NaN.
    is_finite IsFinite "1.0, f64::INFINITY" "[ true false]",
}

impl Array {
    /// Integers and bools as floats, for functions that are defined on floats or complex numbers.
    pub(crate) fn as_float(&self, location: &Location) -> Array {
        let dtype = match self.dtype() {
            DType::I64 => DType::F64,
            other if other.is_inexact() => return self.clone(),
            _ => DType::F32,
        };
        apply(Convert { dtype, weak: self.ty().weak }, &[self.value().clone()], location)
    }

    /// The magnitudes; those of complex numbers are real.
    #[track_caller]
    pub fn abs(&self) -> Array {
        apply(prim::Abs {}, &[self.value().clone()], &Location::caller())
    }

    /// -1, 0 or 1 by the sign of each element; `z / |z|` of complex numbers, and 0 of 0.
    #[track_caller]
    pub fn sign(&self) -> Array {
        apply(prim::Sign {}, &[self.value().clone()], &Location::caller())
    }

    /// The elements times themselves.
    #[track_caller]
    pub fn square(&self) -> Array {
        let value = self.value().clone();
        apply(prim::Mul {}, &[value.clone(), value], &Location::caller())
    }

    /// The array, held constant by derivatives.
    #[track_caller]
    pub fn stop_gradient(&self) -> Array {
        self.stop_gradient_at(&Location::caller())
    }

    pub(crate) fn stop_gradient_at(&self, location: &Location) -> Array {
        apply(prim::StopGradient {}, &[self.value().clone()], location)
    }

    /// The nearest integers; the even one of two that are equally near, as in NumPy.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([0.5f32, 1.5, -2.6]).round().to_string(), "[ 0.  2. -3.]");
    /// ```
    #[track_caller]
    pub fn round(&self) -> Array {
        let location = Location::caller();
        apply(prim::Round { to_even: true }, &[self.as_float(&location).value().clone()], &location)
    }

    /// Whether each element is not a number.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([1.0f32, f32::NAN]).is_nan().to_string(), "[false  true]");
    /// ```
    #[track_caller]
    pub fn is_nan(&self) -> Array {
        let value = self.value().clone();
        apply(Compare { comparison: Comparison::Ne }, &[value.clone(), value], &Location::caller())
    }

    /// The elements to a power that is known now, as products. Integers wrap; they have no negative powers.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([2, -3]).powi(3).to_string(), "[  8 -27]");
    /// assert_eq!(Array::from([2.0f32, 4.0]).powi(-2).to_string(), "[0.25   0.0625]");
    /// ```
    #[track_caller]
    pub fn powi(&self, exponent: i32) -> Array {
        apply(prim::IntegerPow { exponent }, &[self.value().clone()], &Location::caller())
    }

    /// How many bits of each integer are set.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([0, 7, -1]).count_ones().to_string(), "[ 0  3 32]");
    /// ```
    #[doc(alias = "population_count")]
    #[track_caller]
    pub fn count_ones(&self) -> Array {
        apply(prim::PopulationCount {}, &[self.value().clone()], &Location::caller())
    }

    /// How many bits of each integer are zero before the first that is not.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([0, 7, -1]).leading_zeros().to_string(), "[32 29  0]");
    /// ```
    #[doc(alias = "clz")]
    #[track_caller]
    pub fn leading_zeros(&self) -> Array {
        apply(prim::Clz {}, &[self.value().clone()], &Location::caller())
    }

    /// The bits of the elements as another element type of the same size.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([1.0f32, -0.0]).bitcast(I32).to_string(), "[ 1065353216 -2147483648]");
    /// ```
    #[track_caller]
    pub fn bitcast(&self, dtype: DType) -> Array {
        apply(prim::Bitcast { dtype }, &[self.value().clone()], &Location::caller())
    }
}
