//! Convolutions: what is under the window is copied side by side, a block of places at a time, and multiplied; or
//! multiplied where it lies, a row of places at a time, if there is enough of it in a row: see [`rows`].
//!
//! Invariant: an element of the result does not depend on the number of threads, nor on which of them made it: blocks
//! are the same for any number of threads, and so is the order in which what they make is added.
#![allow(
    unsafe_code,
    reason = "operands are raw memory, and parts of a result are made by calls on raw memory"
)]

mod rows;

use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::thread::LocalKey;

use tracewell_array::DType;
use tracewell_kernel::{Conv, ConvResult, WindowAxis};

use crate::multiply::{Pieces, Strided, multiply, multiply_pieces};
use crate::pool;
use crate::subnormal::flushed;

/// Multiply-adds below which a convolution stays on one thread.
const PARALLEL: usize = 1 << 20;
/// So many elements are copied side by side, if the number of places below allows.
const BLOCK: usize = 1 << 17;
/// Fewest and most places of a block: few are not worth a product, many not worth a larger copy.
const PLACES: [usize; 2] = [48, 1024];
/// Where as many elements of a window follow each other they are copied together, else place by place.
const TOGETHER: usize = 16;
/// The kernel is summed in so many parts, which are added at the end.
const SUMS: usize = 16;

/// # Safety
///
/// The buffers have the sizes of the call, which was verified, and are aligned for its dtype. Operands are initialised.
/// While this runs nobody writes to them or uses the result, which overlaps neither.
pub(crate) unsafe fn convolve(conv: &Conv, a: *const u8, b: *const u8, c: *mut u8) {
    match conv.dtype {
        DType::F32 => {
            // SAFETY: the caller's promise.
            unsafe { typed::<f32>(conv, a.cast(), b.cast(), c.cast()) }
        }
        DType::F64 => {
            // SAFETY: the caller's promise.
            unsafe { typed::<f64>(conv, a.cast(), b.cast(), c.cast()) }
        }
        DType::I64 => {
            // SAFETY: the caller's promise.
            unsafe { typed::<i64>(conv, a.cast(), b.cast(), c.cast()) }
        }
        // Signed and unsigned numbers wrap alike.
        DType::I32 | DType::U32 => {
            // SAFETY: the caller's promise.
            unsafe { typed::<u32>(conv, a.cast(), b.cast(), c.cast()) }
        }
        DType::U8 => {
            // SAFETY: the caller's promise.
            unsafe { typed::<u8>(conv, a.cast(), b.cast(), c.cast()) }
        }
        DType::Bool | DType::C64 | DType::C128 => {
            unreachable!("the verifier refuses convolutions of other than real numbers")
        }
    }
}

/// Whether a convolution is split between threads, if one of them makes it.
pub(crate) fn is_shared(conv: &Conv) -> bool {
    conv.work() >= PARALLEL
}

/// A product of matrices: see [`multiply`].
type Product<T> = unsafe fn([usize; 3], Strided<T>, Strided<T>, (*mut T, usize), bool);

/// The same of rows in pieces: see [`multiply_pieces`].
type ProductOfPieces<T> = unsafe fn([usize; 3], Pieces<'_, T>, *const T, (*mut T, usize), bool);

/// What a convolution needs of its elements.
trait Number: Copy + Send + Sync + 'static {
    const ZERO: Self;
    /// Products of matrices, if there are fast ones.
    const PRODUCT: Option<(Product<Self>, ProductOfPieces<Self>)>;
    fn add_product(self, a: Self, b: Self) -> Self;
    fn add(self, a: Self) -> Self;
    fn scratch() -> &'static LocalKey<RefCell<Vec<Self>>>;
}

macro_rules! number {
    ($($t:ident $zero:literal $product_of:expr,
        |$sum:ident, $a:ident, $b:ident| $product:expr, $add:path;)*) => {$(
        impl Number for $t {
            const ZERO: $t = $zero;
            const PRODUCT: Option<(Product<$t>, ProductOfPieces<$t>)> = $product_of;
            #[inline(always)]
            fn add_product(self, $a: $t, $b: $t) -> $t {
                let $sum = self;
                $product
            }
            #[inline(always)]
            fn add(self, a: $t) -> $t {
                $add(self, a)
            }
            fn scratch() -> &'static LocalKey<RefCell<Vec<$t>>> {
                thread_local!(static SCRATCH: RefCell<Vec<$t>> = const { RefCell::new(Vec::new()) });
                &SCRATCH
            }
        }
    )*};
}

number! {
    f32 0.0 Some((multiply::<f32>, multiply_pieces::<f32>)), |sum, a, b| a * b + sum, std::ops::Add::add;
    f64 0.0 Some((multiply::<f64>, multiply_pieces::<f64>)), |sum, a, b| a * b + sum, std::ops::Add::add;
    i64 0 None, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)), i64::wrapping_add;
    u32 0 None, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)), u32::wrapping_add;
    u8 0 None, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)), u8::wrapping_add;
}

/// # Safety
///
/// As for [`convolve`].
unsafe fn typed<T: Number>(conv: &Conv, a: *const T, b: *const T, c: *mut T) {
    let [x, w, y] = conv.shapes().map(|shape| shape.len());
    let (b_len, c_len) = match conv.result {
        ConvResult::Image => (w, y),
        ConvResult::Kernel => (y, w),
    };
    // SAFETY: the caller's promise: initialised, of this size, and nobody writes to it now.
    let a = unsafe { std::slice::from_raw_parts(a, x) };
    // SAFETY: the same of the second operand.
    let b = unsafe { std::slice::from_raw_parts(b, b_len) };
    // SAFETY: the caller's promise: so many elements of the result are ours to write.
    let c = unsafe { std::slice::from_raw_parts_mut(c.cast::<MaybeUninit<T>>(), c_len) };
    let plan = Plan::new(conv, a);
    match conv.result {
        ConvResult::Image => plan.image(b, c),
        ConvResult::Kernel => plan.kernel(b, c),
    }
}

/// A convolution over an image, with the numbers that its loops use.
struct Plan<'a, T> {
    x: &'a [T],
    /// The axes but the last; the last, along which places follow each other.
    outer: Vec<WindowAxis>,
    last: WindowAxis,
    groups: usize,
    from: usize,
    to: usize,
    /// Places in all images together.
    places: usize,
    /// Elements under the window, for a group of channels.
    depth: usize,
    /// Places of a block.
    block: usize,
    is_shared: bool,
    is_small: bool,
}

/// Places that follow each other along the last axis.
struct Run {
    /// The first one, and how many.
    first: usize,
    len: usize,
    /// Its number in the block.
    at: usize,
    /// For each element of the window along the outer axes, which row of which image is under it.
    rows: Vec<Option<usize>>,
}

/// Whether the elements under one window follow each other, or those under one element of all windows.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    ByPlace,
    ByElement,
}

impl<'a, T: Number> Plan<'a, T> {
    fn new(conv: &Conv, x: &'a [T]) -> Plan<'a, T> {
        let mut outer = conv.axes.clone();
        let one = WindowAxis {
            image: 1,
            window: 1,
            places: 1,
            stride: 1,
            low: 0,
            image_dilation: 1,
            window_dilation: 1,
        };
        let last = outer.pop().unwrap_or(one);
        let window: usize = conv.axes.iter().map(|axis| axis.window).product();
        let places = conv.batch * conv.axes.iter().map(|axis| axis.places).product::<usize>();
        let depth = window * conv.from;
        let [few, many] = PLACES;
        let is_small = conv.work() <= Conv::SMALL;
        let block = if is_small { places.max(1) } else { (BLOCK / depth.max(1)).clamp(few, many) };
        let (groups, from, to) = (conv.groups, conv.from, conv.to);
        Plan { x, outer, last, groups, from, to, places, depth, block, is_shared: is_shared(conv), is_small }
    }

    /// The result image: every block by itself.
    fn image(&self, w: &[T], y: &mut [MaybeUninit<T>]) {
        let channels = self.groups * self.to;
        if y.is_empty() {
            return;
        }
        let blocks = self.places.div_ceil(self.block);
        let parts = if self.is_shared { blocks.min(4 * pool::threads()) } else { 1 };
        let mut rest = y;
        let mut shares = Vec::with_capacity(parts);
        for part in 0..parts {
            let places = self.places_of(blocks * part / parts..blocks * (part + 1) / parts);
            let (own, others) = rest.split_at_mut(places.len() * channels);
            shares.push((places, own));
            rest = others;
        }
        let in_rows = self.walks_rows();
        self.in_parts(shares, |(places, y)| {
            if in_rows {
                return self.image_rows(places, w, y);
            }
            let mut y = y;
            for start in places.clone().step_by(self.block) {
                let block = start..places.end.min(start + self.block);
                let (own, others) = std::mem::take(&mut y).split_at_mut(block.len() * channels);
                self.image_block(block, w, own);
                y = others;
            }
        });
    }

    /// The result kernel: sums over some blocks each, then their sum.
    fn kernel(&self, y: &[T], w: &mut [MaybeUninit<T>]) {
        let blocks = self.places.div_ceil(self.block);
        let parts = blocks.clamp(1, SUMS);
        let sums: Vec<Vec<T>> = (0..parts).map(|_| vec![T::ZERO; w.len()]).collect();
        let mut sums = sums;
        let shares: Vec<(Range<usize>, &mut [T])> = sums
            .iter_mut()
            .enumerate()
            .map(|(part, sum)| {
                (self.places_of(blocks * part / parts..blocks * (part + 1) / parts), sum.as_mut_slice())
            })
            .collect();
        let shares =
            if self.is_shared { shares.into_iter().map(|share| vec![share]).collect() } else { vec![shares] };
        self.in_parts(shares, |shares: Vec<(Range<usize>, &mut [T])>| {
            for (places, sum) in shares {
                for start in places.clone().step_by(self.block) {
                    self.kernel_block(start..places.end.min(start + self.block), y, sum);
                }
            }
        });
        let (first, others) = sums.split_at_mut(1);
        for other in others {
            first[0].iter_mut().zip(other.iter()).for_each(|(sum, &more)| *sum = sum.add(more));
        }
        w.iter_mut().zip(&first[0]).for_each(|(w, &sum)| {
            w.write(sum);
        });
    }

    fn places_of(&self, blocks: Range<usize>) -> Range<usize> {
        (blocks.start * self.block).min(self.places)..(blocks.end * self.block).min(self.places)
    }

    /// Whether every channel is a group of its own: then channels are walked side by side.
    fn is_depthwise(&self) -> bool {
        self.from == 1 && self.to == 1 && self.groups > 1
    }

    /// Whether it is done by plain loops.
    fn is_plain(&self) -> bool {
        T::PRODUCT.is_none() || self.is_small || self.is_depthwise() || self.depth == 0
    }

    /// Runs `work` on every share.
    fn in_parts<S: Send>(&self, shares: Vec<S>, work: impl Fn(S) + Sync) {
        pool::share_out(shares, |share| if self.is_small { work(share) } else { flushed(|| work(share)) });
    }

    fn image_block(&self, places: Range<usize>, w: &[T], y: &mut [MaybeUninit<T>]) {
        let channels = self.groups * self.to;
        if self.is_plain() {
            y.iter_mut().for_each(|y| {
                y.write(T::ZERO);
            });
            return self.each_under(places.clone(), |place, k, x| {
                let start = (place - places.start) * channels;
                add_to_image(
                    self,
                    x,
                    &w[k * self.from * channels..][..self.from * channels],
                    &mut y[start..][..channels],
                );
            });
        }
        let (order, (multiply, _)) = (self.order(), T::PRODUCT.expect("others are plain"));
        with_scratch(places.len() * self.depth, |side_by_side: &mut [T]| {
            for group in 0..self.groups {
                self.copy(places.clone(), group, order, side_by_side);
                let (row, column) = self.strides(order, places.len());
                let (w, y) = (&w[group * self.to..], &mut y[group * self.to..]);
                // SAFETY: the copy is `places × depth`, the kernel from here on has `depth` rows and the result
                // `places` rows of `to` elements, rows `channels` apart; the result is not read.
                unsafe {
                    multiply(
                        [places.len(), self.to, self.depth],
                        (side_by_side.as_ptr(), row, column),
                        (w.as_ptr(), channels, 1),
                        (y.as_mut_ptr().cast::<T>(), channels),
                        false,
                    );
                }
            }
        });
    }

    fn kernel_block(&self, places: Range<usize>, y: &[T], w: &mut [T]) {
        let channels = self.groups * self.to;
        if self.is_plain() || w.is_empty() {
            return self.each_under(places, |place, k, x| {
                let y = &y[place * channels..][..channels];
                add_to_kernel(self, x, y, &mut w[k * self.from * channels..][..self.from * channels]);
            });
        }
        let (order, (multiply, _)) = (self.order(), T::PRODUCT.expect("others are plain"));
        with_scratch(places.len() * self.depth, |side_by_side: &mut [T]| {
            for group in 0..self.groups {
                self.copy(places.clone(), group, order, side_by_side);
                let (row, column) = self.strides(order, places.len());
                let y = &y[places.start * channels + group * self.to..];
                let w = &mut w[group * self.to..];
                // SAFETY: the copy is `places × depth`, read here as its transpose; the second image from here on has
                // `places` rows and the sum `depth` rows of `to` elements, rows `channels` apart.
                unsafe {
                    multiply(
                        [self.depth, self.to, places.len()],
                        (side_by_side.as_ptr(), column, row),
                        (y.as_ptr(), channels, 1),
                        (w.as_mut_ptr(), channels),
                        true,
                    );
                }
            }
        });
    }

    fn order(&self) -> Order {
        let follow = if self.groups == 1 { self.last.window * self.from } else { self.from };
        if follow < TOGETHER { Order::ByElement } else { Order::ByPlace }
    }

    /// How far apart places and elements of a copy are.
    fn strides(&self, order: Order, places: usize) -> (usize, usize) {
        match order {
            Order::ByPlace => (self.depth, 1),
            Order::ByElement => (1, places),
        }
    }

    /// The runs that make up some places.
    fn each_run(&self, places: Range<usize>, mut f: impl FnMut(&Run)) {
        let (along, mut place) = (self.last.places, places.start);
        let window: usize = self.outer.iter().map(|axis| axis.window).product();
        let mut run = Run { first: 0, len: 0, at: 0, rows: Vec::with_capacity(window) };
        while place < places.end {
            run.first = place % along;
            run.len = (along - run.first).min(places.end - place);
            run.at = place - places.start;
            run.rows.clear();
            run.rows.extend((0..window).map(|k| self.row(place / along, k)));
            f(&run);
            place += run.len;
        }
    }

    /// Which row of which image is under an element of the window along the outer axes, at a row of places.
    fn row(&self, mut place: usize, mut k: usize) -> Option<usize> {
        // From the last of the outer axes to the first, so that what is left is the image.
        let (mut row, mut step) = (0, 1);
        for axis in self.outer.iter().rev() {
            row += axis.source(place % axis.places, k % axis.window)? * step;
            step *= axis.image;
            place /= axis.places;
            k /= axis.window;
        }
        Some(place * step + row)
    }

    /// Calls `f` with each place, each element of the window and the channels under it, padding apart.
    fn each_under(&self, places: Range<usize>, mut f: impl FnMut(usize, usize, &[T])) {
        let channels = self.groups * self.from;
        let start = places.start;
        self.each_run(places, |run| {
            for i in 0..run.len {
                for (outer, row) in run.rows.iter().enumerate() {
                    let Some(row) = row else { continue };
                    for k in 0..self.last.window {
                        let Some(at) = self.last.source(run.first + i, k) else { continue };
                        let x = &self.x[(row * self.last.image + at) * channels..][..channels];
                        f(start + run.at + i, outer * self.last.window + k, x);
                    }
                }
            }
        });
    }

    /// What is under the window, a group of channels of it, side by side.
    fn copy(&self, places: Range<usize>, group: usize, order: Order, to: &mut [T]) {
        let count = places.len();
        let channels = self.groups * self.from;
        self.each_run(places, |run| {
            for (outer, row) in run.rows.iter().enumerate() {
                let row =
                    row.map(|row| &self.x[row * self.last.image * channels..][..self.last.image * channels]);
                match order {
                    Order::ByPlace => self.copy_by_place(run, outer, row, group, to),
                    Order::ByElement => self.copy_by_element(run, outer, row, group, count, to),
                }
            }
        });
    }

    fn copy_by_place(&self, run: &Run, outer: usize, row: Option<&[T]>, group: usize, to: &mut [T]) {
        let (last, from) = (&self.last, self.from);
        let channels = self.groups * from;
        let width = last.window * from;
        let follows = self.groups == 1 && last.image_dilation == 1 && last.window_dilation == 1;
        for i in 0..run.len {
            let to = &mut to[(run.at + i) * self.depth + outer * width..][..width];
            let Some(row) = row else {
                to.fill(T::ZERO);
                continue;
            };
            if follows {
                // From where to where the window is over elements.
                let start = ((run.first + i) * last.stride) as i64 - last.low;
                let clip = |at: i64| at.clamp(0, last.window as i64) as usize * from;
                let (before, after) = (clip(-start), clip(last.image as i64 - start));
                to[..before.min(after)].fill(T::ZERO);
                if before < after {
                    let at = (start * from as i64 + before as i64) as usize;
                    to[before..after].copy_from_slice(&row[at..at + after - before]);
                }
                to[after..].fill(T::ZERO);
                continue;
            }
            for (k, to) in to.chunks_exact_mut(from).enumerate() {
                match last.source(run.first + i, k) {
                    Some(at) => to.copy_from_slice(&row[at * channels + group * from..][..from]),
                    None => to.fill(T::ZERO),
                }
            }
        }
    }

    fn copy_by_element(
        &self,
        run: &Run,
        outer: usize,
        row: Option<&[T]>,
        group: usize,
        count: usize,
        to: &mut [T],
    ) {
        let (last, from) = (&self.last, self.from);
        let channels = self.groups * from;
        for k in 0..last.window {
            for channel in 0..from {
                let element = (outer * last.window + k) * from + channel;
                let to = &mut to[element * count + run.at..][..run.len];
                let Some(row) = row else {
                    to.fill(T::ZERO);
                    continue;
                };
                let of_channel = group * from + channel;
                if last.image_dilation > 1 {
                    for (i, to) in to.iter_mut().enumerate() {
                        let at = last.source(run.first + i, k);
                        *to = at.map_or(T::ZERO, |at| row[at * channels + of_channel]);
                    }
                    continue;
                }
                // The places where this element of the window is over an element: from where on, and how many.
                let start = (run.first * last.stride + k * last.window_dilation) as i64 - last.low;
                let stride = last.stride as i64;
                let clip = |room: i64| ((room.max(0) + stride - 1) / stride).min(run.len as i64) as usize;
                let (before, after) = (clip(-start), clip(last.image as i64 - start));
                to[..before.min(after)].fill(T::ZERO);
                to[after..].fill(T::ZERO);
                if before >= after {
                    continue;
                }
                let to = &mut to[before..after];
                let at = (start + before as i64 * stride) as usize * channels + of_channel;
                match channels * last.stride {
                    1 => to.copy_from_slice(&row[at..at + to.len()]),
                    step => to.iter_mut().zip(row[at..].iter().step_by(step)).for_each(|(to, &x)| *to = x),
                }
            }
        }
    }
}

/// `y[c] += Σ_i x[i] × w[i, c]`, for each group of channels.
fn add_to_image<T: Number>(plan: &Plan<'_, T>, x: &[T], w: &[T], y: &mut [MaybeUninit<T>]) {
    // SAFETY: the only caller has written every element of the block before.
    let y = unsafe { &mut *(std::ptr::from_mut(y) as *mut [T]) };
    if plan.is_depthwise() {
        return y.iter_mut().zip(x.iter().zip(w)).for_each(|(y, (&x, &w))| *y = y.add_product(x, w));
    }
    for (group, y) in y.chunks_exact_mut(plan.to).enumerate() {
        for (i, w) in w.chunks_exact(plan.groups * plan.to).enumerate() {
            let x = x[group * plan.from + i];
            let w = &w[group * plan.to..][..plan.to];
            y.iter_mut().zip(w).for_each(|(y, &w)| *y = y.add_product(x, w));
        }
    }
}

/// `w[i, c] += x[i] × y[c]`, for each group of channels.
fn add_to_kernel<T: Number>(plan: &Plan<'_, T>, x: &[T], y: &[T], w: &mut [T]) {
    if plan.is_depthwise() {
        return w.iter_mut().zip(x.iter().zip(y)).for_each(|(w, (&x, &y))| *w = w.add_product(x, y));
    }
    for (i, w) in w.chunks_exact_mut((plan.groups * plan.to).max(1)).enumerate() {
        for (group, (w, y)) in w.chunks_exact_mut(plan.to).zip(y.chunks_exact(plan.to)).enumerate() {
            let x = x[group * plan.from + i];
            w.iter_mut().zip(y).for_each(|(w, &y)| *w = w.add_product(x, y));
        }
    }
}

/// Memory of this thread for so many elements, whatever they are.
fn with_scratch<T: Number>(len: usize, f: impl FnOnce(&mut [T])) {
    let mut memory = T::scratch().take();
    if memory.len() < len {
        memory.resize(len, T::ZERO);
    }
    f(&mut memory[..len]);
    T::scratch().set(memory);
}
