//! Rows whose elements lie side by side, times a vector, by vectors of 64 bytes.
//!
//! Invariant: a row is summed in two chains of fused multiply-adds, of its even and of its odd vectors, with zeros in the
//! lanes beyond its end. The chains are added, then their lanes, always in the same order.
#![allow(unsafe_code, reason = "vectors are loaded and stored by address")]

use std::arch::x86_64::__m512;
use std::mem::MaybeUninit;

use super::Matrix;
use super::totals::{AT_ONCE, add, totals};
use super::vector::{Float, Mask, first, load_lanes, multiply_add, splat, store_lanes};

/// `out[i] = Σ_p matrix[i, p] × vector[p]` for a matrix that is 1 down.
#[target_feature(enable = "avx512f")]
pub(super) fn rows<T: Float>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    matrix.check(out.len(), vector.len());
    for (number, out) in out.chunks_mut(AT_ONCE).enumerate() {
        let at = matrix.elements.as_ptr().wrapping_add(number * AT_ONCE * matrix.along);
        match out.len() {
            // SAFETY: the rows are inside the matrix, as was checked.
            1 => unsafe { tile::<T, 1>(out, at, matrix.along, vector) },
            // SAFETY: the same.
            2 => unsafe { tile::<T, 2>(out, at, matrix.along, vector) },
            // SAFETY: the same.
            3 | 4 => unsafe { tile::<T, 4>(out, at, matrix.along, vector) },
            // SAFETY: the same.
            _ => unsafe { tile::<T, AT_ONCE>(out, at, matrix.along, vector) },
        }
    }
}

/// The sums of up to so many rows, side by side: what is loaded of the vector serves all of them, and no chain waits
/// for itself. Alone a row has the same two chains.
///
/// # Safety
///
/// As many rows as there are results, `along` apart from `at` on, are as long as the vector. There is at least one.
#[target_feature(enable = "avx512f")]
unsafe fn tile<T: Float, const ROWS: usize>(
    out: &mut [MaybeUninit<T>],
    at: *const T,
    along: usize,
    vector: &[T],
) {
    let mut rows = [at; ROWS];
    for (number, row) in rows.iter_mut().enumerate() {
        // Where there are fewer, the last one is summed again: it is near, and nobody looks at that sum.
        *row = at.wrapping_add(number.min(out.len() - 1) * along);
    }
    let mut sums = [[splat(T::ZERO); 2]; ROWS];
    let (all, mut p) = (first::<T>(T::LANES), 0);
    while p + 2 * T::LANES <= vector.len() {
        // SAFETY: two whole vectors are left of each row, and of what it is multiplied by.
        unsafe { step(&mut sums, 0, &rows, vector.as_ptr(), p, all) };
        // SAFETY: the same.
        unsafe { step(&mut sums, 1, &rows, vector.as_ptr(), p + T::LANES, all) };
        p += 2 * T::LANES;
    }
    for chain in 0..2 {
        if p < vector.len() {
            // SAFETY: so many lanes are left of them.
            unsafe { step(&mut sums, chain, &rows, vector.as_ptr(), p, first::<T>(vector.len() - p)) };
            p += T::LANES;
        }
    }
    let mut chains = [splat(T::ZERO); AT_ONCE];
    for (number, chain) in chains.iter_mut().enumerate() {
        let [even, odd] = sums[number % ROWS];
        *chain = add::<T>(even, odd);
    }
    let totals = totals::<T>(chains);
    // SAFETY: as many lanes as there are results.
    unsafe { store_lanes(out.as_mut_ptr().cast::<T>(), first::<T>(out.len()), totals) };
}

/// Adds the products of some lanes from `p` on to one of the chains of each row.
///
/// # Safety
///
/// The vector and the rows have these lanes.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn step<T: Float, const ROWS: usize>(
    sums: &mut [[__m512; 2]; ROWS],
    chain: usize,
    rows: &[*const T; ROWS],
    vector: *const T,
    p: usize,
    lanes: Mask,
) {
    // SAFETY: the caller's promise.
    let by = unsafe { load_lanes(lanes, vector.wrapping_add(p)) };
    for (sums, row) in sums.iter_mut().zip(rows) {
        // SAFETY: the caller's promise.
        let elements = unsafe { load_lanes(lanes, row.wrapping_add(p)) };
        sums[chain] = multiply_add::<T>(elements, by, sums[chain]);
    }
}
