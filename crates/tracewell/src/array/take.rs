//! Elements where arrays of integers say: `x.take(&places, 0)`.

use tracewell_array::{DType, Shape};
use tracewell_graph::Location;
use tracewell_graph::prim::{Reshape, ScatterOp};
use tracewell_trace::{Error, ErrorKind};

use super::operators::Operand;
use super::reduce::axis_of;
use super::{Array, Cut, apply, found_by, or_raise};

impl Array {
    /// What is at these places along an axis; the axes of `places` take its place. Places are integers, negative ones
    /// count from the back, and what is read where there is none is NaN, the least signed or the largest unsigned
    /// integer; [`at`](Self::at) offers other ways.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::arange(6, F32).reshape([3, 2]);
    /// let places = Array::from([2, 0, -1]);
    /// assert_eq!(x.take(&places, 0).to_string(), "[[4. 5.]\n [0. 1.]\n [4. 5.]]");
    /// let counts = grad(|x: &Array| x.take(&places, 0).sum())(&x);
    /// assert_eq!(counts.to_string(), "[[1. 1.]\n [0. 0.]\n [2. 2.]]");
    /// ```
    #[track_caller]
    pub fn take(&self, places: impl Operand, axis: isize) -> Array {
        let (places, location) = (Array::from_value(places.operand()), Location::caller());
        let axis = or_raise(axis_of(self, axis), &location);
        let mut cuts = vec![Cut::from(..); axis];
        cuts.push(places.into());
        self.at(cuts).get_at(&location)
    }

    /// For each element of `places`, what is there along an axis; the other axes are those of the array, or 1 and
    /// repeated. What [`argmax`](Self::argmax) and sorting give are such places.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([[3, 1, 2], [4, 6, 5]]);
    /// let largest = x.argmax(1).expand(1);
    /// assert_eq!(x.take_along_axis(&largest, 1).to_string(), "[[3]\n [6]]");
    /// ```
    #[track_caller]
    pub fn take_along_axis(&self, places: &Array, axis: isize) -> Array {
        self.at_along(places, axis).get_at(&Location::caller())
    }

    /// Where the array is not zero: for each axis the places of the first `size` such elements, in row-major order. If
    /// there are fewer, the rest are places after the last, which updates leave out and reads show.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([0, 5, 0, 7]);
    /// assert_eq!(x.nonzero(3)[0].to_string(), "[1 3 4]");
    /// let grid = Array::from([[1, 0], [0, 2]]);
    /// let places = grid.nonzero(2);
    /// assert_eq!(grid.slice((&places[0], &places[1])).to_string(), "[1 2]");
    /// ```
    #[track_caller]
    pub fn nonzero(&self, size: usize) -> Vec<Array> {
        let location = Location::caller();
        let count = self.len();
        if size == 0 {
            return vec![Array::zeros([0], DType::I32); self.rank()];
        }
        if i32::try_from(count).is_err() {
            let message = format!("{} has too many elements for places, which are `i32`", self.ty());
            let error = Error::new(ErrorKind::Index, message).help("look at a part of the array");
            return or_raise(Err(found_by(error, "nonzero", &[self], &[&size])), &location);
        }
        let flat = apply(Reshape { shape: Shape::from([count]) }, &[self.value().clone()], &location);
        let is_there = if flat.dtype().is_bool() { flat } else { flat.ne(0) };
        let rank = crate::associative_scan(&is_there.convert(DType::I32), |a: &Array, b: &Array| a + b);
        // Each element that is there goes to the place of its rank, the others to none.
        let to = super::select(&is_there, rank - 1, size as i64);
        let last = Array::full([size], count as f64, DType::I32);
        let numbers = Array::arange(count, DType::I32);
        let flat = last.at(&to).update_at(ScatterOp::Set, numbers.operand(), &location);
        let strides = self.shape().strides();
        let axes = self.shape().iter().zip(strides).enumerate();
        axes.map(|(axis, (size, stride))| {
            let place = &flat / (stride.max(1) as i64);
            if axis == 0 { place } else { place.rem(size.max(1) as i64) }
        })
        .collect()
    }
}

/// The sums of the elements of each segment: the rows of `data` whose number in `ids` is 0, 1, … up to, not including,
/// `count`. Rows with another number are left out.
///
/// ```
/// use tracewell::prelude::*;
///
/// let data = Array::from([1.0f32, 2.0, 3.0, 4.0]);
/// let ids = Array::from([0, 2, 0, 7]);
/// assert_eq!(segment_sum(&data, &ids, 3).to_string(), "[4. 0. 2.]");
/// ```
#[track_caller]
pub fn segment_sum(data: &Array, ids: &Array, count: usize) -> Array {
    let location = Location::caller();
    let begins = data.shape().iter().take(ids.rank()).eq(ids.shape().iter());
    if !begins {
        let message = format!("cannot number the first axes of {} by {}", data.ty(), ids.ty());
        let error = Error::new(ErrorKind::Index, message)
            .help("there is the number of a segment for each element of the first axes");
        return or_raise(Err(found_by(error, "segment_sum", &[data, ids], &[&count])), &location);
    }
    let shape: Shape = std::iter::once(count).chain(data.shape().iter().skip(ids.rank())).collect();
    if count == 0 {
        return Array::zeros(shape, data.dtype());
    }
    let sums = Array::zeros(shape, data.dtype()).at(ids).not_from_back();
    sums.update_at(ScatterOp::Add, data.value().clone(), &location)
}

/// For each index a row of `count` elements, which are 1 where the index says and 0 elsewhere; no 1 if there is no such
/// place.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(one_hot(&Array::from([1, 0, 5]), 3, I32).to_string(), "[[0 1 0]\n [1 0 0]\n [0 0 0]]");
/// ```
#[track_caller]
pub fn one_hot(indices: &Array, count: usize, dtype: DType) -> Array {
    let location = Location::caller();
    if !indices.dtype().is_integer() {
        let message = format!("`one_hot` takes integers, found {}", indices.ty());
        let error = Error::new(ErrorKind::Type, message).help("`.convert(I32)` first");
        return or_raise(Err(found_by(error, "one_hot", &[indices], &[&count, &dtype])), &location);
    }
    let places = Array::arange(count, DType::I64);
    indices.convert(DType::I64).expand_at(-1, &location).eq(&places).convert(dtype)
}
