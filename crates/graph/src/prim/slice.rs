//! `slice[start=S, limit=L, step=T] x`: every `T`-th element from `S` up to but not including `L`, along each axis.

use tracewell_array::{DType, Shape, Tensor};

use super::Pad;
use super::elementwise::arity;
use super::shape_rules::{linear_jvp, linear_transpose, read_through};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{AxisView, Batched, Cx, Example, Jvp, Lowering, Operand, Primitive, View};
use crate::rows::{OfRows, of_same_rows};
use crate::ty::ArrayType;

params! {
    /// `slice[start=S, limit=L, step=T] x`: along each axis every `T`-th element from `S` up to, not including, `L`.
    pub struct Slice {
        /// For each axis, the first element.
        start: Vec<usize>,
        /// For each axis, where it ends: not below the start, at most the axis's size.
        limit: Vec<usize>,
        /// For each axis, how far apart the elements are.
        step: Vec<usize>,
    }
}

impl Slice {
    /// A part of one axis, all of the others.
    pub fn along(shape: &Shape, axis: usize, start: usize, limit: usize) -> Slice {
        let mut slice = Slice {
            start: vec![0; shape.rank()],
            limit: shape.iter().collect(),
            step: vec![1; shape.rank()],
        };
        (slice.start[axis], slice.limit[axis]) = (start, limit);
        slice
    }

    fn shape(&self) -> Shape {
        let size = |i: usize| (self.limit[i] - self.start[i]).div_ceil(self.step[i]);
        (0..self.start.len()).map(size).collect()
    }
}

impl Primitive for Slice {
    fn name(&self) -> &str {
        "slice"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("slice", inputs, 1)?;
        let x = &inputs[0];
        let fail = |why: String| Err(TypeError::new("slice", format!("cannot slice {x}: {why}")));
        if [&self.start, &self.limit, &self.step].iter().any(|list| list.len() != x.rank()) {
            return fail(format!("start, limit and step need {} numbers each, one an axis", x.rank()));
        }
        for axis in 0..x.rank() {
            let (start, limit, size) = (self.start[axis], self.limit[axis], x.shape.size(axis));
            if start > limit || limit > size {
                return fail(format!("{start}..{limit} is not a part of axis {axis}, which has size {size}"));
            }
            if self.step[axis] == 0 {
                return fail(format!("the step of axis {axis} is 0, which never ends"));
            }
        }
        Ok(vec![x.with_shape(self.shape())])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![read_through(&inputs[0], &self.shape(), |index| {
            index
                .iter()
                .zip(self.start.iter().zip(&self.step))
                .map(|(i, (start, step))| start + i * step)
                .collect()
        })])
    }

    /// Linear.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        linear_jvp(cx, self, primals, tangents)
    }

    /// The adjoint puts zeros where nothing was taken.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        linear_transpose(operands, cotangents, |ty, ct| {
            let sizes = self.shape();
            let high = |i: usize| {
                let size = sizes.size(i);
                let reached = if size == 0 { 0 } else { (size - 1) * self.step[i] + 1 };
                (ty.shape.size(i) - self.start[i] - reached) as i64
            };
            let pad = Pad {
                low: self.start.iter().map(|&n| n as i64).collect(),
                high: (0..ty.rank()).map(high).collect(),
                interior: self.step.iter().map(|step| step - 1).collect(),
            };
            let zero = Atom::fill(&ty.with_shape(Shape::scalar()), 0.0);
            cx.bind(pad, &[ct, &zero])
        })
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let with =
            |first: usize, rest: &[usize]| std::iter::once(first).chain(rest.iter().copied()).collect();
        let batched =
            Slice { start: with(0, &self.start), limit: with(size, &self.limit), step: with(1, &self.step) };
        Ok(vec![Batched::yes(cx.bind(batched, &[&operands[0].atom])?)])
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let view =
            |i: usize| AxisView { axis: Some(i), start: self.start[i] as i64, step: self.step[i] as i64 };
        Ok(Lowering::View(View::Axes((0..self.start.len()).map(view).collect())))
    }

    /// All rows are kept.
    fn of_rows(&self, inputs: &[ArrayType], out: &ArrayType, rows: usize) -> Option<OfRows> {
        let same = of_same_rows(self.step[0] == 1, inputs, out)?;
        let mut fewer = self.clone();
        fewer.limit[0] = rows;
        Some(OfRows::other(fewer, same.operands))
    }

    fn examples() -> Vec<Example> {
        let cases: [[&[usize]; 4]; 8] = [
            [&[], &[], &[], &[]],
            [&[7], &[2], &[6], &[1]],
            [&[9], &[1], &[9], &[3]],
            [&[4], &[2], &[2], &[1]],
            [&[3, 4], &[0, 1], &[3, 3], &[1, 1]],
            [&[5, 6], &[1, 0], &[5, 6], &[2, 5]],
            [&[2, 0, 3], &[0, 0, 1], &[2, 0, 2], &[1, 1, 1]],
            [&[2, 1, 3, 4], &[1, 0, 0, 1], &[2, 1, 3, 4], &[1, 2, 2, 2]],
        ];
        super::examples_of(
            &cases.map(|[from, start, limit, step]| {
                let prim = Slice { start: start.to_vec(), limit: limit.to_vec(), step: step.to_vec() };
                (prim.into(), vec![Shape::from(from)])
            }),
            DType::ALL,
        )
    }
}
