//! What an equation does along the narrow axis of its result, or of its operand.

use tracewell_array::Shape;
use tracewell_graph::{ArrayType, AxisView, Equation, Graph, Lowering, Piece, View};
use tracewell_kernel::Combine;

/// Which arrays may be taken apart.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The widest axis that is narrow.
    pub(super) widest: usize,
    /// Elements beside it from which on it is worth it.
    pub(super) many: usize,
}

pub(super) enum Role {
    /// The same to every element.
    Map,
    /// Its columns are these, put beside each other.
    Join(Vec<Column>),
    /// Its columns are these, found elsewhere.
    Look(Vec<Column>),
    /// Its columns are those of its operand, in another shape.
    Reshape,
    /// Its columns are those of its operand, repeated: where the axes of one are in the other, those of size 1 aside.
    Repeat(Vec<usize>),
    /// It does to each column what it does to the whole: the narrow axis is not reduced.
    Reduce,
    /// All columns of its operand combined.
    Fold(Combine),
    /// Its operand has one column, which it is.
    Drop,
}

/// A column of a result: a part of the operand of that number.
#[derive(Clone, Copy)]
pub(super) enum Column {
    /// Its column of that number.
    Of(usize, usize),
    /// All of it.
    All(usize),
    /// It is a scalar that is repeated.
    Fill(usize),
}

/// The shape of a column.
pub(super) fn lead(shape: &Shape) -> Shape {
    shape.remove(shape.rank() - 1)
}

/// The width of an array that may be taken apart.
fn width(ty: &ArrayType, limits: Limits) -> Option<usize> {
    let last = ty.shape.rank().checked_sub(1)?;
    let width = ty.shape.size(last);
    let is_narrow = (1..=limits.widest).contains(&width) && !ty.dtype.is_complex();
    (is_narrow && ty.shape.len() / width >= limits.many).then_some(width)
}

pub(super) fn role(graph: &Graph, equation: &Equation, limits: Limits) -> Option<Role> {
    let [out] = equation.outputs.as_slice() else { return None };
    let ty = graph.ty(*out);
    let types: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
    let is_narrow = |ty: &ArrayType| width(ty, limits).is_some();
    if types.iter().any(|ty| ty.dtype.is_complex())
        || !(is_narrow(ty) || types.first().is_some_and(is_narrow))
    {
        return None;
    }
    match equation.prim.rules().lower(&types, std::slice::from_ref(ty)).ok()? {
        Lowering::View(View::Reshape) => reshape(&types[0], ty, limits),
        Lowering::View(View::Axes(axes)) => {
            let columns: Option<Vec<Column>> = (0..width(ty, limits)?)
                .map(|j| seen(&axes, 0, [&types[0].shape, &ty.shape], limits, j))
                .collect();
            columns.map(Role::Look).or_else(|| repeated(&axes, &types[0].shape, &ty.shape).map(Role::Repeat))
        }
        Lowering::Map(_) => {
            (is_narrow(ty) && types.iter().all(|from| from.shape == ty.shape)).then_some(Role::Map)
        }
        Lowering::Pieces(pieces) => {
            let column = |j: usize| pieces.iter().find_map(|piece| put(piece, &types, &ty.shape, limits, j));
            let columns: Option<Vec<Column>> = (0..width(ty, limits)?).map(column).collect();
            columns.map(Role::Join)
        }
        Lowering::Reduce { combine, axes } => {
            let last = types[0].shape.rank() - 1;
            let is_innermost = last > 0 && axes.contains(&(last - 1)) && !axes.contains(&last);
            match axes.as_slice() {
                [axis] if *axis == last => Some(Role::Fold(combine)),
                // Elements of a column are combined in the order of those of the whole if the innermost axis is.
                _ => is_innermost.then_some(Role::Reduce),
            }
        }
        _ => None,
    }
}

fn reshape(from: &ArrayType, to: &ArrayType, limits: Limits) -> Option<Role> {
    let is_narrow = |ty: &ArrayType| width(ty, limits).is_some();
    let last = |shape: &Shape| shape.rank().checked_sub(1).map(|axis| shape.size(axis));
    if width(from, limits) == Some(1) && lead(&from.shape) == to.shape {
        Some(Role::Drop)
    } else if to.shape == from.shape.insert(from.shape.rank(), 1) {
        is_narrow(to).then(|| Role::Look(vec![Column::All(0)]))
    } else {
        (is_narrow(to) && is_narrow(from) && last(&from.shape) == last(&to.shape)).then_some(Role::Reshape)
    }
}

/// Column `j` of a view of an operand, if it is one.
fn seen(
    axes: &[AxisView],
    operand: usize,
    [from, to]: [&Shape; 2],
    limits: Limits,
    j: usize,
) -> Option<Column> {
    let last = to.rank() - 1;
    let follows = |views: &[AxisView]| {
        let stay = views.iter().enumerate().all(|(i, view)| *view == AxisView::follow(i));
        stay && views.len() == last && from.iter().zip(to.iter()).take(last).all(|(a, b)| a == b)
    };
    if from.rank() == 0 {
        return Some(Column::Fill(operand));
    }
    if follows(axes) {
        return Some(Column::All(operand));
    }
    let (view, others) = axes.split_last()?;
    let at = match view.axis {
        None => view.start,
        Some(axis) if axis == last => view.start + view.step * j as i64,
        Some(_) => return None,
    };
    // What is read must be narrow too, to have columns.
    let inside = from.size(from.rank() - 1) <= limits.widest;
    (follows(others) && inside).then_some(Column::Of(operand, usize::try_from(at).ok()?))
}

/// Where the axes of a column are in a column of the view, if that repeats it.
fn repeated(axes: &[AxisView], from: &Shape, to: &Shape) -> Option<Vec<usize>> {
    let last = to.rank() - 1;
    let (view, others) = axes.split_last()?;
    if *view != AxisView::follow(last) || from.size(from.rank() - 1) != to.size(last) {
        return None;
    }
    let mut places = Vec::new();
    for (i, view) in others.iter().enumerate() {
        match view.axis {
            None if from.size(i) == 1 => {}
            Some(axis) if *view == AxisView::follow(axis) && from.size(i) == to.size(axis) => {
                places.push(axis)
            }
            _ => return None,
        }
    }
    places.is_sorted().then_some(places)
}

/// Column `j` of what pieces make, if this piece is all of it.
fn put(piece: &Piece, types: &[ArrayType], to: &Shape, limits: Limits, j: usize) -> Option<Column> {
    let last = to.rank() - 1;
    let (start, step) = (piece.start[last], piece.step[last]);
    let is_here =
        j >= start && (j - start).is_multiple_of(step) && (j - start) / step < piece.shape.size(last);
    let is_whole = (0..last).all(|axis| piece.start[axis] == 0 && piece.shape.size(axis) == to.size(axis));
    let from = &types[piece.operand].shape;
    if !is_here || !is_whole {
        return None;
    }
    seen(&piece.view, piece.operand, [from, &piece.shape], limits, (j - start) / step)
}
