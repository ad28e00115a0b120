//! Products whose right operand is read where it lies: rows of tiles, each as wide as two vectors and as high as the
//! registers allow, or as wide as the right operand if that is as wide as a tile can be.
//!
//! What a row of tiles reads of the left operand stays in the first cache. The right operand comes from the second, of
//! which such tiles take half of what wide ones take; so nothing has to be copied.
#![allow(unsafe_code, reason = "operands are strided views of raw memory")]

use std::arch::asm;
use std::arch::x86_64::__m512;

use super::blocks::FIRST;
use super::cache::second_cache;
use super::sums::{TURNS, begin, each_row, end};
use super::tile::{WIDEST, most_rows};
use super::vector::{BYTES, Float, Mask, fetch, first, load, load_lanes, splat, store, store_lanes};
use super::{Operand, Output, stacks, unknown};

/// The most rows of a tile: their sums, the vectors of a row of the right operand and an element of the left one have a
/// register each.
const HEIGHT: usize = 13;
/// How many vectors wide it is.
const WIDTH: usize = 2;

/// Bytes of rows of the left operand that the first cache holds, beside what comes through it.
const NEAR: usize = 28 << 10;
/// Bytes between rows of the right operand from which on they meet in the same places of a cache.
const FAR: usize = 1 << 12;

/// How many times so many rows the right operand is asked for ahead.
const AHEAD: usize = 2;

/// Rows of the left operand that share a base address: up to four strides from it.
const SHARE_A_BASE: usize = 5;

/// Whether a product is made this way.
pub(super) fn suits<T: Float>([m, n, k]: [usize; 3], a: Operand<T>, b: Operand<T>) -> bool {
    let (size, apart) = (size_of::<T>(), b.row * size_of::<T>());
    let stays = HEIGHT * k * size <= NEAR && k * apart <= second_cache() / 2 && apart <= FAR;
    if a.col != 1 || b.col != 1 || n < T::LANES || !stays {
        return false;
    }
    let lies_well =
        n.is_multiple_of(T::LANES) && b.at.addr().is_multiple_of(BYTES) && apart.is_multiple_of(BYTES);
    match m.div_ceil(HEIGHT) {
        // What is read once may lie as it will. If it is far, and wide tiles have so many rows, they read it in fewer pieces.
        1 => !lies_well || m > most_rows(WIDEST) || k * apart <= FIRST,
        _ if lies_well => true,
        rows => rows == 2,
    }
}

/// A product that [suits].
///
/// # Safety
///
/// As for [`product`](super::product).
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn rows<T: Float>([m, n, k]: [usize; 3], a: Operand<T>, b: Operand<T>, c: Output<T>) {
    if b.row == WIDEST * T::LANES && n == b.row {
        for (rows, height) in stacks(m, most_rows(WIDEST), false) {
            let (a, c, rows) = (a.part(rows.start, 0), c.part(rows.start, 0), rows.len());
            let tiles = Tiles { a, b, c, depth: k, rows, panels: 1, last: first::<T>(T::LANES) };
            // SAFETY: the caller's promise, for some rows.
            unsafe { tiles.run_wide(height) };
        }
        return;
    }
    let panels = n / (WIDTH * T::LANES);
    let edge = panels * WIDTH * T::LANES;
    for (rows, height) in stacks(m, HEIGHT, false) {
        let (a, c, rows) = (a.part(rows.start, 0), c.part(rows.start, 0), rows.len());
        let tiles = Tiles { a, b, c, depth: k, rows, panels, last: first::<T>(T::LANES) };
        if panels > 0 {
            // SAFETY: the caller's promise, for some rows and columns.
            unsafe { tiles.run::<WIDTH, false>(height) };
        }
        let left = n - edge;
        let vectors = left.div_ceil(T::LANES);
        let last = first::<T>(left - (vectors.max(1) - 1) * T::LANES);
        let tiles = Tiles { b: b.part(0, edge), c: c.part(0, edge), panels: 1, last, ..tiles };
        match vectors {
            0 => {}
            // SAFETY: the caller's promise, for some rows and columns.
            1 => unsafe { tiles.run::<1, true>(height) },
            // SAFETY: the same.
            _ => unsafe { tiles.run::<WIDTH, true>(height) },
        }
    }
}

/// Calls what is made for tiles of a height.
macro_rules! call {
    ($self:ident $vectors:ident $is_cut:tt, $by:ident: $($height:literal)*) => {
        match $by {
            $(
                // SAFETY: the caller's promise.
                $height => unsafe { $self.each::<$height, $vectors, $is_cut>() },
            )*
            _ => unreachable!("a tile has as many rows as fit"),
        }
    };
}

/// Rows of tiles, one below the other.
struct Tiles<T> {
    a: Operand<T>,
    b: Operand<T>,
    c: Output<T>,
    /// Length of the contraction.
    depth: usize,
    /// How many rows of the result there are, and how many tiles side by side.
    rows: usize,
    panels: usize,
    /// The lanes that the last vector of a tile has.
    last: Mask,
}

impl<T: Float> Tiles<T> {
    /// # Safety
    ///
    /// As for [`each`](Self::each).
    #[target_feature(enable = "avx512f")]
    unsafe fn run<const VECTORS: usize, const IS_CUT: bool>(&self, height: usize) {
        call!(self VECTORS IS_CUT, height: 1 2 3 4 5 6 7 8 9 10 11 12 13);
    }

    /// The same of tiles that are as wide as any.
    ///
    /// # Safety
    ///
    /// As for [`each`](Self::each).
    #[target_feature(enable = "avx512f")]
    unsafe fn run_wide(&self, height: usize) {
        call!(self WIDEST false, height: 1 2 3 4 5 6);
    }

    /// All of them, `ROWS` high and `VECTORS` wide, of which the last has some lanes only if it `IS_CUT`.
    ///
    /// # Safety
    ///
    /// All that the sizes and strides of the tiles reach may be read, and of the result written.
    #[inline(never)]
    #[target_feature(enable = "avx512f")]
    unsafe fn each<const ROWS: usize, const VECTORS: usize, const IS_CUT: bool>(&self) {
        let mut left = Left::new(self.a);
        let mut below = self.c;
        for _ in 0..self.rows / ROWS {
            let (mut b, mut c) = (self.b.at, below);
            for panel in 0..self.panels {
                let next =
                    if panel + 1 < self.panels { b.wrapping_add(VECTORS * T::LANES) } else { self.b.at };
                // SAFETY: the caller's promise, for a tile.
                unsafe { self.tile::<ROWS, VECTORS, IS_CUT>(left, (b, next), c) };
                (b, c) = (next, c.part(0, VECTORS * T::LANES));
            }
            left.step(ROWS * self.a.row);
            below = below.part(ROWS, 0);
        }
    }

    /// One of them, of the columns of the right operand that begin at the first of two addresses; at the second those of
    /// the next tile do.
    ///
    /// # Safety
    ///
    /// As for [`each`](Self::each).
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn tile<const ROWS: usize, const VECTORS: usize, const IS_CUT: bool>(
        &self,
        mut left: Left<T>,
        (mut at, next): (*const T, *const T),
        c: Output<T>,
    ) {
        let is_whole = |vector: usize| !IS_CUT || vector + 1 < VECTORS;
        let mut sums = begin!(ROWS, VECTORS, c, |vector| is_whole(vector), self.last);
        let row = unknown(std::ptr::without_provenance::<T>(self.b.row)).addr();
        let mut turns = self.depth / TURNS;
        // Behind the last row comes what the next tile begins with: there may be memory that the system never gave, and to
        // look for that takes long.
        let mut ahead = unknown(if turns > AHEAD { at.wrapping_add(AHEAD * TURNS * row) } else { next });
        macro_rules! turn {
            ($turn:literal) => {
                let mut right = [splat(T::ZERO); VECTORS];
                for (vector, right) in right.iter_mut().enumerate() {
                    let far = $turn * row + vector * T::LANES;
                    let at = at.wrapping_add(far);
                    // SAFETY: the caller's promise: a row of the right operand.
                    *right = unsafe { self.vector(at, is_whole(vector)) };
                    fetch(ahead.wrapping_add(far));
                }
                each_row!(ROWS, |row| {
                    // SAFETY: the caller's promise: an element of the left operand.
                    unsafe { left.multiply_add::<$turn, VECTORS>(row, right, &mut sums[row]) };
                });
            };
        }
        while turns > 0 {
            turn!(0);
            turn!(1);
            turn!(2);
            turn!(3);
            left.step(TURNS);
            at = at.wrapping_add(TURNS * row);
            turns -= 1;
            ahead = if turns == AHEAD { next } else { ahead.wrapping_add(TURNS * row) };
        }
        for _ in 0..self.depth % TURNS {
            turn!(0);
            left.step(1);
            at = at.wrapping_add(row);
        }
        end!(ROWS, sums, c, |vector| is_whole(vector), self.last);
    }

    /// All lanes of a vector, or those of the last one.
    ///
    /// # Safety
    ///
    /// They may be read.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn vector(&self, at: *const T, is_whole: bool) -> __m512 {
        if is_whole {
            // SAFETY: the caller's promise.
            unsafe { load(at) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { load_lanes(self.last, at) }
        }
    }
}

/// Instructions that say how the address of an element is made and when it is read: the compiler would make a pointer for
/// each row and read the elements of several ahead, and has no registers for either.
macro_rules! multiply_add {
    (
        $type:literal $word:literal $bytes:literal, $turn:ident $base:ident $address:literal $($stride:ident)?,
        $($right:ident $sum:ident)+
    ) => {
        asm!(
            concat!("vbroadcasts", $type, " {x}, ", $word, " ptr [{base} + {far}", $address, "]"),
            $(concat!("vfmadd231p", $type, " {", stringify!($sum), "}, {x}, {", stringify!($right), "}"),)+
            x = out(zmm_reg) _, $($sum = inout(zmm_reg) *$sum, $right = in(zmm_reg) $right,)+
            base = in(reg) $base, $($stride = in(reg) $stride,)? far = const $turn * $bytes,
            options(pure, readonly, nostack, preserves_flags),
        )
    };
}
/// Rows of the left operand, by few registers: else there would be an addition for each row.
struct Left<T> {
    bases: [*const T; HEIGHT.div_ceil(SHARE_A_BASE)],
    /// Bytes from one row to the next, and to the third.
    one: usize,
    three: usize,
}

impl<T> Clone for Left<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Left<T> {}

impl<T: Float> Left<T> {
    fn new(a: Operand<T>) -> Left<T> {
        let bytes = a.row * size_of::<T>();
        Left { bases: [0, 1, 2].map(|base| a.part(base * SHARE_A_BASE, 0).at), one: bytes, three: 3 * bytes }
    }

    /// Goes so many elements on.
    #[inline(always)]
    fn step(&mut self, elements: usize) {
        for base in &mut self.bases {
            *base = base.wrapping_add(elements);
        }
    }

    /// Adds the products of the element of a row, so many turns on, with vectors of the right operand.
    ///
    /// # Safety
    ///
    /// The element may be read.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn multiply_add<const TURN: usize, const VECTORS: usize>(
        &self,
        row: usize,
        right: [__m512; VECTORS],
        sums: &mut [__m512; VECTORS],
    ) {
        let Left { bases, one, three } = *self;
        let base = bases[row / SHARE_A_BASE];
        macro_rules! add {
            ($address:literal $($stride:ident)?) => {
                match (&right[..], &mut sums[..]) {
                    (&[a], [to_a]) => add!($address $($stride)?, a to_a),
                    (&[a, b], [to_a, to_b]) => add!($address $($stride)?, a to_a b to_b),
                    (&[a, b, c, d], [to_a, to_b, to_c, to_d]) => {
                        add!($address $($stride)?, a to_a b to_b c to_c d to_d)
                    }
                    _ => unreachable!("no tile is so wide"),
                }
            };
            ($address:literal $($stride:ident)?, $($right:ident $sum:ident)+) => {
                if T::IS_WIDE {
                    // SAFETY: the caller's promise.
                    unsafe { multiply_add!("d" "qword" 8, TURN base $address $($stride)?, $($right $sum)+) }
                } else {
                    // SAFETY: the caller's promise.
                    unsafe { multiply_add!("s" "dword" 4, TURN base $address $($stride)?, $($right $sum)+) }
                }
            };
        }
        match row % SHARE_A_BASE {
            0 => add!(""),
            1 => add!(" + {one}" one),
            2 => add!(" + {one} * 2" one),
            3 => add!(" + {three}" three),
            _ => add!(" + {one} * 4" one),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a product of such sizes is made this way, if the rows of its right operand are so many elements apart.
    fn is_made(sizes: [usize; 3], row: usize, address: usize) -> bool {
        let [a, b] = [(0, sizes[2]), (address, row)].map(|(at, row)| Operand {
            at: std::ptr::without_provenance::<f32>(at),
            row,
            col: 1,
        });
        suits(sizes, a, b)
    }

    #[test]
    fn small_right_operands_are_read_where_they_lie() {
        assert!(is_made([128, 128, 128], 128, 0) && is_made([1000, 128, 128], 128, 64));
        // More than the second cache holds, or the first of a row of tiles.
        let cache = second_cache() / size_of::<f32>();
        assert_eq!([2, 1].map(|part| is_made([128, 1024, cache / part / 1024], 1024, 0)), [true, false]);
        assert_eq!([512, 600].map(|k| is_made([128, 64, k], 80, 0)), [true, false]);
        // Rows so far apart that they meet in the same places of a cache.
        assert_eq!([1024, 1040].map(|row| is_made([128, 128, 64], row, 0)), [true, false]);
        // Lines that two rows share: of one or two rows of tiles.
        assert_eq!([13, 26, 27].map(|m| is_made([m, 100, 100], 100, 0)), [true, true, false]);
        assert_eq!([26, 27].map(|m| is_made([m, 128, 128], 128, 4)), [true, false]);
        // Less than a vector.
        assert!(!is_made([10, 15, 64], 15, 0));
        // Far, and of few rows.
        assert_eq!([6, 7].map(|m| is_made([m, 128, 128], 128, 0)), [false, true]);
    }

    #[test]
    fn left_operands_that_are_turned_are_not() {
        let at = std::ptr::without_provenance::<f64>(0);
        let (b, turned) = (Operand { at, row: 64, col: 1 }, Operand { at, row: 1, col: 64 });
        assert!(suits([64, 64, 64], Operand { at, row: 64, col: 1 }, b));
        assert!(!suits([64, 64, 64], turned, b) && !suits([64, 64, 64], b, turned));
    }
}
