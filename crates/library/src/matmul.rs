//! Matrix products.
//!
//! Invariant: an element of the result does not depend on the number of threads, nor on which of them made it.
#![allow(unsafe_code, reason = "operands are strided views of raw memory")]

use std::mem::MaybeUninit;
use std::ops::Range;

use tracewell_array::DType;
use tracewell_kernel::Gemm;

use crate::deep::Deep;
use crate::multiply::{Float, may_share_rows, multiply};
use crate::pool;
use crate::subnormal::flushed;
use crate::vector_product::{Matrix, product};
use crate::walk::{turns_back, walk};

/// Multiply-adds below which one product stays on one thread. In a loop, what the other thread needs and makes
/// has to travel between cores in every turn.
const PARALLEL: usize = 128 * 128 * 128;
/// The same for a product with a vector, which waits for memory rather than for arithmetic.
const PARALLEL_VECTOR: usize = 1 << 19;
/// Multiply-adds from which on every thread has two parts. Those of a smaller product would not fill a tile.
const MORE: usize = 1 << 23;
/// The same for four.
const MUCH: usize = 1 << 25;
/// Multiply-adds up to which plain loops are done before the library has looked at the sizes.
const TINY: usize = 256;
/// A product with a vector is done in blocks of so many elements of the result: rows that lie one after the
/// other, or columns that are walked side by side. The library rounds differently for different sizes, so the
/// blocks must not depend on the number of threads.
const ROWS: usize = 256;
pub(crate) const COLUMNS: usize = 2048;
/// `c[b,i,j] = Σ_k a[b,i,k] × b[b,k,j]`
///
/// # Safety
///
/// Every element that the sizes and strides reach lies inside its buffer, which is aligned for the dtype.
/// Operands are initialised. While this runs nobody writes to them or uses the result, which overlaps neither.
pub(crate) unsafe fn matmul(gemm: &Gemm, [a, b, c]: [*mut u8; 3]) {
    match gemm.dtype {
        DType::F32 => {
            // SAFETY: the caller's promise.
            unsafe { Product::new(gemm, [a, b, c].map(<*mut u8>::cast::<f32>)).whole() }
        }
        DType::F64 => {
            // SAFETY: the caller's promise.
            unsafe { Product::new(gemm, [a, b, c].map(<*mut u8>::cast::<f64>)).whole() }
        }
        DType::I64 => {
            // SAFETY: the caller's promise.
            unsafe { plain(gemm, a.cast::<i64>(), b.cast::<i64>(), c.cast::<i64>()) }
        }
        // Signed and unsigned numbers wrap alike.
        DType::I32 | DType::U32 => {
            // SAFETY: the caller's promise.
            unsafe { plain(gemm, a.cast::<u32>(), b.cast::<u32>(), c.cast::<u32>()) }
        }
        DType::U8 => {
            // SAFETY: the caller's promise.
            unsafe { plain(gemm, a.cast::<u8>(), b.cast::<u8>(), c.cast::<u8>()) }
        }
        DType::Bool | DType::C64 | DType::C128 => {
            unreachable!("the verifier refuses products of bools and complex numbers")
        }
    }
}

/// What a product needs of its elements.
pub(crate) trait Number: Copy + Send + Sync + 'static {
    const ZERO: Self;
    const ONE: Self;
    fn add_product(self, a: Self, b: Self) -> Self;
    fn with_vector(out: &mut [MaybeUninit<Self>], matrix: Matrix<'_, Self>, vector: &[Self]);
}

macro_rules! number {
    ($($t:ident $zero:literal $one:literal $vector:path, |$sum:ident, $a:ident, $b:ident| $body:expr;)*) => {$(
        impl Number for $t {
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            fn add_product(self, $a: $t, $b: $t) -> $t {
                let $sum = self;
                $body
            }
            fn with_vector(out: &mut [MaybeUninit<$t>], matrix: Matrix<'_, $t>, vector: &[$t]) {
                $vector(out, matrix, vector);
            }
        }
    )*};
}

number! {
    f32 0.0 1.0 product, |sum, a, b| a * b + sum;
    f64 0.0 1.0 product, |sum, a, b| a * b + sum;
    i64 0 1 no_product, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b));
    u32 0 1 no_product, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b));
    u8 0 1 no_product, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b));
}

/// Integers are multiplied by the plain loops.
fn no_product<T>(_: &mut [MaybeUninit<T>], _: Matrix<'_, T>, _: &[T]) {
    unreachable!("only floats go this way");
}

/// An address that may go to another thread.
#[derive(Clone, Copy)]
pub(crate) struct Shared<T>(pub(crate) *mut T);

// SAFETY: only `matmul` makes these, and its caller promises that operands are not written and results not used
// by others; different products of a batch touch different results.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// The address `elements` further on.
    pub(crate) fn at(self, elements: usize) -> *mut T {
        self.0.wrapping_add(elements)
    }
}

/// A product, and where it lies.
#[derive(Clone, Copy)]
pub(crate) struct Product<'g, T> {
    pub(crate) gemm: &'g Gemm,
    pub(crate) a: Shared<T>,
    pub(crate) b: Shared<T>,
    pub(crate) c: Shared<T>,
}

impl<'g, T: Number + Float> Product<'g, T> {
    pub(crate) fn new(gemm: &'g Gemm, [a, b, c]: [*mut T; 3]) -> Product<'g, T> {
        Product { gemm, a: Shared(a), b: Shared(b), c: Shared(c) }
    }

    /// Rows and columns of one product of the batch.
    ///
    /// # Safety
    ///
    /// As for [`matmul`], for a part of the result.
    unsafe fn block(&self, number: usize, rows: Range<usize>, columns: Range<usize>) {
        let gemm = self.gemm;
        let place = gemm.place(number);
        let a = self.a.at(gemm.a.begin(place) + rows.start * gemm.a.row);
        let b = self.b.at(gemm.b.begin(place) + columns.start * gemm.b.col);
        let c = self.c.at((number * gemm.m + rows.start) * gemm.n + columns.start);
        let part = Gemm { m: rows.len(), n: columns.len(), ..*gemm };
        // SAFETY: the caller's promise.
        let work = || unsafe { one(&part, a, b, c, gemm.n) };
        // Of one or two products the library multiplies operands by 1 first, and that must change nothing.
        if gemm.k > 2 { flushed(work) } else { work() }
    }

    /// Some of the [rows](is_by_rows) or columns of one product of the batch.
    ///
    /// # Safety
    ///
    /// As for [`matmul`], for a part of the result.
    pub(crate) unsafe fn along(&self, number: usize, range: Range<usize>) {
        let Gemm { m, n, .. } = *self.gemm;
        let (rows, columns) = if is_by_rows(self.gemm) { (range, 0..n) } else { (0..m, range) };
        // SAFETY: the caller's promise.
        unsafe { self.block(number, rows, columns) }
    }

    /// All of it.
    ///
    /// # Safety
    ///
    /// As for [`matmul`].
    pub(crate) unsafe fn whole(&self) {
        let gemm = self.gemm;
        let (Gemm { m, n, k, .. }, batch) = (*gemm, gemm.count());
        let work = m.saturating_mul(n).saturating_mul(k);
        if work <= TINY {
            // SAFETY: the caller's promise.
            return unsafe { plain(gemm, self.a.0, self.b.0, self.c.0) };
        }
        let (whole, length) = (work.saturating_mul(batch), m.max(n));
        // What is shared has all that it needs in it, not by reference.
        let product = *self;
        if let Some(deep) = Deep::new(*self) {
            // SAFETY: the caller's promise.
            unsafe { deep.sum() }
        } else if m == 1 || n == 1 {
            let size = if n == 1 { gemm.a.row } else { gemm.b.col };
            let size = if size == 1 { COLUMNS } else { ROWS };
            let blocks = length.div_ceil(size);
            let back = turns_back(whole.saturating_mul(size_of::<T>()));
            in_parts(batch * blocks, Worth::of(whole, PARALLEL_VECTOR), back, move |parts| {
                walk(parts, back, |part| {
                    let start = part % blocks * size;
                    // SAFETY: the caller's promise.
                    unsafe { product.along(part / blocks, start..length.min(start + size)) };
                });
            });
        } else if work < PARALLEL || batch >= 2 * pool::threads() {
            in_parts(batch, Worth::of(whole, PARALLEL), false, move |numbers| {
                // SAFETY: the caller's promise.
                numbers.for_each(|number| unsafe { product.block(number, 0..m, 0..n) })
            });
        } else {
            let stripe = stripe(m, n);
            let stripes = (length / stripe).max(1);
            let start = move |number: usize| if number == stripes { length } else { number * stripe };
            for number in 0..batch {
                in_parts(stripes, Worth::of(work, 0), false, move |range| {
                    // SAFETY: the caller's promise.
                    unsafe { product.along(number, start(range.start)..start(range.end)) }
                });
            }
        }
    }
}

/// Whether a product is split by its rows and not by its columns: by whichever are more. If there are as many of both,
/// one that is small by its columns only on processors on which threads [may share rows](may_share_rows): by rows, every
/// part copies all columns of the right operand.
fn is_by_rows(gemm: &Gemm) -> bool {
    let Gemm { m, n, k, .. } = *gemm;
    m > n || (m == n && m.saturating_mul(n).saturating_mul(k) < MORE && !may_share_rows())
}

/// A product is split between threads in multiples of so many rows or columns, whichever are more.
///
/// The library orders a sum by its length alone, but for results of up to 64×64 or 256 elements. A part of a larger
/// one must not be that small, else it would not have the bits of the whole.
fn stripe(m: usize, n: usize) -> usize {
    match m.min(n) {
        _ if m.max(n) <= 64 => 64,
        short @ ..=64 => (256 / short + 1).max(65),
        // Whole tiles, where there are some for everybody.
        _ if m.max(n) >= 256 => 64,
        _ => 32,
    }
}

/// Runs `work` on ranges that make up `0..count`: one for each thread if that is worth it, several if there is much to
/// do, so that a thread that is held up leaves some to others. If it goes back, threads begin with their last ones.
pub(crate) fn in_parts(count: usize, worth: Worth, back: bool, work: impl Fn(Range<usize>) + Sync) {
    let parts = (worth.0 * pool::threads()).min(count);
    if pool::threads() == 1 || parts <= 1 {
        return work(0..count);
    }
    pool::share_walk(parts, back, move |part| work(count * part / parts..count * (part + 1) / parts));
}

/// How many parts of some work every thread has; with 0 it is not shared.
#[derive(Clone, Copy)]
pub(crate) struct Worth(usize);

impl Worth {
    /// Of work that is shared from so much on.
    pub(crate) fn of(work: usize, least: usize) -> Worth {
        Worth(match work {
            _ if work < least => 0,
            _ if work < MORE => 1,
            _ if work < MUCH => 2,
            _ => 4,
        })
    }
}

/// One product. Rows of the result are `c_row` elements apart.
///
/// # Safety
///
/// As for [`matmul`].
pub(crate) unsafe fn one<T: Number + Float>(gemm: &Gemm, a: *const T, b: *const T, c: *mut T, c_row: usize) {
    let Gemm { m, n, k, a: left, b: right, .. } = *gemm;
    if m == 1 || (n == 1 && c_row == 1) {
        // SAFETY: the caller's promise.
        if unsafe { with_vector(gemm, a, b, c) } {
            return;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { multiply([m, n, k], (a, left.row, left.col), (b, right.row, right.col), (c, c_row), false) };
}

/// A product with a vector, if the matrix and the vector lie as that is fast.
///
/// # Safety
///
/// As for [`matmul`].
unsafe fn with_vector<T: Number>(gemm: &Gemm, a: *const T, b: *const T, c: *mut T) -> bool {
    let Gemm { m, n, k, a: left, b: right, .. } = *gemm;
    let (count, matrix, along, down, vector, step) = if n == 1 {
        (m, a, left.row, left.col, b, right.row)
    } else {
        (n, b, right.col, right.row, a, left.col)
    };
    if k == 0 || (step != 1 && k > 1) {
        return false;
    }
    let reach = (count - 1) * along + (k - 1) * down + 1;
    // SAFETY: the caller's promise: all that the strides reach is initialised, and nobody writes to it now.
    let elements = unsafe { std::slice::from_raw_parts(matrix, reach) };
    let matrix = Matrix { elements, along, down };
    if !matrix.is_walked() {
        return false;
    }
    // SAFETY: the same of the vector.
    let vector = unsafe { std::slice::from_raw_parts(vector, k) };
    // SAFETY: the caller's promise: so many elements of the result are ours to write.
    let out = unsafe { std::slice::from_raw_parts_mut(c.cast::<MaybeUninit<T>>(), count) };
    T::with_vector(out, matrix, vector);
    true
}

/// The plain loops, for integers and for what is tiny.
///
/// # Safety
///
/// As for [`matmul`].
unsafe fn plain<T: Number>(gemm: &Gemm, a: *const T, b: *const T, c: *mut T) {
    let Gemm { m, n, k, a: left, b: right, .. } = *gemm;
    for number in 0..gemm.count() {
        let place = gemm.place(number);
        let (a, b) = (a.wrapping_add(left.begin(place)), b.wrapping_add(right.begin(place)));
        for i in 0..m {
            for j in 0..n {
                let mut sum = T::ZERO;
                for p in 0..k {
                    let a = a.wrapping_add(i * left.row + p * left.col);
                    let b = b.wrapping_add(p * right.row + j * right.col);
                    // SAFETY: the caller's promise: an element of the left operand.
                    let a = unsafe { a.read() };
                    // SAFETY: the caller's promise: an element of the right operand.
                    let b = unsafe { b.read() };
                    sum = sum.add_product(a, b);
                }
                let c = c.wrapping_add((number * m + i) * n + j);
                // SAFETY: the caller's promise: an element of the result.
                unsafe { c.write(sum) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tracewell_kernel::Matrices;

    use super::*;

    #[test]
    fn parts_of_a_product_are_the_same_bits() {
        let sizes = [
            (150, 140, 130),
            (128, 128, 2000),
            (300, 64, 700),
            (33, 1025, 65),
            (2, 600, 2000),
            (64, 65, 800),
            (130, 130, 400),
        ];
        for (m, n, k) in sizes {
            let (of_a, of_b) = (Matrices::new(0, k, 1), Matrices::new(0, n, 1));
            let gemm = Gemm { dtype: DType::F32, batch: [1, 1], m, n, k, a: of_a, b: of_b };
            let values = |len: usize| (0..len).map(|i| (i * 7919 % 1013) as f32 * 0.37).collect::<Vec<f32>>();
            let (a, b) = (values(m * k), values(k * n));
            // A row or column more than a multiple in the last part.
            let run = |size: usize| {
                let mut c = vec![0f32; m * n];
                let (length, mut start) = (m.max(n), 0);
                while start < length {
                    let len = if length - start < 2 * size { length - start } else { size };
                    let by_rows = is_by_rows(&gemm);
                    let part = if by_rows { Gemm { m: len, ..gemm } } else { Gemm { n: len, ..gemm } };
                    let (row, column) = if by_rows { (start, 0) } else { (0, start) };
                    let (a, b, c) = (&a[row * k..], &b[column..], &mut c[row * n + column..]);
                    // SAFETY: the slices have the sizes of the part.
                    unsafe { one(&part, a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), n) };
                    start += len;
                }
                c
            };
            let expected = run(m.max(n));
            for stripes in 1..5 {
                assert_eq!(run(stripes * stripe(m, n)), expected, "{m} {n} {k} by {stripes} stripes");
            }
        }
    }

    /// Rows, and columns in several parts, from the first and from the last.
    #[test]
    fn a_matrix_is_walked_both_ways_to_the_same_bits() {
        let values = |len: usize| (0..len).map(|i| (i * 7919 % 1013) as f32 * 0.37).collect::<Vec<f32>>();
        // Large enough for several threads.
        let (rows, columns) = (2001, 300);
        let matrix = values(rows * columns);
        for (length, k, along, down) in [(rows, columns, columns, 1), (columns, rows, 1, columns)] {
            let (a, b) = (Matrices::new(0, along, down), Matrices::new(0, 1, 1));
            let gemm = Gemm { dtype: DType::F32, batch: [1, 1], m: length, n: 1, k, a, b };
            let vector = values(k);
            let product = || {
                let mut c = vec![f32::NAN; length];
                // SAFETY: the vectors have the sizes of the product.
                unsafe {
                    Product::new(
                        &gemm,
                        [matrix.as_ptr().cast_mut(), vector.as_ptr().cast_mut(), c.as_mut_ptr()],
                    )
                    .whole()
                };
                c
            };
            let (there, back) = (product(), product());
            assert_eq!(there, back, "{length} {k}");
            let sum = |i: usize| -> f64 {
                (0..k).map(|p| f64::from(matrix[i * along + p * down]) * f64::from(vector[p])).sum()
            };
            let is_near = |i: usize| (f64::from(back[i]) / sum(i) - 1.0).abs() < 1e-5;
            assert!((0..length).all(is_near), "{length} {k}");
        }
    }

    /// Columns that are summed in several parts, by rows from the left and from the right, in batches.
    #[test]
    fn long_columns_are_summed_in_parts() {
        for (batch, length, k) in [(1, 1, 300_000), (2, 3, 50_001), (1, 100, 2_000), (1, 2_100, 130)] {
            // Small integers: every order of additions is exact.
            let values = |len: usize| (0..len).map(|i| (i * 37 % 11) as f64 - 5.0).collect::<Vec<f64>>();
            let (matrix, vector) = (values(batch * k * length), values(batch * k));
            let sum = |number: usize, j: usize| -> f64 {
                let element = |p: usize| matrix[(number * k + p) * length + j] * vector[number * k + p];
                (0..k).map(element).sum()
            };
            let expected: Vec<f64> =
                (0..batch * length).map(|place| sum(place / length, place % length)).collect();
            let (of_matrix, of_vector) = (Matrices::new(k * length, 1, length), Matrices::new(k, 1, 1));
            let left =
                Gemm { dtype: DType::F64, batch: [1, batch], m: length, n: 1, k, a: of_matrix, b: of_vector };
            let of_matrix = Matrices::new(k * length, length, 1);
            let right = Gemm { m: 1, n: length, a: of_vector, b: of_matrix, ..left };
            for (gemm, a, b) in [(left, &matrix, &vector), (right, &vector, &matrix)] {
                let mut c = vec![f64::NAN; batch * length];
                // SAFETY: the vectors have the sizes of the product.
                unsafe {
                    Product::new(&gemm, [a.as_ptr().cast_mut(), b.as_ptr().cast_mut(), c.as_mut_ptr()])
                        .whole()
                };
                assert_eq!(c, expected, "{batch} {length} {k}");
            }
        }
    }

    #[test]
    fn subnormal_results_are_zero() {
        let all = Matrices::new(0, 16, 1);
        let gemm = Gemm { dtype: DType::F32, batch: [1, 1], m: 16, n: 16, k: 16, a: all, b: all };
        let (a, b) = ([1e-40f32; 256], [1.0f32; 256]);
        let mut c = [1f32; 256];
        // SAFETY: the arrays have the sizes of the product.
        unsafe {
            Product::new(&gemm, [a.as_ptr().cast_mut(), b.as_ptr().cast_mut(), c.as_mut_ptr()]).whole()
        };
        assert_eq!(c, [0.0; 256]);
    }
}
