//! `custom_jvp(f, rule)`: a function whose derivative is given.

use tracewell_graph::{ArrayType, Location, prim};
use tracewell_trace::{Api, Argument, Value};

use super::rule::{
    bind_staged, check_result, graph_of, input_types, is_plain, labels, of_floats, rule_of, stage_rule,
    strong, unknown, with_zeros,
};
use crate::outcome::Outcome;
use crate::staging::{
    Failure, Function, arguments, call_plainly, describe, enter, refill, stage_tree, values_of,
};
use crate::tree::{TreeRef, leaves};

/// `f` with a derivative of your own: `rule(x, dx)` gives `f(x)` and its derivative along `dx`.
///
/// The rule must be linear in `dx`; it serves forward and reverse mode, and is itself differentiated for higher
/// orders. It is traced for tangents that are not known, so that it cannot branch on values. What either function
/// captures is held constant: differentiating by it is an error.
///
/// ```
/// use tracewell::prelude::*;
///
/// // log(1 + exp(x)), whose own derivative is NaN for large x.
/// let log1pexp = custom_jvp(
///     |x: &Array| (1.0 + x.exp()).log(),
///     |x: &Array, dx: &Array| ((1.0 + x.exp()).log(), (1.0 - 1.0 / (1.0 + x.exp())) * dx),
/// );
/// let slope = grad(|x: &Array| log1pexp(x))(&Array::from(100.0f32));
/// assert_eq!(slope.item::<f32>(), 1.0);
/// ```
#[track_caller]
pub fn custom_jvp<X, R, Q, F, D>(f: F, rule: D) -> impl Fn(&X) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
    Q: Outcome<Ok = (R::Ok, R::Ok)>,
    D: Fn(&X, &X) -> Q,
{
    let function = Function::of::<F>(Api::CustomJvp, Location::caller());
    move |x| R::own(enter::<R, R::Ok>(&function, || describe(x, "x"), || apply(&function, &f, &rule, x)))
}

fn apply<X, R, Q, F, D>(function: &Function, f: &F, rule: &D, x: &X) -> Result<R::Ok, Failure<R>>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
    Q: Outcome<Ok = (R::Ok, R::Ok)>,
    D: Fn(&X, &X) -> Q,
{
    if is_plain(x) {
        return call_plainly(function, x, f);
    }
    let traced = stage_tree::<X, R>(function, x, &arguments(x, "x"), f)?;
    let primal = traced.staged;

    let (points, tangents) = (unknown(x, "x"), unknown(x, "dx"));
    let rule_arguments: Vec<Argument> = points.into_iter().chain(tangents).collect();
    let count = leaves(x).len();
    let rule = stage_rule::<R, Q>(&rule_of::<D>(function), &rule_arguments, |tracers| {
        let inside = refill(x, tracers[..count].to_vec());
        let along = refill(x, tracers[count..].to_vec());
        rule(X::lend(&inside), X::lend(&along))
    })?;
    check_result("result", &rule.result.0, &traced.result)?;
    check_result("result", &rule.result.1, &traced.result)?;
    let rule = rule.staged;

    let (captured, own) = input_types(&primal);
    let (captured_by_rule, _) = input_types(&rule);
    let strong_own: Vec<ArrayType> = own.iter().cloned().map(strong).collect();
    let results = primal.graph.output_types();
    let name = &primal.graph.name;
    let primal_graph = graph_of(name, &[&captured, &captured_by_rule, &own], |b, inputs| {
        b.inline(&primal.graph, &[inputs[0].as_slice(), &inputs[2]].concat())
    });
    let varying = of_floats(&strong_own, &own);
    let inputs: [&[ArrayType]; 4] = [&captured, &captured_by_rule, &strong_own, &varying];
    let rule_graph = graph_of(&format!("{name}_rule"), &inputs, |b, mut inputs| {
        let tangents = with_zeros(&strong_own, inputs.pop().unwrap_or_default());
        let mut outputs = b.inline(&rule.graph, &[inputs[1].as_slice(), &inputs[2], &tangents].concat());
        let tangents = outputs.split_off(results.len());
        outputs.extend(of_floats(&tangents, &results));
        outputs
    });

    let captured: Vec<Value> = primal.captured.into_iter().chain(rule.captured).collect();
    let prim = prim::CustomJvp { captured: labels(&captured), primal: primal_graph, rule: rule_graph };
    let operands: Vec<Value> = captured.into_iter().chain(values_of(x)).collect();
    let results = bind_staged(prim, &operands, &primal.graph, &primal.values, &function.location)?;
    Ok(refill(&traced.result, results))
}
