//! `while_loop(init, cond, body)`: a function repeated as long as another says so.

use std::sync::Arc;

use tracewell_graph::{Location, prim};
use tracewell_trace::{Api, Value, bind};

use super::body::{Body, function_of, unnamed};
use super::carry::Carry;
use super::checks::check_predicate;
use crate::array::Array;
use crate::outcome::{Beside, Outcome};
use crate::staging::{Failure, Function, describe, enter, refill};
use crate::tree::Tree;

/// `body` applied to `init`, to what it returns, and so on, as long as `cond` holds of it.
///
/// What is carried keeps its structure and types; a number (`Array::weak`) that it starts with takes the type that the
/// body returns for it. Reverse mode keeps some of the turns and computes the others again, as their number is not known
/// before: a loop of known length is better one of [`fori_loop`](crate::fori_loop) or [`scan`](crate::scan).
///
/// ```
/// use tracewell::prelude::*;
///
/// // The square root of 2, by Newton's method.
/// let far = |x: &Array| (x * x - 2.0).abs().gt(1e-12);
/// let root = while_loop(Array::from(1.0f64), far, |x| (x + 2.0 / x) / 2.0);
/// assert!((root.item::<f64>() - 2f64.sqrt()).abs() < 1e-12);
/// ```
#[track_caller]
pub fn while_loop<S, C, R, P, F>(init: S, cond: P, body: F) -> R
where
    S: Tree,
    R: Outcome<Ok = S>,
    C: Beside<R, Ok = Array>,
    P: Fn(&S) -> C,
    F: Fn(&S) -> R,
{
    let function = unnamed(Api::WhileLoop, Location::caller());
    R::own(enter::<R, S>(&function, || describe(&init, "carry"), || run(&function, &init, &cond, &body)))
}

fn run<S, C, R, P, F>(function: &Function, init: &S, cond: &P, body: &F) -> Result<S, Failure<R>>
where
    S: Tree,
    R: Outcome<Ok = S>,
    C: Beside<R, Ok = Array>,
    P: Fn(&S) -> C,
    F: Fn(&S) -> R,
{
    let mut carry = Carry::new(init, "carry");
    let of_body = function_of::<F>(function);
    let body = carry.settle::<R>(
        function,
        "the body of `while_loop`",
        |arguments| {
            Body::stage::<R>(&of_body, "body", arguments, |tracers| body(&refill(init, tracers.to_vec())))
        },
        |result| result,
    )?;
    let of_cond = function_of::<P>(function);
    let cond = Body::stage_beside::<R, C>(&of_cond, "cond", &carry.arguments("carry"), |tracers| {
        cond(&refill(init, tracers.to_vec()))
    })?;
    check_predicate("the condition of `while_loop`", &cond.graph.output_types()[0], cond.line(0))?;
    let prim = prim::While {
        cond: Arc::new(cond.graph),
        body: Arc::new(body.graph),
        cond_consts: cond.captured.len(),
        body_consts: body.captured.len(),
    };
    let operands: Vec<Value> = [cond.captured, body.captured, carry.values].concat();
    let results = bind(&prim.into(), &operands, &function.location)?;
    Ok(refill(init, results.into_vec()))
}
