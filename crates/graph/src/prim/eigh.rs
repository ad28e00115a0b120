//! `eigh a`: eigenvalues, ascending, and eigenvectors of `(a + aᵀ)/2`.

use tracewell_array::{Shape, Tensor};
use tracewell_kernel::Linalg;

use super::matrices::{
    as_columns, as_rows, batch_matrices, diagonal, eval_matrices, float_examples, lower_matrices,
    matrix_types, minus, product, symmetric, times, transposed,
};
use super::svd::off_diagonal_inverse;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `eigh a`: the eigenvalues of `(a + aᵀ)/2`, ascending, and its eigenvectors as columns. The first large
    /// component of each is positive.
    pub struct Eigh {}
}

impl Primitive for Eigh {
    fn name(&self) -> &str {
        "eigh"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        matrix_types("eigh", Linalg::Eigh, inputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval_matrices(Linalg::Eigh, inputs)
    }

    /// With `D = vᵀ da v`: `dw` is its diagonal, and `dv = v (D ∘ 1 / (wⱼ - wᵢ))`.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let primals = cx.bind_all(Eigh {}, &primals[..1])?;
        let Some(da) = &tangents[0] else { return Ok(Jvp { primals, tangents: vec![None; 2] }) };
        let (w, v) = (&primals[0], &primals[1]);
        let da = symmetric(cx, da)?;
        let vt = transposed(cx, v)?;
        let da_v = product(cx, &da, v)?;
        let d = product(cx, &vt, &da_v)?;
        let dw = diagonal(cx, &d)?;
        let square = cx.ty(&d);
        let (rows, columns) = (as_rows(cx, w, &square.shape)?, as_columns(cx, w, &square.shape)?);
        let gaps = minus(cx, &rows, &columns)?;
        let f = off_diagonal_inverse(cx, &gaps, &square)?;
        let inner = times(cx, &f, &d)?;
        let dv = product(cx, v, &inner)?;
        Ok(Jvp { primals, tangents: vec![Some(dw), Some(dv)] })
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("eigh"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_matrices(cx, Eigh {}, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(lower_matrices(Linalg::Eigh, inputs, outputs))
    }

    fn examples() -> Vec<Example> {
        let shapes: [&[usize]; 7] =
            [&[1, 1], &[3, 3], &[2, 2, 2], &[2, 0, 0], &[0, 3, 3], &[1, 2, 1, 2, 2], &[12, 12]];
        float_examples(&shapes.map(|shape| (Eigh {}.into(), vec![Shape::from(shape)])))
    }
}
