//! `contract(f)`: a function whose products are not rounded before they are added.

use tracewell_graph::Location;
use tracewell_trace::{Api, Value, apply};

use super::pullback::rule;
use crate::outcome::Outcome;
use crate::staging::{Function, arguments, describe, enter, refill, stage_tree, values_of};
use crate::tree::TreeRef;

/// `f` with each product that one addition or subtraction alone reads computed together with it, as by
/// [`mul_add`](crate::Array::mul_add): rounded once, in one instruction where the machine has it. So it is inside loops,
/// branches and jitted functions that `f` calls, but not inside functions with derivative rules of their own nor
/// primitives of yours.
///
/// Nothing is contracted unless it is asked for: `x * y + z` rounds twice, as written. This asks for all of a function,
/// as `-ffp-contract=fast` does of a C compiler. Results may differ in the last digit, mostly for the better, but
/// `x * x - y * y` of equal arguments may not be zero any more. They are still the same on every machine, by every width
/// of vectors, and with any number of threads. `contract(grad(f))` contracts the derivative too, which
/// `grad(contract(f))` does not.
///
/// `f` is traced without values, as by [`vmap`](crate::vmap()), also where nothing else is.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = |x: &Array| x * x - 1.0;
/// let x = Array::from(1.0f64 + 2f64.powi(-30));
/// assert_eq!(f(&x).item::<f64>(), 2f64.powi(-29));
/// assert_eq!(contract(f)(&x).item::<f64>(), 2f64.powi(-29) + 2f64.powi(-60));
/// ```
#[track_caller]
pub fn contract<X, R, F>(f: F) -> impl Fn(&X) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    let function = Function::of::<F>(Api::Contract, Location::caller());
    move |x| {
        R::own(enter::<R, R::Ok>(
            &function,
            || describe(x, "x"),
            || {
                let traced = stage_tree::<X, R>(&function, x, &arguments(x, "x"), &f)?;
                let contracted = tracewell_transform::contract(&traced.staged.graph).map_err(rule)?;
                let inputs: Vec<Value> = traced.staged.captured.into_iter().chain(values_of(x)).collect();
                let results = apply(&contracted, &inputs, &function.location)?;
                Ok(refill(&traced.result, results))
            },
        ))
    }
}
