//! Factorizations and triangular systems.

use tracewell_graph::Location;
use tracewell_graph::prim::{self, Prim};
use tracewell_trace::{Error, ErrorKind, raise};

use super::{matrices, square, with_batch};
use crate::Array;
use crate::array::{bind_here, common_dtype, found_by, or_raise};
use crate::products::batch_shape;

/// Which triangle [`solve_triangular`] reads, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Triangle {
    lower: bool,
    transpose: bool,
    unit: bool,
}

impl Triangle {
    /// The lower triangle with its diagonal.
    pub fn lower() -> Triangle {
        Triangle { lower: true, transpose: false, unit: false }
    }

    /// The upper triangle with its diagonal.
    pub fn upper() -> Triangle {
        Triangle { lower: false, ..Triangle::lower() }
    }

    /// The same, transposed.
    pub fn transposed(self) -> Triangle {
        Triangle { transpose: !self.transpose, ..self }
    }

    /// The same with ones for the diagonal, which is not read.
    pub fn unit(self) -> Triangle {
        Triangle { unit: true, ..self }
    }
}

#[track_caller]
fn factors<const N: usize>(prim: impl Into<Prim>, operands: &[&Array]) -> [Array; N] {
    let location = Location::caller();
    let values: Vec<_> = operands.iter().map(|array| array.value().clone()).collect();
    let mut results = or_raise(bind_here(&prim.into(), &values, &location), &location).into_iter();
    std::array::from_fn(|_| Array::from_value(results.next().expect("as many results as the primitive has")))
}

/// The lower triangle `L` with `L Lᵀ = a`; of `(a + aᵀ)/2`, if `a` is not symmetric. NaN if `a` is not positive
/// definite. Of complex matrices, `L Lᴴ` and `aᴴ`.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[4.0f64, 2.0], [2.0, 5.0]]);
/// assert_eq!(linalg::cholesky(&a).to_string(), "[[2. 0.]\n [1. 2.]]");
/// ```
#[track_caller]
pub fn cholesky(a: &Array) -> Array {
    let (a, _) = square("cholesky", a);
    let [l] = factors(prim::Cholesky {}, &[&a]);
    l
}

/// `x` with `t x = b`, where `t` is a triangle of `a`. Of rank 1, `b` is one vector; else its columns are. Batch axes
/// are broadcast.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[2.0f64, 0.0], [1.0, 4.0]]);
/// let x = linalg::solve_triangular(&a, &Array::from([2.0f64, 9.0]), linalg::Triangle::lower());
/// assert_eq!(x.to_string(), "[1. 2.]");
/// ```
#[track_caller]
pub fn solve_triangular(a: &Array, b: &Array, triangle: Triangle) -> Array {
    let (a, _) = square("solve_triangular", a);
    with_sides("solve_triangular", &a, b, |a, b| triangular(a, b, triangle))
}

/// The same for operands that fit.
#[track_caller]
pub(super) fn triangular(a: &Array, b: &Array, triangle: Triangle) -> Array {
    let Triangle { lower, transpose, unit } = triangle;
    let [x] = factors(prim::TriangularSolve { left: true, lower, transpose, unit }, &[a, b]);
    x
}

/// Right sides as the columns of a matrix, one element type, and batch axes of both; and back.
#[track_caller]
pub(crate) fn with_sides(
    name: &str,
    a: &Array,
    b: &Array,
    solve: impl FnOnce(&Array, &Array) -> Array,
) -> Array {
    let location = Location::caller();
    let n = a.shape().size(a.rank() - 1);
    let is_vector = b.rank() == 1;
    let rows = if is_vector { b.len() } else { b.shape().iter().nth_back(1).unwrap_or(0) };
    if b.rank() == 0 || rows != n {
        let message = format!("`{name}` of {} and right sides {}: the matrix has {n} rows", a.ty(), b.ty());
        let help = "right sides are a vector, or the columns of a matrix, of as many rows as the matrix has";
        let error = Error::new(ErrorKind::Type, message).help(help);
        raise(found_by(error, "sides", &[a, b], &[&name]), &location);
    }
    let columns = if is_vector { b.expand(-1) } else { b.clone() };
    let (dtype, _) = common_dtype(&[a.ty(), columns.as_float(&location).ty()]);
    let (a, columns) = (as_dtype(a, dtype), as_dtype(&columns, dtype));
    let batch = batch_shape(name, &a, &columns);
    let x = solve(&with_batch(&a, &batch, 2), &with_batch(&columns, &batch, 2));
    if is_vector { x.squeeze(-1) } else { x }
}

#[track_caller]
fn as_dtype(x: &Array, dtype: tracewell_array::DType) -> Array {
    if x.dtype() == dtype { x.clone() } else { x.convert(dtype) }
}

/// The triangles of `a` with its rows exchanged for the largest pivots, in one matrix, without the ones on the lower
/// diagonal; for each column the row its pivot came from; and the order of the rows: `a[order] = L U`.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (lu, pivots, order) = linalg::lu(&Array::from([[1.0f64, 2.0], [2.0, 8.0]]));
/// assert_eq!(lu.to_string(), "[[ 2.   8. ]\n [ 0.5 -2. ]]");
/// assert_eq!((pivots.to_string(), order.to_string()), ("[1 1]".to_string(), "[1 0]".to_string()));
/// ```
#[track_caller]
pub fn lu(a: &Array) -> (Array, Array, Array) {
    let [lu, pivots, order] = factors(prim::Lu {}, &[&matrices("lu", a)]);
    (lu, pivots, order)
}

/// `q` with orthonormal columns and `r`, an upper triangle, with `q r = a`: as many columns as `a` has rows or
/// columns, whichever are fewer. Signs are LAPACK's.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (q, r) = linalg::qr(&Array::from([[3.0f64], [4.0]]));
/// assert_eq!(q.to_string(), "[[-0.6]\n [-0.8]]");
/// assert_eq!(r.to_string(), "[[-5.]]");
/// ```
#[track_caller]
pub fn qr(a: &Array) -> (Array, Array) {
    let [q, r] = factors(prim::Qr { full: false }, &[&matrices("qr", a)]);
    (q, r)
}

/// Like [`qr`], with a square `q`. It has a derivative if `a` is square.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (q, r) = linalg::qr_full(&Array::ones([3, 1], F64));
/// assert_eq!((q.shape().to_string(), r.shape().to_string()), ("[3,3]".to_string(), "[3,1]".to_string()));
/// ```
#[track_caller]
pub fn qr_full(a: &Array) -> (Array, Array) {
    let [q, r] = factors(prim::Qr { full: true }, &[&matrices("qr_full", a)]);
    (q, r)
}

/// `u`, `s` and `vᵀ` with `u diag(s) vᵀ = a`: orthonormal columns of `u` and rows of `vᵀ`, and singular values,
/// descending.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[0.0f64, 2.0], [3.0, 0.0]]);
/// let (u, s, vt) = linalg::svd(&a);
/// assert_eq!(s.to_string(), "[3. 2.]");
/// assert!(linalg::norm(&((u * s).dot(&vt) - a)).item::<f64>() < 1e-14);
/// ```
#[track_caller]
pub fn svd(a: &Array) -> (Array, Array, Array) {
    let [s, u, vt] = factors(prim::Svd { full: false, vectors: true }, &[&matrices("svd", a)]);
    (u, s, vt)
}

/// Like [`svd`], with square `u` and `vᵀ`. It has a derivative if `a` is square.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (u, s, vt) = linalg::svd_full(&Array::ones([3, 2], F64));
/// assert_eq!([u, s, vt].map(|x| x.shape().to_string()), ["[3,3]", "[2]", "[2,2]"]);
/// ```
#[track_caller]
pub fn svd_full(a: &Array) -> (Array, Array, Array) {
    let [s, u, vt] = factors(prim::Svd { full: true, vectors: true }, &[&matrices("svd_full", a)]);
    (u, s, vt)
}

/// The singular values, descending, without vectors.
///
/// ```
/// use tracewell::prelude::*;
///
/// let s = linalg::singular_values(&Array::from([[0.0f64, 2.0], [3.0, 0.0]]));
/// assert_eq!(s.to_string(), "[3. 2.]");
/// ```
#[track_caller]
pub fn singular_values(a: &Array) -> Array {
    let [s] = factors(prim::Svd { full: false, vectors: false }, &[&matrices("singular_values", a)]);
    s
}

/// The eigenvalues of a symmetric matrix, ascending, and its eigenvectors as columns; of `(a + aᵀ)/2`, if `a` is not
/// symmetric.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (w, v) = linalg::eigh(&Array::from([[0.0f64, 1.0], [1.0, 0.0]]));
/// assert_eq!(w.round().to_string(), "[-1.  1.]");
/// assert_eq!((v.square() * 2.0).round().to_string(), "[[1. 1.]\n [1. 1.]]");
/// ```
#[track_caller]
pub fn eigh(a: &Array) -> (Array, Array) {
    let (a, _) = square("eigh", a);
    let [w, v] = factors(prim::Eigh {}, &[&a]);
    (w, v)
}

/// The eigenvalues of any square matrix, and its eigenvectors as columns: `a v = v w`. They are complex; real parts of
/// eigenvalues ascend, and of two that are conjugates the one above comes first. Vectors have length 1, and their first
/// large component is real and positive. The derivative of vectors is infinite or NaN where eigenvalues are equal.
///
/// ```
/// use tracewell::prelude::*;
///
/// let quarter_turn = Array::from([[0.0f64, -1.0], [1.0, 0.0]]);
/// let (w, v) = linalg::eig(&quarter_turn);
/// assert_eq!(w.to_string(), "[0.+1.j 0.-1.j]");
/// let rest = quarter_turn.convert(C128).dot(&v) - v * w;
/// assert!(rest.abs().sum().item::<f64>() < 1e-14);
/// ```
#[track_caller]
pub fn eig(a: &Array) -> (Array, Array) {
    let (a, _) = square("eig", a);
    let [w, v] = factors(prim::Eig { vectors: true }, &[&a]);
    (w, v)
}

/// The eigenvalues of any square matrix without vectors, as [`eig`] has them.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[2.0f64, 1.0], [0.0, 1.0]]);
/// assert_eq!(linalg::eigenvalues(&a).re().to_string(), "[1. 2.]");
/// ```
#[track_caller]
pub fn eigenvalues(a: &Array) -> Array {
    let (a, _) = square("eigenvalues", a);
    let [w] = factors(prim::Eig { vectors: false }, &[&a]);
    w
}
