//! Sorting along an axis, and what is read off a sorted axis.
//!
//! The order is total: NaN is larger than any number and equal to itself, zeros of both signs are equal, and equal
//! elements stay in the order they have.

use tracewell_array::{DType, Shape};
use tracewell_graph::Location;
use tracewell_graph::prim::{Iota, Searchsorted, Sort};
use tracewell_trace::{Error, ErrorKind, Value};

use super::operators::common_dtype;
use super::reduce::axis_of;
use super::{Array, Cut, apply, bind_here, fit, found_by, or_raise, select};

/// How arrays are sorted: everything but the axis, which counts from the front here.
struct Order {
    axis: usize,
    keys: usize,
    descending: bool,
    kept: usize,
}

impl Order {
    fn new(x: &Array, axis: isize) -> Result<Order, Error> {
        let axis = axis_of(x, axis)?;
        Ok(Order { axis, keys: 1, descending: false, kept: x.shape().size(axis) })
    }

    fn sort(&self, operands: &[Value], location: &Location) -> Result<Vec<Array>, Error> {
        let Order { axis, keys, descending, kept } = *self;
        let sorted = bind_here(&Sort { axis, keys, descending, kept }.into(), operands, location)?;
        Ok(sorted.into_iter().map(Array::from_value).collect())
    }

    /// The array and the places that its elements came from.
    fn with_places(&self, x: &Array, location: &Location) -> Result<(Array, Array), Error> {
        let iota = Iota { dtype: DType::I32, shape: x.shape().clone(), axis: self.axis };
        let places = bind_here(&iota.into(), &[], location)?.remove(0);
        let mut sorted = self.sort(&[x.value().clone(), places], location)?;
        let places = sorted.remove(1);
        Ok((sorted.remove(0), places))
    }
}

impl Array {
    /// The elements along an axis from the smallest to the largest; negative axes count from the back. NaN comes
    /// last, and zeros of both signs are equal.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([[3.0f32, f32::NAN, 1.0], [2.0, 0.0, -1.0]]);
    /// assert_eq!(x.sort(1).to_string(), "[[ 1.  3. nan]\n [-1.  0.  2.]]");
    /// ```
    #[track_caller]
    pub fn sort(&self, axis: isize) -> Array {
        let location = Location::caller();
        let order = or_raise(Order::new(self, axis), &location);
        or_raise(order.sort(&[self.value().clone()], &location), &location).remove(0)
    }

    /// The elements along an axis from the largest to the smallest. NaN comes first; equal elements stay in order.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([3, 1, 2]).sort_descending(0).to_string(), "[3 2 1]");
    /// ```
    #[track_caller]
    pub fn sort_descending(&self, axis: isize) -> Array {
        let location = Location::caller();
        let order = Order { descending: true, ..or_raise(Order::new(self, axis), &location) };
        or_raise(order.sort(&[self.value().clone()], &location), &location).remove(0)
    }

    /// Where along an axis the elements of [`sort`](Self::sort) are found, as `i32`: of equal elements the first one
    /// first.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([3.0f32, 1.0, 3.0, 2.0]).argsort(0).to_string(), "[1 3 0 2]");
    /// ```
    #[track_caller]
    pub fn argsort(&self, axis: isize) -> Array {
        let location = Location::caller();
        let order = or_raise(Order::new(self, axis), &location);
        or_raise(order.with_places(self, &location), &location).1
    }

    /// Where along an axis the elements of [`sort_descending`](Self::sort_descending) are found, as `i32`: of equal
    /// elements the first one first.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([3.0f32, 1.0, 3.0, 2.0]).argsort_descending(0).to_string(), "[0 2 3 1]");
    /// ```
    #[track_caller]
    pub fn argsort_descending(&self, axis: isize) -> Array {
        let location = Location::caller();
        let order = Order { descending: true, ..or_raise(Order::new(self, axis), &location) };
        or_raise(order.with_places(self, &location), &location).1
    }

    /// The `k` largest elements along an axis, the largest first, and where they are, as `i32`. Of equal ones those
    /// that come first; NaN is larger than any number. Few of many are found without sorting all.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let (values, places) = Array::from([1, 7, 3, 7, 5]).top_k(3, 0);
    /// assert_eq!(values.to_string(), "[7 7 5]");
    /// assert_eq!(places.to_string(), "[1 3 4]");
    /// ```
    #[track_caller]
    pub fn top_k(&self, k: usize, axis: isize) -> (Array, Array) {
        let location = Location::caller();
        let largest = || {
            let order = Order::new(self, axis)?;
            if k > order.kept {
                let message = format!("cannot take the {k} largest along axis {axis} of {}", self.ty());
                let error = Error::new(ErrorKind::Index, message)
                    .help(format!("along this axis there are {} elements", order.kept));
                return Err(found_by(error, "top_k", &[self], &[&k, &axis]));
            }
            Order { descending: true, kept: k, ..order }.with_places(self, &location)
        };
        or_raise(largest(), &location)
    }

    /// For each query how many elements of this array, which is sorted and has rank 1, are smaller than it, as `i32`:
    /// the first place where it can be put. NaN is larger than any number.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 2.0, 2.0, 4.0]);
    /// let queries = Array::from([2.0f32, 3.0, 9.0]);
    /// assert_eq!(x.searchsorted(&queries).to_string(), "[1 3 4]");
    /// assert_eq!(x.searchsorted_right(&queries).to_string(), "[3 3 4]");
    /// ```
    #[track_caller]
    pub fn searchsorted(&self, queries: &Array) -> Array {
        let location = Location::caller();
        or_raise(search(self, queries, false, &location), &location)
    }

    /// For each query how many elements of this array, which is sorted and has rank 1, are not larger than it, as
    /// `i32`: the last place where it can be put.
    #[track_caller]
    pub fn searchsorted_right(&self, queries: &Array) -> Array {
        let location = Location::caller();
        or_raise(search(self, queries, true, &location), &location)
    }

    /// The quantile along an axis: of the elements in order, the one at the part `q` of the way, or what lies between
    /// two of them in proportion. NaN where there is one; integers become floats.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([4.0f64, 1.0, 3.0, 2.0]);
    /// assert_eq!(x.quantile(0.25, 0).item::<f64>(), 1.75);
    /// ```
    #[track_caller]
    pub fn quantile(&self, q: f64, axis: isize) -> Array {
        let location = Location::caller();
        let x = self.as_float(&location);
        let order = or_raise(Order::new(&x, axis), &location);
        let size = order.kept;
        if !(0.0..=1.0).contains(&q) || size == 0 {
            let message = format!("there is no quantile {q} along axis {axis} of {}", self.ty());
            let help =
                "a quantile is between 0 and 1, and the axis is not empty; percentages are for `percentile`";
            let error = Error::new(ErrorKind::Index, message).help(help);
            or_raise(Err(found_by(error, "quantile", &[self], &[&q, &axis])), &location)
        }
        let sorted = or_raise(order.sort(&[x.value().clone()], &location), &location).remove(0);
        let at = |place: usize| {
            let cuts: Vec<Cut> = (0..x.rank())
                .map(|a| if a == order.axis { Cut::from(place) } else { Cut::from(..) })
                .collect();
            sorted.slice(cuts)
        };
        let place = q * (size - 1) as f64;
        let (low, part) = (place.floor() as usize, place - place.floor());
        let between = if part == 0.0 { at(low) } else { at(low) * (1.0 - part) + at(low + 1) * part };
        let largest = at(size - 1);
        select(&largest.is_nan(), &largest, &between)
    }

    /// The [`quantile`](Self::quantile) in percent.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([4.0f64, 1.0, 3.0, 2.0]).percentile(25.0, 0).item::<f64>(), 1.75);
    /// ```
    #[track_caller]
    pub fn percentile(&self, percent: f64, axis: isize) -> Array {
        self.quantile(percent / 100.0, axis)
    }

    /// The middle element along an axis, or the mean of both that are; NaN where there is one.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::from([[5.0f32, 1.0, 3.0], [4.0, 6.0, 2.0]]).median(1).to_string(), "[3. 4.]");
    /// ```
    #[track_caller]
    pub fn median(&self, axis: isize) -> Array {
        self.quantile(0.5, axis)
    }

    /// The different elements from the smallest to the largest: `size` of them, because a shape does not depend on
    /// values. If there are more, the first ones; if there are fewer, the rest repeats the smallest.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([[3, 1, 3], [2, 1, 1]]);
    /// assert_eq!(x.unique(3).to_string(), "[1 2 3]");
    /// assert_eq!(x.unique(5).to_string(), "[1 2 3 1 1]");
    /// ```
    #[track_caller]
    pub fn unique(&self, size: usize) -> Array {
        let location = Location::caller();
        let count = self.len();
        if count == 0 && size > 0 {
            let message = format!("cannot find {size} different elements in {}", self.ty());
            let help = "an empty array has no element to repeat; ask for 0";
            let error = Error::new(ErrorKind::Index, message).help(help);
            or_raise(Err(found_by(error, "unique", &[self], &[&size])), &location)
        }
        let sorted = self.ravel().sort(0);
        if count == 0 {
            return sorted;
        }
        let before = sorted.slice([Cut::from(..count - 1)]);
        let after = sorted.slice([Cut::from(1..)]);
        let same = after.eq(&before) | (after.ne(&after) & before.ne(&before));
        let again = same.pad(&[(1, 0)], false);
        let order = Order { axis: 0, keys: 1, descending: false, kept: size.min(count) };
        let operands = [again.value().clone(), sorted.value().clone()];
        let found = or_raise(order.sort(&operands, &location), &location);
        let smallest = sorted.slice([Cut::from(0)]);
        let found = select(&found[0], &smallest, &found[1]);
        if size <= count {
            return found;
        }
        let rest = smallest.broadcast_to([size - count]);
        super::concatenate(&[found, rest], 0)
    }
}

/// Sorts arrays of one shape together along an axis, by the first `keys` of them: the first one decides, and where its
/// elements are equal the next. The others follow.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (year, month) = (Array::from([2, 1, 2, 1]), Array::from([5, 9, 3, 4]));
/// let what = Array::arange(4, I32);
/// let sorted = sort_together(&[&year, &month, &what], 2, 0);
/// assert_eq!(sorted[2].to_string(), "[3 1 2 0]");
/// ```
#[track_caller]
pub fn sort_together<A: AsRef<Array>>(arrays: &[A], keys: usize, axis: isize) -> Vec<Array> {
    let location = Location::caller();
    let sorted = || {
        let operands: Vec<Value> = arrays.iter().map(|x| x.as_ref().value().clone()).collect();
        let Some(first) = arrays.first() else {
            let error = Error::new(ErrorKind::Type, "`sort_together` takes arrays, found none");
            return Err(error.help("give at least one array, which is the key"));
        };
        if !(1..=arrays.len()).contains(&keys) {
            let message = format!("{} arrays cannot be sorted by {keys} of them", arrays.len());
            let help = "the keys are the first arrays: at least one, at most all";
            return Err(Error::new(ErrorKind::Index, message).help(help));
        }
        Order { keys, ..Order::new(first.as_ref(), axis)? }.sort(&operands, &location)
    };
    let given: Vec<&Array> = arrays.iter().map(AsRef::as_ref).collect();
    let sorted = sorted().map_err(|error| found_by(error, "sort_together", &given, &[&keys, &axis]));
    or_raise(sorted, &location)
}

fn search(x: &Array, queries: &Array, right: bool, location: &Location) -> Result<Array, Error> {
    if x.rank() != 1 {
        let message = format!("`searchsorted` searches an array of rank 1, found {}", x.ty());
        let error = Error::new(ErrorKind::Type, message).help("`vmap` to search several");
        return Err(found_by(error, "searchsorted", &[x, queries], &[]));
    }
    let (dtype, weak) = common_dtype(&[x.ty(), queries.ty()]);
    let flat = Shape::from([queries.len()]);
    let x = fit(x.value(), dtype, weak, x.shape(), location)?;
    let shape = queries.shape().clone();
    let queries = fit(queries.ravel().value(), dtype, weak, &flat, location)?;
    let found = apply(Searchsorted { right }, &[x, queries], location);
    Ok(found.reshape(shape))
}
