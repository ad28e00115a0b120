//! Derivatives as arrays: `jacfwd`, `jacrev`, `hessian`, and the product `hvp`.
//!
//! Each row or column is one derivative along a basis vector, and all of them are one batch.

use tracewell_array::Shape;
use tracewell_graph::Location;
use tracewell_graph::prim::{Permute, Reshape};
use tracewell_trace::{Api, Error, ErrorKind, raise};

use super::grad::grad_from;
use super::jvp::jvp_from;
use super::vjp::{linearize_from, vjp_from};
use super::vmap::vmap_from;
use crate::array::{Array, apply};
use crate::staging::Function;
use crate::tree::Tree;

/// The basis vectors of arrays like `x`, along a leading axis.
fn basis(x: &Array, location: &Location) -> Array {
    let n = x.len();
    let shape: Shape = std::iter::once(n).chain(x.shape().iter()).collect();
    apply(Reshape { shape }, &[Array::eye(n, x.dtype()).value().clone()], location)
}

/// A derivative by complex numbers is two, by their parts, unless the function is holomorphic, which nobody knows.
fn must_be_real(function: &Function, by: &str, x: &Array) {
    if x.dtype().is_complex() {
        let message = format!(
            "`{}` {by} {}: only derivatives of and by real numbers are one array",
            function.api.name(),
            x.ty()
        );
        let help =
            "take it apart with `.re()` and `.im()`, or use `linearize` or `vjp`, which know complex numbers";
        raise(Error::new(ErrorKind::NotDifferentiable, message).help(help), &function.location);
    }
}

/// `[y…, x…]`: the axes of a derivative are those of the result, then those of the argument.
fn joined(derivative: &Array, y: &Array, x: &Array, location: &Location) -> Array {
    let shape = y.shape().iter().chain(x.shape().iter()).collect();
    apply(Reshape { shape }, &[derivative.value().clone()], location)
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
pub fn jacfwd<F: Fn(&Array) -> Array>(f: F) -> impl Fn(&Array) -> Array {
    let function = Function::of::<F>(Api::Jacfwd, Location::caller());
    move |x| forward(&function, &f, x)
}

fn forward(function: &Function, f: impl Fn(&Array) -> Array, x: &Array) -> Array {
    let location = &function.location;
    must_be_real(function, "by", x);
    let (y, push) = linearize_from(function.clone(), f, x);
    let columns = vmap_from(function.within(Api::Vmap), |dx: &Array| push(dx))(&basis(x, location));
    // The batch axis runs over the argument's elements and goes last.
    let axes = (1..columns.rank()).chain([0]).collect();
    let columns = apply(Permute { axes }, &[columns.value().clone()], location);
    joined(&columns, &y, x, location)
}

/// The Jacobian of a function of one array by reverse mode: best where the result is smaller than the argument.
#[track_caller]
pub fn jacrev<F: Fn(&Array) -> Array>(f: F) -> impl Fn(&Array) -> Array {
    let function = Function::of::<F>(Api::Jacrev, Location::caller());
    move |x| {
        let location = &function.location;
        let (y, pull) = vjp_from(function.clone(), &f, x);
        must_be_real(&function, "of", &y);
        let rows = vmap_from(function.within(Api::Vmap), |ct: &Array| pull(ct))(&basis(&y, location));
        joined(&rows, &y, x, location)
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
pub fn hessian<F: Fn(&Array) -> Array>(f: F) -> impl Fn(&Array) -> Array {
    let function = Function::of::<F>(Api::Hessian, Location::caller());
    move |x| forward(&function, grad_from(function.clone(), &f), x)
}

/// The second derivative of a function with one float result times a vector, without the matrix.
#[track_caller]
pub fn hvp<X: Tree, F: Fn(&X) -> Array>(f: F, x: &X, v: &X) -> X {
    let function = Function::of::<F>(Api::Hvp, Location::caller());
    jvp_from(function.clone(), grad_from(function, &f), x, v).1
}
