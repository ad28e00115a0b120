//! Lengths of vectors and sizes of matrices.

use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind, raise};

use super::factors::singular_values;
use super::matrices;
use crate::Array;
use crate::array::found_by;

/// Which size of a matrix [`matrix_norm`] measures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatrixNorm {
    /// The root of the sum of squares.
    Frobenius,
    /// The largest singular value: the most that a vector is stretched.
    Spectral,
    /// The sum of the singular values.
    Nuclear,
    /// The largest sum of magnitudes of a column.
    Columns,
    /// The largest sum of magnitudes of a row.
    Rows,
}

/// The squares of magnitudes.
#[track_caller]
fn squares(x: &Array) -> Array {
    if x.dtype().is_complex() { x.re().square() + x.im().square() } else { x.square() }
}

/// The root of the sum of squares of all elements.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(linalg::norm(&Array::from([3.0f64, 4.0])).item::<f64>(), 5.0);
/// ```
#[track_caller]
pub fn norm(x: &Array) -> Array {
    squares(&x.as_float(&Location::caller())).sum().sqrt()
}

/// The norm of order `p` along an axis: the `p`-th root of the sum of `p`-th powers of magnitudes; the largest of them
/// for an infinite `p`, the smallest for its negative, and how many are not zero for `p = 0`.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([[3.0f64, -4.0], [1.0, 1.0]]);
/// assert_eq!(linalg::vector_norm(&x, 1.0, -1).to_string(), "[7. 2.]");
/// assert_eq!(linalg::vector_norm(&x, f64::INFINITY, -1).to_string(), "[4. 1.]");
/// ```
#[track_caller]
pub fn vector_norm(x: &Array, p: f64, axis: isize) -> Array {
    let x = x.as_float(&Location::caller());
    let axes = [axis];
    if p == 2.0 {
        return squares(&x).sum_axes(&axes).sqrt();
    }
    let sizes = x.abs();
    match p {
        1.0 => sizes.sum_axes(&axes),
        0.0 => x.ne(0.0).convert(sizes.dtype()).sum_axes(&axes),
        f64::INFINITY => sizes.max_axes(&axes),
        f64::NEG_INFINITY => sizes.min_axes(&axes),
        p if p.is_nan() => {
            let error = Error::new(ErrorKind::Type, "there is no norm of order NaN");
            let error = error.help("the order is a number, or an infinity");
            raise(found_by(error, "vector_norm", &[&x], &[&p, &axis]), &Location::caller())
        }
        p => sizes.pow(p).sum_axes(&axes).pow(1.0 / p),
    }
}

/// The size of matrices.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[1.0f64, -2.0], [3.0, 4.0]]);
/// assert_eq!(linalg::matrix_norm(&a, linalg::MatrixNorm::Rows).item::<f64>(), 7.0);
/// ```
#[track_caller]
pub fn matrix_norm(a: &Array, which: MatrixNorm) -> Array {
    let a = matrices("matrix_norm", a);
    match which {
        MatrixNorm::Frobenius => squares(&a).sum_axes(&[-2, -1]).sqrt(),
        MatrixNorm::Spectral => singular_values(&a).max_axes(&[-1]),
        MatrixNorm::Nuclear => singular_values(&a).sum_axes(&[-1]),
        MatrixNorm::Columns => a.abs().sum_axes(&[-2]).max_axes(&[-1]),
        MatrixNorm::Rows => a.abs().sum_axes(&[-1]).max_axes(&[-1]),
    }
}
