//! Parts of matrices, and matrices of parts.

use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind, raise};

use super::matrices;
use crate::array::{found_by, select};
use crate::{Array, I32, concatenate};

/// The diagonals of matrices; of a vector, the matrix with that diagonal and zeros elsewhere.
///
/// ```
/// use tracewell::prelude::*;
///
/// let m = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(linalg::diag(&m).to_string(), "[1 4]");
/// assert_eq!(linalg::diag(&Array::from([1, 4])).to_string(), "[[1 0]\n [0 4]]");
/// ```
#[track_caller]
pub fn diag(x: &Array) -> Array {
    if x.rank() != 1 {
        super::check_matrices("diag", x);
        return diagonal(x);
    }
    let n = x.len();
    let on = Array::iota([n, n], 0, I32).eq(Array::iota([n, n], 1, I32));
    select(&on, x, Array::zeros([], x.dtype()))
}

/// The diagonals of the last two axes: every so many elements of the rows one after the other.
#[track_caller]
pub(crate) fn diagonal(x: &Array) -> Array {
    let rank = x.rank();
    let (m, n) = (x.shape().size(rank - 2), x.shape().size(rank - 1));
    let k = m.min(n);
    let mut batch: Vec<usize> = x.shape().iter().take(rank - 2).collect();
    let flat = batch.iter().copied().chain([m * n]).collect::<Vec<_>>();
    let mut cuts: Vec<crate::Cut> = vec![(..).into(); rank - 2];
    // One past the last one that is taken.
    let end = if k == 0 { 0 } else { (k - 1) * (n + 1) + 1 };
    cuts.push(crate::Cut::from(0..end).step(n as isize + 1));
    batch.push(k);
    x.reshape(flat).slice(cuts).reshape(batch)
}

/// The sum of the diagonal.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(linalg::trace(&Array::from([[1.0f32, 2.0], [3.0, 4.0]])).item::<f32>(), 5.0);
/// ```
#[track_caller]
pub fn trace(x: &Array) -> Array {
    super::check_matrices("trace", x);
    diagonal(x).sum_axes(&[-1])
}

/// The elements on and below the diagonal, or the one `offset` columns to its right; zeros elsewhere.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(linalg::tril(&Array::ones([2, 3], I32), 0).to_string(), "[[1 0 0]\n [1 1 0]]");
/// ```
#[track_caller]
pub fn tril(x: &Array, offset: isize) -> Array {
    super::check_matrices("tril", x);
    let shape = x.shape().clone();
    let right = Array::iota(shape.clone(), -1, I32) - Array::iota(shape, -2, I32);
    select(&right.le(offset as i64), x, Array::zeros([], x.dtype()))
}

/// The elements on and above the diagonal, or the one `offset` columns to its right; zeros elsewhere.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(linalg::triu(&Array::ones([2, 3], I32), 1).to_string(), "[[0 1 1]\n [0 0 1]]");
/// ```
#[track_caller]
pub fn triu(x: &Array, offset: isize) -> Array {
    super::check_matrices("triu", x);
    let shape = x.shape().clone();
    let right = Array::iota(shape.clone(), -1, I32) - Array::iota(shape, -2, I32);
    select(&right.ge(offset as i64), x, Array::zeros([], x.dtype()))
}

/// The product of each element of one vector with each of another; arrays are vectors of all their elements.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(linalg::outer(&Array::from([1, 2]), &Array::from([3, 4])).to_string(), "[[3 4]\n [6 8]]");
/// ```
#[track_caller]
pub fn outer(a: &Array, b: &Array) -> Array {
    a.ravel().expand(1) * b.ravel().expand(0)
}

/// Kronecker's product: a block `a[i,j] b` for each element of `a`. Of arrays of any equal rank.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[1, 2]]);
/// assert_eq!(linalg::kron(&a, &Array::from([[1], [10]])).to_string(), "[[ 1  2]\n [10 20]]");
/// ```
#[track_caller]
pub fn kron(a: &Array, b: &Array) -> Array {
    let rank = a.rank().max(b.rank());
    let padded = |x: &Array| [vec![1; rank - x.rank()], x.shape().iter().collect()].concat();
    let (of_a, of_b): (Vec<usize>, Vec<usize>) = (padded(a), padded(b));
    let spread = |sizes: &[usize], first: bool| -> Vec<usize> {
        sizes.iter().flat_map(|&n| if first { [n, 1] } else { [1, n] }).collect()
    };
    let product = a.reshape(spread(&of_a, true)) * b.reshape(spread(&of_b, false));
    product.reshape(of_a.iter().zip(&of_b).map(|(m, n)| m * n).collect::<Vec<_>>())
}

/// The vector product along the last axis, which has three elements.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (x, y) = (Array::from([1, 0, 0]), Array::from([0, 1, 0]));
/// assert_eq!(linalg::cross(&x, &y).to_string(), "[0 0 1]");
/// ```
#[track_caller]
pub fn cross(a: &Array, b: &Array) -> Array {
    for x in [a, b] {
        if x.shape().iter().next_back() != Some(3) {
            let message = format!("`cross` takes vectors of three elements, found {}", x.ty());
            let help = "the last axis is the vector's, the axes before it a batch";
            let error = Error::new(ErrorKind::Type, message).help(help);
            raise(found_by(error, "cross", &[a, b], &[]), &Location::caller());
        }
    }
    // The elements one place further on, the first after the last.
    let turned = |x: &Array| {
        let part = |cut: crate::Cut| {
            let mut cuts: Vec<crate::Cut> = vec![(..).into(); x.rank() - 1];
            cuts.push(cut);
            x.slice(cuts)
        };
        concatenate(&[part((1..).into()), part((..1).into())], -1)
    };
    let (next_a, next_b) = (turned(a), turned(b));
    turned(&(a * next_b - next_a * b))
}

/// Kept here for what takes floats only.
#[track_caller]
pub(super) fn matrix_sizes(name: &str, x: &Array) -> (Array, usize, usize) {
    let x = matrices(name, x);
    let (m, n) = (x.shape().size(x.rank() - 2), x.shape().size(x.rank() - 1));
    (x, m, n)
}
