//! A row of places at a time: nothing is copied but the rows of the image, with their padding, once.
//!
//! Along the last axis the windows of places that follow each other overlap: as a matrix, its rows are one step of the
//! window apart, and each holds the elements under one row of the window. For several rows of the window there are as
//! many such matrices, side by side, and their product with the kernel's part is made in one go.
//!
//! Invariant: the bits are those of windows that are copied side by side: a sum is one chain in the order of the window,
//! padding included, wherever it is interrupted. So it is of our own products only.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::{Number, Plan, Run, with_scratch};
use crate::multiply::{IN_ONE_GO, VECTOR, is_ours};

/// Fewest places of a row, and fewest elements under a row of the window: of less there is too much around a product.
const PLACES: usize = 12;
const ELEMENTS: usize = 48;
/// Most vectors of a row of the kernel that are multiplied at once, as products have them.
const WIDEST: usize = 4;
/// Most rows of the image that are kept with their padding, and about how many bytes.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 1 << 18;

/// What is in the scratch memory, from the first element on.
struct Layout {
    /// Elements of a row with its padding.
    row: usize,
    /// Rows that are kept. Before them is one of zeros.
    kept: usize,
    /// Channels of a panel of the kernel, and whether panels are copied, so that their rows follow each other.
    wide: usize,
    is_copied: bool,
}

impl<T: Number> Plan<'_, T> {
    /// Whether an image is made a row of places at a time.
    pub(super) fn walks_rows(&self) -> bool {
        let last = &self.last;
        !self.is_plain()
            && self.has_products()
            && self.groups == 1
            && (last.window_dilation == 1 || last.window == 1)
            && last.places >= PLACES
            && last.window * self.from >= ELEMENTS
    }

    /// Whether there are products of pieces: on this processor, for so many channels.
    fn has_products(&self) -> bool {
        is_ours() && self.to > 0 && (self.to * size_of::<T>()).is_multiple_of(VECTOR)
    }

    /// The result at some places.
    pub(super) fn image_rows(&self, places: Range<usize>, w: &[T], y: &mut [MaybeUninit<T>]) {
        assert!(self.has_products(), "it was asked before");
        let last = &self.last;
        let row = ((last.places - 1) * last.stride + last.window) * self.from;
        let widest = WIDEST * VECTOR / size_of::<T>();
        let layout = Layout {
            row,
            kept: (KEPT_BYTES / size_of::<T>() / row).clamp(1, KEPT),
            wide: self.to.min(widest),
            is_copied: self.to > widest,
        };
        let panels = if layout.is_copied { self.depth * self.to } else { 0 };
        // Panels start where vectors do.
        let aligned = VECTOR / size_of::<T>();
        with_scratch(aligned + panels + (1 + layout.kept) * row, |memory: &mut [T]| {
            let before = memory.as_ptr().align_offset(VECTOR).min(aligned);
            let (panels, rows) = memory[before..].split_at_mut(panels);
            if layout.is_copied {
                self.copy_panels(w, layout.wide, panels);
            }
            let kernel = if layout.is_copied { &*panels } else { w };
            self.each_row(places, kernel, &layout, rows, y);
        });
    }

    /// The kernel, so many channels at a time: rows of each panel follow each other.
    fn copy_panels(&self, w: &[T], wide: usize, panels: &mut [T]) {
        for start in (0..self.to).step_by(wide) {
            let width = wide.min(self.to - start);
            let panel = &mut panels[start * self.depth..][..width * self.depth];
            for (to, from) in panel.chunks_exact_mut(width).zip(w.chunks_exact(self.to)) {
                to.copy_from_slice(&from[start..start + width]);
            }
        }
    }

    fn each_row(
        &self,
        places: Range<usize>,
        kernel: &[T],
        layout: &Layout,
        memory: &mut [T],
        y: &mut [MaybeUninit<T>],
    ) {
        let (step, under) = (self.last.stride * self.from, self.last.window * self.from);
        memory[..layout.row].fill(T::ZERO);
        // The row of the image that each place behind the zeros holds.
        let mut held: Vec<Option<usize>> = vec![None; layout.kept];
        // Where in memory the rows of the image are under those rows of the window that are multiplied next.
        let mut under_next = Vec::new();
        self.each_run(places, |run| {
            // Rows of the window that were multiplied.
            let mut done = 0;
            under_next.clear();
            for row in &run.rows {
                let (place, at) = match *row {
                    None => (None, 0),
                    Some(row) => (Some((row, row % layout.kept)), (1 + row % layout.kept) * layout.row),
                };
                let is_new = place.is_some_and(|(row, place)| held[place] != Some(row));
                // What the row would overwrite may be wanted.
                let is_enough = (under_next.len() + 1) * under > IN_ONE_GO;
                let at = at + run.first * step;
                if !under_next.is_empty() && (is_enough || (is_new && under_next.contains(&at))) {
                    self.multiply_rows(run, (done, &under_next), kernel, (layout, memory), y);
                    done += under_next.len();
                    under_next.clear();
                }
                if let Some((row, place)) = place.filter(|_| is_new) {
                    held[place] = Some(row);
                    self.pad(row, &mut memory[(1 + place) * layout.row..][..layout.row]);
                }
                under_next.push(at);
            }
            self.multiply_rows(run, (done, &under_next), kernel, (layout, memory), y);
        });
    }

    /// Adds the products of the rows of the window behind so many with what is under them in memory.
    fn multiply_rows(
        &self,
        run: &Run,
        (done, rows): (usize, &[usize]),
        kernel: &[T],
        (layout, memory): (&Layout, &[T]),
        y: &mut [MaybeUninit<T>],
    ) {
        let (_, multiply) = T::PRODUCT.expect("others are plain");
        let (step, under) = (self.last.stride * self.from, self.last.window * self.from);
        let reach = (run.len - 1) * step + under;
        assert!(rows.iter().all(|at| at + reach <= memory.len()));
        for start in (0..self.to).step_by(layout.wide) {
            let width = layout.wide.min(self.to - start);
            let b = &kernel[start * self.depth + done * under * width..][..rows.len() * under * width];
            let c = &mut y[run.at * self.to + start..][..(run.len - 1) * self.to + width];
            // SAFETY: memory holds `len` rows a step apart from each of these places on, which was asserted; the slices
            // hold the rest: parts of the kernel with their rows side by side, as many rows of the result. The first
            // rows of the window write the result, the others go on from what they left. Products are ours, and there
            // are one to four whole vectors of columns (`has_products`, `Layout::wide`); there is one row of the window,
            // or all are in one go (`each_row`).
            unsafe {
                multiply(
                    [run.len, width, under],
                    (memory.as_ptr(), step, rows),
                    b.as_ptr(),
                    (c.as_mut_ptr().cast::<T>(), self.to),
                    done > 0,
                );
            }
        }
    }

    /// A row of the image with its padding.
    fn pad(&self, row: usize, to: &mut [T]) {
        let (last, from) = (&self.last, self.from);
        let row = &self.x[row * last.image * from..][..last.image * from];
        if last.image_dilation > 1 {
            for (at, to) in to.chunks_exact_mut(from).enumerate() {
                // At the first place the element of a window that long is under it.
                match at_first(last, at) {
                    Some(at) => to.copy_from_slice(&row[at * from..][..from]),
                    None => to.fill(T::ZERO),
                }
            }
            return;
        }
        // From where to where there is something under it.
        let len = to.len() / from;
        let clip = |at: i64| at.clamp(0, len as i64) as usize;
        let (before, after) = (clip(last.low), clip(last.low + last.image as i64));
        to[..before * from].fill(T::ZERO);
        to[after.max(before) * from..].fill(T::ZERO);
        if before < after {
            let at = (before as i64 - last.low) as usize;
            to[before * from..after * from].copy_from_slice(&row[at * from..][..(after - before) * from]);
        }
    }
}

/// Which element of an image with gaps is so far from the first place, if any is.
fn at_first(axis: &tracewell_kernel::WindowAxis, at: usize) -> Option<usize> {
    let from_start = usize::try_from(at as i64 - axis.low).ok()?;
    let is_element = from_start.is_multiple_of(axis.image_dilation);
    Some(from_start / axis.image_dilation).filter(|&element| is_element && element < axis.image)
}

#[cfg(test)]
mod tests {
    use tracewell_array::DType;
    use tracewell_kernel::{Conv, ConvResult, WindowAxis};

    use super::*;

    /// The result a row at a time, and by windows that are copied side by side.
    fn both<T: Number>(conv: &Conv, number: impl Fn(usize) -> T) -> (Vec<T>, Vec<T>) {
        let [x, w, y] = conv.shapes().map(|shape| shape.len());
        let (x, w): (Vec<T>, Vec<T>) =
            ((0..x).map(&number).collect(), (0..w).map(|i| number(3 * i + 1)).collect());
        let plan = Plan::new(conv, &x);
        let made = |by_rows: bool| {
            let mut image = vec![MaybeUninit::new(number(7)); y];
            let places = 0..plan.places;
            if by_rows {
                // In two parts, the border between which is inside of a row.
                let (first, second) = image.split_at_mut(5 * plan.to);
                plan.image_rows(0..5, &w, first);
                plan.image_rows(5..places.end, &w, second);
            } else {
                plan.image_block(places, &w, &mut image);
            }
            // SAFETY: every element was written when it was made.
            image.into_iter().map(|y| unsafe { y.assume_init() }).collect()
        };
        (made(true), made(false))
    }

    fn axis(image: usize, window: usize, stride: usize, low: i64, high: i64, dilation: usize) -> WindowAxis {
        let reach = (image as i64 - 1) * dilation as i64 + 1 + low + high;
        let places = (reach - window as i64) as usize / stride + 1;
        WindowAxis { image, window, places, stride, low, image_dilation: dilation, window_dilation: 1 }
    }

    #[test]
    fn rows_have_the_bits_of_windows() {
        if !is_ours() {
            return;
        }
        let shapes: [(&[WindowAxis], usize, usize); 10] = [
            // More rows than are kept.
            (&[axis(30, 3, 1, 1, 1, 1), axis(14, 3, 1, 1, 1, 1)], 32, 64),
            (&[axis(9, 3, 2, 1, 0, 1), axis(31, 3, 2, 0, 1, 1)], 16, 32),
            (&[axis(20, 5, 1, 2, 2, 1)], 16, 16),
            // Rows so long that one is kept; so deep that two, and that not all of one, are multiplied at once.
            (&[axis(4, 3, 1, 1, 1, 1), axis(2100, 3, 1, 1, 1, 1)], 16, 16),
            (&[axis(4, 3, 1, 1, 1, 1), axis(13, 3, 1, 1, 1, 1)], 80, 16),
            (&[axis(4, 3, 1, 1, 1, 1), axis(13, 3, 1, 1, 1, 1)], 192, 32),
            // Wider than a panel; gaps in the image; what is cut off at the borders.
            (&[axis(5, 2, 1, 0, 0, 1), axis(13, 2, 1, 0, 0, 1)], 32, 144),
            (&[axis(6, 3, 1, 1, 2, 2), axis(9, 3, 1, 2, 1, 2)], 24, 80),
            (&[axis(8, 3, 1, -1, -1, 1), axis(18, 3, 1, -2, -1, 1)], 16, 48),
            (&[axis(4, 2, 1, 1, 0, 1), axis(5, 2, 1, 0, 1, 1), axis(12, 3, 1, 1, 1, 1)], 16, 16),
        ];
        for (axes, from, to) in shapes {
            let conv = |dtype| Conv {
                dtype,
                result: ConvResult::Image,
                batch: 3,
                groups: 1,
                from,
                to,
                axes: axes.to_vec(),
            };
            let number = |i: usize| (i * 7919 % 1013) as f32 * 0.37 - 180.0;
            let (conv32, conv64) = (conv(DType::F32), conv(DType::F64));
            assert!(Plan::new(&conv32, &[0f32; 0]).walks_rows(), "{axes:?}");
            let (rows, windows) = both(&conv32, number);
            assert_eq!(rows, windows, "{axes:?} {from} {to}");
            let (rows, windows) = both(&conv64, |i| f64::from(number(i)));
            assert_eq!(rows, windows, "{axes:?} {from} {to} in f64");
        }
    }
}
