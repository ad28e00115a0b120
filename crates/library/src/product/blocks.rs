//! The order in which a product walks over its operands.
//!
//! The right operand is cut into panels as wide as a tile. Some of them, not deeper than fits, are walked by one row of
//! tiles after the other: they stay in the second cache, the rows of the left operand in the first. If there is one panel,
//! or the left operand is small too, the tiles of a panel below each other are one stack: what is around a tile takes as
//! long as some steps of its contraction. Usually the first tile of a panel leaves a copy of it that lies well, from which
//! the others read.
#![allow(unsafe_code, reason = "operands are strided views of raw memory")]

use std::ops::Range;

use super::cache::second_cache;
use super::pack::copy_rows;
use super::scratch::{LEFT_BYTES, RIGHT_BYTES, Scratch};
use super::tile::{Tile, WIDEST, most_rows, stack, width};
use super::vector::{BYTES, Float, first};
use super::{Operand, Output, parts, stacks};

/// Length of a contraction that is done in one go.
pub(crate) const DEPTH: usize = 512;
/// Bytes of the copy of a panel.
const PANEL: usize = DEPTH * WIDEST * BYTES;
/// Bytes of a right operand that stays in the first cache, however it lies.
const NEAR: usize = 1 << 14;
/// Rows of the result below which a copy of the right operand is not read often enough: of any, of one whose panels fit
/// the first cache, from which copies come faster, and of others.
const COPIED_FROM: usize = 24;
const COPIED_NEAR_FROM: usize = 40;
const COPIED_FAR_FROM: usize = 96;
/// Bytes of a panel that the first cache holds.
pub(super) const FIRST: usize = 1 << 15;
/// The bytes between rows of the right operand from which on they are copied all the same: so far apart, they meet in the
/// same places of a cache. Multiples of the second do so in pairs.
const FAR: usize = 1 << 12;
const HALF_AS_FAR: usize = FAR / 2;
/// Bytes of rows of the left operand up to which panels are walked one after the other, and not rows of tiles.
const WALKED: usize = 1 << 17;
/// Rows of the left operand that are copied at once if they have no unit stride, and how many panels have to walk them.
const ROWS: usize = 48;
const WALKED_OFTEN: usize = 4;
const _: () = assert!(ROWS * (DEPTH * size_of::<f64>() + BYTES) <= LEFT_BYTES);

/// # Safety
///
/// As for [`product`](super::product).
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn blocks<T: Float>(
    [m, n, k]: [usize; 3],
    a: Operand<T>,
    b: Operand<T>,
    c: Output<T>,
    scratch: Scratch<T>,
) {
    // Panels that are walked together: their copies fill half of the second cache.
    let together = (second_cache() / 2).clamp(PANEL, RIGHT_BYTES) / PANEL;
    let mut start = 0;
    while start < n {
        let left = (n - start).div_ceil(T::LANES);
        let vectors = width(m, left, k > DEPTH);
        let count = (left / vectors).min(together);
        let columns = start..n.min(start + count * vectors * T::LANES);
        start = columns.end;
        let is_whole = b.col == 1 && columns.len().is_multiple_of(T::LANES);
        // Of a single row of tiles nothing is read twice, nor copied if it ends with a vector.
        let is_single = m <= most_rows(vectors);
        for p in parts(k, if is_whole && is_single { k.max(1) } else { DEPTH }) {
            let b = b.part(p.start, columns.start);
            let lies_well = b.row == vectors * T::LANES || is_read_in_place([m, n, p.len()], b, vectors);
            let panels = Panels {
                b,
                copies: scratch.right,
                columns: columns.len(),
                vectors,
                depth: p.len(),
                walk: match is_whole {
                    true if is_single || lies_well => Walk::InPlace,
                    true if vectors == WIDEST => Walk::InPlaceFirst,
                    _ => Walk::Copied,
                },
            };
            let mut c = c.part(0, columns.start);
            c.goes_on |= p.start > 0;
            let left = (scratch.left, a.col != 1 && count >= WALKED_OFTEN);
            // SAFETY: the caller's promise, for some columns and a part of the contraction.
            unsafe { panels.product(m, a.part(0, p.start), c, left) };
        }
    }
}

/// Whether copies of a right operand with unit stride, for a product of such sizes, would take longer to make than they
/// save.
fn is_read_in_place<T: Float>([m, n, depth]: [usize; 3], b: Operand<T>, vectors: usize) -> bool {
    let (apart, bytes) = (b.row * size_of::<T>(), n * depth * size_of::<T>());
    if depth * apart <= NEAR || (m < COPIED_FROM && apart < FAR) {
        return true;
    }
    let from = if vectors * BYTES * depth <= FIRST { COPIED_NEAR_FROM } else { COPIED_FAR_FROM };
    let is_aligned = b.at.addr().is_multiple_of(BYTES) && apart.is_multiple_of(BYTES);
    // Beside the second cache: rows that meet have half of it.
    let most = if apart.is_multiple_of(HALF_AS_FAR) { second_cache() / 2 } else { second_cache() * 5 / 4 };
    m < from && is_aligned && apart < FAR && bytes <= most
}

/// A product of few columns, of a left operand whose rows are in pieces.
///
/// # Safety
///
/// As for [`product_of_pieces`](super::product_of_pieces).
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn in_pieces<T: Float>(
    [m, n, k]: [usize; 3],
    (a, pieces): (Operand<T>, &[usize]),
    b: Operand<T>,
    mut c: Output<T>,
) {
    let vectors = n / T::LANES;
    debug_assert!(n.is_multiple_of(T::LANES) && vectors <= WIDEST && (k <= DEPTH || pieces.len() == 1));
    for p in parts(k, DEPTH) {
        for (rows, height) in stacks(m, most_rows(vectors), false) {
            let place = Tile {
                a: a.part(rows.start, p.start),
                pieces,
                b: b.part(p.start, 0),
                copy: None,
                c: c.part(rows.start, 0),
                depth: p.len(),
                last: first::<T>(T::LANES),
            };
            // SAFETY: the caller's promise, for some rows and a part of the contraction.
            unsafe { stack(&place, rows.len(), height, vectors) };
        }
        c.goes_on = true;
    }
}

/// Where tiles read the right operand.
#[derive(Clone, Copy)]
enum Walk {
    InPlace,
    /// The first row of tiles in place, others from copies that it leaves.
    InPlaceFirst,
    /// From copies that are made before.
    Copied,
}

/// The first column of a panel, how many it has, and where its copy is.
type Panel<T> = (usize, usize, *mut T);

/// Panels of the right operand, side by side.
struct Panels<T> {
    b: Operand<T>,
    /// Where copies are, one after the other.
    copies: *mut T,
    /// How many columns all have.
    columns: usize,
    /// How wide each is.
    vectors: usize,
    depth: usize,
    walk: Walk,
}

impl<T: Float> Panels<T> {
    /// `m` rows of the result. `left` is memory for copies of the left operand, and whether they are worth it.
    ///
    /// # Safety
    ///
    /// As for [`product`](super::product), and there is room for copies.
    #[target_feature(enable = "avx512f")]
    unsafe fn product(&self, m: usize, a: Operand<T>, c: Output<T>, left: (*mut T, bool)) {
        if let Walk::Copied = self.walk {
            // SAFETY: the caller's promise.
            unsafe { self.copy() };
        }
        let (to, copies) = left;
        for i in parts(m, if copies { ROWS } else { m }) {
            let mut a = a.part(i.start, 0);
            if copies {
                // An odd number of lines, so that rows do not meet in the same places of a cache.
                let row = (self.depth.div_ceil(T::LANES) | 1) * T::LANES;
                // SAFETY: the caller's promise, for some rows.
                unsafe { copy_rows(a, i.len(), self.depth, to, row) };
                a = Operand { at: to, row, col: 1 };
            }
            let place = (a, c.part(i.start, 0), i.start);
            let is_near = i.len() * self.depth * size_of::<T>() <= WALKED;
            if is_near || self.columns <= self.vectors * T::LANES {
                let stacks = stacks(i.len(), most_rows(self.vectors), i.start == 0 && self.leaves_copies());
                for panel in self.each() {
                    for (rows, height) in stacks.clone() {
                        // SAFETY: the caller's promise, for some rows and columns. If they are not the first, those left
                        // a copy.
                        unsafe { self.stack(panel, rows, height, place) };
                    }
                }
            } else {
                for rows in parts(i.len(), most_rows(self.vectors)) {
                    for panel in self.each() {
                        // SAFETY: the same.
                        unsafe { self.stack(panel, rows.clone(), rows.len(), place) };
                    }
                }
            }
        }
    }

    /// Whether the first tile of a panel leaves a copy.
    fn leaves_copies(&self) -> bool {
        matches!(self.walk, Walk::InPlaceFirst)
    }

    fn each(&self) -> impl Iterator<Item = Panel<T>> {
        let wide = self.vectors * T::LANES;
        (0..self.columns).step_by(wide).map(move |start| {
            (start, wide.min(self.columns - start), self.copies.wrapping_add(start * self.depth))
        })
    }

    /// # Safety
    ///
    /// As for [`Self::product`].
    #[target_feature(enable = "avx512f")]
    unsafe fn copy(&self) {
        for (start, columns, to) in self.each() {
            // SAFETY: the caller's promise, for some columns.
            unsafe { copy_rows(self.b.part(0, start), self.depth, columns, to, self.vectors * T::LANES) };
        }
    }

    /// Tiles below each other, of some rows of a part of the result that has so many rows above it.
    ///
    /// # Safety
    ///
    /// As for [`Self::product`]; what is read from a copy is there.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn stack(
        &self,
        (start, columns, copy): Panel<T>,
        rows: Range<usize>,
        height: usize,
        (a, c, above): (Operand<T>, Output<T>, usize),
    ) {
        let in_place = self.b.part(0, start);
        let copied = Operand { at: copy.cast_const(), row: self.vectors * T::LANES, col: 1 };
        let (b, copy) = match self.walk {
            Walk::InPlace => (in_place, None),
            Walk::InPlaceFirst if above + rows.start == 0 => (in_place, Some(copy)),
            Walk::InPlaceFirst | Walk::Copied => (copied, None),
        };
        let place = Tile {
            a: a.part(rows.start, 0),
            pieces: &[0],
            b,
            copy,
            c: c.part(rows.start, start),
            depth: self.depth,
            last: first::<T>(columns - (self.vectors - 1) * T::LANES),
        };
        // SAFETY: the caller's promise, for some rows and columns.
        unsafe { stack(&place, rows.len(), height, self.vectors) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a right operand with so many columns and rows, whose rows are so many elements apart, is read where it lies
    /// for a result of so many rows.
    fn in_place(sizes: [usize; 3], row: usize, address: usize) -> bool {
        let at = std::ptr::without_provenance::<f32>(address);
        is_read_in_place(sizes, Operand { at, row, col: 1 }, WIDEST)
    }

    #[test]
    fn few_rows_read_the_right_operand_where_it_lies() {
        // Panels that the first cache does not hold, and some that it holds.
        assert_eq!([95, 96].map(|m| in_place([m, 240, 160], 240, 0)), [true, false]);
        assert_eq!([39, 40].map(|m| in_place([m, 128, 128], 128, 0)), [true, false]);
        // Rows that begin in the middle of a line.
        assert_eq!([0, 32].map(|address| in_place([64, 240, 160], 240, address)), [true, false]);
        assert_eq!([256, 250].map(|row| in_place([64, 240, 160], row, 0)), [true, false]);
        assert_eq!([23, 24].map(|m| in_place([m, 240, 160], 250, 0)), [true, false]);
        // Rows that meet in the same places of a cache.
        assert_eq!([1008, 1024].map(|row| in_place([23, 240, 160], row, 0)), [true, false]);
        // More than the second cache holds; of rows that meet in pairs, it holds half.
        let deep = |bytes: usize| [64, 64, bytes / (64 * size_of::<f32>())];
        let cache = second_cache();
        assert_eq!([cache, 2 * cache].map(|bytes| in_place(deep(bytes), 240, 0)), [true, false]);
        assert_eq!([cache / 4, cache].map(|bytes| in_place(deep(bytes), 512, 0)), [true, false]);
        // Little of it stays near, however it lies.
        assert!(in_place([500, 100, 40], 100, 4));
    }
}
