//! Derivatives as arrays: `jacfwd`, `jacrev`, `hessian`, and the product `hvp`.
//!
//! Each row or column is one derivative along a basis vector, and all of them are one batch.

use tracewell_array::Shape;

use super::{grad, jvp, linearize, vjp, vmap};
use crate::array::Array;
use crate::tree::Tree;

/// The basis vectors of arrays like `x`, along a leading axis.
#[track_caller]
fn basis(x: &Array) -> Array {
    let n = x.len();
    let shape: Shape = std::iter::once(n).chain(x.shape().iter()).collect();
    Array::eye(n, x.dtype()).reshape(shape)
}

/// `[y…, x…]`: the axes of a derivative are those of the result, then those of the argument.
fn joined(y: &Array, x: &Array) -> Shape {
    y.shape().iter().chain(x.shape().iter()).collect()
}

/// The Jacobian of a function of one array by forward mode: best where the argument is smaller than the result.
///
/// ```
/// use tracewell::prelude::*;
///
/// let j = jacfwd(|x: &Array| x.square())(&Array::from([1.0f32, 2.0]));
/// assert_eq!(j.to_string(), "[[2. 0.]\n [0. 4.]]");
/// ```
#[track_caller]
pub fn jacfwd(f: impl Fn(&Array) -> Array) -> impl Fn(&Array) -> Array {
    move |x| {
        let (y, push) = linearize(&f, x);
        let columns = vmap(|dx: &Array| push(dx))(&basis(x));
        // The batch axis runs over the argument's elements and goes last.
        let rank = columns.rank() as isize;
        let axes: Vec<isize> = (1..rank).chain([0]).collect();
        columns.permute(&axes).reshape(joined(&y, x))
    }
}

/// The Jacobian of a function of one array by reverse mode: best where the result is smaller than the argument.
#[track_caller]
pub fn jacrev(f: impl Fn(&Array) -> Array) -> impl Fn(&Array) -> Array {
    move |x| {
        let (y, pull) = vjp(&f, x);
        vmap(|ct: &Array| pull(ct))(&basis(&y)).reshape(joined(&y, x))
    }
}

/// The matrix of second derivatives of a function with one float result.
///
/// ```
/// use tracewell::prelude::*;
///
/// let h = hessian(|x: &Array| (x.square() * x).sum())(&Array::from([1.0f32, 2.0]));
/// assert_eq!(h.to_string(), "[[ 6.  0.]\n [ 0. 12.]]");
/// ```
#[track_caller]
pub fn hessian(f: impl Fn(&Array) -> Array) -> impl Fn(&Array) -> Array {
    move |x| jacfwd(|x: &Array| grad(|x: &Array| f(x))(x))(x)
}

/// The second derivative of a function with one float result times a vector, without the matrix.
#[track_caller]
pub fn hvp<X: Tree>(f: impl Fn(&X) -> Array, x: &X, v: &X) -> X {
    jvp(|x: &X| grad(&f)(x), x, v).1
}
