//! Arrays put beside each other, and numbers put around them.

use tracewell_graph::Location;
use tracewell_graph::prim::{Concatenate, Convert, Pad, Reshape, Reverse};
use tracewell_trace::{Error, ErrorKind, Value};

use super::operators::{Operand, common_dtype};
use super::reduce::{axes_of, axis_of};
use super::{Array, apply, bind_here, found_by, or_raise};

/// Arrays one after the other along an axis they have; negative axes count from the back. Element types are
/// promoted as in a sum.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::arange(3, I32);
/// assert_eq!(concatenate(&[&x, &x], 0).to_string(), "[0 1 2 0 1 2]");
/// ```
#[track_caller]
pub fn concatenate<A: AsRef<Array>>(arrays: &[A], axis: isize) -> Array {
    let location = Location::caller();
    let arrays: Vec<&Array> = arrays.iter().map(AsRef::as_ref).collect();
    join("concatenate", &arrays, &location, |first| axis_of(first, axis))
}

/// Arrays of one shape one after the other along a new axis; negative places count from the back of the result.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::arange(3, I32);
/// assert_eq!(stack(&[&x, &(2 * &x)], 0).to_string(), "[[0 1 2]\n [0 2 4]]");
/// ```
#[track_caller]
pub fn stack<A: AsRef<Array>>(arrays: &[A], axis: isize) -> Array {
    let location = Location::caller();
    let expanded: Vec<Array> = arrays.iter().map(|a| a.as_ref().expand_at(axis, &location)).collect();
    let arrays: Vec<&Array> = expanded.iter().collect();
    join("stack", &arrays, &location, |first| axis_of(first, axis))
}

fn join(
    verb: &str,
    arrays: &[&Array],
    location: &Location,
    axis: impl FnOnce(&Array) -> Result<usize, Error>,
) -> Array {
    let joined = || {
        let Some(first) = arrays.first() else {
            let message = format!("nothing to {verb}: the list of arrays is empty");
            return Err(found_by(Error::new(ErrorKind::Type, message), "join", &[], &[&verb]));
        };
        let axis = axis(first)?;
        let types: Vec<_> = arrays.iter().map(|array| array.ty()).collect();
        let (dtype, weak) = common_dtype(&types);
        let mut operands: Vec<Value> = Vec::with_capacity(arrays.len());
        for (array, ty) in arrays.iter().zip(&types) {
            let value = array.value().clone();
            let fits = ty.dtype == dtype && ty.weak == weak;
            operands.push(if fits {
                value
            } else {
                bind_here(&Convert { dtype, weak }.into(), &[value], location)?.remove(0)
            });
        }
        Ok(bind_here(&Concatenate { axis }.into(), &operands, location)?.remove(0))
    };
    Array::from_value(or_raise(joined(), location))
}

impl AsRef<Array> for Array {
    fn as_ref(&self) -> &Array {
        self
    }
}

impl Array {
    /// With a number put before and after the elements of each axis: as many as the pairs say, negative to take
    /// elements away. Axes without a pair stay.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::arange(3, I32);
    /// assert_eq!(x.pad(&[(1, 2)], 0).to_string(), "[0 0 1 2 0 0]");
    /// assert_eq!(x.pad(&[(-1, 0)], 0).to_string(), "[1 2]");
    /// ```
    #[track_caller]
    pub fn pad(&self, widths: &[(isize, isize)], value: impl Operand) -> Array {
        let all: Vec<(isize, isize, usize)> = widths.iter().map(|&(low, high)| (low, high, 0)).collect();
        self.pad_all(&all, value.operand(), &Location::caller())
    }

    /// Like [`pad`](Self::pad), with a third number: how many are put between two elements.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::arange(3, I32);
    /// assert_eq!(x.pad_interior(&[(0, 0, 2)], 9).to_string(), "[0 9 9 1 9 9 2]");
    /// ```
    #[track_caller]
    pub fn pad_interior(&self, widths: &[(isize, isize, usize)], value: impl Operand) -> Array {
        self.pad_all(widths, value.operand(), &Location::caller())
    }

    pub(crate) fn pad_all(
        &self,
        widths: &[(isize, isize, usize)],
        value: Value,
        location: &Location,
    ) -> Array {
        let padded = || {
            if widths.len() > self.rank() {
                let message =
                    format!("{} axes are padded of {}, which has {}", widths.len(), self.ty(), self.rank());
                let error =
                    Error::new(ErrorKind::Index, message).help("give at most one entry for each axis");
                return Err(found_by(error, "pad", &[self], &[&widths.len()]));
            }
            let ty = self.ty();
            let convert = Convert { dtype: ty.dtype, weak: ty.weak };
            let value = match value {
                Value::Splat(splat) => Value::Splat(tracewell_graph::Splat {
                    literal: splat.literal.convert(ty.dtype),
                    weak: ty.weak,
                    ..splat
                }),
                value if value.ty().dtype == ty.dtype => value,
                value => bind_here(&convert.into(), &[value], location)?.remove(0),
            };
            let whole = std::iter::repeat(&(0, 0, 0));
            let widths: Vec<_> = widths.iter().chain(whole).take(self.rank()).collect();
            let pad = Pad {
                low: widths.iter().map(|w| w.0 as i64).collect(),
                high: widths.iter().map(|w| w.1 as i64).collect(),
                interior: widths.iter().map(|w| w.2).collect(),
            };
            Ok(bind_here(&pad.into(), &[self.value().clone(), value], location)?.remove(0))
        };
        Array::from_value(or_raise(padded(), location))
    }

    /// Backwards along some axes; negative ones count from the back.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// assert_eq!(Array::arange(3, I32).flip(&[0]).to_string(), "[2 1 0]");
    /// ```
    #[track_caller]
    pub fn flip(&self, axes: &[isize]) -> Array {
        let location = Location::caller();
        let axes = or_raise(axes_of(self, axes), &location);
        apply(Reverse { axes }, &[self.value().clone()], &location)
    }

    /// With a new axis of size 1 at this place, for a line of the user's.
    pub(crate) fn expand_at(&self, axis: isize, location: &Location) -> Array {
        let rank = self.rank() as isize + 1;
        let at = if axis < 0 { axis + rank } else { axis };
        let at = if (0..rank).contains(&at) {
            Ok(at as usize)
        } else {
            let message = format!("axis {axis} is out of range for {} with one axis more", self.ty());
            let error = Error::new(ErrorKind::Index, message)
                .help(format!("places of the new axis are {}..{rank}", -rank));
            Err(found_by(error, "expand", &[self], &[&axis]))
        };
        let shape = self.shape().insert(or_raise(at, location), 1);
        apply(Reshape { shape }, &[self.value().clone()], location)
    }
}
