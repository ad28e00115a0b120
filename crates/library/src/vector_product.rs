//! A matrix times a vector: two ways to walk, by how the matrix lies in memory.
//!
//! The library for matrix products packs its operands first, which costs more than the whole of a product with a
//! vector. Invariant: an element of the result does not depend on which others are computed with it.
#![allow(unsafe_code, reason = "code for newer processors is called after asking for them")]

use std::mem::MaybeUninit;

/// Bytes of the result that are computed side by side where columns are walked: as many as registers hold.
const SIDE_BY_SIDE: usize = 256;
/// Bytes of a row that are added side by side where rows are walked: a register. Four of them take turns, so that one
/// sum need not wait for the last.
const LANES: usize = 32;

/// A float with the two ways to multiply and add.
pub(crate) trait Real: Copy {
    const ZERO: Self;
    fn fused(self, by: Self, plus: Self) -> Self;
    fn plain(self, by: Self, plus: Self) -> Self;
    fn add(self, other: Self) -> Self;
}

macro_rules! real {
    ($($t:ty)*) => {$(
        impl Real for $t {
            const ZERO: $t = 0.0;
            #[inline(always)]
            fn fused(self, by: $t, plus: $t) -> $t { self.mul_add(by, plus) }
            #[inline(always)]
            fn plain(self, by: $t, plus: $t) -> $t { self * by + plus }
            #[inline(always)]
            fn add(self, other: $t) -> $t { self + other }
        }
    )*};
}
real! { f32 f64 }

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
}

/// `out[i] = Σ_p matrix[i, p] × vector[p]` for a matrix that [is walked](Matrix::is_walked).
pub(crate) fn product<T: Real>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { with_avx2(out, matrix, vector) };
    }
    walk(out, matrix, vector, T::plain);
}

/// The same code, compiled for vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<T: Real>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    walk(out, matrix, vector, T::fused);
}

#[inline(always)]
fn walk<T: Real>(
    out: &mut [MaybeUninit<T>],
    matrix: Matrix<'_, T>,
    vector: &[T],
    multiply_add: impl Fn(T, T, T) -> T + Copy,
) {
    if matrix.along == 1 {
        let mut rest = out;
        let mut start = 0;
        while !rest.is_empty() {
            let (now, later) = match size_of::<T>() {
                4 if rest.len() >= SIDE_BY_SIDE / 4 => {
                    columns::<T, { SIDE_BY_SIDE / 4 }>(rest, matrix, start, vector, multiply_add)
                }
                8 if rest.len() >= SIDE_BY_SIDE / 8 => {
                    columns::<T, { SIDE_BY_SIDE / 8 }>(rest, matrix, start, vector, multiply_add)
                }
                _ if rest.len() >= 8 => columns::<T, 8>(rest, matrix, start, vector, multiply_add),
                _ => columns::<T, 1>(rest, matrix, start, vector, multiply_add),
            };
            (start, rest) = (start + now, later);
        }
    } else {
        for (i, place) in out.iter_mut().enumerate() {
            let row = &matrix.elements[i * matrix.along..][..vector.len()];
            place.write(match size_of::<T>() {
                4 => sum::<T, { LANES / 4 }>(row, vector, multiply_add),
                _ => sum::<T, { LANES / 8 }>(row, vector, multiply_add),
            });
        }
    }
}

/// The next `N` elements of the result, each sum in order. Returns how many, and the places after them.
#[inline(always)]
fn columns<'o, T: Real, const N: usize>(
    out: &'o mut [MaybeUninit<T>],
    matrix: Matrix<'_, T>,
    start: usize,
    vector: &[T],
    multiply_add: impl Fn(T, T, T) -> T,
) -> (usize, &'o mut [MaybeUninit<T>]) {
    let mut sums = [T::ZERO; N];
    for (p, &x) in vector.iter().enumerate() {
        let from = p * matrix.down + start;
        let row = &matrix.elements[from..from + N];
        for (sum, &element) in sums.iter_mut().zip(row) {
            *sum = multiply_add(x, element, *sum);
        }
    }
    let (now, later) = out.split_at_mut(N);
    now.iter_mut().zip(sums).for_each(|(place, sum)| _ = place.write(sum));
    (N, later)
}

/// The sum of a row: in four vectors that are added up in the end, then the elements after the last of them.
#[inline(always)]
fn sum<T: Real, const N: usize>(row: &[T], vector: &[T], multiply_add: impl Fn(T, T, T) -> T) -> T {
    let mut lanes = [[T::ZERO; N]; 4];
    let (rows, row_rest) = row.as_chunks::<N>();
    let (xs, x_rest) = vector.as_chunks::<N>();
    let ((rows, more_rows), (xs, more_xs)) = (rows.as_chunks::<4>(), xs.as_chunks::<4>());
    for (row, x) in rows.iter().zip(xs) {
        for (lanes, (row, x)) in lanes.iter_mut().zip(row.iter().zip(x)) {
            *lanes = std::array::from_fn(|l| multiply_add(row[l], x[l], lanes[l]));
        }
    }
    for (row, x) in more_rows.iter().zip(more_xs) {
        lanes[0] = std::array::from_fn(|l| multiply_add(row[l], x[l], lanes[0][l]));
    }
    let [a, b, c, d] = lanes;
    let mut all: [T; N] = std::array::from_fn(|l| a[l].add(b[l]).add(c[l].add(d[l])));
    // By halves: there are 8 or 4.
    (0..N / 2).for_each(|l| all[l] = all[l].add(all[l + N / 2]));
    (0..N / 4).for_each(|l| all[l] = all[l].add(all[l + N / 4]));
    (0..N / 8).for_each(|l| all[l] = all[l].add(all[l + N / 8]));
    let sum = all[0];
    let rest = row_rest.iter().zip(x_rest);
    rest.fold(sum, |sum, (&element, &x)| multiply_add(element, x, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_walks_agree_with_plain_sums() {
        for (m, k) in [(1, 1), (3, 5), (8, 16), (17, 33), (64, 7), (65, 64), (130, 100)] {
            let numbers = |len: usize| (0..len).map(|i| (i * 37 % 101) as f64 - 50.0).collect::<Vec<f64>>();
            let (elements, vector) = (numbers(m * k), numbers(k));
            for (along, down) in [(k, 1), (1, m)] {
                let mut out = vec![MaybeUninit::new(f64::NAN); m];
                product(&mut out, Matrix { elements: &elements, along, down }, &vector);
                for (i, found) in out.iter().enumerate() {
                    let expected: f64 = (0..k).map(|p| elements[i * along + p * down] * vector[p]).sum();
                    // SAFETY: it was initialised above, and written since.
                    let found = unsafe { found.assume_init() };
                    // Integers of this size are exact, in every order.
                    assert_eq!(found, expected, "element {i} of {m} by {k}, {along} along and {down} down");
                }
            }
        }
    }
}
