//! `map(xs, f)`: a function applied to every element of some arrays, independently.

use std::sync::Arc;

use tracewell_graph::{Location, prim};
use tracewell_trace::{Api, Value, bind};

use super::body::{Body, elements};
use super::length::length;
use crate::outcome::Outcome;
use crate::staging::{Function, describe, enter, refill, values_of};
use crate::tree::TreeRef;

/// `f` of every element along the leading axis of `xs`; results get a leading axis.
///
/// What [`vmap`](crate::vmap) computes, as a loop: `f` is applied to one element at a time, on several cores, and what
/// is between is only as large as for one. `vmap` is faster where elements are small and `f` is a few operations;
/// `map` needs less memory, and a `cond` or a `while_loop` in it stays one for each element.
///
/// ```
/// use tracewell::prelude::*;
///
/// let n = Array::from([1, 6, 7, 27]);
/// let steps = map(&n, |n| {
///     let next = |n: &Array| select(&(n % 2).eq(0), n / 2, 3 * n + 1);
///     while_loop((n.clone(), Array::from(0)), |(n, _)| n.ne(1), |(n, k)| (next(n), k + 1)).1
/// });
/// assert_eq!(steps.to_string(), "[  0   8  16 111]");
/// ```
#[track_caller]
pub fn map<X, R, F>(xs: &X, f: F) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    let function = Function::of::<F>(Api::Map, Location::caller());
    R::own(enter::<R, R::Ok>(
        &function,
        || describe(xs, "xs"),
        || {
            let size = length(Api::Map, xs, None)?;
            let body = Body::stage::<R>(&function, "element", &elements(xs, "x"), |tracers| {
                f(X::lend(&refill(xs, tracers.to_vec())))
            })?;
            let values = values_of(xs);
            let whole = std::iter::repeat_n(-1, body.captured.len());
            let prim = prim::Each {
                axes: whole.chain(std::iter::repeat_n(0, values.len())).collect(),
                out_axes: vec![0; body.graph.outputs.len()],
                graph: Arc::new(body.graph),
                size,
            };
            let operands: Vec<Value> = [body.captured, values].concat();
            let results = bind(&prim.into(), &operands, &function.location)?;
            Ok(refill(&body.result, results.into_vec()))
        },
    ))
}
