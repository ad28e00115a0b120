//! Making arrays from nothing.

use tracewell_array::{DType, Literal, Shape, Tensor, with_element};
use tracewell_graph::prim::Iota;
use tracewell_graph::{Location, Splat};
use tracewell_trace::{Error, ErrorKind, Value, is_idle, raise};

use super::{Array, Operand, Scalar, apply, found_by, listed};

/// The shape, if an array of it can exist; otherwise an error at the user's line.
pub(crate) fn checked(shape: Shape, location: &Location) -> Shape {
    if shape.checked_len().is_none() {
        let message = format!("cannot make an array of shape {shape}: it has too many elements");
        let error = Error::new(ErrorKind::Index, message).help(Shape::LIMIT);
        raise(found_by(error, "shape", &[], &[&listed(shape.iter())]), location);
    }
    shape
}

/// One literal everywhere: inside a trace no more than that.
fn filled(literal: Literal, shape: Shape) -> Array {
    Array::from_value(Value::Splat(Splat { literal, shape, weak: false }))
}

impl Array {
    /// Filled with zeros.
    #[track_caller]
    pub fn zeros(shape: impl Into<Shape>, dtype: DType) -> Array {
        filled(Literal::zero(dtype), checked(shape.into(), &Location::caller()))
    }

    /// Filled with ones.
    #[track_caller]
    pub fn ones(shape: impl Into<Shape>, dtype: DType) -> Array {
        filled(Literal::one(dtype), checked(shape.into(), &Location::caller()))
    }

    /// Filled with a number, converted to the element type.
    #[track_caller]
    pub fn full(shape: impl Into<Shape>, value: f64, dtype: DType) -> Array {
        let shape = checked(shape.into(), &Location::caller());
        filled(Literal::from_f64(dtype, value), shape)
    }

    /// `0, 1, …, n - 1`.
    #[track_caller]
    pub fn arange(n: usize, dtype: DType) -> Array {
        let location = Location::caller();
        let shape = checked(Shape::from([n]), &location);
        // Inside a trace an equation, not a constant of `n` elements.
        if !is_idle() && !dtype.is_bool() && !dtype.is_complex() {
            return apply(Iota { dtype, shape, axis: 0 }, &[], &location);
        }
        Array::from(with_element!(dtype, T => Tensor::from_fn::<T>(shape, |i| {
            Literal::from_i64(dtype, i as i64).get::<T>().unwrap_or_default()
        })))
    }

    /// At each place of a shape its index along an axis; negative axes count from the back.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::iota([2, 3], 1, I32).to_string(), "[[0 1 2]\n [0 1 2]]");
    /// ```
    #[track_caller]
    pub fn iota(shape: impl Into<Shape>, axis: isize, dtype: DType) -> Array {
        let (shape, location) = (shape.into(), Location::caller());
        let from_front = if axis < 0 { axis + shape.rank() as isize } else { axis };
        let Ok(axis) = usize::try_from(from_front) else {
            let message = format!("axis {axis} is out of range for shape {shape}");
            let error = Error::new(ErrorKind::Index, message);
            raise(found_by(error, "iota", &[], &[&listed(shape.iter()), &axis, &dtype]), &location);
        };
        apply(Iota { dtype, shape, axis }, &[], &location)
    }

    /// `n` numbers from `start` to `stop`, both included, at equal steps.
    #[track_caller]
    pub fn linspace(start: f64, stop: f64, n: usize, dtype: DType) -> Array {
        let shape = checked(Shape::from([n]), &Location::caller());
        let step = if n > 1 { (stop - start) / (n - 1) as f64 } else { 0.0 };
        Array::from(with_element!(dtype, T => Tensor::from_fn::<T>(shape, |i| {
            let value = if i + 1 == n && n > 1 { stop } else { start + step * i as f64 };
            Literal::from_f64(dtype, value).get::<T>().unwrap_or_default()
        })))
    }

    /// The identity matrix of `n` rows.
    #[track_caller]
    pub fn eye(n: usize, dtype: DType) -> Array {
        let shape = checked(Shape::from([n, n]), &Location::caller());
        let (zero, one) = (Literal::zero(dtype), Literal::one(dtype));
        Array::from(with_element!(dtype, T => Tensor::from_fn::<T>(shape, |i| {
            let literal = if i / n == i % n { one } else { zero };
            literal.get::<T>().unwrap_or_default()
        })))
    }

    /// A weakly typed scalar: it takes the element type of what it meets.
    pub fn weak(value: impl Into<Scalar>) -> Array {
        Array::from_value(value.into().operand())
    }
}
