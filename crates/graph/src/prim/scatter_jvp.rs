//! The tangents of `scatter`: linear in those of the array and of the updates.

use tracewell_array::{DType, Shape};
use tracewell_kernel::Comparison;

use super::places::Places;
use super::{
    Add, Compare, Convert, Div, Gather, Iota, Mul, Or, Outside, Reshape, Scatter, ScatterOp, Select, Sub,
};
use crate::error::RuleError;
use crate::graph::Atom;
use crate::primitive::Cx;
use crate::ty::ArrayType;

/// The array and its updates.
type Primals<'a> = (&'a Atom, &'a Atom);
/// The tangents of both; not both are missing.
type Tangents<'a> = (Option<&'a Atom>, Option<&'a Atom>);
type Tangent = Result<Option<Atom>, RuleError>;

/// The tangents are added as the values are.
pub(super) fn add_tangent(
    cx: &mut Cx<'_>,
    scatter: &Scatter,
    (x, _): Primals<'_>,
    (dx, du): Tangents<'_>,
    indices: &[Atom],
) -> Tangent {
    let Some(du) = du else { return Ok(dx.cloned()) };
    let dx = dx.cloned().unwrap_or_else(|| cx.fill(x, 0.0));
    scatter.clone().bind(cx, &dx, du, indices).map(Some)
}

/// Each element has the tangent of what is there in the end. Which update that is, a scatter of their numbers says.
pub(super) fn set_tangent(
    cx: &mut Cx<'_>,
    scatter: &Scatter,
    (x, updates): Primals<'_>,
    (dx, du): Tangents<'_>,
    indices: &[Atom],
) -> Tangent {
    let (whole, parts) = (cx.ty(x), cx.ty(updates));
    let count = parts.shape.len();
    if count == 0 {
        return Ok(dx.cloned());
    }
    let dtype = if i32::try_from(count).is_ok() { DType::I32 } else { DType::I64 };
    let flat = Shape::from([count]);
    let numbers = cx.bind(Iota { dtype, shape: flat.clone(), axis: 0 }, &[])?;
    let numbers = cx.bind(Reshape { shape: parts.shape.clone() }, &[&numbers])?;
    let none = Atom::fill(&whole.with_dtype(dtype), -1.0);
    let last = scatter.clone().bind(cx, &none, &numbers, indices)?;
    let zero = cx.fill(&last, 0.0);
    let is_set = cx.bind(Compare { comparison: Comparison::Ge }, &[&last, &zero])?;
    let zeros = cx.fill(x, 0.0);
    let put = match du {
        None => zeros.clone(),
        Some(du) => {
            let du = cx.bind(Reshape { shape: flat }, &[du])?;
            let index_axes = (0..whole.rank()).collect();
            let (follows, sizes, along) = (vec![-1], vec![1], vec![0]);
            let places = Places { follows, sizes, along, index_axes, from_back: false };
            Gather::new(places, Outside::Clip).bind(cx, &du, &[last])?
        }
    };
    cx.bind(Select {}, &[&is_set, &put, dx.unwrap_or(&zeros)]).map(Some)
}

/// Each factor moves the product of the others. That is the product of all that are not zero without this one, if no
/// other one is zero.
pub(super) fn product_tangent(
    cx: &mut Cx<'_>,
    scatter: &Scatter,
    (x, updates): Primals<'_>,
    (dx, du): Tangents<'_>,
    indices: &[Atom],
) -> Tangent {
    let ones = cx.fill(x, 1.0);
    let by_x = match dx {
        None => None,
        Some(dx) => {
            let product = scatter.clone().bind(cx, &ones, updates, indices)?;
            Some(cx.bind(Mul {}, &[dx, &product])?)
        }
    };
    let Some(du) = du else { return Ok(by_x) };
    let add = scatter.with(ScatterOp::Add);
    let (zeros, no, one) = (cx.fill(x, 0.0), cx.fill(updates, 0.0), cx.fill(updates, 1.0));
    let is_zero = cx.bind(Compare { comparison: Comparison::Eq }, &[updates, &no])?;
    let is_one_zero = as_number(cx, &is_zero, updates)?;
    let not_zero = cx.bind(Select {}, &[&is_zero, &one, updates])?;
    let product = scatter.clone().bind(cx, &ones, &not_zero, indices)?;
    let product = scatter.read(cx, &product, indices)?;
    let count = add.clone().bind(cx, &zeros, &is_one_zero, indices)?;
    let count = scatter.read(cx, &count, indices)?;
    let without = cx.bind(Div {}, &[&product, &not_zero])?;
    let others_zero = cx.bind(Sub {}, &[&count, &is_one_zero])?;
    let are_none = cx.bind(Compare { comparison: Comparison::Eq }, &[&others_zero, &no])?;
    let slope = cx.bind(Select {}, &[&are_none, &without, &no])?;
    let moved = cx.bind(Mul {}, &[du, &slope])?;
    let moved = add.bind(cx, &zeros, &moved, indices)?;
    let by_updates = cx.bind(Mul {}, &[&moved, x])?;
    Ok(Some(match by_x {
        Some(by_x) => cx.bind(Add {}, &[&by_x, &by_updates])?,
        None => by_updates,
    }))
}

/// The mean tangent of all that attain the extreme, the element before among them.
pub(super) fn extreme_tangent(
    cx: &mut Cx<'_>,
    scatter: &Scatter,
    (x, updates): Primals<'_>,
    (dx, du): Tangents<'_>,
    (y, indices): (&Atom, &[Atom]),
) -> Tangent {
    let add = scatter.with(ScatterOp::Add);
    let extreme = scatter.read(cx, y, indices)?;
    let (x_attains, u_attains) = (attains(cx, x, y)?, attains(cx, updates, &extreme)?);
    let (in_x, in_u) = (as_number(cx, &x_attains, x)?, as_number(cx, &u_attains, updates)?);
    let count = add.clone().bind(cx, &in_x, &in_u, indices)?;
    let mut sum = cx.fill(x, 0.0);
    if let Some(dx) = dx {
        sum = cx.bind(Select {}, &[&x_attains, dx, &sum])?;
    }
    if let Some(du) = du {
        let no = cx.fill(updates, 0.0);
        let du = cx.bind(Select {}, &[&u_attains, du, &no])?;
        sum = add.bind(cx, &sum, &du, indices)?;
    }
    cx.bind(Div {}, &[&sum, &count]).map(Some)
}

/// Whether an element is the extreme; NaN always is.
fn attains(cx: &mut Cx<'_>, x: &Atom, extreme: &Atom) -> Result<Atom, RuleError> {
    let is_equal = cx.bind(Compare { comparison: Comparison::Eq }, &[x, extreme])?;
    let is_nan = cx.bind(Compare { comparison: Comparison::Ne }, &[x, x])?;
    cx.bind(Or {}, &[&is_equal, &is_nan])
}

/// 1 where it holds, else 0.
fn as_number(cx: &mut Cx<'_>, holds: &Atom, like: &Atom) -> Result<Atom, RuleError> {
    let ArrayType { dtype, weak, .. } = cx.ty(like);
    cx.bind(Convert { dtype, weak }, &[holds])
}
