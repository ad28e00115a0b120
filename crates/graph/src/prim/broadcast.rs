//! `broadcast[shape=S, axes=A] x`: axis `i` of `x` becomes axis `A[i]` of the result, repeated if its size is
//! 1; all other axes of the result are new and repeat `x`.

use tracewell_array::{DType, Shape, Tensor};

use super::elementwise::arity;
use super::shape_rules::{linear_jvp, read_through};
use super::{ReduceSum, Reshape};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{AxisView, Batched, Cx, Example, Jvp, Lowering, Operand, Primitive, View};
use crate::rows::{OfRows, of_same_rows};
use crate::ty::ArrayType;

params! {
    /// `broadcast[shape=S, axes=A] x`: `x` repeated to shape `S`, its axis `i` at `A[i]`.
    pub struct Broadcast {
        /// The shape of the result.
        shape: Shape,
        /// For each axis of the operand, its place in the result; ascending.
        axes: Vec<usize>,
    }
}

impl Primitive for Broadcast {
    fn name(&self) -> &str {
        "broadcast"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("broadcast", inputs, 1)?;
        let x = &inputs[0];
        let error = |why: String| {
            TypeError::new("broadcast", format!("cannot broadcast {x} to shape {}: {why}", self.shape))
        };
        let fail = |why| Err(error(why));
        if self.shape.checked_len().is_none() {
            return Err(error("it has too many elements".to_string()).help(Shape::LIMIT));
        }
        if self.axes.len() != x.rank() {
            return fail(format!("{} axes are mapped, the operand has {}", self.axes.len(), x.rank()));
        }
        if !self.axes.windows(2).all(|w| w[0] < w[1]) || self.axes.iter().any(|&a| a >= self.shape.rank()) {
            return fail(format!("axes {:?} must be ascending and below {}", self.axes, self.shape.rank()));
        }
        for (i, &axis) in self.axes.iter().enumerate() {
            let (n, m) = (x.shape.size(i), self.shape.size(axis));
            if n != m && n != 1 {
                return Err(error(format!("axis {i} is {n} and would become {m}"))
                    .help("axes are aligned from the last, and only those of size 1 are repeated"));
            }
        }
        Ok(vec![x.with_shape(self.shape.clone())])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let x = &inputs[0];
        Ok(vec![read_through(x, &self.shape, |index| {
            let repeat = |(i, &axis): (usize, &usize)| if x.shape().size(i) == 1 { 0 } else { index[axis] };
            self.axes.iter().enumerate().map(repeat).collect()
        })])
    }

    /// Linear.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        linear_jvp(cx, self, primals, tangents)
    }

    /// The adjoint of repeating is summing.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let (Operand::Linear(ty), Some(ct)) = (&operands[0], &cotangents[0]) else { return Ok(vec![None]) };
        let repeated = |axis: &usize| match self.axes.iter().position(|a| a == axis) {
            Some(i) => ty.shape.size(i) == 1 && self.shape.size(*axis) != 1,
            None => true,
        };
        let axes: Vec<usize> = (0..self.shape.rank()).filter(repeated).collect();
        let summed = if axes.is_empty() { ct.clone() } else { cx.bind(ReduceSum { axes }, &[ct])? };
        if cx.ty(&summed).shape == ty.shape {
            return Ok(vec![Some(summed)]);
        }
        Ok(vec![Some(cx.bind(Reshape { shape: ty.shape.clone() }, &[&summed])?)])
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let axes = std::iter::once(0).chain(self.axes.iter().map(|a| a + 1)).collect();
        let batched = Broadcast { shape: self.shape.insert(0, size), axes };
        Ok(vec![Batched::yes(cx.bind(batched, &[&operands[0].atom])?)])
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let follow = |(i, &axis): (usize, &usize)| {
            if inputs[0].shape.size(i) == 1 { AxisView::fixed() } else { AxisView::follow(axis) }
        };
        Ok(Lowering::View(View::Axes(self.axes.iter().enumerate().map(follow).collect())))
    }

    /// The leading axis of the result is that of the operand, or it is new.
    fn of_rows(&self, inputs: &[ArrayType], out: &ArrayType, rows: usize) -> Option<OfRows> {
        let fewer = Broadcast { shape: self.shape.with(0, rows), axes: self.axes.clone() };
        match self.axes.first() {
            Some(0) => of_same_rows(true, inputs, out).map(|same| OfRows::other(fewer, same.operands)),
            _ => Some(OfRows::other(fewer, [false])),
        }
    }

    fn examples() -> Vec<Example> {
        let cases: [(&[usize], &[usize], &[usize]); 7] = [
            (&[], &[], &[]),
            (&[], &[5], &[]),
            (&[3], &[2, 3], &[1]),
            (&[3], &[3, 2], &[0]),
            (&[1, 3], &[4, 3], &[0, 1]),
            (&[2, 1], &[2, 3, 4], &[0, 2]),
            (&[0], &[2, 0], &[1]),
        ];
        super::examples_of(
            &cases.map(|(from, shape, axes)| {
                let prim = Broadcast { shape: Shape::from(shape), axes: axes.to_vec() };
                (prim.into(), vec![Shape::from(from)])
            }),
            DType::ALL,
        )
    }
}
