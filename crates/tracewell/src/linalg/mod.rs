//! Linear algebra: factorizations of matrices, and what is solved with them.
//!
//! A matrix is the last two axes of an array; the axes before them are a batch. Integers become floats first. A matrix
//! that has no such factor, as one that is not positive definite for [`cholesky`], gives NaN, and so does one with an
//! element that is not finite. Signs of vectors follow one rule: docs/numerics.md.

mod factors;
mod norms;
mod parts;
mod systems;

pub use factors::{
    Triangle, cholesky, eig, eigenvalues, eigh, lu, qr, qr_full, singular_values, solve_triangular, svd,
    svd_full,
};
pub use norms::{MatrixNorm, matrix_norm, norm, vector_norm};
pub use parts::{cross, diag, kron, outer, trace, tril, triu};
pub use systems::{det, inv, lstsq, matrix_power, matrix_rank, pinv, slogdet, solve};

pub(crate) use factors::with_sides;
pub(crate) use parts::diagonal;

use tracewell_array::Shape;
use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind, raise};

use crate::Array;
use crate::array::found_by;

/// The operand as floats, if it holds matrices.
#[track_caller]
fn matrices(name: &str, a: &Array) -> Array {
    check_matrices(name, a);
    a.as_float(&Location::caller())
}

/// An error unless the operand holds matrices.
#[track_caller]
pub(crate) fn check_matrices(name: &str, a: &Array) {
    if a.rank() < 2 {
        let message = format!("`{name}` takes matrices, found {}", a.ty());
        let help =
            "matrices are the last two axes, the axes before them a batch; `.reshape(..)` makes them so";
        let error = Error::new(ErrorKind::Type, message).help(help);
        raise(found_by(error, "matrices", &[a], &[&name]), &Location::caller());
    }
}

/// The same for square matrices; with their size.
#[track_caller]
pub(crate) fn square(name: &str, a: &Array) -> (Array, usize) {
    let a = matrices(name, a);
    let (m, n) = (a.shape().size(a.rank() - 2), a.shape().size(a.rank() - 1));
    if m != n {
        let message = format!("`{name}` takes square matrices, found {}: {m}×{n}", a.ty());
        let help = "`pinv` and `lstsq` take matrices of any shape";
        let error = Error::new(ErrorKind::Type, message).help(help);
        raise(found_by(error, "square", &[&a], &[&name]), &Location::caller());
    }
    (a, n)
}

/// With the last two axes exchanged.
#[track_caller]
fn transposed(a: &Array) -> Array {
    let rank = a.rank() as isize;
    let axes: Vec<isize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    a.permute(&axes)
}

/// Repeated along new leading axes, or those of size 1, so that the batch axes are these.
#[track_caller]
fn with_batch(a: &Array, batch: &[usize], own: usize) -> Array {
    let shape: Shape = batch.iter().copied().chain(a.shape().iter().skip(a.rank() - own)).collect();
    if *a.shape() == shape { a.clone() } else { a.broadcast_to(shape) }
}
