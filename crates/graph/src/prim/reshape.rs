//! `reshape[shape=S] x`: the same elements in row-major order, under another shape.

use tracewell_array::{DType, Shape, Tensor};

use super::elementwise::arity;
use super::shape_rules::{linear_jvp, linear_transpose};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive, View};
use crate::rows::{OfRows, of_same_rows};
use crate::ty::ArrayType;

params! {
    /// `reshape[shape=S] x`: the elements of `x` in row-major order, under shape `S`.
    pub struct Reshape {
        /// The new shape, of as many elements.
        shape: Shape,
    }
}

impl Primitive for Reshape {
    fn name(&self) -> &str {
        "reshape"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("reshape", inputs, 1)?;
        let x = &inputs[0];
        match self.shape.checked_len() {
            Some(n) if n == x.shape.len() => Ok(vec![x.with_shape(self.shape.clone())]),
            count => Err(TypeError::new(
                "reshape",
                format!(
                    "cannot reshape {x} to shape {}: {} elements do not become {}",
                    self.shape,
                    x.shape.len(),
                    count.map_or("more than can exist".to_string(), |n| n.to_string())
                ),
            )
            .help(format!("the product of the sizes must stay {}", x.shape.len()))),
        }
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![inputs[0].reshape(self.shape.clone()).map_err(|e| e.to_string())?])
    }

    /// Linear.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        linear_jvp(cx, self, primals, tangents)
    }

    /// The adjoint of reshaping is reshaping back.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        linear_transpose(operands, cotangents, |ty, ct| cx.bind(Reshape { shape: ty.shape.clone() }, &[ct]))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let batched = Reshape { shape: self.shape.insert(0, size) };
        Ok(vec![Batched::yes(cx.bind(batched, &[&operands[0].atom])?)])
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::View(View::Reshape))
    }

    /// Where the leading axis stays, so does the length of what is behind it.
    fn of_rows(&self, inputs: &[ArrayType], out: &ArrayType, rows: usize) -> Option<OfRows> {
        let same = of_same_rows(out.shape.size(0) > 0, inputs, out)?;
        Some(OfRows::other(Reshape { shape: self.shape.with(0, rows) }, same.operands))
    }

    fn examples() -> Vec<Example> {
        let cases: [(&[usize], &[usize]); 6] = [
            (&[], &[1]),
            (&[6], &[2, 3]),
            (&[2, 3], &[3, 2]),
            (&[2, 3, 4], &[4, 6]),
            (&[0, 3], &[5, 0]),
            (&[1, 4, 1], &[2, 1, 2]),
        ];
        super::examples_of(
            &cases.map(|(from, to)| (Reshape { shape: Shape::from(to) }.into(), vec![Shape::from(from)])),
            DType::ALL,
        )
    }
}
