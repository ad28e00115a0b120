//! Products of matrices of floats, for processors with AVX-512.
//!
//! [`rows`] reads both operands where they lie, if they are small enough; [`blocks`] walks over larger ones so that what
//! is read again is near, by tiles of [`tile`]. What all tiles do with their sums is in [`sums`].
//!
//! Invariant: the bits of an element depend on its row, its column and the length of the contraction only, whatever
//! else is computed with it: they are those of one chain of fused multiply-adds that starts at zero.
#![allow(unsafe_code, reason = "operands are strided views of raw memory")]

mod blocks;
mod cache;
mod pack;
mod rows;
mod scratch;
mod sums;
#[cfg(test)]
mod tests;
mod tile;
pub(crate) mod vector;

use std::arch::asm;
use std::ops::Range;

pub(crate) use blocks::DEPTH;
use blocks::{blocks, in_pieces};
pub(crate) use cache::second_cache;
use pack::transpose;
use scratch::{Scratch, TURNED_BYTES, with_scratch};
pub(crate) use vector::Float;

/// A matrix in memory: element `(i, j)` is at `i × row + j × col`.
#[derive(Debug)]
pub(crate) struct Operand<T> {
    pub(crate) at: *const T,
    pub(crate) row: usize,
    pub(crate) col: usize,
}

impl<T> Clone for Operand<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Operand<T> {}

impl<T> Operand<T> {
    /// What begins at a row and a column.
    fn part(self, row: usize, col: usize) -> Operand<T> {
        Operand { at: self.at.wrapping_add(row * self.row + col * self.col), ..self }
    }

    fn transposed(self) -> Operand<T> {
        Operand { at: self.at, row: self.col, col: self.row }
    }
}

/// A matrix in memory to be written: element `(i, j)` is at `i × row + j`.
struct Output<T> {
    at: *mut T,
    row: usize,
    /// Whether sums go on from what it holds.
    goes_on: bool,
    /// Whether it is so large that it is in no near cache when it is written.
    is_far: bool,
}

impl<T> Clone for Output<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Output<T> {}

impl<T> Output<T> {
    /// What begins at a row and a column.
    fn part(self, row: usize, col: usize) -> Output<T> {
        Output { at: self.at.wrapping_add(row * self.row + col), ..self }
    }
}

/// Whether the processor is able to run [`product`].
pub(crate) fn is_able() -> bool {
    is_x86_feature_detected!("avx512f")
}

/// `c[i × c_row + j] = Σ_p a[i, p] × b[p, j]` for sizes `[m, n, k]` of `i`, `j` and `p`; if it `adds`, to what `c`
/// holds.
///
/// # Safety
///
/// The processor [is able](is_able). Every element that the sizes and strides reach is one of an operand that is
/// initialised, or of the result, which need not be if nothing is added to it. While this runs nobody writes to the
/// operands or uses the result, which overlaps neither.
pub(crate) unsafe fn product<T: Float>(
    sizes: [usize; 3],
    a: Operand<T>,
    b: Operand<T>,
    c: *mut T,
    c_row: usize,
    adds: bool,
) {
    let bytes = sizes[0] * c_row * size_of::<T>();
    let c = Output { at: c, row: c_row, goes_on: adds, is_far: bytes > second_cache() / 2 };
    if sizes[0] == 0 {
        return;
    }
    with_scratch(|scratch| {
        if !adds && is_better_turned(sizes, a, b) {
            // SAFETY: the caller's promise.
            unsafe { turned(sizes, a, b, c, scratch) };
        } else if rows::suits(sizes, a, b) {
            // SAFETY: the caller's promise.
            unsafe { rows::rows(sizes, a, b, c) };
        } else {
            // SAFETY: the caller's promise.
            unsafe { blocks(sizes, a, b, c, scratch) };
        }
    });
}

/// `c[i × c_row + j] = Σ_q Σ_p a[i, pieces[q] + p] × b[q × k + p, j]` for sizes `[m, n, k]` of `i`, `j` and `p`; if it
/// `adds`, to what `c` holds.
///
/// # Safety
///
/// As for [`product`], and there are some rows and one to four whole vectors of columns. Pieces are not longer than
/// [`DEPTH`], or there is one.
pub(crate) unsafe fn product_of_pieces<T: Float>(
    sizes: [usize; 3],
    (a, pieces): (Operand<T>, &[usize]),
    b: Operand<T>,
    (c, c_row): (*mut T, usize),
    adds: bool,
) {
    let c = Output { at: c, row: c_row, goes_on: adds, is_far: false };
    // SAFETY: the caller's promise.
    unsafe { in_pieces(sizes, (a, pieces), b, c) };
}

/// Whether less is done in vain if rows and columns of the result are exchanged.
fn is_better_turned<T: Float>([m, n, k]: [usize; 3], a: Operand<T>, b: Operand<T>) -> bool {
    // Vectors are parts of rows of the right operand. What lies otherwise is copied element by element.
    let plain = if b.col == 1 { 0 } else { k * n };
    let turned = m * n + if a.row == 1 { 0 } else { k * m };
    // Elements of the other operand are multiplied by lanes that nobody looks at.
    let vain = |len: usize| len.next_multiple_of(T::LANES) - len;
    plain + k * m * vain(n) / T::LANES > turned + k * n * vain(m) / T::LANES
}

/// The product with rows and columns of the result exchanged, a part at a time.
///
/// # Safety
///
/// As for [`product`].
#[target_feature(enable = "avx512f")]
unsafe fn turned<T: Float>(
    [m, n, k]: [usize; 3],
    a: Operand<T>,
    b: Operand<T>,
    c: Output<T>,
    scratch: Scratch<T>,
) {
    let most = TURNED_BYTES / size_of::<T>();
    let across = m.min(most / 256);
    let down = most / across;
    for i in parts(m, across) {
        for j in parts(n, down) {
            let (a, b) = (a.part(i.start, 0).transposed(), b.part(0, j.start).transposed());
            let turned = Output { at: scratch.turned, row: i.len(), goes_on: false, is_far: false };
            // SAFETY: the caller's promise, for a part of the result; there is room for that.
            unsafe { blocks([j.len(), i.len(), k], b, a, turned, scratch) };
            let turned = Operand { at: scratch.turned.cast_const(), row: i.len(), col: 1 };
            let c = c.part(i.start, j.start);
            // SAFETY: the caller's promise, for a part of the result.
            unsafe { transpose::<T, false>(turned, j.len(), i.len(), c.at, c.row) };
        }
    }
}

/// Parts of about equal length, `most` at most. There is one if there is nothing.
fn parts(len: usize, most: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let count = len.div_ceil(most).max(1);
    (0..count).map(move |part| len * part / count..len * (part + 1) / count)
}

/// Rows as stacks of tiles of about equal height, at most `most`, and how high the tiles of each are. If the first tile
/// is apart, it is a stack by itself.
fn stacks(
    len: usize,
    most: usize,
    is_first_apart: bool,
) -> impl Iterator<Item = (Range<usize>, usize)> + Clone {
    let count = len.div_ceil(most).max(1);
    let (low, higher) = (len / count, len % count);
    let high = low + usize::from(higher > 0);
    let first = if is_first_apart { high } else { 0 };
    let edge = first.max(high * higher);
    let stacks = [(0..first, high), (first..edge, high), (edge..len, low)];
    stacks.into_iter().filter(|(rows, _)| !rows.is_empty())
}

/// The same, of which the compiler does not know what it was. Else it would make addresses from each other in the loop,
/// by additions that take turns from multiplications.
#[allow(clippy::pointers_in_nomem_asm_block, reason = "what is at the address is not touched")]
#[inline(always)]
fn unknown<T>(mut x: *const T) -> *const T {
    // SAFETY: there is no instruction in it.
    unsafe { asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags)) };
    x
}
