//! `grad` and `value_and_grad`: the gradient of a function with one float result.

use tracewell_graph::Location;
use tracewell_trace::{Api, Error, ErrorKind};

use super::pullback::{filled, linear};
use crate::array::Array;
use crate::outcome::Outcome;
use crate::staging::{Failure, Function, arguments, describe, enter, refill, stage_tree, values_of};
use crate::tree::{TreeRef, leaves, paths};

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

fn differentiate<X, R, F>(function: &Function, f: &F, x: &X) -> Result<(Array, X::Owned), Failure<R>>
where
    X: TreeRef + ?Sized,
    R: Outcome<Ok = Array>,
    F: Fn(&X) -> R,
{
    check_arguments(function.api, x)?;
    let traced = stage_tree::<X, R>(function, x, &arguments(x, "x"), f)?;
    let ty = traced.result.ty();
    if ty.rank() != 0 || !ty.dtype.is_float() {
        let message =
            format!("`{}` takes a function that returns one float, found {ty}", function.api.name());
        let help = match ty.dtype.is_float() {
            true => {
                "reduce the result with `.sum()` or `.mean()`; for all its derivatives use `jacrev` or `vjp`"
            }
            false => "only floats have derivatives: return the float that the result was made from",
        };
        return Err(Error::new(ErrorKind::Type, message).help(help).into());
    }
    let arguments = values_of(x);
    let active = vec![true; arguments.len()];
    let linear = linear(traced.staged, arguments, active, &function.location)?;
    let gradients = linear.pull(&[filled(&ty, 1.0)])?;
    let value = Array::from_value(linear.results[0].clone());
    Ok((value, refill(x, gradients)))
}

/// Derivatives are by floats: anything else is named by its path.
pub(crate) fn check_arguments<X: TreeRef + ?Sized>(api: Api, x: &X) -> Result<(), Error> {
    for (leaf, path) in leaves(x).into_iter().zip(paths(x, "x")) {
        if !leaf.dtype().is_float() {
            let message =
                format!("`{}` by `{path}`, which is {}: only floats have derivatives", api.name(), leaf.ty());
            return Err(Error::new(ErrorKind::NotDifferentiable, message)
                .help("capture it in the closure instead, or `convert` it to a float"));
        }
    }
    Ok(())
}
