//! The user's array: known data or a value of a trace, behind one type.

mod at;
mod complex;
mod convert;
mod create;
mod cumulative;
mod display;
mod dynamic;
mod elementwise;
mod fourier;
mod indexing;
mod join;
mod operators;
mod placing;
mod reduce;
mod scalar;
mod shape;
mod sort;
mod take;

pub use at::At;
pub use complex::complex;
pub use dynamic::Starts;
pub use fourier::{Fourier, Norm, fftfreq, rfftfreq};
pub use indexing::{Cut, Cuts};
pub use join::{concatenate, stack};
pub use operators::{Operand, select};
pub use scalar::Scalar;
pub use sort::sort_together;
pub use take::{one_hot, segment_sum};

pub(crate) use at::at_again;
pub(crate) use create::checked as checked_shape;
pub(crate) use dynamic::{check_starts, type_after_update};
pub(crate) use fourier::{check_frequencies, fft_again};
pub(crate) use indexing::{cut_of, plan};
pub(crate) use operators::{binary, common_dtype, fit, unify};
pub(crate) use reduce::{axes_of, axis_of, unify_dtypes};

use tracewell_array::{DType, Shape, Tensor};
use tracewell_graph::{ArrayType, Location, Prim, Splat};
use tracewell_trace::{Cause, Error, Value, bind, is_idle, raise};

/// An array. Cheap to clone, `Send + Sync`.
///
/// Outside traced functions it holds data and every operation runs at once, compiled. Inside `jit!`, `vmap`,
/// `grad` … it may be a *tracer*, on which operations are recorded. Operators take values and references on
/// both sides, any Rust scalar on the right, and `f64`, `i64` and `Complex64` on the left; Rust scalars take the
/// array's element type.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from(vec![1.0f32, 2.0, 3.0]);
/// let y = 2.0 * &x + 1;
/// assert_eq!(y.dtype(), F32);
/// assert_eq!(y.to_string(), "[3. 5. 7.]");
/// assert_eq!(y.sum().item::<f32>(), 15.0);
/// ```
#[derive(Clone)]
pub struct Array(Value);

impl Array {
    /// An array of a value of the tracing layer.
    pub(crate) fn from_value(value: Value) -> Array {
        match value {
            // Outside traces data is what users expect to find; inside, one literal is better than an array.
            Value::Splat(splat) if is_idle() => Array::filled(&splat),
            value => Array(value),
        }
    }

    /// An array of one literal, repeated.
    fn filled(splat: &Splat) -> Array {
        Array::known(Tensor::full(splat.literal, splat.shape.clone()), splat.weak)
    }

    /// An array of data.
    #[inline]
    pub(crate) fn known(data: Tensor, weak: bool) -> Array {
        Array(Value::Known(data, weak))
    }

    /// The same, but one literal stays one literal: for arrays whose memory nobody asks for.
    pub(crate) fn unfilled(value: Value) -> Array {
        Array(value)
    }

    /// The value of the tracing layer.
    #[inline]
    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    /// The same, without another reference to its data.
    pub(crate) fn into_value(self) -> Value {
        self.0
    }

    /// The data, where it is known, without another reference to it.
    pub(crate) fn into_known(self) -> Option<Tensor> {
        match self.0 {
            Value::Known(tensor, _) => Some(tensor),
            other => other.known(),
        }
    }

    /// Its element type and shape.
    pub fn ty(&self) -> ArrayType {
        self.0.ty()
    }

    /// The type of its elements.
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Value::Known(tensor, _) => tensor.dtype(),
            Value::Splat(splat) => splat.literal.dtype(),
            Value::Traced(tracer) => tracer.ty().dtype,
        }
    }

    /// Its axis sizes.
    pub fn shape(&self) -> &Shape {
        match &self.0 {
            Value::Known(tensor, _) => tensor.shape(),
            Value::Splat(splat) => &splat.shape,
            Value::Traced(tracer) => &tracer.ty().shape,
        }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape().len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is a value of a trace.
    pub fn is_traced(&self) -> bool {
        matches!(self.0, Value::Traced(_))
    }
}

/// Applies a primitive of one result on a user's behalf; a mistake is raised at the user's line.
pub(crate) fn apply(prim: impl Into<Prim>, operands: &[Value], location: &Location) -> Array {
    let prim = prim.into();
    let mut results = or_raise(bind_here(&prim, operands, location), location);
    // What is first, without moving others up.
    Array::from_value(results.swap_remove(0))
}

/// Binds with the compiled executor in place.
pub(crate) fn bind_here(
    prim: &Prim,
    operands: &[Value],
    location: &Location,
) -> Result<tracewell_trace::Values, Error> {
    crate::executor::install();
    bind(prim, operands, location)
}

/// An error that a function of the face found before it came to a primitive, with what it was given: a repro checks the
/// same again (`repro/calls.rs`).
pub(crate) fn found_by(
    error: Error,
    name: &'static str,
    operands: &[&Array],
    arguments: &[&dyn ToString],
) -> Error {
    error.caused_by(|| Cause::Call {
        name,
        operands: operands.iter().map(|array| array.value().clone()).collect(),
        arguments: arguments.iter().map(|argument| argument.to_string()).collect(),
    })
}

/// Numbers as an argument of [`found_by`].
pub(crate) fn listed<T: ToString>(all: impl IntoIterator<Item = T>) -> String {
    all.into_iter().map(|one| one.to_string()).collect::<Vec<_>>().join(",")
}

/// The result, or the error raised at this line.
pub(crate) fn or_raise<T>(result: Result<T, Error>, location: &Location) -> T {
    result.unwrap_or_else(|error| raise(error, location))
}
