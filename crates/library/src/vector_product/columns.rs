//! Columns that lie side by side, times a vector, by vectors of 64 bytes.
//!
//! Invariant: the sum of an element is one chain of fused multiply-adds in order, wherever it is kept meanwhile.
#![allow(unsafe_code, reason = "vectors are loaded and stored by address")]

use std::arch::x86_64::__m512;
use std::mem::MaybeUninit;

use super::Matrix;
use super::vector::{BYTES, Float, Mask, fetch, first, load_lanes, multiply_add, splat, store_lanes};

/// Bytes of a matrix that the first cache has room for.
const NEAR: usize = 48 << 10;
/// How many rows ahead memory is asked for.
const AHEAD: usize = 8;

/// `out[i] = Σ_p matrix[i, p] × vector[p]` for a matrix that is 1 along.
#[target_feature(enable = "avx512f")]
pub(super) fn columns<T: Float>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    matrix.check(out.len(), vector.len());
    macro_rules! up_to {
        ($($vectors:literal)*) => {
            match out.len().div_ceil(T::LANES) {
                0 => {}
                $(
                    // SAFETY: the columns are inside the matrix, as was checked.
                    $vectors => unsafe { narrow::<T, $vectors>(out, matrix, vector) },
                )*
                // SAFETY: the same.
                _ => unsafe { wide(out, matrix, vector) },
            }
        };
    }
    // What is wider is walked along its rows: of memory that is far, what follows comes sooner.
    up_to!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
}

/// Whether rows of a narrow matrix are asked for ahead: if vectors lie in two lines of a cache each, and wait too long
/// for both. In the first cache there is nothing to wait for.
fn is_fetched<T>(matrix: Matrix<'_, T>) -> bool {
    let (start, step) = (matrix.elements.as_ptr().addr(), matrix.down * size_of::<T>());
    let is_split = !start.is_multiple_of(BYTES) || !step.is_multiple_of(BYTES);
    is_split && size_of_val(matrix.elements) > NEAR
}

/// So many vectors of sums, in registers.
///
/// # Safety
///
/// The matrix has a column for each result, as deep as the vector. The results fill so many vectors, but for the last.
#[inline(never)]
#[target_feature(enable = "avx512f")]
unsafe fn narrow<T: Float, const VECTORS: usize>(
    out: &mut [MaybeUninit<T>],
    matrix: Matrix<'_, T>,
    vector: &[T],
) {
    let last = first::<T>(out.len() - (VECTORS - 1) * T::LANES);
    let fetches = is_fetched(matrix);
    let mut sums = [splat(T::ZERO); VECTORS];
    let mut row = matrix.elements.as_ptr();
    for &x in vector {
        let x = splat(x);
        for (number, sum) in sums.iter_mut().enumerate() {
            let lanes = if number + 1 < VECTORS { first::<T>(T::LANES) } else { last };
            // SAFETY: the caller's promise: the row has these lanes.
            let elements = unsafe { load_lanes(lanes, row.wrapping_add(number * T::LANES)) };
            *sum = multiply_add::<T>(x, elements, *sum);
        }
        if fetches {
            for number in 0..VECTORS {
                fetch(row.wrapping_add(AHEAD * matrix.down + number * T::LANES));
            }
        }
        row = row.wrapping_add(matrix.down);
    }
    for (out, &sum) in out.chunks_mut(T::LANES).zip(&sums) {
        // SAFETY: as many lanes as there are results.
        unsafe { store_lanes(out.as_mut_ptr().cast::<T>(), first::<T>(out.len()), sum) };
    }
}

/// Sums in the result itself, to which several rows are added at once: so often less is loaded and stored.
///
/// # Safety
///
/// The matrix has a column for each result, as deep as the vector.
#[target_feature(enable = "avx512f")]
unsafe fn wide<T: Float>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    out.fill(MaybeUninit::new(T::ZERO));
    let (mut row, mut left) = (matrix.elements.as_ptr(), vector);
    macro_rules! at_once {
        ($($rows:literal)*) => {$(
            while let Some((by, more)) = left.split_first_chunk::<$rows>() {
                // SAFETY: the caller's promise: so many rows are left. The result was filled.
                unsafe { add_rows(out, row, matrix.down, by) };
                (row, left) = (row.wrapping_add($rows * matrix.down), more);
            }
        )*};
    }
    at_once!(8 4 2 1);
}

/// Adds rows, the first of which is at `at`, times an element each to the result.
///
/// # Safety
///
/// There are so many rows, as long as the result, which is initialised.
#[target_feature(enable = "avx512f")]
unsafe fn add_rows<T: Float, const ROWS: usize>(
    out: &mut [MaybeUninit<T>],
    at: *const T,
    down: usize,
    by: &[T; ROWS],
) {
    let mut rows = [(at, splat(T::ZERO)); ROWS];
    for (number, (row, &by)) in rows.iter_mut().zip(by).enumerate() {
        *row = (at.wrapping_add(number * down), splat(by));
    }
    let (out, len) = (out.as_mut_ptr().cast::<T>(), out.len());
    let mut start = 0;
    while start + T::LANES <= len {
        // SAFETY: a whole vector is left of the rows and of the result.
        unsafe { add_lanes(out, &rows, start, first::<T>(T::LANES)) };
        start += T::LANES;
    }
    if start < len {
        // SAFETY: so many lanes are left of them.
        unsafe { add_lanes(out, &rows, start, first::<T>(len - start)) };
    }
}

/// Adds some lanes of rows times an element each to the result.
///
/// # Safety
///
/// The rows and the result have these lanes from `start` on, and those of the result are initialised.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn add_lanes<T: Float, const ROWS: usize>(
    out: *mut T,
    rows: &[(*const T, __m512); ROWS],
    start: usize,
    lanes: Mask,
) {
    let out = out.wrapping_add(start);
    // SAFETY: the caller's promise.
    let mut sum = unsafe { load_lanes(lanes, out) };
    for &(row, by) in rows {
        // SAFETY: the caller's promise.
        let elements = unsafe { load_lanes(lanes, row.wrapping_add(start)) };
        sum = multiply_add::<T>(by, elements, sum);
    }
    // SAFETY: the caller's promise.
    unsafe { store_lanes(out, lanes, sum) };
}
