//! Windows that move over an array by fixed steps: what convolutions and reductions over windows share.

use tracewell_array::Shape;
use tracewell_kernel::WindowAxis;

use super::shape_rules::each_index;
use super::{Pad, Slice};
use crate::builder::GraphBuilder;
use crate::error::TypeError;
use crate::graph::Atom;

/// Up to so many elements of a window are combined one by one; beyond, axis by axis and by halves.
const FEW: usize = 16;

/// How windows move, one number an axis in each list.
#[derive(Clone, Debug)]
pub(super) struct Sliding {
    pub(super) window: Vec<usize>,
    pub(super) strides: Vec<usize>,
    pub(super) low: Vec<i64>,
    pub(super) high: Vec<i64>,
    pub(super) dilation: Vec<usize>,
    pub(super) window_dilation: Vec<usize>,
}

/// How far `size` elements reach that are `step` apart.
fn spread(size: usize, step: usize) -> Option<i64> {
    let reach = size.checked_sub(1).map_or(Some(0), |last| last.checked_mul(step)?.checked_add(1))?;
    i64::try_from(reach).ok()
}

impl Sliding {
    /// How many places the windows have along each axis of an array of these sizes, or why that makes no sense.
    pub(super) fn places(&self, image: &[usize]) -> Result<Vec<usize>, String> {
        let rank = image.len();
        let lists = [self.window.len(), self.strides.len(), self.low.len(), self.high.len()];
        let dilations = [self.dilation.len(), self.window_dilation.len()];
        if lists.iter().chain(&dilations).any(|&len| len != rank) {
            return Err(format!(
                "window, strides, padding and dilations need {rank} numbers each, one an axis"
            ));
        }
        for (what, list) in [
            ("window", &self.window),
            ("stride", &self.strides),
            ("dilation", &self.dilation),
            ("dilation of the window", &self.window_dilation),
        ] {
            if let Some(axis) = list.iter().position(|&n| n == 0) {
                return Err(format!("the {what} along axis {axis} is 0"));
            }
        }
        (0..rank)
            .map(|i| {
                self.places_along(i, image[i])
                    .ok_or_else(|| format!("the windows along axis {i} of size {} move too far", image[i]))
            })
            .collect()
    }

    fn places_along(&self, axis: usize, image: usize) -> Option<usize> {
        let padded =
            spread(image, self.dilation[axis])?.checked_add(self.low[axis])?.checked_add(self.high[axis])?;
        let room = padded.checked_sub(spread(self.window[axis], self.window_dilation[axis])?)?;
        // What the runtime computes with must fit too.
        spread(padded.max(0) as usize, self.strides[axis])?;
        let stride = i64::try_from(self.strides[axis]).ok()?;
        Some(if room < 0 { 0 } else { (room / stride + 1) as usize })
    }

    /// Each axis for itself, of an array for which [`places`](Self::places) are known.
    pub(super) fn axes(&self, image: &[usize]) -> Vec<WindowAxis> {
        let axis = |i: usize| WindowAxis {
            image: image[i],
            window: self.window[i],
            places: self.places_along(i, image[i]).expect("typed"),
            stride: self.strides[i],
            low: self.low[i],
            image_dilation: self.dilation[i],
            window_dilation: self.window_dilation[i],
        };
        (0..image.len()).map(axis).collect()
    }

    /// The windows that lead back from places to an array of these sizes: what was at element `k` of a window is
    /// then under element `k` from the back.
    pub(super) fn back(&self, image: &[usize]) -> Sliding {
        let axes = self.axes(image);
        let pads = axes.iter().map(|a| {
            let [image, window, places] =
                [(a.image, a.image_dilation), (a.window, a.window_dilation), (a.places, a.stride)]
                    .map(|(size, step)| spread(size, step).expect("typed"));
            let low = window - 1 - a.low;
            (low, image + window - 1 - places - low)
        });
        let (low, high) = pads.unzip();
        let (strides, dilation) = (self.dilation.clone(), self.strides.clone());
        Sliding { strides, dilation, low, high, ..self.clone() }
    }

    /// The same with a leading axis along which nothing moves.
    pub(super) fn batched(&self) -> Sliding {
        fn with<T: Copy>(first: T, rest: &[T]) -> Vec<T> {
            std::iter::once(first).chain(rest.iter().copied()).collect()
        }
        Sliding {
            window: with(1, &self.window),
            strides: with(1, &self.strides),
            low: with(0, &self.low),
            high: with(0, &self.high),
            dilation: with(1, &self.dilation),
            window_dilation: with(1, &self.window_dilation),
        }
    }

    /// An array with its padding and with gaps between its elements, so that windows are over elements only.
    pub(super) fn padded(&self, b: &mut GraphBuilder, x: Atom, value: Atom) -> Result<Atom, TypeError> {
        let interior: Vec<usize> = self.dilation.iter().map(|d| d - 1).collect();
        if self.low.iter().chain(&self.high).all(|&n| n == 0) && interior.iter().all(|&n| n == 0) {
            return Ok(x);
        }
        b.bind1(Pad { low: self.low.clone(), high: self.high.clone(), interior }, &[x, value])
    }

    /// Combines the elements of each window, in row-major order. Several arrays of one shape, padded already, are
    /// combined together; every window has a place.
    pub(super) fn fold(
        &self,
        b: &mut GraphBuilder,
        states: Vec<Atom>,
        combine: &Combining<'_>,
    ) -> Result<Vec<Atom>, TypeError> {
        let few = self.window.iter().try_fold(1usize, |n, &w| n.checked_mul(w)).is_some_and(|n| n <= FEW);
        if few {
            let axes: Vec<usize> = (0..self.window.len()).collect();
            return self.one_by_one(b, &states, &axes, combine);
        }
        // The last axis first: then what comes first in a window comes first here.
        (0..self.window.len()).rev().try_fold(states, |states, axis| {
            if self.window[axis] <= FEW {
                self.one_by_one(b, &states, &[axis], combine)
            } else {
                self.by_halves(b, states, axis, combine)
            }
        })
    }

    /// Along some axes: one part of the arrays for each element of the window.
    fn one_by_one(
        &self,
        b: &mut GraphBuilder,
        states: &[Atom],
        axes: &[usize],
        combine: &Combining<'_>,
    ) -> Result<Vec<Atom>, TypeError> {
        let mut offsets = Vec::new();
        let windows: Shape = axes.iter().map(|&axis| self.window[axis]).collect();
        each_index(&windows, |index| offsets.push(index.to_vec()));
        let mut folded: Option<Vec<Atom>> = None;
        for offset in offsets {
            let starts: Vec<(usize, usize)> = axes.iter().copied().zip(offset).collect();
            let part = self.part(b, states, &starts)?;
            folded = Some(match folded {
                Some(folded) => combine(b, &folded, &part)?,
                None => part,
            });
        }
        Ok(folded.expect("a window has an element"))
    }

    /// Along one axis: windows of 1, 2, 4, … elements, and of these the ones that make up the window.
    fn by_halves(
        &self,
        b: &mut GraphBuilder,
        states: Vec<Atom>,
        axis: usize,
        combine: &Combining<'_>,
    ) -> Result<Vec<Atom>, TypeError> {
        let (window, apart) = (self.window[axis], self.window_dilation[axis]);
        let places = self.room(b, &states[0], axis) / self.strides[axis] + 1;
        let (mut run, mut length, mut done) = (states, 1, 0);
        let mut folded: Option<Vec<Atom>> = None;
        loop {
            if window & length != 0 {
                let start = done * apart;
                let part = cut(b, &run, axis, (start, places, self.strides[axis]))?;
                folded = Some(match folded {
                    Some(folded) => combine(b, &folded, &part)?,
                    None => part,
                });
                done += length;
            }
            if 2 * length > window {
                return Ok(folded.expect("a window has an element"));
            }
            let size = b.ty(&run[0]).shape.size(axis) - length * apart;
            let first = cut(b, &run, axis, (0, size, 1))?;
            let second = cut(b, &run, axis, (length * apart, size, 1))?;
            run = combine(b, &first, &second)?;
            length *= 2;
        }
    }

    /// How far the last place of the window is from the first, at most.
    fn room(&self, b: &GraphBuilder, state: &Atom, axis: usize) -> usize {
        b.ty(state).shape.size(axis) - ((self.window[axis] - 1) * self.window_dilation[axis] + 1)
    }

    /// What is under one element of the window at all places, along the axes that are named.
    fn part(
        &self,
        b: &mut GraphBuilder,
        states: &[Atom],
        offset: &[(usize, usize)],
    ) -> Result<Vec<Atom>, TypeError> {
        offset.iter().try_fold(states.to_vec(), |states, &(axis, k)| {
            let places = self.room(b, &states[0], axis) / self.strides[axis] + 1;
            cut(b, &states, axis, (k * self.window_dilation[axis], places, self.strides[axis]))
        })
    }
}

/// How the elements of two parts of a window are combined: the earlier part first.
pub(super) type Combining<'a> =
    dyn Fn(&mut GraphBuilder, &[Atom], &[Atom]) -> Result<Vec<Atom>, TypeError> + 'a;

/// A part along one axis: where it starts, how many, how far apart.
fn cut(
    b: &mut GraphBuilder,
    states: &[Atom],
    axis: usize,
    (start, count, step): (usize, usize, usize),
) -> Result<Vec<Atom>, TypeError> {
    let shape = b.ty(&states[0]).shape;
    let mut slice = Slice::along(&shape, axis, start, start + (count - 1) * step + 1);
    if slice.limit[axis] == shape.size(axis) && start == 0 && step == 1 {
        return Ok(states.to_vec());
    }
    slice.step[axis] = step;
    states.iter().map(|state| b.bind1(slice.clone(), std::slice::from_ref(state))).collect()
}
