//! One product of two matrices on one thread: by our own code where the processor has its vectors, else by a library.
#![allow(unsafe_code, reason = "operands are strided views of raw memory")]

use gemm::Parallelism;

#[cfg(target_arch = "x86_64")]
use crate::product;

/// A matrix in memory: where it begins, and how far rows and columns are apart.
pub(crate) type Strided<T> = (*const T, usize, usize);

/// A matrix whose rows are in pieces: where it begins, how far rows are apart, and how far from its beginning, in
/// elements, each piece of the first row is.
pub(crate) type Pieces<'p, T> = (*const T, usize, &'p [usize]);

/// A float, of which there are products.
pub(crate) trait Float: Copy + Send + Sync + 'static {
    /// 1 or 0.
    fn one_if(condition: bool) -> Self;

    /// The product by our own code; says whether there was one. See [`multiply`].
    ///
    /// # Safety
    ///
    /// As for [`multiply`].
    unsafe fn by_vectors(
        sizes: [usize; 3],
        a: Strided<Self>,
        b: Strided<Self>,
        c: (*mut Self, usize),
        adds: bool,
    ) -> bool;

    /// See [`multiply_pieces`].
    ///
    /// # Safety
    ///
    /// As for [`multiply_pieces`].
    unsafe fn pieces_by_vectors(
        sizes: [usize; 3],
        a: Pieces<'_, Self>,
        b: *const Self,
        c: (*mut Self, usize),
        adds: bool,
    );
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Float for $t {
            fn one_if(condition: bool) -> $t {
                if condition { 1.0 } else { 0.0 }
            }

            #[cfg(target_arch = "x86_64")]
            unsafe fn by_vectors(
                sizes: [usize; 3],
                a: Strided<$t>,
                b: Strided<$t>,
                c: (*mut $t, usize),
                adds: bool,
            ) -> bool {
                let is_able = product::is_able();
                if is_able {
                    let [a, b] = [a, b].map(|(at, row, col)| product::Operand { at, row, col });
                    // SAFETY: the caller's promise, and the processor is able.
                    unsafe { product::product(sizes, a, b, c.0, c.1, adds) };
                }
                is_able
            }

            #[cfg(not(target_arch = "x86_64"))]
            unsafe fn by_vectors(
                _: [usize; 3],
                _: Strided<$t>,
                _: Strided<$t>,
                _: (*mut $t, usize),
                _: bool,
            ) -> bool {
                false
            }

            #[cfg(target_arch = "x86_64")]
            unsafe fn pieces_by_vectors(
                sizes: [usize; 3],
                (at, row, pieces): Pieces<'_, $t>,
                b: *const $t,
                c: (*mut $t, usize),
                adds: bool,
            ) {
                let a = product::Operand { at, row, col: 1 };
                let b = product::Operand { at: b, row: sizes[1], col: 1 };
                // SAFETY: the caller's promise.
                unsafe { product::product_of_pieces(sizes, (a, pieces), b, c, adds) };
            }

            #[cfg(not(target_arch = "x86_64"))]
            unsafe fn pieces_by_vectors(
                _: [usize; 3],
                _: Pieces<'_, $t>,
                _: *const $t,
                _: (*mut $t, usize),
                _: bool,
            ) {
                unreachable!("products are ours on machines with AVX-512 only");
            }
        }
    )*};
}
floats! { f32 f64 }

/// Bytes of a vector of our own code.
pub(crate) const VECTOR: usize = 64;

/// Most elements of a row that are multiplied in one go.
#[cfg(target_arch = "x86_64")]
pub(crate) const IN_ONE_GO: usize = product::DEPTH;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const IN_ONE_GO: usize = 0;

/// Whether products are our own code's: then a sum is one chain in the order of the contraction, wherever it is
/// interrupted.
pub(crate) fn is_ours() -> bool {
    #[cfg(target_arch = "x86_64")]
    return product::is_able();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Whether threads that write to parts of the same rows do not hold each other up. What one processor reads ahead of its
/// part is what another one writes: where second caches have 1 MiB, products of 128 rows took 15 to 20 % longer by that,
/// where they have 2 MiB nothing that was seen.
pub(crate) fn may_share_rows() -> bool {
    #[cfg(target_arch = "x86_64")]
    return product::second_cache() >= 2 << 20;
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// `c[i, j] = Σ_p a[i, p] × b[p, j]` for sizes `[m, n, k]` of `i`, `j` and `p`; if it `adds`, to what `c` holds. Rows of
/// `c` are so far apart as is said with it, its columns side by side.
///
/// # Safety
///
/// Every element that the sizes and strides reach is one of an operand that is initialised, or of the result, which need
/// not be if nothing is added to it. While this runs nobody writes to the operands or uses the result, which overlaps
/// neither.
pub(crate) unsafe fn multiply<T: Float>(
    sizes: [usize; 3],
    a: Strided<T>,
    b: Strided<T>,
    c: (*mut T, usize),
    adds: bool,
) {
    // SAFETY: the caller's promise.
    if unsafe { T::by_vectors(sizes, a, b, c, adds) } {
        return;
    }
    let ([m, n, k], (a, a_row, a_col), (b, b_row, b_col), (c, c_row)) = (sizes, a, b, c);
    // SAFETY: the caller's promise. The result is not read if nothing is added to it.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c,
            1,
            c_row as isize,
            adds,
            a,
            a_col as isize,
            a_row as isize,
            b,
            b_col as isize,
            b_row as isize,
            T::one_if(adds),
            T::one_if(true),
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// `c[i, j] = Σ_q Σ_p a[i, p of piece q] × b[q × k + p, j]` for sizes `[m, n, k]` of `i`, `j` and `p`, as [`multiply`]
/// but in one go; rows of `b` follow each other.
///
/// # Safety
///
/// As for [`multiply`]; products [are ours](is_ours), and there are some rows and one to four whole vectors of columns.
/// Pieces are not longer than [`IN_ONE_GO`], or there is one.
pub(crate) unsafe fn multiply_pieces<T: Float>(
    sizes: [usize; 3],
    a: Pieces<'_, T>,
    b: *const T,
    c: (*mut T, usize),
    adds: bool,
) {
    // SAFETY: the caller's promise.
    unsafe { T::pieces_by_vectors(sizes, a, b, c, adds) };
}
