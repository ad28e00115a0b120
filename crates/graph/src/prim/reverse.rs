//! `reverse[axes=A] x`: the elements along the axes `A` in the opposite order.

use tracewell_array::{DType, Shape, Tensor};

use super::elementwise::arity;
use super::shape_rules::{check_axes, linear_jvp, linear_transpose, read_through};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{AxisView, Batched, Cx, Example, Jvp, Lowering, Operand, Primitive, View};
use crate::rows::{OfRows, of_same_rows};
use crate::ty::ArrayType;

params! {
    /// `reverse[axes=A] x`: the axes `A` of `x` backwards.
    pub struct Reverse {
        /// The axes that are reversed, ascending.
        axes: Vec<usize>,
    }
}

impl Primitive for Reverse {
    fn name(&self) -> &str {
        "reverse"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("reverse", inputs, 1)?;
        check_axes("reverse", &self.axes, &inputs[0])?;
        Ok(vec![inputs[0].clone()])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let shape = inputs[0].shape();
        Ok(vec![read_through(&inputs[0], shape, |index| {
            let from = |(axis, &i): (usize, &usize)| {
                if self.axes.contains(&axis) { shape.size(axis) - 1 - i } else { i }
            };
            index.iter().enumerate().map(from).collect()
        })])
    }

    /// Linear.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        linear_jvp(cx, self, primals, tangents)
    }

    /// Its own adjoint.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        linear_transpose(operands, cotangents, |_, ct| cx.bind(self.clone(), &[ct]))
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let axes = self.axes.iter().map(|axis| axis + 1).collect();
        Ok(vec![Batched::yes(cx.bind(Reverse { axes }, &[&operands[0].atom])?)])
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let shape = &inputs[0].shape;
        let view = |axis: usize| match self.axes.contains(&axis) {
            true => AxisView { axis: Some(axis), start: shape.size(axis) as i64 - 1, step: -1 },
            false => AxisView::follow(axis),
        };
        Ok(Lowering::View(View::Axes((0..shape.rank()).map(view).collect())))
    }

    /// The leading axis stays.
    fn of_rows(&self, inputs: &[ArrayType], out: &ArrayType, _: usize) -> Option<OfRows> {
        of_same_rows(!self.axes.contains(&0), inputs, out)
    }

    fn examples() -> Vec<Example> {
        let cases: [(&[usize], &[usize]); 7] = [
            (&[], &[]),
            (&[7], &[0]),
            (&[0], &[0]),
            (&[2, 3], &[1]),
            (&[2, 3], &[0, 1]),
            (&[3, 1, 2], &[0, 1]),
            (&[2, 3, 2, 2], &[1, 3]),
        ];
        super::examples_of(
            &cases.map(|(from, axes)| (Reverse { axes: axes.to_vec() }.into(), vec![Shape::from(from)])),
            DType::ALL,
        )
    }
}
