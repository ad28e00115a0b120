//! What elements give together up to each one along an axis.

use tracewell_graph::Location;
use tracewell_graph::prim;

use super::reduce::axis_of;
use super::{Array, apply, or_raise};

macro_rules! cumulative {
    ($($(#[$doc:meta])* $forward:ident $reverse:ident $Prim:ident $convert:ident $example:literal $up:literal $down:literal),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            ///
            /// Negative axes count from the back.
            ///
            /// ```
            /// use tracewell::prelude::*;
            ///
            #[doc = concat!("let x = Array::from([", $example, "]);")]
            #[doc = concat!("assert_eq!(x.", stringify!($forward), "(0).to_string(), \"", $up, "\");")]
            /// ```
            #[track_caller]
            pub fn $forward(&self, axis: isize) -> Array {
                let location = Location::caller();
                let x = self.$convert(&location);
                let axis = or_raise(axis_of(&x, axis), &location);
                apply(prim::$Prim { axis, reverse: false }, &[x.value().clone()], &location)
            }

            #[doc = concat!("[`", stringify!($forward), "`](Self::", stringify!($forward), ") from the last element on.")]
            ///
            /// ```
            /// use tracewell::prelude::*;
            ///
            #[doc = concat!("let x = Array::from([", $example, "]);")]
            #[doc = concat!("assert_eq!(x.", stringify!($reverse), "(0).to_string(), \"", $down, "\");")]
            /// ```
            #[track_caller]
            pub fn $reverse(&self, axis: isize) -> Array {
                let location = Location::caller();
                let x = self.$convert(&location);
                let axis = or_raise(axis_of(&x, axis), &location);
                apply(prim::$Prim { axis, reverse: true }, &[x.value().clone()], &location)
            }
        )*}
    };
}
cumulative! {
    /// The sum of the elements up to each one along an axis. Bools are counted. In what order floats are added is said
    /// in docs/numerics.md: it is the same on any number of threads.
    cumsum cumsum_reverse Cumsum as_number "1, 2, 3" "[1 3 6]" "[6 5 3]",
    /// The product of the elements up to each one along an axis.
    cumprod cumprod_reverse Cumprod as_number "1, 2, 3" "[1 2 6]" "[6 6 3]",
    /// The largest of the elements up to each one along an axis; NaN from the first one on.
    ///
    /// Where an element equals the largest before it, each has half of the derivative.
    cummax cummax_reverse Cummax as_number "1, 3, 2" "[1 3 3]" "[3 3 2]",
    /// The smallest of the elements up to each one along an axis; NaN from the first one on.
    ///
    /// Where an element equals the smallest before it, each has half of the derivative.
    cummin cummin_reverse Cummin as_number "2, 3, 1" "[2 2 1]" "[1 1 1]",
    /// The logarithm of the sum of exponentials of the elements up to each one along an axis, without overflow.
    cumlogsumexp cumlogsumexp_reverse Cumlogsumexp as_float
        "1000.0, 1000.0" "[1000.         1000.69314718]" "[1000.69314718 1000.        ]",
}

impl Array {
    /// Bools as integers, for what is defined on numbers.
    fn as_number(&self, location: &Location) -> Array {
        if !self.dtype().is_bool() {
            return self.clone();
        }
        let convert = prim::Convert { dtype: tracewell_array::DType::I32, weak: false };
        apply(convert, &[self.value().clone()], location)
    }

    /// `h` with `h[i] = a[i] * h[i - 1] + b[i]` along an axis, where `a` is this array and nothing comes before the
    /// first element.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let decay = Array::full([4], 0.5, F32);
    /// let input = Array::from([1.0f32, 0.0, 0.0, 2.0]);
    /// assert_eq!(decay.linear_recurrence(&input, 0).to_string(), "[1.    0.5   0.25  2.125]");
    /// ```
    #[track_caller]
    pub fn linear_recurrence(&self, b: &Array, axis: isize) -> Array {
        let location = Location::caller();
        let both = || {
            let axis = axis_of(self, axis)?;
            let [a, b] = super::operators::unify(
                "recur with",
                [self.as_float(&location).value().clone(), b.as_float(&location).value().clone()],
                &location,
            )?;
            Ok((axis, [a, b]))
        };
        let (axis, operands) = or_raise(both(), &location);
        apply(prim::LinearRecurrence { axis, reverse: false }, &operands, &location)
    }
}
