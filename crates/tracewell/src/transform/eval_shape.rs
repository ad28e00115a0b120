//! `eval_shape(f, &x)`: the types of a function's results, without computing them.

use tracewell_graph::Location;
use tracewell_trace::Api;

use super::pullback::zeros;
use crate::array::Array;
use crate::outcome::Outcome;
use crate::staging::{Function, arguments, describe, enter, stage_tree};
use crate::tree::{Tree, TreeRef};

/// What `f` returns for an argument of these types, with zeros in the place of results. Nothing is computed, and the
/// zeros hold no memory.
///
/// ```
/// use tracewell::prelude::*;
///
/// let y = eval_shape(|x: &Array| (x.dot(&x.t()), x.sum()), &Array::zeros([1000, 10], F32));
/// assert_eq!(y.0.ty().to_string(), "f32[1000,1000]");
/// assert_eq!(y.1.ty().to_string(), "f32[]");
/// ```
#[track_caller]
pub fn eval_shape<X, R, F>(f: F, x: &X) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    let function = Function::of::<F>(Api::EvalShape, Location::caller());
    R::own(enter::<R, R::Ok>(
        &function,
        || describe(x, "x"),
        || {
            let traced = stage_tree::<X, R>(&function, x, &arguments(x, "x"), &f)?;
            let types = traced.staged.graph.output_types();
            let mut types = types.iter();
            Ok(traced.result.rebuild(&mut |leaf| match types.next() {
                Some(ty) => Array::unfilled(zeros(ty)),
                None => leaf.clone(),
            }))
        },
    ))
}
