//! `grad`, `value_and_grad` and their `_aux` kin: the gradient of a function with one float result.

#![allow(clippy::type_complexity, reason = "signatures say what a transform takes and gives")]

use tracewell_graph::Location;
use tracewell_trace::{Api, Error, ErrorKind, Value};

use super::pullback::{filled, linear};
use crate::array::Array;
use crate::outcome::Outcome;
use crate::staging::{Failure, Function, arguments, describe, enter, refill, stage_tree, values_of};
use crate::tree::{Tree, TreeRef, leaves, paths};

/// The gradient of `f`: a function of the same argument, whose result has the argument's structure.
///
/// `f` takes a reference to any tree of arrays and returns one float; what it captures is held constant.
///
/// ```
/// use tracewell::prelude::*;
///
/// let slope = grad(|x: &Array| x.square().sum())(&Array::from([1.0f32, 2.0]));
/// assert_eq!(slope.to_string(), "[2. 4.]");
/// ```
#[track_caller]
pub fn grad<X, R, F>(f: F) -> impl Fn(&X) -> R::With<X::Owned>
where
    X: TreeRef + ?Sized,
    R: Outcome<Ok = Array>,
    F: Fn(&X) -> R,
{
    grad_from(Function::of::<F>(Api::Grad, Location::caller()), f)
}

/// The same for an API that is made of it.
pub(crate) fn grad_from<X, R, F>(function: Function, f: F) -> impl Fn(&X) -> R::With<X::Owned>
where
    X: TreeRef + ?Sized,
    R: Outcome<Ok = Array>,
    F: Fn(&X) -> R,
{
    move |x| enter::<R, X::Owned>(&function, || describe(x, "x"), || Ok(differentiate(&function, &f, x)?.1))
}

/// The value of `f` and its gradient.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (value, slope) = value_and_grad(|x: &Array| x.square().sum())(&Array::from([1.0f32, 2.0]));
/// assert_eq!((value.item::<f32>(), slope.to_string()), (5.0, "[2. 4.]".into()));
/// ```
#[track_caller]
pub fn value_and_grad<X, R, F>(f: F) -> impl Fn(&X) -> R::With<(Array, X::Owned)>
where
    X: TreeRef + ?Sized,
    R: Outcome<Ok = Array>,
    F: Fn(&X) -> R,
{
    let function = Function::of::<F>(Api::ValueAndGrad, Location::caller());
    move |x| enter::<R, (Array, X::Owned)>(&function, || describe(x, "x"), || differentiate(&function, &f, x))
}

/// As [`grad`], for a function that returns something else beside the float, which is handed on and not
/// differentiated: `(gradient, aux)`.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = |x: &Array| { let y = x.square(); (y.sum(), y) };
/// let (slope, squares) = grad_aux(f)(&Array::from([1.0f32, 2.0]));
/// assert_eq!((slope.to_string(), squares.to_string()), ("[2. 4.]".into(), "[1. 4.]".into()));
/// ```
#[track_caller]
pub fn grad_aux<X, A, R, F>(f: F) -> impl Fn(&X) -> R::With<(X::Owned, A)>
where
    X: TreeRef + ?Sized,
    A: Tree,
    R: Outcome<Ok = (Array, A)>,
    F: Fn(&X) -> R,
{
    let function = Function::of::<F>(Api::Grad, Location::caller());
    move |x| {
        enter::<R, (X::Owned, A)>(
            &function,
            || describe(x, "x"),
            || {
                let ((_, aux), gradient) = differentiate(&function, &f, x)?;
                Ok((gradient, aux))
            },
        )
    }
}

/// As [`value_and_grad`], for a function that returns something else beside the float, which is handed on and not
/// differentiated: `((value, aux), gradient)`.
#[track_caller]
pub fn value_and_grad_aux<X, A, R, F>(f: F) -> impl Fn(&X) -> R::With<((Array, A), X::Owned)>
where
    X: TreeRef + ?Sized,
    A: Tree,
    R: Outcome<Ok = (Array, A)>,
    F: Fn(&X) -> R,
{
    let function = Function::of::<F>(Api::ValueAndGrad, Location::caller());
    move |x| {
        enter::<R, ((Array, A), X::Owned)>(&function, || describe(x, "x"), || differentiate(&function, &f, x))
    }
}

/// The result of a function and the gradient of the result's first array; what else it returns has none.
fn differentiate<X, R, F>(function: &Function, f: &F, x: &X) -> Result<(R::Ok, X::Owned), Failure<R>>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    check_arguments(function.api, x)?;
    let traced = stage_tree::<X, R>(function, x, &arguments(x, "x"), f)?;
    let types = traced.staged.graph.output_types();
    let ty = types.first().ok_or_else(|| Error::bug("a function for `grad` returned no array"))?;
    if ty.rank() != 0 || !ty.dtype.is_float() {
        let message =
            format!("`{}` takes a function that returns one float, found {ty}", function.api.name());
        let help = match ty.dtype {
            dtype if dtype.is_float() => {
                "reduce the result with `.sum()` or `.mean()`; for all its derivatives use `jacrev` or `vjp`"
            }
            dtype if dtype.is_complex() => {
                "return something real, such as `.re()` or `.abs()`; for a complex result use `jvp` or `vjp`"
            }
            _ => "only floats have derivatives: return the float that the result was made from",
        };
        return Err(Error::new(ErrorKind::Type, message).help(help).into());
    }
    let wanted: Vec<bool> = (0..types.len()).map(|i| i == 0).collect();
    let linear = linear(traced.staged, values_of(x), &wanted, &function.location)?;
    let cotangents: Vec<Value> = types.iter().map(|ty| filled(ty, 1.0)).collect();
    let gradients = linear.pull(&cotangents)?;
    Ok((refill(&traced.result, linear.results.clone()), refill(x, gradients)))
}

/// Derivatives are by floats and complex numbers: anything else is named by its path.
pub(crate) fn check_arguments<X: TreeRef + ?Sized>(api: Api, x: &X) -> Result<(), Error> {
    for (leaf, path) in leaves(x).into_iter().zip(paths(x, "x")) {
        if !leaf.dtype().is_inexact() {
            let message =
                format!("`{}` by `{path}`, which is {}: only floats have derivatives", api.name(), leaf.ty());
            return Err(Error::new(ErrorKind::NotDifferentiable, message)
                .help("capture it in the closure instead, or `convert` it to a float"));
        }
    }
    Ok(())
}
