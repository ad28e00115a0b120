//! Parts of arrays: `x.slice(s![1.., ..;2, -1])`, and where arrays of integers say, `x.slice(s![&i, ..])`.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use tracewell_array::Shape;
use tracewell_graph::Location;
use tracewell_graph::prim::{Reshape, Reverse, Slice};
use tracewell_trace::{Error, ErrorKind};

use super::{Array, apply, found_by, or_raise};

/// What is taken of one axis: a place, a range with a step, or many places. Made by [`s!`](crate::s).
#[derive(Clone, Debug)]
pub enum Cut {
    /// One place; the axis disappears. Negative ones count from the back.
    At(isize),
    /// Every `step`-th element from `start` up to, not including, `end`. Negative places count from the back;
    /// a negative step takes the range from its last element backwards.
    Range {
        /// The first; the beginning of the axis if missing.
        start: Option<isize>,
        /// Where it ends; the end of the axis if missing.
        end: Option<isize>,
        /// How far apart; not 0.
        step: isize,
    },
    /// The places that an array of integers says. Its axes take the place of the axis; arrays for several axes are
    /// repeated to a common shape and used together.
    Places(Array),
}

impl Cut {
    /// The same range with another step. Of places it is the places.
    pub fn step(self, by: isize) -> Cut {
        match self {
            Cut::Range { start, end, step } => Cut::Range { start, end, step: step * by },
            places => places,
        }
    }
}

macro_rules! cuts {
    ($($int:ty),*) => {$(
        impl From<$int> for Cut {
            fn from(at: $int) -> Cut { Cut::At(at as isize) }
        }
        impl From<Range<$int>> for Cut {
            fn from(r: Range<$int>) -> Cut { range(Some(r.start as isize), Some(r.end as isize)) }
        }
        impl From<RangeInclusive<$int>> for Cut {
            fn from(r: RangeInclusive<$int>) -> Cut { range(Some(*r.start() as isize), after(*r.end() as isize)) }
        }
        impl From<RangeFrom<$int>> for Cut {
            fn from(r: RangeFrom<$int>) -> Cut { range(Some(r.start as isize), None) }
        }
        impl From<RangeTo<$int>> for Cut {
            fn from(r: RangeTo<$int>) -> Cut { range(None, Some(r.end as isize)) }
        }
        impl From<RangeToInclusive<$int>> for Cut {
            fn from(r: RangeToInclusive<$int>) -> Cut { range(None, after(r.end as isize)) }
        }
    )*};
}
cuts!(isize, usize, i32);

impl From<&Array> for Cut {
    fn from(places: &Array) -> Cut {
        Cut::Places(places.clone())
    }
}

impl From<Array> for Cut {
    fn from(places: Array) -> Cut {
        Cut::Places(places)
    }
}

impl From<RangeFull> for Cut {
    fn from(_: RangeFull) -> Cut {
        range(None, None)
    }
}

/// What is taken of each axis: [`s!`](crate::s), an array of places along the first axis, or a tuple of both.
pub trait Cuts {
    /// One for each axis, from the first on.
    fn cuts(self) -> Vec<Cut>;
}

impl<const N: usize> Cuts for [Cut; N] {
    fn cuts(self) -> Vec<Cut> {
        self.into()
    }
}

impl<const N: usize> Cuts for &[Cut; N] {
    fn cuts(self) -> Vec<Cut> {
        self.to_vec()
    }
}

impl Cuts for Vec<Cut> {
    fn cuts(self) -> Vec<Cut> {
        self
    }
}

impl Cuts for &[Cut] {
    fn cuts(self) -> Vec<Cut> {
        self.to_vec()
    }
}

impl Cuts for &Array {
    fn cuts(self) -> Vec<Cut> {
        vec![self.into()]
    }
}

macro_rules! cuts_of_tuples {
    ($(($($T:ident $part:ident),*))*) => {$(
        impl<$($T: Into<Cut>),*> Cuts for ($($T,)*) {
            fn cuts(self) -> Vec<Cut> {
                let ($($part,)*) = self;
                vec![$($part.into()),*]
            }
        }
    )*};
}
cuts_of_tuples! {
    (A a)
    (A a, B b)
    (A a, B b, C c)
    (A a, B b, C c, D d)
    (A a, B b, C c, D d, E e)
    (A a, B b, C c, D d, E e, F f)
}

fn range(start: Option<isize>, end: Option<isize>) -> Cut {
    Cut::Range { start, end, step: 1 }
}

/// The place after an included end; after the last one the axis ends.
fn after(end: isize) -> Option<isize> {
    if end == -1 { None } else { Some(end + 1) }
}

/// What to take of each axis, for [`Array::slice`]: places and ranges, the latter with `;step`.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::arange(12, I32).reshape([3, 4]);
/// assert_eq!(x.slice(s![1, ..]).to_string(), "[4 5 6 7]");
/// assert_eq!(x.slice(s![.., ..;2]).to_string(), "[[ 0  2]\n [ 4  6]\n [ 8 10]]");
/// assert_eq!(x.slice(s![-1, ..;-1]).to_string(), "[11 10  9  8]");
/// ```
#[macro_export]
macro_rules! s {
    // To clippy a range such as `1..-1` looks empty.
    (@cut $cut:expr) => {{
        #[allow(clippy::reversed_empty_ranges, reason = "negative places count from the back")]
        let cut = $crate::Cut::from($cut);
        cut
    }};
    (@cuts [$($done:expr),*]) => { [$($done),*] };
    (@cuts [$($done:expr),*] $cut:expr ; $step:expr, $($rest:tt)*) => {
        $crate::s!(@cuts [$($done,)* $crate::s!(@cut $cut).step($step)] $($rest)*)
    };
    (@cuts [$($done:expr),*] $cut:expr ; $step:expr) => {
        $crate::s!(@cuts [$($done,)* $crate::s!(@cut $cut).step($step)])
    };
    (@cuts [$($done:expr),*] $cut:expr, $($rest:tt)*) => {
        $crate::s!(@cuts [$($done,)* $crate::s!(@cut $cut)] $($rest)*)
    };
    (@cuts [$($done:expr),*] $cut:expr) => {
        $crate::s!(@cuts [$($done,)* $crate::s!(@cut $cut)])
    };
    ($($cuts:tt)*) => { $crate::s!(@cuts [] $($cuts)*) };
}

impl Array {
    /// A part of the array: for each axis a place, a range or an array of places, made by [`s!`](crate::s). Axes that
    /// are not named are taken whole.
    ///
    /// Arrays of places follow NumPy's rule: they are repeated to a common shape, whose axes take the place of theirs;
    /// where they stand apart, these axes come first. What is read where there is no such place is NaN, the least
    /// signed or the largest unsigned integer; [`at`](Self::at) offers other ways.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::arange(6, F32);
    /// assert_eq!(x.slice(s![1..-1]).to_string(), "[1. 2. 3. 4.]");
    /// let gradient = grad(|x: &Array| x.slice(s![..;2]).sum())(&x);
    /// assert_eq!(gradient.to_string(), "[1. 0. 1. 0. 1. 0.]");
    /// let places = Array::from([3, -1, 3]);
    /// assert_eq!(x.slice(s![&places]).to_string(), "[3. 5. 3.]");
    /// ```
    #[track_caller]
    pub fn slice(&self, cuts: impl Cuts) -> Array {
        let (cuts, location) = (cuts.cuts(), Location::caller());
        if cuts.iter().any(|cut| matches!(cut, Cut::Places(_))) {
            return self.at(cuts).get_at(&location);
        }
        let plan = or_raise(plan(self, &cuts), &location);
        self.part(plan, &location)
    }

    /// A part that is known while tracing.
    pub(super) fn part(&self, plan: Plan, location: &Location) -> Array {
        let mut part = apply(plan.slice, &[self.value().clone()], location);
        if !plan.reversed.is_empty() {
            part = apply(Reverse { axes: plan.reversed }, &[part.value().clone()], location);
        }
        if *part.shape() != plan.shape {
            part = apply(Reshape { shape: plan.shape }, &[part.value().clone()], location);
        }
        part
    }
}

/// What a slice is made of.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(super) slice: Slice,
    /// The axes with negative steps.
    pub(super) reversed: Vec<usize>,
    /// The result's shape, without axes at one place of which is taken.
    pub(super) shape: Shape,
}

/// There is not more than one cut for each axis.
pub(super) fn check_count(x: &Array, cuts: &[Cut]) -> Result<(), Error> {
    if cuts.len() > x.rank() {
        let message = format!("{} axes are sliced of {}, which has {}", cuts.len(), x.ty(), x.rank());
        return Err(
            Error::new(ErrorKind::Index, message).help("name at most one place or range for each axis")
        );
    }
    Ok(())
}

/// A slice of places and ranges.
pub(crate) fn plan(x: &Array, cuts: &[Cut]) -> Result<Plan, Error> {
    planned(x, cuts).map_err(|error| {
        let all: Vec<String> = cuts.iter().map(cut_text).collect();
        found_by(error, "slice", &[x], &[&all.join(", ")])
    })
}

/// What stands for an array of places in [`cut_text`].
pub(super) const PLACES: &str = "#";

/// A place or a range as a program writes it; a step is told of ranges whatever it is.
pub(super) fn cut_text(cut: &Cut) -> String {
    let place = |at: &Option<isize>| at.map_or(String::new(), |at| at.to_string());
    match cut {
        Cut::At(at) => at.to_string(),
        Cut::Range { start, end, step } => format!("{}..{};{step}", place(start), place(end)),
        Cut::Places(_) => PLACES.to_string(),
    }
}

/// What [`cut_text`] wrote.
pub(crate) fn cut_of(text: &str) -> Option<Cut> {
    let Some((range, step)) = text.split_once(';') else { return text.parse().ok().map(Cut::At) };
    let (start, end) = range.split_once("..")?;
    let place = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    Some(Cut::Range { start: place(start)?, end: place(end)?, step: step.parse().ok()? })
}

fn planned(x: &Array, cuts: &[Cut]) -> Result<Plan, Error> {
    check_count(x, cuts)?;
    let shape = x.shape();
    let mut slice = Slice { start: vec![], limit: vec![], step: vec![] };
    let (mut reversed, mut sizes) = (Vec::new(), Vec::new());
    for (axis, size) in shape.iter().enumerate() {
        let whole = range(None, None);
        let cut = cuts.get(axis).unwrap_or(&whole);
        let (start, limit, step) = bounds(x, axis, size, cut)?;
        slice.start.push(start);
        slice.limit.push(limit);
        slice.step.push(step.unsigned_abs());
        if step < 0 {
            reversed.push(axis);
        }
        if !matches!(cut, Cut::At(_)) {
            sizes.push((limit - start).div_ceil(step.unsigned_abs()));
        }
    }
    Ok(Plan { slice, reversed, shape: Shape::from(sizes) })
}

/// Start, limit and step of what is taken of an axis, all inside it.
pub(super) fn bounds(x: &Array, axis: usize, size: usize, cut: &Cut) -> Result<(usize, usize, isize), Error> {
    let place = |at: isize| if at < 0 { at + size as isize } else { at };
    match *cut {
        Cut::Places(_) => Ok((0, size, 1)),
        Cut::At(at) if (0..size as isize).contains(&place(at)) => {
            let at = place(at) as usize;
            Ok((at, at + 1, 1))
        }
        Cut::At(at) => {
            let message = format!("index {at} is out of range for axis {axis} of {}", x.ty());
            let help = match size {
                0 => "the axis is empty".to_string(),
                _ => format!("indices of this axis are {}..{size}", -(size as isize)),
            };
            Err(Error::new(ErrorKind::Index, message).help(help))
        }
        Cut::Range { step: 0, .. } => {
            let message = format!("the step along axis {axis} of {} is 0", x.ty());
            Err(Error::new(ErrorKind::Index, message)
                .help("a step is the distance from one element to the next"))
        }
        Cut::Range { start, end, step } => {
            let (from, to) = (place(start.unwrap_or(0)), end.map_or(size as isize, place));
            if from < 0 || to > size as isize || from > to {
                let text = |at: Option<isize>| at.map_or(String::new(), |at| at.to_string());
                let message = format!(
                    "range {}..{} is out of range for axis {axis} of {}",
                    text(start),
                    text(end),
                    x.ty()
                );
                return Err(Error::new(ErrorKind::Index, message)
                    .help(format!("the axis has size {size}, and a range starts before it ends")));
            }
            let (mut from, to) = (from as usize, to as usize);
            // Backwards from the last element: the first that is met counting on from there.
            if step < 0 && to > from {
                from += (to - from - 1) % step.unsigned_abs();
            }
            Ok((from, to, step))
        }
    }
}
