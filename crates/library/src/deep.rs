//! A matrix whose rows lie one after the other, times a vector from the other side: some rows at a time.
//!
//! What is summed down the columns of a large matrix is summed in parts of some rows, which are added up in the end, so
//! that threads can share them. Whatever makes the elements of the vector for these rows may run right before them: if
//! it is a product with the same matrix, that is still near, and is read once from where it is far ([`Deep::behind`]).
//!
//! Invariant: how many parts there are depends on the sizes only.
#![allow(unsafe_code, reason = "operands are strided views of raw memory")]

use std::ops::Range;

use tracewell_kernel::Gemm;

use crate::matmul::{COLUMNS, Number, Product, Shared, Worth, in_parts, one};
use crate::multiply::Float;
use crate::pool;
use crate::subnormal::flushed;
use crate::walk::{turns_back, walk};

/// Elements of a matrix whose columns are summed in one go.
const DEEP: usize = 1 << 17;
/// Parts for each thread, so that hardly anybody waits for the others.
const EACH: usize = 2;

/// A product with a vector, in parts.
pub(crate) struct Deep<'g, T> {
    product: Product<'g, T>,
    /// Elements of the result of one product.
    length: usize,
    /// Rows of a part.
    rows: usize,
    /// Parts of a product, one below the other, and blocks of columns of a part, side by side.
    depths: usize,
    blocks: usize,
}

impl<'g, T: Number + Float> Deep<'g, T> {
    /// `None` if it is done in one go, or is no such product.
    pub(crate) fn new(product: Product<'g, T>) -> Option<Deep<'g, T>> {
        let Gemm { m, n, k, a, b, .. } = *product.gemm;
        let length = m.max(n);
        let step = if n == 1 { a.row } else { b.col };
        let rows = (DEEP / length.clamp(1, COLUMNS)).max(1);
        let is_deep = (m == 1 || n == 1) && step == 1 && k > rows;
        let (depths, blocks) = (k.div_ceil(rows), length.div_ceil(COLUMNS));
        is_deep.then_some(Deep { product, length, rows, depths, blocks })
    }

    /// The product.
    ///
    /// # Safety
    ///
    /// As for [`matmul`](crate::matmul::matmul).
    pub(crate) unsafe fn sum(&self) {
        let (depths, blocks) = (self.depths, self.blocks);
        self.summed(|sums, back, worth| {
            in_parts(self.product.gemm.count() * depths * blocks, worth, back, |parts| {
                walk(parts, back, |part| {
                    // SAFETY: the caller's promise; each part has sums of its own.
                    unsafe { self.part(sums, part / blocks / depths, part / blocks % depths, part % blocks) };
                });
            });
        });
    }

    /// Whether a part is still near when it is read again, and there are enough of them for all threads. There is no
    /// batch.
    fn may_be_behind(&self) -> bool {
        let threads = pool::threads();
        self.blocks == 1 && (threads == 1 || self.depths >= EACH * threads)
    }

    /// The product, each of its parts behind what makes the vector for its rows, if it [may](Self::may_be_behind).
    ///
    /// # Safety
    ///
    /// As for [`matmul`](crate::matmul::matmul), but that the vector is written by `before`, to which each row is handed
    /// once; it may run on several threads.
    pub(crate) unsafe fn behind(&self, before: impl Fn(Range<usize>) + Sync) {
        self.summed(|sums, back, worth| {
            in_parts(self.depths, worth, back, |parts| {
                walk(parts, back, |depth| {
                    before(self.rows_of(depth));
                    // SAFETY: the caller's promise; each part has sums of its own.
                    unsafe { self.part(sums, 0, depth, 0) };
                });
            });
        });
    }

    fn rows_of(&self, depth: usize) -> Range<usize> {
        depth * self.rows..self.product.gemm.k.min((depth + 1) * self.rows)
    }

    /// Adds up what `parts` leaves: the sums of each part. It is told whether to go back, and how many parts threads have.
    fn summed(&self, parts: impl FnOnce(Shared<T>, bool, Worth)) {
        let (batch, length) = (self.product.gemm.count(), self.length);
        let mut sums: Vec<T> = vec![T::ZERO; batch * self.depths * length];
        let elements = batch.saturating_mul(length).saturating_mul(self.product.gemm.k);
        let back = turns_back(elements.saturating_mul(size_of::<T>()));
        parts(Shared(sums.as_mut_ptr()), back, Worth::of(elements, 0));
        flushed(|| {
            for (number, sums) in sums.chunks_exact(self.depths * length).enumerate() {
                for j in 0..length {
                    let sum =
                        sums[j..].iter().step_by(length).fold(T::ZERO, |sum, &x| sum.add_product(x, T::ONE));
                    // SAFETY: an element of the result, by the promise of those who call this.
                    unsafe { self.product.c.at(number * length + j).write(sum) };
                }
            }
        });
    }

    /// The sums of some rows and columns of one product of the batch.
    ///
    /// # Safety
    ///
    /// As for [`matmul`](crate::matmul::matmul); the sums are those of all parts, and nobody else has access to these.
    unsafe fn part(&self, sums: Shared<T>, number: usize, depth: usize, block: usize) {
        let (Product { gemm, a, b, .. }, length) = (self.product, self.length);
        let (rows, start) = (self.rows_of(depth), block * COLUMNS);
        let (count, place) = (COLUMNS.min(length - start), gemm.place(number));
        let ([left, right], [m, n]) =
            if gemm.n == 1 { ([start, 0], [count, 1]) } else { ([0, start], [1, count]) };
        let a = a.at(gemm.a.begin(place) + left * gemm.a.row + rows.start * gemm.a.col);
        let b = b.at(gemm.b.begin(place) + rows.start * gemm.b.row + right * gemm.b.col);
        let part = Gemm { m, n, k: rows.len(), ..*gemm };
        let sums = sums.at((number * self.depths + depth) * length + start);
        // SAFETY: the caller's promise, for a part of the operands.
        flushed(|| unsafe { one(&part, a, b, sums, n) });
    }
}

/// A matrix times a vector, `between` on each element of that, and the transposed matrix times what that makes: one
/// after the other, or in parts, so that the matrix is read once.
///
/// # Safety
///
/// As for [`matmul`](crate::matmul::matmul) of each, one after the other. The first [is one side](Gemm::is_one_side_of)
/// of the second, of the same matrix. Each element is handed to `between` once, on any thread. It reads of the result of
/// the first that element only, writes of the vector of the second that element only, and nothing else that the two read.
pub(crate) unsafe fn both_sides<T: Number + Float>(
    first: Product<'_, T>,
    second: Product<'_, T>,
    between: impl Fn(Range<usize>) + Sync,
) {
    if let Some(deep) = Deep::new(second).filter(Deep::may_be_behind) {
        // SAFETY: the caller's promise: these rows of the first product are what is used next.
        let rows = |rows: Range<usize>| unsafe { first.along(0, rows) };
        // SAFETY: the caller's promise.
        return unsafe {
            deep.behind(|range| {
                rows(range.clone());
                between(range);
            })
        };
    }
    // SAFETY: the caller's promise.
    unsafe { first.whole() };
    between(0..second.gemm.k);
    // SAFETY: the caller's promise.
    unsafe { second.whole() };
}

#[cfg(test)]
mod tests {
    use tracewell_array::DType;
    use tracewell_kernel::Matrices;

    use super::*;

    /// From the left and from the right, in one go and in parts, with rows that are short and long.
    #[test]
    fn a_matrix_is_read_once_to_the_same_bits() {
        for (rows, columns) in [(40, 30), (2001, 300), (700, 2100), (140_000, 2)] {
            let values = |len: usize| (0..len).map(|i| (i * 7919 % 1013) as f32 * 0.37).collect::<Vec<f32>>();
            let (matrix, vector) = (values(rows * columns), values(columns));
            let (by_rows, by_columns) = (Matrices::new(0, columns, 1), Matrices::new(0, 1, columns));
            let side = Matrices::new(0, 1, 1);
            let (dtype, batch) = (DType::F32, [1, 1]);
            let firsts = [
                Gemm { dtype, batch, m: rows, n: 1, k: columns, a: by_rows, b: side },
                Gemm { dtype, batch, m: 1, n: rows, k: columns, a: side, b: by_columns },
            ];
            let seconds = [
                Gemm { dtype, batch, m: columns, n: 1, k: rows, a: by_columns, b: side },
                Gemm { dtype, batch, m: 1, n: columns, k: rows, a: side, b: by_rows },
            ];
            for (first, second) in
                firsts.iter().flat_map(|first| seconds.iter().map(move |second| (first, second)))
            {
                assert!(first.is_one_side_of(second) && !second.is_one_side_of(first));
                let run = |once: bool| {
                    let (mut t, mut u, mut c) =
                        (vec![f32::NAN; rows], vec![f32::NAN; rows], vec![f32::NAN; columns]);
                    let (matrix, vector) = (matrix.as_ptr().cast_mut(), vector.as_ptr().cast_mut());
                    let [from, to, c] = [t.as_mut_ptr(), u.as_mut_ptr(), c.as_mut_ptr()].map(Shared);
                    let ordered =
                        |gemm: &Gemm, vector| if gemm.n == 1 { [matrix, vector] } else { [vector, matrix] };
                    let [a, b] = ordered(first, vector);
                    let first = Product::new(first, [a, b, from.0]);
                    let [a, b] = ordered(second, to.0);
                    let second = Product::new(second, [a, b, c.0]);
                    let between = |range: Range<usize>| {
                        for i in range {
                            // SAFETY: an element of the first result, which is there.
                            let x = unsafe { from.at(i).read() };
                            // SAFETY: an element of the vector, which this part has for itself.
                            unsafe { to.at(i).write(x * 0.5 - 1.0) };
                        }
                    };
                    if once {
                        // SAFETY: the vectors have the sizes of the products.
                        unsafe { both_sides(first, second, between) };
                    } else {
                        // SAFETY: the same.
                        unsafe { first.whole() };
                        between(0..rows);
                        // SAFETY: the same.
                        unsafe { second.whole() };
                    }
                    // SAFETY: as many elements as there are columns were written.
                    unsafe { std::slice::from_raw_parts(c.0, columns) }.to_vec()
                };
                assert_eq!(run(true), run(false), "{rows} {columns}");
            }
        }
    }
}
