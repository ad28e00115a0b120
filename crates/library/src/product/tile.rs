//! A tile of the result: some rows of one to four vectors, whose sums stay in registers; and stacks of tiles, one below the
//! other.
//!
//! Invariant: the sum of an element is one chain of fused multiply-adds in the order of the contraction, whatever the
//! tile. What a tile of some depth leaves in the result, the next depth goes on with.
#![allow(unsafe_code, reason = "operands are strided views of raw memory")]

use super::sums::{TURNS, begin, each_row, end};
use super::vector::{Float, Mask, fetch, load, load_lanes, multiply_add, splat, store, store_lanes};
use super::{Operand, Output, unknown};

/// Rows of the left operand that share a base address: up to three strides from it.
const SHARE_A_BASE: usize = 4;

/// How far ahead the right operand is asked for: in bytes where its rows follow each other, as in a copy, else in rows.
/// Rows behind the last one are not: if the system never gave that memory, to look for it takes as long as the products
/// of some steps.
/// Rows of the left operand are found without being asked for, and would be driven out again; what lies in columns is
/// not.
const AHEAD: usize = 1024;
const ROWS_AHEAD: usize = 8;

/// What a tile is made of.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a, T> {
    /// The rows of the left operand.
    pub(super) a: Operand<T>,
    /// How far from there the pieces begin that make up rows of it: each is so deep as the tile is, and multiplied by
    /// as many rows of the right operand, which follow each other.
    pub(super) pieces: &'a [usize],
    /// The columns of the right operand, which lie side by side.
    pub(super) b: Operand<T>,
    /// Where to copy what is read of the right operand, row after row. It may be left out.
    pub(super) copy: Option<*mut T>,
    pub(super) c: Output<T>,
    /// Length of this part of the contraction, for each piece.
    pub(super) depth: usize,
    /// The lanes that the last vector of a row has.
    pub(super) last: Mask,
}

/// The widest tile, in vectors.
pub(super) const WIDEST: usize = 4;

/// Tiles up to so wide have more rows.
const NARROW: usize = 2;

/// The most rows of a tile that is so many vectors wide: their sums, the vectors of a row of the right operand and
/// an element of the left one have a register each.
pub(super) fn most_rows(vectors: usize) -> usize {
    if vectors > NARROW { 6 } else { 12 }
}

/// How many vectors wide the next tiles are, if there are so many rows in all and so many vectors are left. A deep
/// right operand is far, and wide rows of it come faster.
pub(super) fn width(rows: usize, left: usize, is_deep: bool) -> usize {
    // One tile of all rows reads the right operand once.
    let is_single = !is_deep && most_rows(WIDEST) < rows && rows <= most_rows(NARROW);
    match left {
        _ if is_single => left.min(NARROW),
        // None is left over alone.
        5 => 3,
        _ => left.min(WIDEST),
    }
}

/// Computes `rows` rows of the result by tiles of that height, of which [not more than some](most_rows) fit. Only
/// [wide](WIDEST) tiles of at least 3 rows copy, and stacks of one.
///
/// # Safety
///
/// All that the sizes and strides of the tiles reach may be read, and of the result and the copy written. Vectors of the
/// right operand are whole, and so are all tiles.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn stack<T: Float>(first: &Tile<'_, T>, rows: usize, height: usize, vectors: usize) {
    debug_assert!(rows.is_multiple_of(height) && (first.copy.is_none() || rows == height));
    macro_rules! call {
        ($vectors:literal $copies:literal: $($height:literal)*) => {
            match height {
                $(
                    // SAFETY: the caller's promise.
                    $height => unsafe { tiles::<T, $height, $vectors, $copies>(first, rows) },
                )*
                _ => unreachable!("a tile has as many rows as fit"),
            }
        };
    }
    match (vectors, first.copy.is_some()) {
        (1, false) => call!(1 false: 1 2 3 4 5 6 7 8 9 10 11 12),
        (2, false) => call!(2 false: 1 2 3 4 5 6 7 8 9 10 11 12),
        (3, false) => call!(3 false: 1 2 3 4 5 6),
        (4, false) => call!(4 false: 1 2 3 4 5 6),
        (4, true) => call!(4 true: 3 4 5 6),
        _ => unreachable!("a tile is as wide as panels are"),
    }
}

/// Adds the products of an element of each row of the left operand, at an address, with a row of the right one.
macro_rules! add_products {
    ($rows:ident, $sums:ident, $right:ident, |$row:ident| $at:expr) => {
        each_row!($rows, |$row| {
            let at = $at;
            // SAFETY: the caller's promise: an element of the left operand.
            let left = splat(unsafe { at.read() });
            for (sum, &right) in $sums[$row].iter_mut().zip(&$right) {
                *sum = multiply_add::<T>(left, right, *sum);
            }
        })
    };
}

/// A stack of tiles. What is around each of them, such as finding its code, takes as long as some of its steps: it is
/// done once.
///
/// # Safety
///
/// As for [`stack`].
#[inline(never)]
#[target_feature(enable = "avx512f")]
unsafe fn tiles<T: Float, const ROWS: usize, const VECTORS: usize, const COPIES: bool>(
    first: &Tile<'_, T>,
    rows: usize,
) {
    let mut tile = *first;
    for _ in 0..rows / ROWS {
        // SAFETY: the caller's promise.
        unsafe { sums::<T, ROWS, VECTORS, COPIES>(&tile) };
        (tile.a, tile.c) = (tile.a.part(ROWS, 0), tile.c.part(ROWS, 0));
    }
}

/// # Safety
///
/// As for [`stack`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn sums<T: Float, const ROWS: usize, const VECTORS: usize, const COPIES: bool>(tile: &Tile<'_, T>) {
    let Tile { a, pieces, b, copy, c, depth, last } = *tile;
    let mut sums = begin!(ROWS, VECTORS, c, |vector| vector + 1 < VECTORS, last);
    let three = unknown(std::ptr::without_provenance::<T>(3 * a.row)).addr();
    let (mut right_row, mut copy) = (b.at, copy.unwrap_or_default());
    let element = |bases: &[*const T; 3], row: usize| {
        let far = if row % SHARE_A_BASE == 3 { three } else { row % SHARE_A_BASE * a.row };
        bases[row / SHARE_A_BASE].wrapping_add(far)
    };
    for (number, &piece) in pieces.iter().enumerate() {
        let at = a.at.wrapping_add(piece);
        let mut bases = [0, 1, 2].map(|base| unknown(at.wrapping_add(base * SHARE_A_BASE * a.row)));
        // What follows in each column, which the next tile reads, if rows are not walked along.
        let mut next = at.wrapping_add((2 * ROWS - 1) * a.row);
        let mut left_over = depth;
        if !COPIES && a.col == 1 && b.row == VECTORS * T::LANES {
            while left_over >= TURNS {
                for turn in 0..TURNS {
                    let mut right = [splat(T::ZERO); VECTORS];
                    for (vector, right) in right.iter_mut().enumerate() {
                        let at = right_row.wrapping_add((turn * VECTORS + vector) * T::LANES);
                        // SAFETY: the caller's promise: a whole vector of a row of the right operand.
                        *right = unsafe { load(at) };
                        fetch(at.wrapping_byte_add(AHEAD));
                    }
                    add_products!(ROWS, sums, right, |row| element(&bases, row).wrapping_add(turn));
                }
                for base in &mut bases {
                    *base = base.wrapping_add(TURNS);
                }
                right_row = right_row.wrapping_add(TURNS * VECTORS * T::LANES);
                left_over -= TURNS;
            }
        }
        let last = if number + 1 < pieces.len() { 0 } else { ROWS_AHEAD.min(left_over) };
        for (rows, ahead) in [(left_over - last, ROWS_AHEAD * b.row), (last, 0)] {
            for _ in 0..rows {
                let mut right = [splat(T::ZERO); VECTORS];
                for (vector, right) in right.iter_mut().enumerate() {
                    let at = right_row.wrapping_add(vector * T::LANES);
                    // SAFETY: the caller's promise: a whole vector of a row of the right operand.
                    *right = unsafe { load(at) };
                    fetch(at.wrapping_add(ahead));
                    if COPIES {
                        // SAFETY: the caller's promise: the copy has whole vectors.
                        unsafe { store(copy.wrapping_add(vector * T::LANES), *right) };
                    }
                }
                add_products!(ROWS, sums, right, |row| element(&bases, row));
                for base in &mut bases {
                    *base = base.wrapping_add(a.col);
                }
                right_row = right_row.wrapping_add(b.row);
                if a.col != 1 {
                    fetch(next);
                    next = next.wrapping_add(a.col);
                }
                if COPIES {
                    copy = copy.wrapping_add(VECTORS * T::LANES);
                }
            }
        }
    }
    end!(ROWS, sums, c, |vector| vector + 1 < VECTORS, last);
}
