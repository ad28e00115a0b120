//! Both ways to walk in loops that the compiler makes vectors of: for processors without AVX-512.
#![allow(unsafe_code, reason = "code for newer processors is called after asking for them")]

use std::mem::MaybeUninit;

use super::Matrix;

/// Elements of the result that are computed side by side where columns are walked: their sums stay in the first cache.
const SIDE_BY_SIDE: usize = 1024;
/// Rows that are added to the sums at once: so often less is loaded and stored.
const ROWS_AT_ONCE: usize = 4;
/// Bytes of a row that are added side by side where rows are walked: a register. Four of them take turns, so that one
/// sum need not wait for the last.
const LANES: usize = 32;

/// Elements from which on two rows are walked side by side.
const LONG: usize = 256;

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

/// `out[i] = Σ_p matrix[i, p] × vector[p]` for a matrix that [is walked](Matrix::is_walked).
pub(super) fn product<T: Real>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { with_avx2(out, matrix, vector) };
    }
    // Where a fused multiply-add is no instruction, it is a call.
    if cfg!(target_arch = "aarch64") {
        walk(out, matrix, vector, T::fused);
    } else {
        walk(out, matrix, vector, T::plain);
    }
}

/// The same code, compiled for vectors of 32 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<T: Real>(out: &mut [MaybeUninit<T>], matrix: Matrix<'_, T>, vector: &[T]) {
    walk(out, matrix, vector, T::fused);
}

#[inline(always)]
pub(super) fn walk<T: Real>(
    out: &mut [MaybeUninit<T>],
    matrix: Matrix<'_, T>,
    vector: &[T],
    multiply_add: impl Fn(T, T, T) -> T + Copy,
) {
    if matrix.along == 1 {
        for (number, out) in out.chunks_mut(SIDE_BY_SIDE).enumerate() {
            columns(out, matrix, number * SIDE_BY_SIDE, vector, multiply_add);
        }
    } else {
        let row = |i: usize| &matrix.elements[i * matrix.along..][..vector.len()];
        // Two at a time; short rows end too often for that.
        let together = if vector.len() < LONG { 0 } else { out.len() / 2 };
        let (pairs, rest) = out.split_at_mut(2 * together);
        for (pair, places) in pairs.chunks_exact_mut(2).enumerate() {
            let sums = sums([row(2 * pair), row(2 * pair + 1)], vector, multiply_add);
            places.iter_mut().zip(sums).for_each(|(place, sum)| _ = place.write(sum));
        }
        for (i, place) in rest.iter_mut().enumerate() {
            place.write(sums([row(2 * together + i)], vector, multiply_add)[0]);
        }
    }
}

/// The sums of some rows.
#[inline(always)]
fn sums<T: Real, const R: usize>(
    rows: [&[T]; R],
    vector: &[T],
    multiply_add: impl Fn(T, T, T) -> T + Copy,
) -> [T; R] {
    match size_of::<T>() {
        4 => lanes::<T, R, { LANES / 4 }>(rows, vector, multiply_add),
        _ => lanes::<T, R, { LANES / 8 }>(rows, vector, multiply_add),
    }
}

/// The elements of the result from `start` on, each sum in order.
#[inline(always)]
fn columns<T: Real>(
    out: &mut [MaybeUninit<T>],
    matrix: Matrix<'_, T>,
    start: usize,
    vector: &[T],
    multiply_add: impl Fn(T, T, T) -> T + Copy,
) {
    let mut sums = [T::ZERO; SIDE_BY_SIDE];
    let sums = &mut sums[..out.len()];
    let len = out.len();
    let row = |p: usize| &matrix.elements[p * matrix.down + start..][..len];
    let (fours, rest) = vector.as_chunks::<ROWS_AT_ONCE>();
    for (four, x) in fours.iter().enumerate() {
        let [a, b, c, d]: [&[T]; ROWS_AT_ONCE] = std::array::from_fn(|r| row(four * ROWS_AT_ONCE + r));
        for (sum, (((&a, &b), &c), &d)) in sums.iter_mut().zip(a.iter().zip(b).zip(c).zip(d)) {
            let two = multiply_add(x[1], b, multiply_add(x[0], a, *sum));
            *sum = multiply_add(x[3], d, multiply_add(x[2], c, two));
        }
    }
    for (p, &x) in rest.iter().enumerate() {
        for (sum, &element) in sums.iter_mut().zip(row(fours.len() * ROWS_AT_ONCE + p)) {
            *sum = multiply_add(x, element, *sum);
        }
    }
    out.iter_mut().zip(sums).for_each(|(place, sum)| _ = place.write(*sum));
}

/// The sum of each row: in four vectors that are added up in the end, then the elements after the last of them. Rows
/// are walked side by side, so that what is loaded of the vector serves all, and memory is read in several places.
#[inline(always)]
fn lanes<T: Real, const R: usize, const N: usize>(
    rows: [&[T]; R],
    vector: &[T],
    multiply_add: impl Fn(T, T, T) -> T + Copy,
) -> [T; R] {
    let mut lanes = [[[T::ZERO; N]; 4]; R];
    let (xs, x_rest) = vector.as_chunks::<N>();
    let (fours, more) = xs.as_chunks::<4>();
    let chunks: [&[[T; N]]; R] = rows.map(|row| row.as_chunks::<N>().0);
    // As many as of the vector, which is said so that no index below is checked.
    let row_fours: [&[[[T; N]; 4]]; R] = chunks.map(|row| &row.as_chunks::<4>().0[..fours.len()]);
    for (four, x) in fours.iter().enumerate() {
        for (lanes, row) in lanes.iter_mut().zip(row_fours) {
            for (lanes, (row, x)) in lanes.iter_mut().zip(row[four].iter().zip(x)) {
                *lanes = std::array::from_fn(|l| multiply_add(row[l], x[l], lanes[l]));
            }
        }
    }
    for (lanes, row) in lanes.iter_mut().zip(chunks) {
        for (row, x) in row[4 * fours.len()..].iter().zip(more) {
            lanes[0] = std::array::from_fn(|l| multiply_add(row[l], x[l], lanes[0][l]));
        }
    }
    std::array::from_fn(|r| {
        let [a, b, c, d] = lanes[r];
        let mut all: [T; N] = std::array::from_fn(|l| a[l].add(b[l]).add(c[l].add(d[l])));
        // By halves: there are 8 or 4.
        (0..N / 2).for_each(|l| all[l] = all[l].add(all[l + N / 2]));
        (0..N / 4).for_each(|l| all[l] = all[l].add(all[l + N / 4]));
        (0..N / 8).for_each(|l| all[l] = all[l].add(all[l + N / 8]));
        let rest = rows[r][N * xs.len()..].iter().zip(x_rest);
        rest.fold(all[0], |sum, (&element, &x)| multiply_add(element, x, sum))
    })
}
