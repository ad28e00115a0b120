//! `checkpoint(f)`: a function whose values are computed again in the backward pass instead of kept.

use std::sync::Arc;

use tracewell_graph::prim::{self, Policy};
use tracewell_graph::{Location, Param, ParamValue};
use tracewell_trace::{Api, Error, ErrorKind, Value};

use super::rule::{bind_staged, is_plain};
use crate::array::{Array, apply, or_raise};
use crate::outcome::Outcome;
use crate::staging::{
    Failure, Function, arguments, call_plainly, describe, enter, refill, stage_tree, values_of,
};
use crate::tree::TreeRef;

/// `f`, of which the backward pass keeps only the argument: what else it needs is computed again.
///
/// Less memory for more work. Outside derivatives it is `f`.
///
/// ```
/// use tracewell::prelude::*;
///
/// let layer = checkpoint(|x: &Array| x.sin().exp());
/// let slope = grad(|x: &Array| layer(x).sum())(&Array::from([0.0f32]));
/// assert_eq!(slope.to_string(), "[1.]");
/// ```
#[track_caller]
pub fn checkpoint<X, R, F>(f: F) -> impl Fn(&X) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    checkpoint_with(f, Policy::Nothing)
}

/// The same with a policy that says what is kept all the same.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = |x: &Array| checkpoint_name(&x.sin(), "wave").exp().sum();
/// let x = Array::from([0.5f32, 1.0]);
/// let kept = saved_residuals(checkpoint_with(f, Policy::Names(vec!["wave".into()])), &x).unwrap();
/// assert_eq!(kept.len(), 2); // the argument and the sine; the exponential is computed again
/// ```
#[track_caller]
pub fn checkpoint_with<X, R, F>(f: F, policy: Policy) -> impl Fn(&X) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    let function = Function::of::<F>(Api::Checkpoint, Location::caller());
    move |x| {
        let called = || describe(x, "x").option("policy", policy_text(&policy));
        R::own(enter::<R, R::Ok>(&function, called, || run(&function, &policy, &f, x)))
    }
}

/// A policy as its primitive writes it.
fn policy_text(policy: &Policy) -> String {
    match policy.to_value() {
        ParamValue::Text(text) => text,
        _ => String::new(),
    }
}

fn run<X, R, F>(function: &Function, policy: &Policy, f: &F, x: &X) -> Result<R::Ok, Failure<R>>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    if is_plain(x) {
        return call_plainly(function, x, f);
    }
    let traced = stage_tree::<X, R>(function, x, &arguments(x, "x"), f)?;
    let staged = traced.staged;
    let operands: Vec<Value> = staged.captured.into_iter().chain(values_of(x)).collect();
    let graph = Arc::new(staged.graph);
    let prim = prim::Checkpoint { policy: policy.clone(), graph: graph.clone() };
    let results = bind_staged(prim, &operands, &graph, &staged.values, &function.location)?;
    Ok(refill(&traced.result, results))
}

/// The array, by a name that [`Policy::Names`] can keep it by.
#[track_caller]
pub fn checkpoint_name(x: &Array, name: &str) -> Array {
    let location = Location::caller();
    let label = if name.contains(',') {
        let message = format!("the name \"{name}\" holds a comma");
        Err(Error::new(ErrorKind::Structure, message).help("names are listed with commas between"))
    } else {
        Ok(name.to_string())
    };
    let label = or_raise(label, &location);
    apply(prim::CheckpointName { label }, &[x.value().clone()], &location)
}
