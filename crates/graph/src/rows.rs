//! Graphs that go by rows: every row of what they make, along the leading axis, is made of the same row of what they
//! are given and of what is the same for all rows. Such a graph can be applied to some rows at a time.
//!
//! Invariant: the graph for some rows makes them with the bits that the whole graph gives them, but for the order of sums
//! in products, which is not part of the contract.

use tracewell_array::Shape;
use tracewell_kernel::ReduceOrder;

use crate::builder::GraphBuilder;
use crate::graph::{Atom, Equation, Graph, Splat, Var};
use crate::prim::Prim;
use crate::primitive::{Lowering, Primitive};
use crate::ty::ArrayType;

/// How often it is looked through a graph for what else has rows. Who needs more is not worth the time.
const ROUNDS: usize = 8;

/// A graph for some of all rows.
#[derive(Debug)]
pub struct SomeRows {
    /// The same for fewer rows.
    pub graph: Graph,
    /// For each input, whether it has rows. The others are the same for all.
    pub inputs: Vec<bool>,
}

/// A primitive where there are some of all rows.
#[derive(Debug)]
pub struct OfRows {
    /// The primitive then, if it is another.
    pub prim: Option<Prim>,
    /// Which operands have the rows of the result. The others are the same for all.
    pub operands: Vec<bool>,
}

impl OfRows {
    /// The same primitive, where these operands have rows.
    pub fn same(operands: impl Into<Vec<bool>>) -> OfRows {
        OfRows { prim: None, operands: operands.into() }
    }

    /// Another primitive, where these operands have rows.
    pub fn other(prim: impl Into<Prim>, operands: impl Into<Vec<bool>>) -> OfRows {
        OfRows { prim: Some(prim.into()), operands: operands.into() }
    }
}

/// The graph for `rows` of `all` rows at a time, if it goes by rows: these inputs have rows, and so have these outputs; the
/// others are the same for all.
pub fn some_rows(
    graph: &Graph,
    inputs: impl IntoIterator<Item = usize>,
    outputs: &[bool],
    [all, rows]: [usize; 2],
) -> Option<SomeRows> {
    let mut walk = Walk { graph, all, rows, has: vec![false; graph.types.len()] };
    for input in inputs {
        walk.mark(graph.inputs[input])?;
    }
    for (atom, _) in graph.outputs.iter().zip(outputs).filter(|(_, has)| **has) {
        walk.mark_atom(atom)?;
    }
    for _ in 0..ROUNDS {
        if !walk.spread()? {
            return walk.narrowed(outputs);
        }
    }
    None
}

struct Walk<'g> {
    graph: &'g Graph,
    all: usize,
    rows: usize,
    /// Whether each variable has rows.
    has: Vec<bool>,
}

impl Walk<'_> {
    fn is_marked(&self, atom: &Atom) -> bool {
        atom.var().is_some_and(|var| self.has[var.0 as usize])
    }

    /// Notes that an array has rows, if it can have them; says whether that is new.
    fn mark(&mut self, var: Var) -> Option<bool> {
        has_rows(&self.graph.ty(var).shape, self.all)
            .then(|| !std::mem::replace(&mut self.has[var.0 as usize], true))
    }

    fn mark_atom(&mut self, atom: &Atom) -> Option<bool> {
        match atom {
            Atom::Var(var) => self.mark(*var),
            Atom::Splat(splat) => has_rows(&splat.shape, self.all).then_some(false),
        }
    }

    /// Operands have rows where results have them, and the other way round. Says whether there was something new.
    fn spread(&mut self) -> Option<bool> {
        let mut is_new = false;
        let graph = self.graph;
        for equation in graph.equations.iter().rev().chain(&graph.equations) {
            let makes_rows = equation.outputs.iter().any(|var| self.has[var.0 as usize]);
            if !makes_rows && !equation.inputs.iter().any(|atom| self.is_marked(atom)) {
                continue;
            }
            let operands = self.of_rows(equation)?.operands;
            for (atom, _) in equation.inputs.iter().zip(&operands).filter(|(_, has)| **has) {
                is_new |= self.mark_atom(atom)?;
            }
            is_new |= self.mark(equation.outputs[0])?;
        }
        Some(is_new)
    }

    /// An equation for fewer rows; `None` if rows meet in it.
    fn of_rows(&self, equation: &Equation) -> Option<OfRows> {
        let [out] = equation.outputs.as_slice() else { return None };
        let out = self.graph.ty(*out);
        if equation.prim.has_effect() || !has_rows(&out.shape, self.all) {
            return None;
        }
        let inputs: Vec<ArrayType> = equation.inputs.iter().map(|atom| self.graph.atom_type(atom)).collect();
        let some = equation.prim.rules().of_rows(&inputs, out, self.rows)?;
        // What is the same for all rows is not to be cut.
        let is_clear = |(atom, has): (&Atom, &bool)| *has || !self.is_marked(atom);
        equation.inputs.iter().zip(&some.operands).all(is_clear).then_some(some)
    }

    fn cut(&self, shape: &Shape) -> Shape {
        shape.with(0, self.rows)
    }

    /// The graph for fewer rows.
    fn narrowed(&self, outputs: &[bool]) -> Option<SomeRows> {
        let graph = self.graph;
        if graph.outputs.iter().zip(outputs).any(|(atom, has)| !has && self.is_marked(atom)) {
            return None;
        }
        let mut builder = GraphBuilder::new();
        let mut values: Vec<Option<Atom>> = vec![None; graph.types.len()];
        for &var in &graph.inputs {
            let ty = graph.ty(var);
            let ty = if self.has[var.0 as usize] { ty.with_shape(self.cut(&ty.shape)) } else { ty.clone() };
            values[var.0 as usize] = Some(builder.input(ty).into());
        }
        let look = |values: &[Option<Atom>], atom: &Atom, has: bool| match atom {
            Atom::Var(var) => {
                values[var.0 as usize].clone().expect("operands are defined before they are used")
            }
            Atom::Splat(splat) if has => {
                Atom::Splat(Splat { shape: self.cut(&splat.shape), ..splat.clone() })
            }
            Atom::Splat(_) => atom.clone(),
        };
        for equation in &graph.equations {
            builder.at(equation.location.clone());
            let has_rows = equation.outputs.iter().any(|var| self.has[var.0 as usize]);
            let some = match has_rows {
                true => self.of_rows(equation)?,
                false => OfRows::same(vec![false; equation.inputs.len()]),
            };
            let prim = some.prim.unwrap_or_else(|| equation.prim.clone());
            let operands = equation.inputs.iter().zip(some.operands);
            let operands: Vec<Atom> = operands.map(|(atom, has)| look(&values, atom, has)).collect();
            let made = builder.bind(prim, &operands).ok()?;
            for (&var, made) in equation.outputs.iter().zip(made) {
                let ty = graph.ty(var);
                let shape = if has_rows { self.cut(&ty.shape) } else { ty.shape.clone() };
                if builder.ty(&made) != ty.with_shape(shape) {
                    return None;
                }
                values[var.0 as usize] = Some(made);
            }
        }
        let outputs =
            graph.outputs.iter().zip(outputs).map(|(atom, &has)| look(&values, atom, has)).collect();
        let inputs = graph.inputs.iter().map(|var| self.has[var.0 as usize]).collect();
        Some(SomeRows { graph: builder.finish(graph.name.clone(), outputs), inputs })
    }
}

fn has_rows(shape: &Shape, all: usize) -> bool {
    shape.iter().next() == Some(all)
}

/// The same primitive for some rows where `keeps` holds, if all operands have as many rows as the result.
pub(crate) fn of_same_rows(keeps: bool, inputs: &[ArrayType], out: &ArrayType) -> Option<OfRows> {
    let all = out.shape.iter().next()?;
    let is_long = |ty: &ArrayType| has_rows(&ty.shape, all);
    (keeps && inputs.iter().all(is_long)).then(|| OfRows::same(vec![true; inputs.len()]))
}

/// What can be said of a primitive from how it is lowered: elements of operands of one shape go by rows, and what is
/// combined within a row if that is done in the same order.
pub(crate) fn of_lowered_rows(
    rules: &(impl Primitive + ?Sized),
    inputs: &[ArrayType],
    out: &ArrayType,
    rows: usize,
) -> Option<OfRows> {
    match rules.lower(inputs, std::slice::from_ref(out)).ok()? {
        Lowering::Map(_) => of_same_rows(inputs.iter().all(|ty| ty.shape == out.shape), inputs, out),
        Lowering::Reduce { axes, .. } => {
            let from = &inputs[0].shape;
            let order = ReduceOrder::of(from, &axes);
            // Blocks of some rows are others than those of all.
            let keeps = order != ReduceOrder::Blocks && order == ReduceOrder::of(&from.with(0, rows), &axes);
            of_same_rows(!axes.contains(&0) && keeps, inputs, out)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use tracewell_array::Tensor;

    use super::*;
    use crate::eval::eval;
    use crate::text::{NoCustom, read, write};

    /// Four inputs of which the first has six rows.
    fn graph(lines: &str, out: &str) -> Graph {
        let head = "(%0: f32[6,4], %1: f32[4,4], %2: f32[6,4], %3: f32[4])";
        let text = format!("func @f{head} -> ({out}) {{\n{lines}\n}}\n");
        read(&text, &NoCustom).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// What three of six rows are made of and, at a time, what they are.
    fn check(lines: &str, out: &str, expected: Expect) {
        let graph = graph(lines, out);
        let rows: Vec<bool> = graph.output_types().iter().map(|ty| has_rows(&ty.shape, 6)).collect();
        let Some(some) = some_rows(&graph, [0], &rows, [6, 3]) else { panic!("rows meet in\n{lines}") };
        let text = write(&some.graph);
        let body: Vec<&str> = text.lines().skip(1).filter(|line| *line != "}").map(str::trim_start).collect();
        expected.assert_eq(&format!("{:?}\n{}\n", some.inputs, body.join("\n")));

        let number = |i: usize| ((i * 37) % 23) as f32 * 0.25 - 2.0;
        let tensor = |ty: &ArrayType| {
            let numbers: Vec<f32> = (0..ty.shape.len()).map(number).collect();
            Tensor::from_vec(numbers, ty.shape.clone()).expect("as many as there are")
        };
        let inputs: Vec<Tensor> = graph.input_types().iter().map(tensor).collect();
        let whole = eval(&graph, &inputs).expect("it is typed");
        let half = |tensor: &Tensor, k: usize| {
            let len = tensor.len() / 2;
            let literals: Vec<_> = tensor.literals().skip(k * len).take(len).collect();
            Tensor::from_literals(tensor.dtype(), tensor.shape().with(0, 3), &literals).expect("half of them")
        };
        for k in 0..2 {
            let given = inputs.iter().zip(&some.inputs);
            let given: Vec<Tensor> =
                given.map(|(x, &has)| if has { half(x, k) } else { x.clone() }).collect();
            let found = eval(&some.graph, &given).expect("it is typed");
            let whole = whole.iter().zip(&rows);
            let expected: Vec<Tensor> =
                whole.map(|(x, &has)| if has { half(x, k) } else { x.clone() }).collect();
            assert_eq!(found, expected, "rows from {}", 3 * k);
        }
    }

    fn refused(lines: &str, out: &str) {
        let graph = graph(lines, out);
        let all = vec![true; graph.outputs.len()];
        assert!(some_rows(&graph, [0], &all, [6, 3]).is_none(), "{lines}");
    }

    #[test]
    fn products_and_what_is_done_to_their_elements_go_by_rows() {
        check(
            "%4: f32[6,4] = dot_general[a_contract=[1], b_contract=[0], a_batch=[], b_batch=[]] %0, %1
            %5: f32[6,4] = broadcast[shape=[6,4], axes=[1]] %3
            %6: f32[6,4] = add %4, %5
            %7: f32[6,4] = max %6, 0.0:f32[6,4]
            %8: f32[6,4] = mul %7, %2
            return %8",
            "f32[6,4]",
            expect![[r#"
                [true, false, true, false]
                %4: f32[3,4] = dot_general[a_contract=[1], b_contract=[0], a_batch=[], b_batch=[]] %0, %1
                %5: f32[3,4] = broadcast[shape=[3,4], axes=[1]] %3
                %6: f32[3,4] = add %4, %5
                %7: f32[3,4] = max %6, 0.0:f32[3,4]
                %8: f32[3,4] = mul %7, %2
                return %8
            "#]],
        );
    }

    #[test]
    fn shapes_keep_their_leading_axis() {
        check(
            "%4: f32[6,2] = slice[start=[0,1], limit=[6,3], step=[1,1]] %0
            %5: f32[6,2] = reverse[axes=[1]] %4
            %6: f32[6,4] = concatenate[axis=1] %4, %5
            %7: f32[6,2,2] = reshape[shape=[6,2,2]] %6
            %8: f32[6,2,2] = permute[axes=[0,2,1]] %7
            %9: f32[6,2] = reduce_sum[axes=[2]] %8
            %10: f32[6] = reduce_max[axes=[1]] %9
            %11: f32[6,4] = broadcast[shape=[6,4], axes=[0]] %10
            %12: f32[6,4] = iota[dtype=f32, shape=[6,4], axis=1]
            %13: f32[6,4] = add %11, %12
            return %13",
            "f32[6,4]",
            expect![[r#"
                [true, false, false, false]
                %4: f32[3,2] = slice[start=[0,1], limit=[3,3], step=[1,1]] %0
                %5: f32[3,2] = reverse[axes=[1]] %4
                %6: f32[3,4] = concatenate[axis=1] %4, %5
                %7: f32[3,2,2] = reshape[shape=[3,2,2]] %6
                %8: f32[3,2,2] = permute[axes=[0,2,1]] %7
                %9: f32[3,2] = reduce_sum[axes=[2]] %8
                %10: f32[3] = reduce_max[axes=[1]] %9
                %11: f32[3,4] = broadcast[shape=[3,4], axes=[0]] %10
                %12: f32[3,4] = iota[dtype=f32, shape=[3,4], axis=1]
                %13: f32[3,4] = add %11, %12
                return %13
            "#]],
        );
    }

    #[test]
    fn products_of_rows_with_rows_go_by_rows() {
        check(
            "%4: f32[6] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %0, %2
            %5: f32[6,4] = broadcast[shape=[6,4], axes=[0]] %4
            %6: f32[6] = dot_general[a_contract=[0], b_contract=[1], a_batch=[], b_batch=[]] %3, %5
            return %6, 1.0:f32[6,2]",
            "f32[6], f32[6,2]",
            expect![[r#"
                [true, false, true, false]
                %4: f32[3] = dot_general[a_contract=[1], b_contract=[1], a_batch=[0], b_batch=[0]] %0, %2
                %5: f32[3,4] = broadcast[shape=[3,4], axes=[0]] %4
                %6: f32[3] = dot_general[a_contract=[0], b_contract=[1], a_batch=[], b_batch=[]] %3, %5
                return %6, 1.0:f32[3,2]
            "#]],
        );
    }

    /// What is the same for all rows stays whole, even where it looks like rows.
    #[test]
    fn what_is_the_same_for_all_rows_stays() {
        check(
            "%4: f32[4,4] = exp %1
            %5: f32[6,6] = dot_general[a_contract=[1], b_contract=[1], a_batch=[], b_batch=[]] %0, %2
            return %5, %4",
            "f32[6,6], f32[4,4]",
            expect![[r#"
                [true, false, false, false]
                %4: f32[4,4] = exp %1
                %5: f32[3,6] = dot_general[a_contract=[1], b_contract=[1], a_batch=[], b_batch=[]] %0, %2
                return %5, %4
            "#]],
        );
    }

    #[test]
    fn rows_that_meet_are_not_cut() {
        let back = "\n%5: f32[6,4] = broadcast[shape=[6,4], axes=[1]] %4\nreturn %5";
        refused(&format!("%4: f32[4] = reduce_sum[axes=[0]] %0{back}"), "f32[6,4]");
        refused("%4: f32[6,4] = reverse[axes=[0]] %0\nreturn %4", "f32[6,4]");
        refused("%4: f32[6,4] = cumsum[axis=0, reverse=false] %0\nreturn %4", "f32[6,4]");
        // Another number for each row, though of no operand.
        refused(
            "%4: f32[6,4] = iota[dtype=f32, shape=[6,4], axis=0]\n%5: f32[6,4] = add %0, %4\nreturn %5",
            "f32[6,4]",
        );
        // Rows of what is whole already, and of a result without them; a result that is not to have them.
        let dot = "dot_general[a_contract=[1], b_contract=[1], a_batch=[], b_batch=[]]";
        refused(
            &format!("%4: f32[6,6] = {dot} %0, %2\n%5: f32[6,4] = add %0, %2\nreturn %4, %5"),
            "f32[6,6], f32[6,4]",
        );
        refused("%4: f32[4] = exp %3\nreturn %4", "f32[4]");
        let graph = graph("%4: f32[6,4] = exp %0\nreturn %4", "f32[6,4]");
        assert!(some_rows(&graph, [0], &[false], [6, 3]).is_none());
        let turn = "permute[axes=[1,0]]";
        refused(&format!("%4: f32[4,6] = {turn} %0\n%5: f32[6,4] = {turn} %4\nreturn %5"), "f32[6,4]");
        let flat = "%4: f32[24] = reshape[shape=[24]] %0\n%5: f32[6,4] = reshape[shape=[6,4]] %4\nreturn %5";
        refused(flat, "f32[6,4]");
    }

    /// Operands that are the same for all rows, by a rule, are none that have rows by another.
    #[test]
    fn what_has_rows_is_not_the_same_for_all() {
        let dot = "dot_general[a_contract=[1], b_contract=[1], a_batch=[], b_batch=[]]";
        let graph = graph(&format!("%4: f32[6,6] = {dot} %0, %2\nreturn %4"), "f32[6,6]");
        let of = |has: [bool; 2]| {
            let mut walk = Walk { graph: &graph, all: 6, rows: 3, has: vec![false; graph.types.len()] };
            [walk.has[0], walk.has[2]] = has;
            walk.of_rows(&graph.equations[0]).is_some()
        };
        assert_eq!([[true, false], [true, true]].map(of), [true, false]);
    }

    /// Sums of few results are made in blocks of all elements: some rows have others.
    #[test]
    fn sums_in_blocks_are_not_cut() {
        let text =
            "func @f(%0: f32[6,65536]) -> (f32[6]) {\n%1: f32[6] = reduce_sum[axes=[1]] %0\nreturn %1\n}\n";
        let graph = read(text, &NoCustom).unwrap_or_else(|error| panic!("{error}"));
        assert!(some_rows(&graph, [0], &[true], [6, 3]).is_none());
    }
}
