//! Sums of products: `einsum`, `tensordot` and `matmul`.

mod einsum;
mod formula;
mod order;

pub use einsum::einsum;

use tracewell_array::Shape;
use tracewell_graph::Location;
use tracewell_graph::prim::DotGeneral;
use tracewell_trace::{Error, ErrorKind, raise};

use crate::Array;
use crate::array::{apply, axis_of, found_by, or_raise, unify_dtypes};

/// The batch axes of two arrays of matrices, broadcast.
#[track_caller]
pub(crate) fn batch_shape(name: &str, a: &Array, b: &Array) -> Vec<usize> {
    let location = Location::caller();
    let batch = |x: &Array| -> Vec<usize> { x.shape().iter().take(x.rank() - 2).collect() };
    let (left, right) = (batch(a), batch(b));
    let rank = left.len().max(right.len());
    let at = |sizes: &[usize], i: usize| (i + sizes.len()).checked_sub(rank).map_or(1, |i| sizes[i]);
    (0..rank)
        .map(|i| match (at(&left, i), at(&right, i)) {
            (m, n) if m == n || n == 1 => m,
            (1, n) => n,
            (m, n) => {
                let message = format!("`{name}` of {} and {}: batch axis {i} is {m} and {n}", a.ty(), b.ty());
                let help = "the axes before the last two are broadcast: sizes must be equal, or 1";
                let error = Error::new(ErrorKind::Type, message).help(help);
                raise(found_by(error, "batch", &[a, b], &[&name]), &location)
            }
        })
        .collect()
}

/// The matrix product as NumPy's `matmul`: of the last two axes, the axes before them broadcast; an array of rank 1 is
/// one row on the left and one column on the right.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (a, b) = (Array::ones([4, 1, 2, 3], F32), Array::ones([5, 3, 2], F32));
/// assert_eq!(matmul(&a, &b).shape().to_string(), "[4,5,2,2]");
/// assert_eq!(matmul(&b, &Array::from([1.0f32, 2.0])).shape().to_string(), "[5,3]");
/// ```
#[track_caller]
pub fn matmul(a: &Array, b: &Array) -> Array {
    let location = Location::caller();
    if a.rank() == 0 || b.rank() == 0 {
        let message = format!("`matmul` takes arrays of rank 1 or more, found {} and {}", a.ty(), b.ty());
        let error = Error::new(ErrorKind::Type, message).help("multiply by a scalar with `*`");
        raise(found_by(error, "matmul", &[a, b], &[]), &location);
    }
    let (left, right) = (a.rank() == 1, b.rank() == 1);
    let rows = if left { a.expand(0) } else { a.clone() };
    let columns = if right { b.expand(1) } else { b.clone() };
    let mut product = matrices(&rows, &columns);
    if left {
        product = product.squeeze(-2);
    }
    if right {
        product = product.squeeze(-1);
    }
    product
}

/// The product of operands of rank 2 or more.
#[track_caller]
fn matrices(a: &Array, b: &Array) -> Array {
    let location = Location::caller();
    let (a_value, b_value) = or_raise(unify_dtypes(a, b, &location), &location);
    // Without a batch on the right, the rows of all matrices on the left are the rows of one.
    if b.rank() == 2 {
        let dot = DotGeneral {
            a_contract: vec![a.rank() - 1],
            b_contract: vec![0],
            a_batch: vec![],
            b_batch: vec![],
        };
        return apply(dot, &[a_value, b_value], &location);
    }
    let batch = batch_shape("matmul", a, b);
    let rank = batch.len();
    let with = |x: &Array, value| {
        let shape: Shape = batch.iter().copied().chain(x.shape().iter().skip(x.rank() - 2)).collect();
        let x = Array::from_value(value);
        if *x.shape() == shape { x } else { x.broadcast_to(shape) }
    };
    let axes: Vec<usize> = (0..rank).collect();
    let dot = DotGeneral {
        a_contract: vec![rank + 1],
        b_contract: vec![rank],
        a_batch: axes.clone(),
        b_batch: axes,
    };
    let (a, b) = (with(a, a_value), with(b, b_value));
    apply(dot, &[a.value().clone(), b.value().clone()], &location)
}

/// Products summed over pairs of axes: the first of `a_axes` with the first of `b_axes`, and so on. The result has the
/// other axes of `a`, then those of `b`. Negative axes count from the back.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (a, b) = (Array::ones([2, 3, 4], F32), Array::ones([4, 3, 5], F32));
/// assert_eq!(tensordot(&a, &b, &[1, 2], &[1, 0]).shape().to_string(), "[2,5]");
/// ```
#[track_caller]
pub fn tensordot(a: &Array, b: &Array, a_axes: &[isize], b_axes: &[isize]) -> Array {
    let location = Location::caller();
    let axes = |x: &Array, axes: &[isize]| -> Result<Vec<usize>, Error> {
        axes.iter().map(|&axis| axis_of(x, axis)).collect()
    };
    let a_contract = or_raise(axes(a, a_axes), &location);
    let b_contract = or_raise(axes(b, b_axes), &location);
    let (a, b) = or_raise(unify_dtypes(a, b, &location), &location);
    let dot = DotGeneral { a_contract, b_contract, a_batch: vec![], b_batch: vec![] };
    apply(dot, &[a, b], &location)
}
