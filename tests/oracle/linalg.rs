//! Linear algebra and sums of products.

use tracewell::prelude::*;

use super::{Composition, at, of, wave};
use linalg::{MatrixNorm, Triangle};

pub(super) const ALL: &[Composition] = &[
    of("cholesky", || at([3, 3], 0.5), |x| linalg::cholesky(&spd(x))),
    of("cholesky_of_half", || at([3, 3], 0.5), |x| linalg::cholesky(&(x + 4.0 * eye(3, x)))),
    of("cholesky_of_many", || at([2, 3, 3], 0.5), |x| linalg::cholesky(&spd(x))),
    of("cholesky_large", || at([20, 20], 0.5), |x| linalg::cholesky(&spd(x)).slice(s![-1])),
    of("marginal", || at([3, 3], 0.5), marginal),
    of("solve_lower", || at([3, 3], 0.5), |x| triangular(x, Triangle::lower())),
    of("solve_lower_unit", || at([3, 3], 0.5), |x| triangular(x, Triangle::lower().unit())),
    of("solve_lower_transposed", || at([3, 3], 0.5), |x| triangular(x, Triangle::lower().transposed())),
    of(
        "solve_lower_transposed_unit",
        || at([3, 3], 0.5),
        |x| triangular(x, Triangle::lower().transposed().unit()),
    ),
    of("solve_upper", || at([3, 3], 0.5), |x| triangular(x, Triangle::upper())),
    of("solve_upper_unit", || at([3, 3], 0.5), |x| triangular(x, Triangle::upper().unit())),
    of("solve_upper_transposed", || at([3, 3], 0.5), |x| triangular(x, Triangle::upper().transposed())),
    of(
        "solve_upper_transposed_unit",
        || at([3, 3], 0.5),
        |x| triangular(x, Triangle::upper().transposed().unit()),
    ),
    of(
        "solve_sides",
        || at([3], 0.5),
        |x| {
            let a = wave([3, 3], 0.1, x) + 2.0 * eye(3, x);
            linalg::solve_triangular(&a, x, Triangle::lower())
        },
    ),
    of("lu", || at([3, 3], 0.5), |x| linalg::lu(&strong(x)).0),
    of("lu_tall", || at([4, 2], 0.5), |x| linalg::lu(&strong(x)).0),
    of("lu_wide", || at([2, 4], 0.5), |x| linalg::lu(&strong(x)).0),
    of("lu_pivots", || at([4, 4], 0.5), |x| linalg::lu(&strong(x)).1.convert(x.dtype())),
    of("lu_order", || at([4, 4], 0.5), |x| linalg::lu(&strong(x)).2.convert(x.dtype())),
    of("lu_of_many", || at([2, 3, 3], 0.5), |x| linalg::lu(&strong(x)).0),
    of("q", || at([3, 3], 0.5), |x| linalg::qr(&strong(x)).0),
    of("r", || at([3, 3], 0.5), |x| linalg::qr(&strong(x)).1),
    of("q_tall", || at([4, 2], 0.5), |x| linalg::qr(&strong(x)).0),
    of("r_tall", || at([4, 2], 0.5), |x| linalg::qr(&strong(x)).1),
    of("q_full", || at([4, 2], 0.5), |x| linalg::qr_full(&strong(x)).0),
    of("r_wide", || at([2, 4], 0.5), |x| linalg::qr(&strong(x)).1),
    of("q_of_many", || at([2, 3, 3], 0.5), |x| linalg::qr(&strong(x)).0),
    of("singular_values", || at([4, 3], 0.5), |x| linalg::singular_values(&strong(x))),
    of("u", || at([3, 3], 0.5), |x| linalg::svd(&strong(x)).0),
    of("vt", || at([3, 3], 0.5), |x| linalg::svd(&strong(x)).2),
    of("u_tall", || at([4, 2], 0.5), |x| linalg::svd(&strong(x)).0),
    of("vt_wide", || at([2, 4], 0.5), |x| linalg::svd(&strong(x)).2),
    of(
        "u_extra",
        || at([4, 2], 0.5),
        |x| {
            let u = linalg::svd_full(&strong(x)).0.slice(s![.., 2..]);
            u.dot(&u.t())
        },
    ),
    of("eigenvalues", || at([3, 3], 0.5), |x| linalg::eigh(&spd(x)).0),
    of("eigenvectors", || at([3, 3], 0.5), |x| linalg::eigh(&spd(x)).1),
    of("eigenvectors_of_half", || at([3, 3], 0.5), |x| linalg::eigh(&strong(x)).1),
    of("solve", || at([3, 3], 0.5), |x| linalg::solve(&strong(x), &wave([3, 2], 0.3, x))),
    of("solve_vector", || at([4], 0.5), |b| linalg::solve(&strong(&wave([4, 4], 0.2, b)), b)),
    of("solve_of_many", || at([2, 3, 3], 0.5), |x| linalg::solve(&strong(x), &wave([3, 2], 0.3, x))),
    of("inv", || at([3, 3], 0.5), |x| linalg::inv(&strong(x))),
    of("det_2", || at([2, 2], 0.5), linalg::det),
    of("det_3", || at([3, 3], 0.5), |x| linalg::det(&strong(x))),
    of("det_4", || at([4, 4], 0.5), |x| linalg::det(&strong(x))),
    of("slogdet", || at([4, 4], 0.5), |x| linalg::slogdet(&strong(x)).1),
    of(
        "sign_of_det",
        || at([2, 4, 4], 0.5),
        |x| {
            let signs = super::numbers([1.0, -1.0], x).reshape([2, 1, 1]);
            linalg::slogdet(&(strong(x) * signs)).0
        },
    ),
    of("pinv_tall", || at([4, 2], 0.5), |x| linalg::pinv(&strong(x))),
    of("pinv_wide", || at([2, 4], 0.5), |x| linalg::pinv(&strong(x))),
    of("pinv_of_lower_rank", || at([4], 0.5), |x| linalg::pinv(&linalg::outer(x, x))),
    of("lstsq", || at([4, 2], 0.5), |x| linalg::lstsq(&strong(x), &wave([4], 0.3, x))),
    of("rank", || at([4], 0.5), |x| linalg::matrix_rank(&linalg::outer(x, x)).convert(x.dtype())),
    of("norm", || at([3, 4], 0.5), linalg::norm),
    of("norm_1", || at([3, 4], 0.5), |x| linalg::vector_norm(x, 1.0, 1)),
    of("norm_3", || at([3, 4], 0.5), |x| linalg::vector_norm(x, 3.0, 0)),
    of("norm_largest", || at([3, 4], 0.5), |x| linalg::vector_norm(x, f64::INFINITY, 1)),
    of("norm_rows", || at([3, 4], 0.5), |x| linalg::matrix_norm(x, MatrixNorm::Rows)),
    of("norm_columns", || at([3, 4], 0.5), |x| linalg::matrix_norm(x, MatrixNorm::Columns)),
    of("norm_spectral", || at([3, 4], 0.5), |x| linalg::matrix_norm(&strong(x), MatrixNorm::Spectral)),
    of("norm_nuclear", || at([3, 4], 0.5), |x| linalg::matrix_norm(&strong(x), MatrixNorm::Nuclear)),
    of("power_5", || at([3, 3], 0.5), |x| linalg::matrix_power(x, 5)),
    of("power_minus_2", || at([3, 3], 0.5), |x| linalg::matrix_power(&strong(x), -2)),
    of("trace", || at([3, 4], 0.5), linalg::trace),
    of("diag", || at([2, 3, 4], 0.5), linalg::diag),
    of("diag_of_vector", || at([3], 0.5), linalg::diag),
    of("tril", || at([3, 4], 0.5), |x| linalg::tril(x, 1)),
    of("triu", || at([3, 4], 0.5), |x| linalg::triu(x, -1)),
    of("kron", || at([2, 3], 0.5), |x| linalg::kron(x, &x.t())),
    of("outer", || at([3], 0.5), |x| linalg::outer(x, &x.sin())),
    of("cross", || at([2, 3], 0.5), |x| linalg::cross(x, &x.cos())),
    of("complex_cholesky", || at([2, 3, 3], 0.5), |x| parts(&linalg::cholesky(&hpd(&cplx(x))))),
    of("complex_lu", || at([2, 3, 3], 0.5), |x| parts(&linalg::lu(&strong(&cplx(x))).0)),
    of("complex_q", || at([2, 3, 3], 0.5), |x| parts(&linalg::qr(&strong(&cplx(x))).0)),
    of("complex_r", || at([2, 3, 3], 0.5), |x| parts(&linalg::qr(&strong(&cplx(x))).1)),
    of("complex_q_tall", || at([2, 4, 2], 0.5), |x| parts(&linalg::qr(&strong(&cplx(x))).0)),
    of(
        "complex_solve",
        || at([2, 3, 3], 0.5),
        |x| parts(&linalg::solve(&strong(&cplx(x)), &wave([3, 2], 0.3, x))),
    ),
    of(
        "complex_sides",
        || at([2, 3], 0.5),
        |x| parts(&linalg::solve(&strong(&wave([3, 3], 0.2, x)), &cplx(x))),
    ),
    of("complex_inv", || at([2, 3, 3], 0.5), |x| parts(&linalg::inv(&strong(&cplx(x))))),
    of("complex_det", || at([2, 4, 4], 0.5), |x| parts(&linalg::det(&strong(&cplx(x))))),
    of("complex_slogdet", || at([2, 4, 4], 0.5), |x| linalg::slogdet(&strong(&cplx(x))).1),
    of("complex_norm", || at([2, 3, 4], 0.5), |x| linalg::norm(&cplx(x))),
    of("eig_values", || at([3, 3], 0.5), |x| parts(&linalg::eig(&strong(x)).0)),
    of("eig_vectors", || at([3, 3], 0.5), |x| parts(&linalg::eig(&strong(x)).1)),
    of("eig_sizes", || at([5, 5], 0.5), |x| linalg::eigenvalues(&strong(x)).abs().max()),
    of("eig_values_of_complex", || at([2, 3, 3], 0.5), |x| parts(&linalg::eig(&strong(&cplx(x))).0)),
    of("eig_vectors_of_complex", || at([2, 3, 3], 0.5), |x| parts(&linalg::eig(&strong(&cplx(x))).1)),
    of("eigenvalues_large", || at([12, 12], 0.5), |x| parts(&linalg::eigenvalues(&strong(x)))),
    of("einsum_product", || at([2, 3], 0.5), |x| einsum("ij,jk->ik", &[x, &wave([3, 4], 0.1, x)])),
    of("einsum_batch", || at([2, 2, 3], 0.5), |x| einsum("bij,bjk->bik", &[x, &wave([2, 3, 2], 0.1, x)])),
    of("einsum_diagonal", || at([3, 3], 0.5), |x| einsum("ii->i", &[&x.square()])),
    of("einsum_trace", || at([3, 3], 0.5), |x| einsum("ii", &[&x.square()])),
    of("einsum_transpose", || at([2, 3], 0.5), |x| einsum("ij->ji", &[&x.square()])),
    of("einsum_implicit", || at([2, 3], 0.5), |x| einsum("ba,bc", &[x, x])),
    of(
        "einsum_rest",
        || at([2, 2, 3], 0.5),
        |x| einsum("...ij,...jk->...ik", &[x, &wave([1, 3, 2], 0.1, x)]),
    ),
    of(
        "einsum_chain",
        || at([2, 3], 0.5),
        |x| einsum("ab,bc,cd,de->ae", &[x, &wave([3, 4], 0.1, x), &wave([4, 2], 0.2, x), x]),
    ),
    of("einsum_five", || at([2, 3], 0.5), |x| einsum("ab,cb,cd,ed,ef->af", &[x, x, x, x, x])),
    of("einsum_inner", || at([2, 3, 3], 0.5), |x| einsum("ijj,i->i", &[x, &wave([2], 0.1, x)])),
    of("einsum_form", || at([3], 0.5), |x| einsum("i,ij,j", &[x, &wave([3, 3], 0.1, x), x])),
    of("einsum_sums", || at([2, 3, 4], 0.5), |x| einsum("abc,cd->d", &[x, &wave([4, 2], 0.1, x)])),
    of("einsum_twice", || at([2, 2, 3], 0.5), |x| einsum("aab,bc->ac", &[x, &wave([3, 2], 0.1, x)])),
    of("tensordot", || at([2, 3, 4], 0.5), |x| tensordot(x, &wave([4, 3, 2], 0.1, x), &[1, 2], &[1, 0])),
    of("matmul", || at([2, 1, 2, 3], 0.5), |x| matmul(x, &wave([2, 3, 2], 0.1, x))),
    of("matmul_vector", || at([2, 3, 3], 0.5), |x| matmul(x, &wave([3], 0.1, x))),
    of("vector_matmul", || at([3], 0.5), |x| matmul(x, &wave([2, 3, 4], 0.1, x))),
];

fn eye(n: usize, like: &Array) -> Array {
    Array::eye(n, like.dtype())
}

/// A positive definite matrix of any.
fn spd(x: &Array) -> Array {
    let rank = x.rank() as isize;
    let axes: Vec<isize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    matmul(x, &x.permute(&axes)) + 2.0 * eye(x.shape().size(x.rank() - 2), x)
}

/// Far from singular, with pivots that are not on the diagonal.
fn strong(x: &Array) -> Array {
    let (m, n) = (x.shape().size(x.rank() - 2), x.shape().size(x.rank() - 1));
    let large = |at: usize| {
        let (i, j) = (at / n, at % n);
        if j == (i + 1) % n { 3.0 + i as f64 } else { 0.0 }
    };
    let elements: Vec<f64> = (0..m * n).map(large).collect();
    x + Array::from(elements).reshape([m, n]).convert(x.dtype())
}

/// The two halves along the first axis as one complex array.
fn cplx(x: &Array) -> Array {
    complex(x.slice(s![0]), x.slice(s![1]))
}

fn parts(z: &Array) -> Array {
    stack(&[z.re(), z.im()], 0)
}

/// A positive definite complex matrix.
fn hpd(a: &Array) -> Array {
    a.dot(&a.conj().t()) + 2.0 * eye(a.shape().size(0), a)
}

fn triangular(x: &Array, triangle: Triangle) -> Array {
    linalg::solve_triangular(&(x + 2.0 * eye(3, x)), &wave([3, 2], 0.3, x), triangle)
}

/// What a Gaussian process is tuned by.
fn marginal(x: &Array) -> Array {
    let l = linalg::cholesky(&spd(x));
    let y = wave([3], 0.2, x);
    let half_way = linalg::solve_triangular(&l, &y, Triangle::lower());
    let a = linalg::solve_triangular(&l, &half_way, Triangle::lower().transposed());
    0.5 * y.dot(&a) + linalg::diag(&l).log().sum()
}
