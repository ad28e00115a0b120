//! A matrix times a vector: two ways to walk, by how the matrix lies in memory.
//!
//! The library for matrix products packs its operands first, which costs more than the whole of a product with a
//! vector. [`rows`] and [`columns`] are for processors with AVX-512, [`plain`] is for others.
//!
//! Invariant: the bits of an element of the result depend on its row and the vector only, not on which others are
//! computed with it.
#![allow(unsafe_code, reason = "code for newer processors is called after asking for them")]

#[cfg(target_arch = "x86_64")]
mod columns;
mod plain;
#[cfg(target_arch = "x86_64")]
mod rows;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod totals;

use std::mem::MaybeUninit;

#[cfg(not(target_arch = "x86_64"))]
use Copy as Float;

use self::plain::Real;
#[cfg(target_arch = "x86_64")]
use crate::product::vector::{self, Float};

/// A matrix in memory: element `(i, p)` is at `i × along + p × down`.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    pub(crate) elements: &'a [T],
    pub(crate) along: usize,
    pub(crate) down: usize,
}

impl<T> Matrix<'_, T> {
    /// Whether it is walked fast: along its rows or along its columns.
    pub(crate) fn is_walked(&self) -> bool {
        self.along == 1 || self.down == 1
    }

    /// Panics if it is not walked, or some of so many rows and columns are not in its memory.
    #[cfg(target_arch = "x86_64")]
    fn check(&self, rows: usize, columns: usize) {
        assert!(self.is_walked(), "a matrix is walked along its rows or its columns");
        if let (Some(row), Some(column)) = (rows.checked_sub(1), columns.checked_sub(1)) {
            let last = row.checked_mul(self.along).zip(column.checked_mul(self.down));
            let last = last.and_then(|(row, column)| row.checked_add(column));
            assert!(last.is_some_and(|last| last < self.elements.len()), "a matrix has all its elements");
        }
    }
}

/// `out[i] = Σ_p matrix[i, p] × vector[p]` for a matrix that [is walked](Matrix::is_walked).
pub(crate) fn product<T: Real + Float>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    #[cfg(target_arch = "x86_64")]
    if crate::product::is_able() {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { with_avx512(out, matrix, vector) };
    }
    plain::product(out, matrix, vector);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn with_avx512<T: Float>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    if matrix.along == 1 { columns::columns(out, matrix, vector) } else { rows::rows(out, matrix, vector) }
}
