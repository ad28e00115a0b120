//! `jvp(f, &x, &dx)`: the value of a function and its derivative along a direction.

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Equation, Graph, Location};
use tracewell_trace::{Api, Staged, Value, apply_known};

use super::grad::check_arguments;
use super::pullback::{rule, zeros};
use crate::outcome::Outcome;
use crate::staging::{Function, and, arguments, describe, enter, refill, stage_tree, values_of};
use crate::tree::{TreeRef, check_like};

/// `(f(x), ∂f(x)·dx)`, by forward mode.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (y, dy) = jvp(|x| x.square(), &Array::from([1.0f32, 2.0]), &Array::from([1.0f32, 0.0]));
/// assert_eq!((y.to_string(), dy.to_string()), ("[1. 4.]".into(), "[2. 0.]".into()));
/// ```
#[track_caller]
pub fn jvp<X, R, F>(f: F, x: &X, dx: &X) -> R::With<(R::Ok, R::Ok)>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    jvp_from(Function::of::<F>(Api::Jvp, Location::caller()), f, x, dx)
}

/// The same for an API that is made of it.
pub(crate) fn jvp_from<X, R, F>(function: Function, f: F, x: &X, dx: &X) -> R::With<(R::Ok, R::Ok)>
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    enter::<R, (R::Ok, R::Ok)>(
        &function,
        || and(describe(x, "x"), dx, "dx"),
        || {
            check_arguments(function.api, x)?;
            check_like(("tangent", "argument", "x"), x, dx)?;
            let traced = stage_tree::<X, R>(&function, x, &arguments(x, "x"), &f)?;
            let Staged { graph, captured, values, .. } = traced.staged;
            let tangents = values_of(dx);
            let active: Vec<bool> = std::iter::repeat_n(false, captured.len())
                .chain(std::iter::repeat_n(true, tangents.len()))
                .collect();
            let (forward, has_tangent) = tracewell_transform::jvp(&graph, &active).map_err(rule)?;
            let inputs: Vec<Value> = captured.into_iter().chain(values_of(x)).chain(tangents).collect();
            let known = known_effects(&graph, &values, &forward);
            let mut results = apply_known(&forward, &inputs, &known, &function.location)?;
            let mut found = results.split_off(graph.outputs.len()).into_iter();
            let of = |(ty, has): (ArrayType, bool)| {
                let value = if has { found.next() } else { None };
                value.unwrap_or_else(|| zeros(&ty))
            };
            let tangents = graph.output_types().into_iter().zip(has_tangent).map(of).collect();
            Ok((refill(&traced.result, results), refill(&traced.result, tangents)))
        },
    )
}

/// The results of effects that happened while the function was traced, as values of its derivative: they do not
/// happen again. The derivative has the effects of the function, in the same order.
fn known_effects(graph: &Graph, values: &[Option<Tensor>], forward: &Graph) -> Vec<Option<Tensor>> {
    let mut known = vec![None; forward.types.len()];
    let has_effect = |equation: &&Equation| equation.prim.has_effect();
    let before = graph.equations.iter().filter(has_effect);
    let both = before.zip(forward.equations.iter().filter(has_effect));
    for (before, now) in both.take_while(|(before, now)| before.prim == now.prim) {
        for (from, to) in before.outputs.iter().zip(&now.outputs) {
            known[to.0 as usize] = values.get(from.0 as usize).cloned().flatten();
        }
    }
    known
}
