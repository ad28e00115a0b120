//! Copies of operands that lie better.
#![allow(unsafe_code, reason = "operands are strided views of raw memory")]

use super::Operand;
use super::vector::{
    Float, first, load, load_lanes, load_quarters, splat, store, store_lanes, turn_quarters,
    turn_wide_quarters,
};

/// Copies rows, `to_row` apart, each in the order of its columns. After the last of them zeros or elements are written,
/// up to a whole vector: what is left from before may look like subnormal numbers, which are slow to multiply.
///
/// # Safety
///
/// Elements of rows and columns may be read, and whole vectors written.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn copy_rows<T: Float>(
    from: Operand<T>,
    rows: usize,
    columns: usize,
    to: *mut T,
    to_row: usize,
) {
    if from.col != 1 {
        // SAFETY: the caller's promise.
        return unsafe { transpose::<T, true>(from.transposed(), columns, rows, to, to_row) };
    }
    let whole = columns - columns % T::LANES;
    for row in 0..rows {
        let (from, to) = (from.part(row, 0).at, to.wrapping_add(row * to_row));
        for start in (0..whole).step_by(T::LANES) {
            // SAFETY: the caller's promise: elements of a row.
            let x = unsafe { load(from.wrapping_add(start)) };
            // SAFETY: the caller's promise: elements of a row.
            unsafe { store(to.wrapping_add(start), x) };
        }
        if whole < columns {
            // SAFETY: the caller's promise: the last elements of a row.
            let x = unsafe { load_lanes(first::<T>(columns - whole), from.wrapping_add(whole)) };
            // SAFETY: the caller's promise: a whole vector.
            unsafe { store(to.wrapping_add(whole), x) };
        }
    }
}

/// Writes rows as columns: element `(i, j)` of `from` to `j × to_row + i`. If it `FILLS`, it writes whole vectors, as
/// [`copy_rows`] does.
///
/// # Safety
///
/// All elements that are named so may be read and written, and whole vectors written if it fills.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn transpose<T: Float, const FILLS: bool>(
    from: Operand<T>,
    rows: usize,
    columns: usize,
    to: *mut T,
    to_row: usize,
) {
    let quarter = T::LANES / 4;
    let whole = if from.col == 1 { columns - columns % quarter } else { 0 };
    for start in (0..rows).step_by(T::LANES) {
        let count = (rows - start).min(T::LANES);
        for column in (0..whole).step_by(quarter) {
            let from = from.part(start, column);
            let to = to.wrapping_add(column * to_row + start);
            // SAFETY: the caller's promise, for `count` rows and as many columns as a quarter has.
            unsafe { transpose_quarters::<T, FILLS>(from, count, to, to_row) };
        }
        for column in whole..columns {
            let to = to.wrapping_add(column * to_row + start);
            if FILLS && count < T::LANES {
                let zeros = splat(T::ZERO);
                // SAFETY: the caller's promise: a whole vector.
                unsafe { store(to, zeros) };
            }
            for row in 0..count {
                // SAFETY: the caller's promise.
                let x = unsafe { from.part(start + row, column).at.read() };
                // SAFETY: the caller's promise.
                unsafe { to.wrapping_add(row).write(x) };
            }
        }
    }
}

/// Up to a vector of rows of a quarter of a vector.
///
/// # Safety
///
/// As for [`transpose`]; there is at least one row, and rows have unit stride.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn transpose_quarters<T: Float, const FILLS: bool>(
    from: Operand<T>,
    rows: usize,
    to: *mut T,
    to_row: usize,
) {
    let lanes = first::<T>(if FILLS { T::LANES } else { rows });
    // For a row that lacks, the last is read again.
    let row = |row: usize| from.part(row.min(rows - 1), 0).at;
    if T::IS_WIDE {
        let mut x = [splat(T::ZERO); 2];
        for (i, x) in x.iter_mut().enumerate() {
            // SAFETY: the caller's promise: a quarter of each of these rows.
            *x = unsafe { load_quarters([row(i), row(i + 2), row(i + 4), row(i + 6)]) };
        }
        for (j, x) in turn_wide_quarters(x).into_iter().enumerate() {
            // SAFETY: the caller's promise: `rows` elements of a column, or a vector.
            unsafe { store_lanes(to.wrapping_add(j * to_row), lanes, x) };
        }
    } else {
        let mut x = [splat(T::ZERO); 4];
        for (i, x) in x.iter_mut().enumerate() {
            // SAFETY: the caller's promise: a quarter of each of these rows.
            *x = unsafe { load_quarters([row(i), row(i + 4), row(i + 8), row(i + 12)]) };
        }
        for (j, x) in turn_quarters(x).into_iter().enumerate() {
            // SAFETY: the caller's promise: `rows` elements of a column, or a vector.
            unsafe { store_lanes(to.wrapping_add(j * to_row), lanes, x) };
        }
    }
}
