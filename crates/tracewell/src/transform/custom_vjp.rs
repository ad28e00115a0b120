//! `custom_vjp(fwd, bwd)`: a function whose pullback is given.

use std::sync::Arc;

use tracewell_graph::{ArrayType, Location, prim};
use tracewell_trace::{Api, Argument, Value};
use tracewell_transform::prune;

use super::rule::{
    bind_staged, check_result, graph_of, input_types, is_plain, labels, of_floats, rule_of, stage_rule,
    strong, unknown, with_zeros,
};
use crate::outcome::Outcome;
use crate::staging::{
    Failure, Function, arguments, call_plainly, describe, enter, refill, stage_tree, values_of,
};
use crate::tree::{Tree, TreeRef, leaves};

/// A function with a backward pass of your own: `fwd(x)` gives its value and residuals, `bwd(residuals, ct)` the
/// cotangent of `x` from that of the value.
///
/// `bwd` is traced for cotangents that are not known, so that it cannot branch on values; it is itself
/// differentiated for higher orders. What either function captures is held constant: differentiating by it is an
/// error. Forward mode works where `bwd` is linear in `ct`.
///
/// ```
/// use tracewell::prelude::*;
///
/// // The identity, through which gradients pass halved.
/// let halved = custom_vjp(|x: &Array| (x.clone(), ()), |_: &(), ct: &Array| 0.5 * ct);
/// let slope = grad(|x: &Array| halved(x).square().sum())(&Array::from([1.0f32, 2.0]));
/// assert_eq!(slope.to_string(), "[1. 2.]");
/// ```
#[track_caller]
pub fn custom_vjp<X, Y, S, R, Q, F, B>(fwd: F, bwd: B) -> impl Fn(&X) -> R::With<Y>
where
    X: TreeRef + ?Sized,
    Y: Tree,
    S: Tree,
    R: Outcome<Ok = (Y, S)>,
    F: Fn(&X) -> R,
    Q: Outcome<Ok = X::Owned>,
    B: Fn(&S, &Y) -> Q,
{
    let function = Function::of::<F>(Api::CustomVjp, Location::caller());
    move |x| enter::<R, Y>(&function, || describe(x, "x"), || apply(&function, &fwd, &bwd, x))
}

fn apply<X, Y, S, R, Q, F, B>(function: &Function, fwd: &F, bwd: &B, x: &X) -> Result<Y, Failure<R>>
where
    X: TreeRef + ?Sized,
    Y: Tree,
    S: Tree,
    R: Outcome<Ok = (Y, S)>,
    F: Fn(&X) -> R,
    Q: Outcome<Ok = X::Owned>,
    B: Fn(&S, &Y) -> Q,
{
    if is_plain(x) {
        return call_plainly(function, x, fwd).map(|(y, _)| y);
    }
    let mut known = arguments(x, "x");
    known.iter_mut().for_each(|argument| argument.ty.weak = false);
    let traced = stage_tree::<X, R>(function, x, &known, fwd)?;
    let ((y, residuals), fwd) = (traced.result, traced.staged);

    let (kept, cotangents) = (unknown(&residuals, "residuals"), unknown(&y, "ct"));
    let rule_arguments: Vec<Argument> = kept.into_iter().chain(cotangents).collect();
    let kept = leaves(&residuals).len();
    let rule = stage_rule::<R, Q>(&rule_of::<B>(function), &rule_arguments, |tracers| {
        let (residual_tracers, cotangents) = tracers.split_at(kept);
        bwd(&refill(&residuals, residual_tracers.to_vec()), &refill(&y, cotangents.to_vec()))
    })?;
    check_result("x", &rule.result, x)?;
    let bwd = rule.staged;

    let (captured, own) = input_types(&fwd);
    let (captured_by_bwd, mut bwd_own) = input_types(&bwd);
    let result_types = bwd_own.split_off(kept);
    let name = &fwd.graph.name;
    // What the pullback captured is handed to it as residuals.
    let fwd_graph = graph_of(name, &[&captured, &captured_by_bwd, &own], |b, mut inputs| {
        let mut outputs = b.inline(&fwd.graph, &[inputs[0].as_slice(), &inputs[2]].concat());
        outputs.append(&mut inputs[1]);
        outputs
    });
    let count = leaves(&y).len();
    let mut primal = (*fwd_graph).clone();
    primal.outputs.truncate(count);
    let varying = of_floats(&result_types, &result_types);
    let passed: Vec<ArrayType> = captured_by_bwd.iter().cloned().map(strong).collect();
    let bwd_graph = graph_of(&format!("{name}_bwd"), &[&bwd_own, &passed, &varying], |b, mut inputs| {
        let cotangents = with_zeros(&result_types, inputs.pop().unwrap_or_default());
        let outputs = b.inline(&bwd.graph, &[inputs[1].as_slice(), &inputs[0], &cotangents].concat());
        of_floats(&outputs, &own)
    });

    let captured: Vec<Value> = fwd.captured.into_iter().chain(bwd.captured).collect();
    let prim = prim::CustomVjp {
        captured: labels(&captured),
        fwd: fwd_graph,
        bwd: bwd_graph,
        primal: Arc::new(prune(&primal)),
    };
    let operands: Vec<Value> = captured.into_iter().chain(values_of(x)).collect();
    let mut graph = fwd.graph.clone();
    graph.outputs.truncate(count);
    let results = bind_staged(prim, &operands, &graph, &fwd.values, &function.location)?;
    Ok(refill(&y, results))
}
