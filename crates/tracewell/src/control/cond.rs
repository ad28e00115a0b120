//! `cond(pred, then, otherwise)`: one of two functions, by a value that is not known while tracing.

use tracewell_array::DType;
use tracewell_graph::Location;
use tracewell_graph::prim::Convert;
use tracewell_trace::Api;

use super::body::{Body, function_of, unnamed};
use super::branches::unify;
use super::checks::check_predicate;
use super::parts::one;
use super::switch::{bind_switch, branch_name};
use crate::array::Array;
use crate::outcome::Outcome;
use crate::staging::{describe, enter};

/// What `then` returns if the predicate holds, what `otherwise` returns if not. Only that one is computed.
///
/// Both are traced, and return one structure and types. They use what they capture. Where the predicate is batched
/// by `vmap`, both are computed and [`select`](crate::select) chooses.
///
/// ```
/// use tracewell::prelude::*;
///
/// jit! {
///     fn root(x: &Array) -> Array {
///         cond(&x.ge(0.0), || x.sqrt(), || 0.0 * x)
///     }
/// }
/// assert_eq!(root(&Array::from(9.0f32)).item::<f32>(), 3.0);
/// assert_eq!(root(&Array::from(-9.0f32)).item::<f32>(), 0.0);
/// ```
#[track_caller]
pub fn cond<R, F, G>(pred: &Array, then: F, otherwise: G) -> R
where
    R: Outcome,
    F: FnOnce() -> R,
    G: FnOnce() -> R,
{
    let function = unnamed(Api::Cond, Location::caller());
    R::own(enter::<R, R::Ok>(
        &function,
        || describe(pred, "pred"),
        || {
            check_predicate("the predicate of `cond`", &pred.ty(), None)?;
            let (yes, no) = (function_of::<F>(&function), function_of::<G>(&function));
            let names = [branch_name(&yes, "`then`"), branch_name(&no, "`otherwise`")];
            let yes = Body::stage::<R>(&yes, "then", &[], |_| then())?;
            let no = Body::stage::<R>(&no, "otherwise", &[], |_| otherwise())?;
            let mut bodies = vec![yes, no];
            unify(&function, &mut bodies, &names)?;
            bodies.reverse();
            let convert = Convert { dtype: DType::I32, weak: false };
            let index = one(convert, &[pred.value().clone()], &function.location)?;
            Ok(bind_switch(&function, index, bodies)?)
        },
    ))
}
