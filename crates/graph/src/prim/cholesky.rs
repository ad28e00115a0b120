//! `cholesky a`: the lower triangle `L` of `(a + aᴴ)/2 = L Lᴴ`; NaN if that is not positive definite.

use tracewell_array::{Shape, Tensor};
use tracewell_kernel::{Comparison, Linalg};

use super::TriangularSolve;
use super::matrices::{
    batch_matrices, conjugate, eval_matrices, half, lower_matrices, matrix_types, number_examples, part,
    plus, product, symmetric,
};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `cholesky a`: the lower triangle `L` with `L Lᴴ = (a + aᴴ)/2`; NaN where there is none.
    pub struct Cholesky {}
}

impl Primitive for Cholesky {
    fn name(&self) -> &str {
        "cholesky"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        matrix_types("cholesky", Linalg::Cholesky, inputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval_matrices(Linalg::Cholesky, inputs)
    }

    /// `dL = L Φ(L⁻¹ da L⁻ᴴ)`, where Φ keeps the lower triangle and half of the diagonal.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let l = cx.bind(Cholesky {}, &[&primals[0]])?;
        let Some(da) = &tangents[0] else { return Ok(Jvp::one(l, None)) };
        let da = symmetric(cx, da)?;
        let right = TriangularSolve { left: false, lower: true, transpose: true, unit: false };
        let left = TriangularSolve { left: true, lower: true, transpose: false, unit: false };
        let conj = conjugate(cx, &l)?;
        let half_way = cx.bind(right, &[&conj, &da])?;
        let inner = cx.bind(left, &[&l, &half_way])?;
        let with = part(cx, &inner, Comparison::Ge)?;
        let without = part(cx, &inner, Comparison::Gt)?;
        let sum = plus(cx, &with, &without)?;
        let phi = half(cx, &sum)?;
        let dl = product(cx, &l, &phi)?;
        Ok(Jvp::one(l, Some(dl)))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("cholesky"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_matrices(cx, Cholesky {}, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(lower_matrices(Linalg::Cholesky, inputs, outputs))
    }

    fn examples() -> Vec<Example> {
        let shapes: [&[usize]; 7] =
            [&[1, 1], &[3, 3], &[2, 2, 2], &[2, 0, 0], &[0, 3, 3], &[1, 2, 1, 2, 2], &[18, 18]];
        number_examples(&shapes.map(|shape| (Cholesky {}.into(), vec![Shape::from(shape)])))
    }
}
