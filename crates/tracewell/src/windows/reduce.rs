//! Reductions over windows of all axes.

use tracewell_graph::Location;
use tracewell_graph::prim;
use tracewell_trace::Error;

use super::geometry::{Moves, Window};
use crate::array::{Array, Operand, apply, found_by, or_raise};

/// A reduction of that name, of windows that move as said.
macro_rules! reduced {
    ($Prim:ident, $array:expr, $moves:expr, $location:expr) => {{
        let Moves { window, strides, low, high, dilation, window_dilation } = $moves;
        let prim = prim::$Prim { window, strides, low, high, dilation, window_dilation };
        apply(prim, &[$array.value().clone()], $location)
    }};
}
pub(super) use reduced;

/// How a window moves that has all axes of the array.
pub(crate) fn moves_over_all(x: &Array, window: &Window) -> Result<Moves, Error> {
    let moves = window.moves(&x.ty(), &x.shape().sizes(), false);
    moves.map_err(|error| found_by(error, "window", &[x], &[&window.written()]))
}

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $Prim:ident),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&self, window: &Window) -> Array {
                let location = Location::caller();
                let moves = or_raise(moves_over_all(self, window), &location);
                reduced!($Prim, self, moves, &location)
            }
        )*}
    };
}
reductions! {
    /// The sum of the elements under a window, at each of its places. Its axes are all axes.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::arange(4, F32);
    /// assert_eq!(x.window_sum(&Window::new(2)).to_string(), "[1. 3. 5.]");
    /// ```
    window_sum ReduceWindowSum,
    /// The product of the elements under a window, at each of its places. Its axes are all axes.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 2.0, 3.0]);
    /// assert_eq!(x.window_prod(&Window::new(2)).to_string(), "[2. 6.]");
    /// ```
    window_prod ReduceWindowProd,
    /// The largest of the elements under a window, at each of its places; NaN where there is one. Its axes are all
    /// axes. The derivative goes to the first of the largest.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 5.0, 5.0, 2.0]);
    /// assert_eq!(x.window_max(&Window::new(2)).to_string(), "[5. 5. 5.]");
    /// let slope = grad(|x: &Array| x.window_max(&Window::new(2)).sum())(&x);
    /// assert_eq!(slope.to_string(), "[0. 2. 1. 0.]");
    /// ```
    window_max ReduceWindowMax,
    /// The smallest of the elements under a window, at each of its places; NaN where there is one. Its axes are all
    /// axes. The derivative goes to the first of the smallest.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 5.0, 5.0, 2.0]);
    /// assert_eq!(x.window_min(&Window::new(2)).to_string(), "[1. 5. 2.]");
    /// ```
    window_min ReduceWindowMin,
}

/// The elements under a window, at each of its places, combined by any function that is associative. `unit` combined
/// with anything changes nothing; it is what padding counts as. The window's axes are all axes.
///
/// `combine` gets arrays and combines them element by element, the earlier elements first. It is applied about twice
/// the logarithm of the window's size for each axis.
///
/// ```
/// use tracewell::prelude::*;
///
/// let bits = Array::from([1, 2, 4, 8]);
/// let y = reduce_window(&bits, 0, &Window::new(3).padding(Padding::Same), |a, b| a | b);
/// assert_eq!(y.to_string(), "[ 3  7 14 12]");
/// ```
#[track_caller]
pub fn reduce_window(
    x: &Array,
    unit: impl Operand,
    window: &Window,
    combine: impl Fn(&Array, &Array) -> Array,
) -> Array {
    let location = Location::caller();
    let moves = or_raise(moves_over_all(x, window), &location);
    let pads: Vec<(isize, isize, usize)> = (0..x.rank())
        .map(|i| (moves.low[i] as isize, moves.high[i] as isize, moves.dilation[i] - 1))
        .collect();
    let padded = x.pad_all(&pads, unit.operand(), &location);
    let folded = (0..x.rank()).rev().try_fold(padded, |x, axis| -> Result<Array, Error> {
        let (window, apart) = (moves.window[axis], moves.window_dilation[axis]);
        let reach = (window - 1) * apart + 1;
        let places = x.shape().size(axis).checked_sub(reach).map_or(0, |room| room / moves.strides[axis] + 1);
        let part = |x: &Array, start: usize, count: usize, step: usize| {
            let mut slice = prim::Slice::along(x.shape(), axis, start, start + (count - 1) * step + 1);
            slice.step[axis] = step;
            apply(slice, &[x.value().clone()], &location)
        };
        if places == 0 {
            let none = prim::Slice::along(x.shape(), axis, 0, 0);
            return Ok(apply(none, &[x.value().clone()], &location));
        }
        // Windows of 1, 2, 4, … elements, and of these the ones that make up the window.
        let (mut run, mut length, mut done, mut folded) = (x, 1, 0, None);
        loop {
            if window & length != 0 {
                let next = part(&run, done * apart, places, moves.strides[axis]);
                folded = Some(folded.map_or_else(|| next.clone(), |earlier: Array| combine(&earlier, &next)));
                done += length;
            }
            if 2 * length > window {
                return Ok(folded.expect("a window has an element"));
            }
            let count = run.shape().size(axis) - length * apart;
            run = combine(&part(&run, 0, count, 1), &part(&run, length * apart, count, 1));
            length *= 2;
        }
    });
    or_raise(folded, &location)
}
