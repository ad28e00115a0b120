//! What the primitives of linear algebra share: matrices are the last two axes, everything before them is a batch.

use tracewell_array::{DType, Shape, Tensor};
use tracewell_kernel::{Comparison, Library, LibraryCall, Linalg};

use super::elementwise::arity;
use super::{
    Add, And, Broadcast, Compare, Conj, Convert, DotGeneral, Gather, Iota, Mul, Outside, Permute, Places,
    Prim, ReduceSum, Select, Sub,
};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::primitive::{Batched, Cx, Example, Lowering};
use crate::ty::ArrayType;

/// The types of the results of a library call.
pub(super) fn matrix_types(
    name: &str,
    linalg: Linalg,
    inputs: &[ArrayType],
) -> Result<Vec<ArrayType>, TypeError> {
    arity(name, inputs, linalg.arity())?;
    let operands: Vec<String> = inputs.iter().map(ArrayType::to_string).collect();
    let error = |why: String| TypeError::new(name, format!("`{name}` of {}: {why}", operands.join(" and ")));
    let types: Vec<(DType, Shape)> = inputs.iter().map(|ty| (ty.dtype, ty.shape.clone())).collect();
    let results = linalg.results(&types).map_err(|why| {
        let way_out = if linalg.is_real_only() && types[0].0.is_complex() {
            "of complex matrices there are `eig`, `qr`, `lu` and `cholesky`"
        } else if inputs.iter().any(|ty| !ty.dtype.is_inexact()) {
            "`.convert(F32)` first"
        } else {
            "matrices are the last two axes, the axes before them a batch; `.reshape(..)` makes them so"
        };
        error(why).help(way_out)
    })?;
    if let Some((_, shape)) = results.iter().find(|(_, shape)| shape.checked_len().is_none()) {
        return Err(error(format!("shape {shape} has too many elements")).help(Shape::LIMIT));
    }
    let weak = inputs.iter().all(|ty| ty.weak);
    Ok(results
        .into_iter()
        .map(|(dtype, shape)| ArrayType { dtype, shape, weak: weak && dtype.is_inexact() })
        .collect())
}

/// The call itself.
pub(super) fn lower_matrices(linalg: Linalg, inputs: &[ArrayType], outputs: &[ArrayType]) -> Lowering {
    let types = |types: &[ArrayType]| types.iter().map(|t| (t.dtype, t.shape.clone())).collect();
    Lowering::Library(LibraryCall {
        library: Library::Linalg(linalg),
        inputs: types(inputs),
        outputs: types(outputs),
    })
}

/// The textbook, which lowering does not go by.
pub(super) fn eval_matrices(linalg: Linalg, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
    linalg.reference(inputs)
}

/// The same with one batch axis more.
pub(super) fn batch_matrices(
    cx: &mut Cx<'_>,
    prim: impl Into<Prim>,
    size: usize,
    operands: &[Batched],
) -> Result<Vec<Batched>, RuleError> {
    let operands = cx.batch_all(size, operands)?;
    Ok(cx.bind_all(prim, &operands)?.into_iter().map(Batched::yes).collect())
}

/// One example for each case and type of float.
pub(super) fn float_examples(cases: &[(Prim, Vec<Shape>)]) -> Vec<Example> {
    super::examples_of(cases, &[DType::F32, DType::F64])
}

/// The same, and for complex numbers.
pub(super) fn number_examples(cases: &[(Prim, Vec<Shape>)]) -> Vec<Example> {
    super::examples_of(cases, &[DType::F32, DType::F64, DType::C64, DType::C128])
}

/// The complex conjugate; of real numbers themselves.
pub(super) fn conjugate(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    if cx.ty(x).dtype.is_complex() { cx.bind(Conj {}, &[x]) } else { Ok(x.clone()) }
}

/// `xᴴ`
pub(super) fn adjoint(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let conj = conjugate(cx, x)?;
    transposed(cx, &conj)
}

/// `xᵀ`
pub(super) fn transposed(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let rank = cx.ty(x).rank();
    let axes = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    cx.bind(Permute { axes }, &[x])
}

/// `a b`
pub(super) fn product(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Atom, RuleError> {
    let rank = cx.ty(a).rank();
    let batch: Vec<usize> = (0..rank - 2).collect();
    let dot = DotGeneral {
        a_contract: vec![rank - 1],
        b_contract: vec![rank - 2],
        a_batch: batch.clone(),
        b_batch: batch,
    };
    cx.bind(dot, &[a, b])
}

/// `a + b`
pub(super) fn plus(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Atom, RuleError> {
    cx.bind(Add {}, &[a, b])
}

/// `a - b`
pub(super) fn minus(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Atom, RuleError> {
    cx.bind(Sub {}, &[a, b])
}

/// `a × b`, element by element.
pub(super) fn times(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Atom, RuleError> {
    cx.bind(Mul {}, &[a, b])
}

/// `x / 2`
pub(super) fn half(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let half = cx.fill(x, 0.5);
    times(cx, x, &half)
}

/// `(x + xᴴ) / 2`
pub(super) fn symmetric(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let other = adjoint(cx, x)?;
    let sum = plus(cx, x, &other)?;
    half(cx, &sum)
}

/// Where the number of the row compares so to that of the column.
fn where_rows(cx: &mut Cx<'_>, shape: &Shape, comparison: Comparison) -> Result<Atom, RuleError> {
    let rank = shape.rank();
    let row = cx.bind(Iota { dtype: DType::I32, shape: shape.clone(), axis: rank - 2 }, &[])?;
    let column = cx.bind(Iota { dtype: DType::I32, shape: shape.clone(), axis: rank - 1 }, &[])?;
    cx.bind(Compare { comparison }, &[&row, &column])
}

/// The elements whose row compares so to their column; zeros elsewhere.
pub(super) fn part(cx: &mut Cx<'_>, x: &Atom, comparison: Comparison) -> Result<Atom, RuleError> {
    let mask = where_rows(cx, &cx.ty(x).shape, comparison)?;
    let zero = cx.fill(x, 0.0);
    cx.bind(Select {}, &[&mask, x, &zero])
}

/// A matrix of this type with ones on its diagonal from row `first` on, and zeros elsewhere.
pub(super) fn identity(cx: &mut Cx<'_>, ty: &ArrayType, first: usize) -> Result<Atom, RuleError> {
    let mut mask = where_rows(cx, &ty.shape, Comparison::Eq)?;
    if first > 0 {
        let shape = ty.shape.clone();
        let row = cx.bind(Iota { dtype: DType::I32, shape, axis: ty.rank() - 2 }, &[])?;
        let first = cx.fill(&row, first as f64);
        let later = cx.bind(Compare { comparison: Comparison::Ge }, &[&row, &first])?;
        mask = cx.bind(And {}, &[&mask, &later])?;
    }
    cx.bind(Convert { dtype: ty.dtype, weak: false }, &[&mask])
}

/// The diagonal of square matrices.
pub(super) fn diagonal(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let on = part(cx, x, Comparison::Eq)?;
    let rank = cx.ty(x).rank();
    cx.bind(ReduceSum { axes: vec![rank - 1] }, &[&on])
}

/// A vector for each matrix of this shape, repeated as its rows.
pub(super) fn as_rows(cx: &mut Cx<'_>, x: &Atom, shape: &Shape) -> Result<Atom, RuleError> {
    let rank = shape.rank();
    let axes = (0..rank - 2).chain([rank - 1]).collect();
    cx.bind(Broadcast { shape: shape.clone(), axes }, &[x])
}

/// A vector for each matrix of this shape, repeated as its columns.
pub(super) fn as_columns(cx: &mut Cx<'_>, x: &Atom, shape: &Shape) -> Result<Atom, RuleError> {
    let axes = (0..shape.rank() - 1).collect();
    cx.bind(Broadcast { shape: shape.clone(), axes }, &[x])
}

/// Rows in another order: row `i` of the result is row `order[i]`.
pub(super) fn reordered(cx: &mut Cx<'_>, order: &Atom, x: &Atom) -> Result<Atom, RuleError> {
    let shape = cx.ty(x).shape;
    let rank = shape.rank();
    let rows = rank - 2;
    let places = Places {
        follows: (0..rank).map(|axis| if axis == rows { -1 } else { axis as i64 }).collect(),
        sizes: shape.with(rows, 1).sizes().to_vec(),
        along: vec![rows],
        index_axes: (0..=rows).collect(),
        from_back: false,
    };
    Gather::new(places, Outside::Clip).bind(cx, x, std::slice::from_ref(order))
}
