//! `vjp` and `linearize`: the derivative at a point as a function, backwards and forwards.

use tracewell_graph::Location;
use tracewell_trace::{Api, Error, ErrorKind, Event, notify};

use super::grad::check_arguments;
use super::pullback::{Linear, linear};
use crate::array::{Array, or_raise};
use crate::staging::{Function, arguments, describe, enter, refill, stage_tree, values_of};
use crate::tree::{Tree, TreeRef, leaves, paths};

/// A pullback: from a cotangent of the result to the cotangent of the argument.
pub type Pullback<Y, X> = Box<dyn Fn(&Y) -> X + Send + Sync>;

/// A pushforward: from a tangent of the argument to the tangent of the result.
pub type Pushforward<X, Y> = Box<dyn Fn(&X) -> Y + Send + Sync>;

/// `f(x)` and its pullback, which may be called any number of times.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (y, pull) = vjp(|x: &Array| x.square(), &Array::from([1.0f32, 2.0]));
/// assert_eq!(y.to_string(), "[1. 4.]");
/// assert_eq!(pull(&Array::from([1.0f32, 10.0])).to_string(), "[ 2. 40.]");
/// ```
#[track_caller]
pub fn vjp<X, Y, F>(f: F, x: &X) -> (Y, Pullback<Y, X::Owned>)
where
    X: TreeRef + ?Sized,
    Y: Tree,
    F: Fn(&X) -> Y,
{
    let (y, linear, like) = at_point(Api::Vjp, &f, x);
    let shape_of_y = stripped(&y);
    let pull = move |ct: &Y| {
        let location = linear.location.clone();
        let result =
            check_like("cotangent", &shape_of_y, ct).and_then(|()| linear.inner.pull(&values_of(ct)));
        refill(&like, or_raise(result, &location))
    };
    (y, Box::new(pull))
}

/// `f(x)` and its pushforward at `x`, which may be called any number of times.
#[track_caller]
pub fn linearize<X, Y, F>(f: F, x: &X) -> (Y, Pushforward<X::Owned, Y>)
where
    X: TreeRef + ?Sized,
    Y: Tree,
    F: Fn(&X) -> Y,
{
    let (y, linear, like) = at_point(Api::Linearize, &f, x);
    let shape_of_y = stripped(&y);
    let push = move |dx: &X::Owned| {
        let location = linear.location.clone();
        let result = check_like("tangent", &like, dx).and_then(|()| linear.inner.push(&values_of(dx)));
        refill(&shape_of_y, or_raise(result, &location))
    };
    (y, Box::new(push))
}

struct At {
    inner: Linear,
    location: Location,
}

/// Linearises at a point. Called from functions that track their caller, whose line it takes.
#[track_caller]
fn at_point<X, Y, F>(api: Api, f: &F, x: &X) -> (Y, At, X::Owned)
where
    X: TreeRef + ?Sized,
    Y: Tree,
    F: Fn(&X) -> Y,
{
    let function = Function::of::<F>(api, Location::caller());
    let mut kept = None;
    let y = enter::<Y, Y>(
        &function,
        || describe(x, "x"),
        || {
            check_arguments(api, x)?;
            let traced = stage_tree::<X, Y>(&function, x, &arguments(x, "x"), f)?;
            let values = values_of(x);
            let active = vec![true; values.len()];
            let linear = linear(traced.staged, values, active, &function.location)?;
            let y = refill(&traced.result, linear.results.clone());
            kept = Some(linear);
            Ok(y)
        },
    );
    notify(&Event::ReturnedFunction { api });
    let inner = kept.expect("`enter` returns only where the inside succeeded");
    let like = x.rebuild_ref(&mut Clone::clone);
    (y, At { inner, location: function.location }, like)
}

/// The structure and types of a tree, to check others against.
fn stripped<Y: Tree>(y: &Y) -> Y {
    y.rebuild(&mut Clone::clone)
}

fn check_like<T: Tree>(what: &str, like: &T, found: &T) -> Result<(), Error> {
    let (want, have) = (leaves(like), leaves(found));
    if want.len() != have.len() {
        let message = format!("the {what} has {} arrays, expected {}", have.len(), want.len());
        return Err(Error::new(ErrorKind::Structure, message));
    }
    for ((want, have), path) in want.iter().zip(have).zip(paths(like, what)) {
        if !Array::ty(want).matches(&have.ty()) {
            let message = format!("`{path}` must be {}, found {}", want.ty(), have.ty());
            return Err(Error::new(ErrorKind::Type, message));
        }
    }
    Ok(())
}
