//! `vjp` and `linearize`: the derivative at a point as a function, backwards and forwards.

#![allow(clippy::type_complexity, reason = "signatures say what a transform takes and gives")]

use std::sync::atomic::{AtomicU64, Ordering};

use tracewell_graph::Location;
use tracewell_trace::{Api, Called, Error, Event, is_idle, notify};

use super::grad::check_arguments;
use super::pullback::{Linear, linear};
use crate::array::or_raise;
use crate::outcome::Outcome;
use crate::repro;
use crate::staging::{Function, arguments, composed, describe, enter, refill, stage_tree, values_of};
use crate::tree::{Tree, TreeRef, check_like};

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
pub fn vjp<X, R, F>(f: F, x: &X) -> R::Plain<(R::Ok, Pullback<R::Ok, X::Owned>)>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    vjp_from::<X, R, F>(Function::of::<F>(Api::Vjp, Location::caller()), f, x)
}

/// The same for an API that is made of it.
pub(crate) fn vjp_from<X, R, F>(
    function: Function,
    f: F,
    x: &X,
) -> R::Plain<(R::Ok, Pullback<R::Ok, X::Owned>)>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    let (outcome, linear) = at_point::<X, R, F>(&function, &f, x);
    let like = x.rebuild_ref(&mut Clone::clone);
    R::and(outcome, |y| {
        let (linear, origin) = linear.expect("a success was linearised");
        let shape_of_y = stripped(&y);
        let pull = move |ct: &R::Ok| {
            origin.call(
                "pullback",
                &function,
                || describe(ct, "ct"),
                || {
                    let result = check_like(("cotangent", "result", "y"), &shape_of_y, ct);
                    let result = result.and_then(|()| linear.pull(&values_of(ct)));
                    let result = result.map_err(|error| returned(error, "pullback"));
                    refill(&like, or_raise(result, &function.location))
                },
            )
        };
        (y, Box::new(pull) as Pullback<R::Ok, X::Owned>)
    })
}

/// `f(x)` and its pushforward at `x`, which may be called any number of times.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (y, push) = linearize(|x: &Array| x.square(), &Array::from([1.0f32, 2.0]));
/// assert_eq!(y.to_string(), "[1. 4.]");
/// assert_eq!(push(&Array::from([1.0f32, 10.0])).to_string(), "[ 2. 40.]");
/// ```
#[track_caller]
pub fn linearize<X, R, F>(f: F, x: &X) -> R::Plain<(R::Ok, Pushforward<X::Owned, R::Ok>)>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    linearize_from::<X, R, F>(Function::of::<F>(Api::Linearize, Location::caller()), f, x)
}

/// The same for an API that is made of it.
pub(crate) fn linearize_from<X, R, F>(
    function: Function,
    f: F,
    x: &X,
) -> R::Plain<(R::Ok, Pushforward<X::Owned, R::Ok>)>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    let (outcome, linear) = at_point::<X, R, F>(&function, &f, x);
    let like = x.rebuild_ref(&mut Clone::clone);
    R::and(outcome, |y| {
        let (linear, origin) = linear.expect("a success was linearised");
        let shape_of_y = stripped(&y);
        let push = move |dx: &X::Owned| {
            origin.call(
                "pushforward",
                &function,
                || describe(dx, "dx"),
                || {
                    let result = check_like(("tangent", "argument", "x"), &like, dx);
                    let result = result.and_then(|()| linear.push(&values_of(dx)));
                    let result = result.map_err(|error| returned(error, "pushforward"));
                    refill(&shape_of_y, or_raise(result, &function.location))
                },
            )
        };
        (y, Box::new(push) as Pushforward<X::Owned, R::Ok>)
    })
}

/// A failure of a function that was returned: its own call has no line, so that the line is the API's.
fn returned(error: Error, what: &str) -> Error {
    error.note(format!("the {what} was made at this line"))
}

/// Linearises at a point: the outcome, and the derivative where it succeeded.
fn at_point<X, R, F>(function: &Function, f: &F, x: &X) -> (R::With<R::Ok>, Option<(Linear, Origin)>)
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    let api = function.api;
    let mut kept = None;
    let _session = repro::session();
    let outcome = enter::<R, R::Ok>(
        function,
        || describe(x, "x"),
        || {
            check_arguments(api, x)?;
            let traced = stage_tree::<X, R>(function, x, &arguments(x, "x"), f)?;
            let wanted = vec![true; traced.staged.graph.outputs.len()];
            let linear = linear(traced.staged, values_of(x), &wanted, &function.location)?;
            let y = refill(&traced.result, linear.results.clone());
            kept = Some(linear);
            Ok(y)
        },
    );
    (outcome, kept.map(|linear| (linear, Origin::new(api))))
}

/// Where a returned function came from, so that a call of it can be told of.
struct Origin {
    number: u64,
    /// The call that returned it, where that was not part of another.
    call: Option<repro::KeptCall>,
}

impl Origin {
    /// That of the call that has just returned.
    fn new(api: Api) -> Origin {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        notify(&Event::ReturnedFunction { api, number });
        Origin { number, call: if is_idle() { repro::last_call() } else { None } }
    }

    /// Calls the function.
    fn call<T: Tree>(
        &self,
        name: &str,
        function: &Function,
        called: impl FnOnce() -> Called,
        f: impl FnOnce() -> T,
    ) -> T {
        let _session = repro::session_after(self.call.as_ref());
        let function = Function {
            name: Some(name.to_string()),
            ..Function::unnamed(Api::Returned, function.location.clone())
        };
        composed(&function, || called().option("function", self.number.to_string()), f)
    }
}

/// The structure and types of a tree, to check others against.
fn stripped<Y: Tree>(y: &Y) -> Y {
    y.rebuild(&mut Clone::clone)
}
