//! Parts of arrays at computed places: `x.dynamic_slice((&i, 0), [1, 4])`.

use tracewell_array::{DType, Literal, Shape};
use tracewell_graph::prim::{Add, Clamp, Compare, Convert, DynamicSlice, DynamicUpdateSlice, Prim, Reshape};
use tracewell_graph::{ArrayType, Location, Splat, prim};
use tracewell_kernel::Comparison;
use tracewell_trace::{Error, ErrorKind, Value};

use super::operators::{Operand, common_dtype, common_shape, fit};
use super::reduce::axis_of;
use super::{Array, bind_here, found_by, listed, or_raise};

/// Where a window starts: an integer for each axis. A tuple, where Rust integers and arrays are mixed; else a list.
pub trait Starts {
    /// One value for each axis.
    fn starts(self) -> Vec<Value>;
}

impl<T: Operand, const N: usize> Starts for [T; N] {
    fn starts(self) -> Vec<Value> {
        self.into_iter().map(Operand::operand).collect()
    }
}

impl<T: Operand> Starts for Vec<T> {
    fn starts(self) -> Vec<Value> {
        self.into_iter().map(Operand::operand).collect()
    }
}

impl<T: Operand + Clone> Starts for &[T] {
    fn starts(self) -> Vec<Value> {
        self.iter().cloned().map(Operand::operand).collect()
    }
}

impl<T: Operand + Clone, const N: usize> Starts for &[T; N] {
    fn starts(self) -> Vec<Value> {
        self.as_slice().starts()
    }
}

macro_rules! starts_of_tuples {
    ($(($($T:ident $part:ident),*))*) => {$(
        impl<$($T: Operand),*> Starts for ($($T,)*) {
            fn starts(self) -> Vec<Value> {
                let ($($part,)*) = self;
                vec![$($part.operand()),*]
            }
        }
    )*};
}
starts_of_tuples! {
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, F f)
}

impl Array {
    /// A window of the array: as many elements along each axis as `sizes` says, from where `starts` says. The sizes
    /// are known while tracing, the starts need not be.
    ///
    /// A start is a Rust integer or an integer array of rank 0. Negative ones count from the back, and a window that
    /// would reach over an edge is moved until it fits.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::arange(12, I32).reshape([3, 4]);
    /// let i = Array::from(1);
    /// assert_eq!(x.dynamic_slice((&i, 0), [2, 3]).to_string(), "[[ 4  5  6]\n [ 8  9 10]]");
    /// assert_eq!(x.dynamic_slice([-1, -2], [1, 2]).to_string(), "[[10 11]]");
    /// assert_eq!(x.dynamic_slice([0, 9], [1, 3]).to_string(), "[[1 2 3]]");
    /// ```
    #[track_caller]
    pub fn dynamic_slice(&self, starts: impl Starts, sizes: impl Into<Shape>) -> Array {
        let (starts, window, location) = (starts.starts(), sizes.into(), Location::caller());
        Array::from_value(or_raise(slice(self, starts, &window, &location), &location))
    }

    /// What is at a place along an axis, which disappears. The place is a Rust integer or an integer array of rank 0;
    /// a negative one counts from the back, and beyond an edge it is the last one before it.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::arange(6, F32).reshape([2, 3]);
    /// let row = jit(|(x, i): &(Array, Array)| x.dynamic_index(i, 0));
    /// assert_eq!(row.call(&(x.clone(), Array::from(1))).to_string(), "[3. 4. 5.]");
    /// assert_eq!(x.dynamic_index(-1, 1).to_string(), "[2. 5.]");
    /// ```
    #[track_caller]
    pub fn dynamic_index(&self, place: impl Operand, axis: isize) -> Array {
        let (place, location) = (place.operand(), Location::caller());
        let taken = || {
            let axis = axis_of(self, axis)?;
            let part = slice(self, along(self, axis, place), &self.shape().with(axis, 1), &location)?;
            bound(Reshape { shape: self.shape().remove(axis) }, &[part], &location)
        };
        Array::from_value(or_raise(taken(), &location))
    }

    /// The array with other elements in the place of a window. It starts where `starts` says and is as large as what
    /// is put there; starts are those of [`dynamic_slice`](Self::dynamic_slice).
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::zeros([5], I32);
    /// let update = Array::from([7, 8]);
    /// assert_eq!(x.dynamic_update_slice(&update, [1]).to_string(), "[0 7 8 0 0]");
    /// assert_eq!(x.dynamic_update_slice(&update, [9]).to_string(), "[0 0 0 7 8]");
    /// ```
    #[track_caller]
    pub fn dynamic_update_slice(&self, update: &Array, starts: impl Starts) -> Array {
        let (starts, location) = (starts.starts(), Location::caller());
        let updated = || {
            let (dtype, weak) = type_after_update(self, update.value())?;
            let [x, update] = [self, update].map(|x| fit(x.value(), dtype, weak, x.shape(), &location));
            put(self, x?, update?, starts, &location)
        };
        Array::from_value(or_raise(updated(), &location))
    }

    /// The array with something else at a place along an axis, repeated there if it has fewer axes. Places are those
    /// of [`dynamic_index`](Self::dynamic_index).
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::zeros([2, 3], I32);
    /// let (row, i) = (Array::from([7, 8, 9]), Array::from(1));
    /// assert_eq!(x.dynamic_update_index(&row, &i, 0).to_string(), "[[0 0 0]\n [7 8 9]]");
    /// assert_eq!(x.dynamic_update_index(5, -1, 1).to_string(), "[[0 0 5]\n [0 0 5]]");
    /// ```
    #[track_caller]
    pub fn dynamic_update_index(&self, update: impl Operand, place: impl Operand, axis: isize) -> Array {
        let (update, place, location) = (update.operand(), place.operand(), Location::caller());
        let updated = || {
            let axis = axis_of(self, axis)?;
            let (dtype, weak) = type_after_update(self, &update)?;
            let element = self.ty().with_shape(self.shape().remove(axis));
            let repeated = common_shape("update", &[element.clone(), update.ty()]);
            if repeated.ok().as_ref() != Some(&element.shape) {
                let (whole, put_there) = (strong(self.ty()), update);
                let by = strong(put_there.ty());
                let message = format!("cannot update {}, a part of {whole}, by {by}", strong(element));
                let error = Error::new(ErrorKind::Type, message)
                    .help("what is put there has the shape of the part, or fewer axes");
                let [update, place] = [put_there, place].map(Array::unfilled);
                let given = [self, &update, &place];
                return Err(found_by(error, "dynamic_update_index", &given, &[&axis]));
            }
            let x = fit(self.value(), dtype, weak, self.shape(), &location)?;
            let update = fit(&update, dtype, weak, &element.shape, &location)?;
            let shape = self.shape().with(axis, 1);
            let update = match update {
                Value::Splat(splat) => Value::Splat(Splat { shape, ..splat }),
                update => bound(Reshape { shape }, &[update], &location)?,
            };
            put(self, x, update, along(self, axis, place), &location)
        };
        Array::from_value(or_raise(updated(), &location))
    }
}

fn slice(x: &Array, starts: Vec<Value>, window: &Shape, location: &Location) -> Result<Value, Error> {
    let starts = starts_in(x, starts, window, location)?;
    let operands: Vec<Value> = std::iter::once(x.value().clone()).chain(starts).collect();
    bound(DynamicSlice { sizes: window.iter().collect() }, &operands, location)
}

/// Puts `update` into `x`, which is the user's array as its new element type.
pub(super) fn put(
    array: &Array,
    x: Value,
    update: Value,
    starts: Vec<Value>,
    location: &Location,
) -> Result<Value, Error> {
    let starts = starts_in(array, starts, &update.ty().shape, location)?;
    let operands: Vec<Value> = [x, update].into_iter().chain(starts).collect();
    bound(DynamicUpdateSlice {}, &operands, location)
}

pub(super) fn bound(prim: impl Into<Prim>, operands: &[Value], location: &Location) -> Result<Value, Error> {
    Ok(bind_here(&prim.into(), operands, location)?.remove(0))
}

/// The start of one axis, and the beginning of the others.
fn along(x: &Array, axis: usize, place: Value) -> Vec<Value> {
    let mut starts = vec![0.operand(); x.rank()];
    starts[axis] = place;
    starts
}

/// An array keeps its element type; only one that came from Rust numbers takes that of the update.
pub(crate) fn type_after_update(x: &Array, value: &Value) -> Result<(DType, bool), Error> {
    let (ty, update) = (x.ty(), value.ty());
    let (dtype, weak) = common_dtype(&[ty.clone(), update.clone()]);
    if dtype == ty.dtype || ty.weak {
        return Ok((dtype, weak));
    }
    let message = format!(
        "cannot update {ty} by {}: dtypes are {} and {}",
        strong(update.clone()),
        ty.dtype,
        update.dtype
    );
    let error = Error::new(ErrorKind::Type, message).help(format!(
        "`.convert({})` the array first, or convert what is put there",
        dtype.name().to_uppercase()
    ));
    Err(found_by(error, "update_type", &[x, &Array::unfilled(value.clone())], &[]))
}

/// A type in words: that it is weak is of no interest.
pub(super) fn strong(ty: ArrayType) -> ArrayType {
    ArrayType { weak: false, ..ty }
}

/// The starts as the primitives take them, for a window that fits.
fn starts_in(
    x: &Array,
    starts: Vec<Value>,
    window: &Shape,
    location: &Location,
) -> Result<Vec<Value>, Error> {
    check_starts(x, &starts, window)?;
    let sized = starts.into_iter().zip(x.shape().iter());
    sized.map(|(start, size)| start_along(start, size, location)).collect()
}

/// There is an integer for each axis, and the window fits.
pub(crate) fn check_starts(x: &Array, starts: &[Value], window: &Shape) -> Result<(), Error> {
    fits(x, starts, window).map_err(|error| {
        let starts: Vec<Array> = starts.iter().cloned().map(Array::unfilled).collect();
        let given: Vec<&Array> = std::iter::once(x).chain(&starts).collect();
        found_by(error, "starts", &given, &[&listed(window.iter())])
    })
}

fn fits(x: &Array, starts: &[Value], window: &Shape) -> Result<(), Error> {
    let index = |message: String| Error::new(ErrorKind::Index, message);
    if window.rank() != x.rank() {
        let message =
            format!("the window {window} has rank {}, and {} has {}", window.rank(), x.ty(), x.rank());
        return Err(index(message).help("a window has a size for each axis; `reshape` to add an axis"));
    }
    if starts.len() != x.rank() {
        let message = format!("a window of {} has {} starts, found {}", x.ty(), x.rank(), starts.len());
        return Err(index(message).help("give a start for each axis; 0 for one that is taken whole"));
    }
    for (axis, (part, size)) in window.iter().zip(x.shape().iter()).enumerate() {
        if part > size {
            let message = format!("the window {window} does not fit axis {axis} of {}", x.ty());
            return Err(index(message).help(format!("along this axis it is at most {size}")));
        }
        if i32::try_from(size).is_err() {
            let message = format!("axis {axis} of {} is too long for a start, which is an `i32`", x.ty());
            return Err(index(message).help("use `slice`, or `reshape` the array to shorter axes"));
        }
    }
    for (axis, start) in starts.iter().enumerate() {
        let ty = start.ty();
        if !ty.dtype.is_integer() || ty.rank() != 0 {
            let help = if ty.rank() != 0 {
                "a place is a number or an array of rank 0; `vmap` to take several"
            } else {
                "`.convert(I32)` first"
            };
            let message = format!("the place along axis {axis} must be an integer, found {}", strong(ty));
            return Err(Error::new(ErrorKind::Type, message).help(help));
        }
    }
    Ok(())
}

/// A start as an `i32`, counted from the front.
fn start_along(start: Value, size: usize, location: &Location) -> Result<Value, Error> {
    let ty = start.ty();
    let known = match &start {
        Value::Splat(splat) => Some(splat.literal),
        Value::Known(tensor, _) => Some(tensor.literal(0)),
        Value::Traced(_) => None,
    };
    if let Some(literal) = known {
        let (at, size) = (literal.as_i64(), size as i64);
        let at = if at < 0 { at.saturating_add(size) } else { at };
        return Ok(number(DType::I32, at.clamp(0, size)));
    }
    let start = narrowed(start, location)?;
    if matches!(ty.dtype, DType::U8 | DType::U32) {
        return Ok(start);
    }
    let zero = number(DType::I32, 0);
    let is_negative = bound(Compare { comparison: Comparison::Lt }, &[start.clone(), zero], location)?;
    let from_back = bound(Add {}, &[start.clone(), number(DType::I32, size as i64)], location)?;
    bound(prim::Select {}, &[is_negative, from_back, start], location)
}

/// An integer as an `i32`, the nearest there is.
fn narrowed(start: Value, location: &Location) -> Result<Value, Error> {
    let dtype = start.ty().dtype;
    let bounds = match dtype {
        DType::I32 => return Ok(start),
        DType::I64 => Some([i32::MIN, i32::MAX]),
        DType::U32 => Some([0, i32::MAX]),
        _ => None,
    };
    let start = match bounds.map(|both| both.map(|n| number(dtype, i64::from(n)))) {
        Some([low, high]) => bound(Clamp {}, &[low, start, high], location)?,
        None => start,
    };
    bound(Convert { dtype: DType::I32, weak: false }, &[start], location)
}

/// An integer that is known while tracing.
pub(super) fn number(dtype: DType, n: i64) -> Value {
    Value::Splat(Splat { literal: Literal::from_i64(dtype, n), shape: Shape::scalar(), weak: false })
}
