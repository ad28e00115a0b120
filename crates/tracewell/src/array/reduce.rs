//! Combining elements along axes.

use tracewell_array::DType;
use tracewell_graph::Location;
use tracewell_graph::prim::{self, DotGeneral, Prim};
use tracewell_trace::{Error, ErrorKind};

use super::{Array, apply, found_by, listed, or_raise};

/// The axis counted from the front; negative ones count from the back.
pub(crate) fn axis_of(array: &Array, axis: isize) -> Result<usize, Error> {
    let rank = array.rank() as isize;
    let from_front = if axis < 0 { axis + rank } else { axis };
    if (0..rank).contains(&from_front) {
        return Ok(from_front as usize);
    }
    let help = match rank {
        0 => "an array of rank 0 has no axes".to_string(),
        _ => format!("axes of this array are {}..{}", -rank, rank),
    };
    let error =
        Error::new(ErrorKind::Index, format!("axis {axis} is out of range for {}", array.ty())).help(help);
    Err(found_by(error, "axis", &[array], &[&axis]))
}

/// Axes counted from the front, ascending.
pub(crate) fn axes_of(array: &Array, axes: &[isize]) -> Result<Vec<usize>, Error> {
    let mut all: Vec<usize> = axes.iter().map(|&a| axis_of(array, a)).collect::<Result<_, _>>()?;
    all.sort_unstable();
    if all.windows(2).any(|w| w[0] == w[1]) {
        let message = format!("an axis occurs twice in {axes:?} for {}", array.ty());
        let error = Error::new(ErrorKind::Index, message).help("name each axis once");
        return Err(found_by(error, "axes", &[array], &[&listed(axes)]));
    }
    Ok(all)
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $all:ident $along:ident $Prim:ident),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $all(&self) -> Array {
                let axes = (0..self.rank()).collect();
                apply(prim::$Prim { axes }, &[self.value().clone()], &Location::caller())
            }

            $(#[$doc])*
            ///
            /// Along the axes given; negative ones count from the back.
            #[track_caller]
            pub fn $along(&self, axes: &[isize]) -> Array {
                let location = Location::caller();
                let axes = or_raise(axes_of(self, axes), &location);
                apply(prim::$Prim { axes }, &[self.value().clone()], &location)
            }
        )*}
    };
}
reductions! {
    /// The sum.
    sum sum_axes ReduceSum,
    /// The product.
    prod prod_axes ReduceProd,
    /// The largest element; NaN where there is one.
    max max_axes ReduceMax,
    /// The smallest element; NaN where there is one.
    min min_axes ReduceMin,
    /// Whether all hold; of integers, the bits that all have.
    all all_axes ReduceAnd,
    /// Whether any holds; of integers, the bits that any has.
    any any_axes ReduceOr,
}

/// Where the extreme is along an axis.
macro_rules! arg_reductions {
    ($($(#[$doc:meta])* $name:ident $Prim:ident),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&self, axis: isize) -> Array {
                let location = Location::caller();
                let axis = or_raise(axis_of(self, axis), &location);
                apply(prim::$Prim { axis, dtype: DType::I32 }, &[self.value().clone()], &location)
            }
        )*}
    };
}
arg_reductions! {
    /// The index of the largest element along an axis, as `i32`: of the first, if there are several; of the first
    /// NaN, if there is one.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from(vec![3.0f32, 7.0, 7.0]);
    /// assert_eq!(x.argmax(0).item::<i32>(), 1);
    /// ```
    argmax ArgMax,
    /// The index of the smallest element along an axis, as `i32`: of the first, if there are several; of the first
    /// NaN, if there is one.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from(vec![3.0f32, 7.0, 7.0]);
    /// assert_eq!(x.argmin(0).item::<i32>(), 0);
    /// ```
    argmin ArgMin,
}

impl Array {
    /// The mean of all elements.
    #[track_caller]
    pub fn mean(&self) -> Array {
        let axes: Vec<isize> = (0..self.rank() as isize).collect();
        self.mean_axes(&axes)
    }

    /// The mean along axes; negative ones count from the back.
    #[track_caller]
    pub fn mean_axes(&self, axes: &[isize]) -> Array {
        let location = Location::caller();
        let axes = or_raise(axes_of(self, axes), &location);
        let count: usize = axes.iter().map(|&a| self.shape().size(a)).product();
        let x = self.as_float(&location);
        let sum = apply(prim::ReduceSum { axes }, &[x.value().clone()], &location);
        super::operators::binary("divide", prim::Div {}, sum, count as f64, &location)
    }

    /// The matrix product; vectors and batches as in NumPy's `dot`: the last axis of `self` with the last but
    /// one of `other`, or its only one.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let m = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    /// let v = Array::from([1.0f32, -1.0]);
    /// assert_eq!(m.dot(&v).to_string(), "[-1. -1.]");
    /// ```
    #[track_caller]
    pub fn dot(&self, other: &Array) -> Array {
        let location = Location::caller();
        let result = self.dot_operands(other, &location);
        let (dot, a, b) = or_raise(result, &location);
        apply(dot, &[a, b], &location)
    }

    fn dot_operands(
        &self,
        other: &Array,
        location: &Location,
    ) -> Result<(Prim, tracewell_trace::Value, tracewell_trace::Value), Error> {
        if self.rank() == 0 || other.rank() == 0 {
            let message =
                format!("`dot` takes arrays of rank 1 or more, found {} and {}", self.ty(), other.ty());
            let error = Error::new(ErrorKind::Type, message).help("multiply by a scalar with `*`");
            return Err(found_by(error, "dot", &[self, other], &[]));
        }
        let contract = other.rank().saturating_sub(2);
        let dot = DotGeneral {
            a_contract: vec![self.rank() - 1],
            b_contract: vec![contract],
            a_batch: vec![],
            b_batch: vec![],
        };
        let (a, b) = unify_dtypes(self, other, location)?;
        Ok((dot.into(), a, b))
    }
}

/// Both with their common element type, shapes unchanged.
pub(crate) fn unify_dtypes(
    a: &Array,
    b: &Array,
    location: &Location,
) -> Result<(tracewell_trace::Value, tracewell_trace::Value), Error> {
    let (s, t) = (a.ty(), b.ty());
    let (dtype, weak) = tracewell_array::promote(s.dtype, s.weak, t.dtype, t.weak);
    let convert = |x: &Array| -> Result<tracewell_trace::Value, Error> {
        let ty = x.ty();
        if ty.dtype == dtype && ty.weak == weak {
            return Ok(x.value().clone());
        }
        let prim = prim::Convert { dtype, weak }.into();
        Ok(super::bind_here(&prim, &[x.value().clone()], location)?.remove(0))
    };
    Ok((convert(a)?, convert(b)?))
}
