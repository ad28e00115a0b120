//! Arrays whose last axis is narrow, such as vectors of three under `vmap`: where they are put together from parts and
//! computed with, they are taken apart into one array for each element of that axis, and put together when they are
//! wanted whole. Concatenations and paddings between elementwise equations disappear, and what is left is one loop
//! over the other axes.
//!
//! Every scalar is computed as before, from the same scalars.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use tracewell_array::Shape;
use tracewell_graph::prim::{Broadcast, Concatenate, Reshape, Slice};
use tracewell_graph::{
    ArrayType, Atom, AxisView, Equation, Graph, GraphBuilder, Lowering, Piece, Splat, Var, View,
};
use tracewell_kernel::steps;

/// The widest axis that is narrow: one kernel stores so many results at once.
const WIDEST: usize = 4;
/// Elements of the other axes from which on it is worth it.
const MANY: usize = 64;

/// Takes arrays with a narrow last axis apart where they are put together from parts.
pub fn narrow(graph: &Graph) -> Graph {
    narrow_from(graph, MANY)
}

/// The same for arrays with at least so many elements beside the narrow axis: fewer are not worth it, but make small
/// tests.
pub fn narrow_from(graph: &Graph, many: usize) -> Graph {
    let roles: Vec<Option<Role>> =
        graph.equations.iter().map(|equation| role(graph, equation, many)).collect();
    let apart = apart(graph, &roles);
    let is_any = apart.iter().any(|&apart| apart);
    if !is_any || !steps::take(|| format!("the narrow axes of @{}", graph.name)) {
        return graph.clone();
    }
    let mut work = Work {
        graph,
        builder: GraphBuilder::new(),
        known: vec![Known::default(); graph.types.len()],
        views: FxHashMap::default(),
    };
    for &var in &graph.inputs {
        let input = work.builder.input(graph.ty(var).clone());
        work.known[var.0 as usize].whole = Some(input.into());
    }
    for ((equation, role), apart) in graph.equations.iter().zip(&roles).zip(apart) {
        work.builder.at(equation.location.clone());
        work.equation(equation, role.as_ref(), apart);
    }
    let outputs = graph.outputs.iter().map(|atom| work.whole(atom)).collect();
    work.builder.finish(graph.name.clone(), outputs)
}

/// What an equation does along the narrow axis of its result, or of its operand.
enum Role {
    /// The same to every element.
    Map,
    /// Its columns are these, put beside each other.
    Join(Vec<Column>),
    /// Its columns are these, found elsewhere.
    Look(Vec<Column>),
    /// Its operand has one column, which it is.
    Drop,
}

/// A column of a result: a part of the operand of that number.
#[derive(Clone, Copy)]
enum Column {
    /// Its column of that number.
    Of(usize, usize),
    /// All of it.
    All(usize),
    /// It is a scalar that is repeated.
    Fill(usize),
}

/// The width of an array that may be taken apart.
fn width(ty: &ArrayType, many: usize) -> Option<usize> {
    let last = ty.shape.rank().checked_sub(1)?;
    let width = ty.shape.size(last);
    let is_narrow = (1..=WIDEST).contains(&width) && !ty.dtype.is_complex();
    (is_narrow && ty.shape.len() / width >= many).then_some(width)
}

/// The shape of a column.
fn lead(shape: &Shape) -> Shape {
    shape.remove(shape.rank() - 1)
}

fn role(graph: &Graph, equation: &Equation, many: usize) -> Option<Role> {
    let [out] = equation.outputs.as_slice() else { return None };
    let ty = graph.ty(*out);
    let types: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
    let drops = |from: &ArrayType| width(from, many) == Some(1) && lead(&from.shape) == ty.shape;
    if types.iter().any(|ty| ty.dtype.is_complex())
        || (width(ty, many).is_none() && !types.first().is_some_and(drops))
    {
        return None;
    }
    match equation.prim.rules().lower(&types, std::slice::from_ref(ty)).ok()? {
        Lowering::View(View::Reshape) if drops(&types[0]) => Some(Role::Drop),
        Lowering::View(View::Reshape) => (ty.shape == types[0].shape.insert(types[0].shape.rank(), 1))
            .then(|| Role::Look(vec![Column::All(0)])),
        Lowering::View(View::Axes(axes)) => {
            let columns: Option<Vec<Column>> =
                (0..width(ty, many)?).map(|j| seen(&axes, 0, &types[0].shape, &ty.shape, j)).collect();
            columns.map(Role::Look)
        }
        Lowering::Map(_) => (width(ty, many).is_some() && types.iter().all(|from| from.shape == ty.shape))
            .then_some(Role::Map),
        Lowering::Pieces(pieces) => {
            let column = |j: usize| pieces.iter().find_map(|piece| put(piece, &types, &ty.shape, j));
            let columns: Option<Vec<Column>> = (0..width(ty, many)?).map(column).collect();
            columns.map(Role::Join)
        }
        _ => None,
    }
}

/// Column `j` of a view of an operand, if it is one.
fn seen(axes: &[AxisView], operand: usize, from: &Shape, to: &Shape, j: usize) -> Option<Column> {
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
    let inside = from.size(from.rank() - 1) <= WIDEST;
    (follows(others) && inside).then_some(Column::Of(operand, usize::try_from(at).ok()?))
}

/// Column `j` of what pieces make, if this piece is all of it.
fn put(piece: &Piece, types: &[ArrayType], to: &Shape, j: usize) -> Option<Column> {
    let last = to.rank() - 1;
    let (start, step) = (piece.start[last], piece.step[last]);
    let is_here =
        j >= start && (j - start).is_multiple_of(step) && (j - start) / step < piece.shape.size(last);
    let is_whole = (0..last).all(|axis| piece.start[axis] == 0 && piece.shape.size(axis) == to.size(axis));
    let from = &types[piece.operand].shape;
    if !is_here || !is_whole {
        return None;
    }
    seen(&piece.view, piece.operand, from, &piece.shape, (j - start) / step)
}

/// For each equation, whether its result is taken apart: parts that are put together for something elementwise, and
/// what is made of them.
fn apart(graph: &Graph, roles: &[Option<Role>]) -> Vec<bool> {
    let mut computed_with = vec![false; graph.types.len()];
    for (equation, role) in graph.equations.iter().zip(roles) {
        if let Some(Role::Map) = role {
            equation.inputs.iter().filter_map(Atom::var).for_each(|var| computed_with[var.0 as usize] = true);
        }
    }
    let mut is_apart = vec![false; graph.types.len()];
    let each = |(equation, role): (&Equation, &Option<Role>)| {
        let reads = equation.inputs.iter().filter_map(Atom::var).any(|var| is_apart[var.0 as usize]);
        let apart = match role {
            Some(Role::Map | Role::Look(_)) => reads,
            Some(Role::Join(_)) => reads || computed_with[equation.outputs[0].0 as usize],
            Some(Role::Drop) | None => false,
        };
        if apart {
            is_apart[equation.outputs[0].0 as usize] = true;
        }
        apart
    };
    graph.equations.iter().zip(roles).map(each).collect()
}

type Columns = SmallVec<[Atom; WIDEST]>;

/// What an array of the old graph is in the new one.
#[derive(Clone, Default)]
struct Known {
    whole: Option<Atom>,
    columns: Option<Columns>,
}

struct Work<'g> {
    graph: &'g Graph,
    builder: GraphBuilder,
    known: Vec<Known>,
    /// Arrays that are whole, whose columns are found elsewhere.
    views: FxHashMap<Var, (&'g Equation, Vec<Column>)>,
}

impl<'g> Work<'g> {
    fn equation(&mut self, equation: &'g Equation, role: Option<&Role>, apart: bool) {
        let found = match role {
            Some(Role::Map) if apart => self.mapped(equation),
            Some(Role::Join(columns) | Role::Look(columns)) if apart => Some(self.found(equation, columns)),
            _ => None,
        };
        if let Some(columns) = found {
            self.known[equation.outputs[0].0 as usize].columns = Some(columns);
            return;
        }
        if let Some(Role::Drop) = role
            && let Some(var) = equation.inputs[0].var()
            && let Some(columns) = &self.known[var.0 as usize].columns
        {
            self.known[equation.outputs[0].0 as usize].whole = Some(columns[0].clone());
            return;
        }
        if let Some(Role::Look(columns)) = role {
            self.views.insert(equation.outputs[0], (equation, columns.clone()));
        }
        let operands: Vec<Atom> = equation.inputs.iter().map(|atom| self.whole(atom)).collect();
        let types = equation.outputs.iter().map(|&var| self.graph.ty(var).clone());
        let results = self.builder.push(equation.prim.clone(), &operands, types);
        for (&var, result) in equation.outputs.iter().zip(results) {
            self.known[var.0 as usize].whole = Some(result);
        }
    }

    /// The same function of each column, if its type rule has nothing against it.
    fn mapped(&mut self, equation: &Equation) -> Option<Columns> {
        let ty = self.graph.ty(equation.outputs[0]);
        let wanted = ty.with_shape(lead(&ty.shape));
        let operands: Vec<Columns> = equation.inputs.iter().map(|atom| self.columns(atom)).collect();
        let types: Vec<ArrayType> = operands.iter().map(|columns| self.builder.ty(&columns[0])).collect();
        let made = equation.prim.rules().type_rule(&types).ok()?;
        if made.len() != 1 || (made[0].dtype, &made[0].shape) != (wanted.dtype, &wanted.shape) {
            return None;
        }
        let one = |j: usize| {
            let operands: Vec<Atom> = operands.iter().map(|columns| columns[j].clone()).collect();
            self.builder.push(equation.prim.clone(), &operands, [wanted.clone()]).remove(0)
        };
        Some((0..operands[0].len()).map(one).collect())
    }

    /// Columns that are columns of operands.
    fn found(&mut self, equation: &Equation, columns: &[Column]) -> Columns {
        let shape = lead(&self.graph.ty(equation.outputs[0]).shape);
        let one = |column: &Column| match *column {
            Column::Of(operand, at) => self.columns(&equation.inputs[operand])[at].clone(),
            Column::All(operand) => self.whole(&equation.inputs[operand]),
            Column::Fill(operand) => match self.whole(&equation.inputs[operand]) {
                Atom::Splat(splat) => Atom::Splat(Splat { shape: shape.clone(), ..splat }),
                scalar => self.bind(Broadcast { shape: shape.clone(), axes: Vec::new() }, &[scalar]),
            },
        };
        columns.iter().map(one).collect()
    }

    fn bind(&mut self, prim: impl Into<tracewell_graph::Prim>, operands: &[Atom]) -> Atom {
        self.builder.bind1(prim, operands).expect("an array is taken apart and put together as it is")
    }

    /// The columns of an array: those it was made of, or parts of the whole.
    fn columns(&mut self, atom: &Atom) -> Columns {
        let ty = self.graph.atom_type(atom);
        let last = ty.shape.rank() - 1;
        let width = ty.shape.size(last);
        let var = match atom {
            Atom::Splat(splat) => {
                let column = Atom::Splat(Splat { shape: lead(&ty.shape), ..splat.clone() });
                return smallvec![column; width];
            }
            Atom::Var(var) => *var,
        };
        if let Some(columns) = &self.known[var.0 as usize].columns {
            return columns.clone();
        }
        let columns = match self.views.get(&var).cloned() {
            Some((equation, columns)) => self.found(equation, &columns),
            None => {
                let whole = self.whole(atom);
                let column = |j: usize| {
                    let (mut start, mut limit) = (vec![0; last + 1], ty.shape.sizes().to_vec());
                    (start[last], limit[last]) = (j, j + 1);
                    let part = self
                        .bind(Slice { start, limit, step: vec![1; last + 1] }, std::slice::from_ref(&whole));
                    self.bind(Reshape { shape: lead(&ty.shape) }, &[part])
                };
                (0..width).map(column).collect()
            }
        };
        self.known[var.0 as usize].columns = Some(columns.clone());
        columns
    }

    /// The array itself, put together if it is in columns.
    fn whole(&mut self, atom: &Atom) -> Atom {
        let Atom::Var(var) = atom else { return atom.clone() };
        let known = self.known[var.0 as usize].clone();
        if let Some(whole) = known.whole {
            return whole;
        }
        let columns = known.columns.expect("operands are defined before they are used");
        let shape = &self.graph.ty(*var).shape;
        let last = shape.rank() - 1;
        let part =
            |column: &Atom| self.bind(Reshape { shape: shape.with(last, 1) }, std::slice::from_ref(column));
        let parts: Vec<Atom> = columns.iter().map(part).collect();
        let whole = match parts.as_slice() {
            [part] => part.clone(),
            _ => self.bind(Concatenate { axis: last }, &parts),
        };
        self.known[var.0 as usize].whole = Some(whole.clone());
        whole
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    #[test]
    fn parts_that_are_computed_with_stay_apart() {
        check(
            narrow,
            "(%0: f32[64,1], %1: f32[64,2], %2: f32[64,3]) -> (f32[64,3])",
            "%3: f32[64,3] = concatenate[axis=1] %0, %1
            %4: f32[64,3] = mul %3, %2
            %5: f32[64,3] = sin %4
            return %5",
            expect![[r#"
                %3: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %4: f32[64] = reshape[shape=[64]] %3
                %5: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %6: f32[64] = reshape[shape=[64]] %5
                %7: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %1
                %8: f32[64] = reshape[shape=[64]] %7
                %9: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %2
                %10: f32[64] = reshape[shape=[64]] %9
                %11: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %2
                %12: f32[64] = reshape[shape=[64]] %11
                %13: f32[64,1] = slice[start=[0,2], limit=[64,3], step=[1,1]] %2
                %14: f32[64] = reshape[shape=[64]] %13
                %15: f32[64] = mul %4, %10
                %16: f32[64] = mul %6, %12
                %17: f32[64] = mul %8, %14
                %18: f32[64] = sin %15
                %19: f32[64] = sin %16
                %20: f32[64] = sin %17
                %21: f32[64,1] = reshape[shape=[64,1]] %18
                %22: f32[64,1] = reshape[shape=[64,1]] %19
                %23: f32[64,1] = reshape[shape=[64,1]] %20
                %24: f32[64,3] = concatenate[axis=1] %21, %22, %23
                return %24
            "#]],
        );
    }

    #[test]
    fn padding_is_a_column() {
        check(
            narrow,
            "(%0: f32[8,8,1], %1: f32[8,8,2]) -> (f32[8,8,2])",
            "%2: f32[8,8,2] = pad[low=[0,0,1], high=[0,0,0], interior=[0,0,0]] %0, 0.0:f32[]
            %3: f32[8,8,2] = add %2, %1
            return %3",
            expect![[r#"
                %2: f32[8,8,1] = slice[start=[0,0,0], limit=[8,8,1], step=[1,1,1]] %0
                %3: f32[8,8] = reshape[shape=[8,8]] %2
                %4: f32[8,8,1] = slice[start=[0,0,0], limit=[8,8,1], step=[1,1,1]] %1
                %5: f32[8,8] = reshape[shape=[8,8]] %4
                %6: f32[8,8,1] = slice[start=[0,0,1], limit=[8,8,2], step=[1,1,1]] %1
                %7: f32[8,8] = reshape[shape=[8,8]] %6
                %8: f32[8,8] = add 0.0:f32[8,8], %5
                %9: f32[8,8] = add %3, %7
                %10: f32[8,8,1] = reshape[shape=[8,8,1]] %8
                %11: f32[8,8,1] = reshape[shape=[8,8,1]] %9
                %12: f32[8,8,2] = concatenate[axis=2] %10, %11
                return %12
            "#]],
        );
    }

    #[test]
    fn columns_are_found_again() {
        check(
            narrow,
            "(%0: f32[64,1], %1: f32[64,1]) -> (f32[64])",
            "%2: f32[64,2] = concatenate[axis=1] %0, %1
            %3: f32[64,2] = exp %2
            %4: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %3
            %5: f32[64] = reshape[shape=[64]] %4
            return %5",
            expect![[r#"
                %2: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %3: f32[64] = reshape[shape=[64]] %2
                %4: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %5: f32[64] = reshape[shape=[64]] %4
                %6: f32[64] = exp %3
                %7: f32[64] = exp %5
                return %7
            "#]],
        );
    }

    #[test]
    fn what_reads_the_axis_gets_the_whole() {
        check(
            narrow,
            "(%0: f32[64,1], %1: f32[64,1]) -> (f32[64])",
            "%2: f32[64,2] = concatenate[axis=1] %0, %1
            %3: f32[64,2] = exp %2
            %4: f32[64] = reduce_sum[axes=[1]] %3
            return %4",
            expect![[r#"
                %2: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %3: f32[64] = reshape[shape=[64]] %2
                %4: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %5: f32[64] = reshape[shape=[64]] %4
                %6: f32[64] = exp %3
                %7: f32[64] = exp %5
                %8: f32[64,1] = reshape[shape=[64,1]] %6
                %9: f32[64,1] = reshape[shape=[64,1]] %7
                %10: f32[64,2] = concatenate[axis=1] %8, %9
                %11: f32[64] = reduce_sum[axes=[1]] %10
                return %11
            "#]],
        );
    }

    #[test]
    fn what_is_wide_or_short_or_only_put_together_stays() {
        check(
            narrow,
            "(%0: f32[64,3], %1: f32[63,1], %2: f32[64,1]) -> (f32[64,6], f32[63,2], f32[64,2])",
            "%3: f32[64,6] = concatenate[axis=1] %0, %0
            %4: f32[64,6] = sin %3
            %5: f32[63,2] = concatenate[axis=1] %1, %1
            %6: f32[63,2] = sin %5
            %7: f32[64,2] = concatenate[axis=1] %2, %2
            return %4, %6, %7",
            expect![[r#"
                %3: f32[64,6] = concatenate[axis=1] %0, %0
                %4: f32[64,6] = sin %3
                %5: f32[63,2] = concatenate[axis=1] %1, %1
                %6: f32[63,2] = sin %5
                %7: f32[64,2] = concatenate[axis=1] %2, %2
                return %4, %6, %7
            "#]],
        );
    }
}
