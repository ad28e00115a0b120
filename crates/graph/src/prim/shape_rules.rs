//! What the shape primitives share: walking an array by multi-index, reading through a map of indices, and the
//! rules of whatever is linear in its one operand.

use tracewell_array::{Literal, Shape, Tensor};

use super::{Add, Prim};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::primitive::{Cx, Jvp, Operand};
use crate::ty::ArrayType;

/// Calls `f` with every multi-index of a shape, in row-major order.
pub(crate) fn each_index(shape: &Shape, mut f: impl FnMut(&[usize])) {
    let sizes = shape.sizes();
    let mut index = vec![0; sizes.len()];
    for _ in 0..shape.len() {
        f(&index);
        for axis in (0..sizes.len()).rev() {
            index[axis] += 1;
            if index[axis] < sizes[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// The row-major position of a multi-index.
pub(crate) fn position(shape: &Shape, index: &[usize]) -> usize {
    index.iter().zip(shape.iter()).fold(0, |at, (&i, n)| at * n + i)
}

/// An array whose element at each index is read from `x` at another.
pub(crate) fn read_through(x: &Tensor, shape: &Shape, from: impl Fn(&[usize]) -> Vec<usize>) -> Tensor {
    let mut literals: Vec<Literal> = Vec::with_capacity(shape.len());
    each_index(shape, |index| literals.push(x.literal(position(x.shape(), &from(index)))));
    Tensor::from_literals(x.dtype(), shape.clone(), &literals).expect("one literal for each element")
}

/// Checks that axes are ascending and there.
pub(crate) fn check_axes(name: &str, axes: &[usize], x: &ArrayType) -> Result<(), TypeError> {
    if axes.windows(2).all(|w| w[0] < w[1]) && axes.iter().all(|&a| a < x.rank()) {
        return Ok(());
    }
    let message = format!(
        "cannot {name} {x} over axes {axes:?}: each must be below {} and occur once, ascending",
        x.rank()
    );
    Err(TypeError::new(name, message))
}

/// The derivative of what is linear in its one operand: the same of the tangent.
pub(crate) fn linear_jvp(
    cx: &mut Cx<'_>,
    prim: &(impl Into<Prim> + Clone),
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<Jvp, RuleError> {
    let y = cx.bind(prim.clone(), &[&primals[0]])?;
    let dy = tangents[0].as_ref().map(|dx| cx.bind(prim.clone(), &[dx])).transpose()?;
    Ok(Jvp::one(y, dy))
}

/// The adjoint of what is linear in its one operand, where there is something to do.
pub(crate) fn linear_transpose(
    operands: &[Operand],
    cotangents: &[Option<Atom>],
    adjoint: impl FnOnce(&ArrayType, &Atom) -> Result<Atom, RuleError>,
) -> Result<Vec<Option<Atom>>, RuleError> {
    match (&operands[0], &cotangents[0]) {
        (Operand::Linear(ty), Some(ct)) => Ok(vec![Some(adjoint(ty, ct)?)]),
        _ => Ok(vec![None]),
    }
}

/// The derivative of what is linear in each of its two operands: the sum of it with one of them changed.
pub(crate) fn bilinear_jvp(
    cx: &mut Cx<'_>,
    prim: &(impl Into<Prim> + Clone),
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<Jvp, RuleError> {
    let (a, b) = (&primals[0], &primals[1]);
    let y = cx.bind(prim.clone(), &[a, b])?;
    let left = tangents[0].as_ref().map(|da| cx.bind(prim.clone(), &[da, b])).transpose()?;
    let right = tangents[1].as_ref().map(|db| cx.bind(prim.clone(), &[a, db])).transpose()?;
    let dy = match (left, right) {
        (Some(l), Some(r)) => Some(cx.bind(Add {}, &[&l, &r])?),
        (l, r) => l.or(r),
    };
    Ok(Jvp::one(y, dy))
}

/// Which of two operands an equation is linear in, its type, and the other.
pub(crate) fn linear_operand<'o>(
    name: &str,
    operands: &'o [Operand],
) -> Result<(usize, &'o ArrayType, &'o Atom), RuleError> {
    match (&operands[0], &operands[1]) {
        (Operand::Linear(ty), Operand::Known(known)) => Ok((0, ty, known)),
        (Operand::Known(known), Operand::Linear(ty)) => Ok((1, ty, known)),
        _ => Err(RuleError::not_linear(name)),
    }
}
