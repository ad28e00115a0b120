//! The same elements in other places.

use tracewell_array::Shape;
use tracewell_graph::Location;
use tracewell_graph::prim::{Broadcast, Permute, Reshape};
use tracewell_trace::{Error, ErrorKind};

use super::reduce::axis_of;
use super::{Array, apply, found_by, listed, or_raise};

impl Array {
    /// The elements in row-major order under another shape.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Array {
        apply(Reshape { shape: shape.into() }, &[self.value().clone()], &Location::caller())
    }

    /// All elements along one axis.
    #[track_caller]
    pub fn ravel(&self) -> Array {
        apply(Reshape { shape: Shape::from([self.len()]) }, &[self.value().clone()], &Location::caller())
    }

    /// Axis `i` of the result is axis `axes[i]`.
    #[track_caller]
    pub fn permute(&self, axes: &[isize]) -> Array {
        let location = Location::caller();
        let axes: Result<Vec<usize>, Error> = axes.iter().map(|&a| axis_of(self, a)).collect();
        apply(Permute { axes: or_raise(axes, &location) }, &[self.value().clone()], &location)
    }

    /// The axes in reverse order: the transpose of a matrix.
    #[track_caller]
    pub fn t(&self) -> Array {
        let axes = (0..self.rank()).rev().collect();
        apply(Permute { axes }, &[self.value().clone()], &Location::caller())
    }

    /// Repeated to a shape by NumPy's rule: axes are aligned from the last, those of size 1 repeat.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl Into<Shape>) -> Array {
        let (shape, location) = (shape.into(), Location::caller());
        let axes = match shape.rank().checked_sub(self.rank()) {
            Some(skip) => Ok((skip..shape.rank()).collect()),
            None => {
                let message = format!("cannot broadcast {} to shape {shape}: it has more axes", self.ty());
                let help = "broadcasting adds and repeats axes; `squeeze`, `reshape` or reduce to lose one";
                let error = Error::new(ErrorKind::Type, message).help(help);
                Err(found_by(error, "broadcast_to", &[self], &[&listed(shape.iter())]))
            }
        };
        let axes = or_raise(axes, &location);
        apply(Broadcast { shape, axes }, &[self.value().clone()], &location)
    }

    /// With a new axis of size 1 at this place; negative places count from the back of the result.
    #[track_caller]
    pub fn expand(&self, axis: isize) -> Array {
        self.expand_at(axis, &Location::caller())
    }

    /// Without an axis, which must be of size 1.
    #[track_caller]
    pub fn squeeze(&self, axis: isize) -> Array {
        let location = Location::caller();
        let at = or_raise(axis_of(self, axis), &location);
        let result = match self.shape().size(at) {
            1 => Ok(self.shape().remove(at)),
            n => {
                let message = format!("cannot squeeze axis {axis} of {}: its size is {n}, not 1", self.ty());
                let help = "reduce along it, as in `sum_axes`, or `reshape` to join it with another";
                Err(found_by(Error::new(ErrorKind::Index, message).help(help), "squeeze", &[self], &[&axis]))
            }
        };
        apply(Reshape { shape: or_raise(result, &location) }, &[self.value().clone()], &location)
    }
}
