//! `permute[axes=P] x`: axis `i` of the result is axis `P[i]` of `x`.

use tracewell_array::{DType, Shape, Tensor};

use super::elementwise::arity;
use super::shape_rules::{linear_jvp, linear_transpose, read_through};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{AxisView, Batched, Cx, Example, Jvp, Lowering, Operand, Primitive, View};
use crate::rows::{OfRows, of_same_rows};
use crate::ty::ArrayType;

params! {
    /// `permute[axes=P] x`: the axes of `x` in the order `P`.
    pub struct Permute {
        /// For each axis of the result, the axis of the operand it is.
        axes: Vec<usize>,
    }
}

impl Permute {
    /// The permutation that undoes this one.
    pub fn inverse(&self) -> Permute {
        let mut axes = vec![0; self.axes.len()];
        for (i, &axis) in self.axes.iter().enumerate() {
            axes[axis] = i;
        }
        Permute { axes }
    }

    /// Whether it leaves every axis in place.
    pub fn is_identity(&self) -> bool {
        self.axes.iter().enumerate().all(|(i, &axis)| i == axis)
    }
}

impl Primitive for Permute {
    fn name(&self) -> &str {
        "permute"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("permute", inputs, 1)?;
        let x = &inputs[0];
        let mut seen = vec![false; x.rank()];
        for &axis in &self.axes {
            match seen.get_mut(axis) {
                Some(seen) if !*seen => *seen = true,
                _ => break,
            }
        }
        if self.axes.len() != x.rank() || !seen.iter().all(|&s| s) {
            let message = format!("cannot permute the axes of {x} by {:?}", self.axes);
            return Err(TypeError::new("permute", message).help(format!(
                "name each of the axes {:?} once, in their new order",
                Vec::from_iter(0..x.rank())
            )));
        }
        Ok(vec![x.with_shape(self.axes.iter().map(|&a| x.shape.size(a)).collect::<Shape>())])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let x = &inputs[0];
        let shape: Shape = self.axes.iter().map(|&a| x.shape().size(a)).collect();
        let inverse = self.inverse();
        Ok(vec![read_through(x, &shape, |index| inverse.axes.iter().map(|&i| index[i]).collect())])
    }

    /// Linear.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        linear_jvp(cx, self, primals, tangents)
    }

    /// The adjoint is the inverse.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        linear_transpose(operands, cotangents, |_, ct| cx.bind(self.inverse(), &[ct]))
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let axes = std::iter::once(0).chain(self.axes.iter().map(|a| a + 1)).collect();
        Ok(vec![Batched::yes(cx.bind(Permute { axes }, &[&operands[0].atom])?)])
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let axes = self.inverse().axes.into_iter().map(AxisView::follow).collect();
        Ok(Lowering::View(View::Axes(axes)))
    }

    /// The leading axis stays.
    fn of_rows(&self, inputs: &[ArrayType], out: &ArrayType, _: usize) -> Option<OfRows> {
        of_same_rows(self.axes.first() == Some(&0), inputs, out)
    }

    fn examples() -> Vec<Example> {
        let cases: [(&[usize], &[usize]); 7] = [
            (&[], &[]),
            (&[4], &[0]),
            (&[2, 3], &[1, 0]),
            (&[2, 2], &[1, 0]),
            (&[2, 3, 4], &[2, 0, 1]),
            (&[2, 0, 3], &[1, 2, 0]),
            (&[2, 1, 3, 2], &[3, 1, 0, 2]),
        ];
        super::examples_of(
            &cases.map(|(from, axes)| (Permute { axes: axes.to_vec() }.into(), vec![Shape::from(from)])),
            DType::ALL,
        )
    }
}
