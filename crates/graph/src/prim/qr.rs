//! `qr[full=B] a`: an orthogonal matrix and an upper triangle whose product is `a`, with LAPACK's signs.

use tracewell_array::{Shape, Tensor};
use tracewell_kernel::linalg::dims;
use tracewell_kernel::{Comparison, Linalg};

use super::TriangularSolve;
use super::matrices::{
    adjoint, batch_matrices, conjugate, eval_matrices, half, lower_matrices, matrix_types, minus,
    number_examples, part, plus, product,
};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `qr[full=B] a`: `q` with orthonormal columns and `r`, an upper triangle, with `q r = a`.
    pub struct Qr {
        /// Whether `q` is square; else it has as many columns as `a` has rows or columns, whichever are fewer.
        full: bool,
    }
}

impl Primitive for Qr {
    fn name(&self) -> &str {
        "qr"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        matrix_types("qr", Linalg::Qr { full: self.full }, inputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval_matrices(Linalg::Qr { full: self.full }, inputs)
    }

    /// With `F = qᵀ da r⁻¹` and `Ω` its strict lower triangle less the transpose of that: `dr = (F - Ω) r` and
    /// `dq = q (Ω - F) + da r⁻¹`.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let (m, n) = dims(&cx.ty(&primals[0]).shape);
        let primals = cx.bind_all(self.clone(), &primals[..1])?;
        let Some(da) = &tangents[0] else { return Ok(Jvp { primals, tangents: vec![None; 2] }) };
        if m < n || (self.full && m != n) {
            let why = "its columns are not all determined by those of the matrix; at least as many rows as \
                       columns, and not `full`, have one";
            return Err(RuleError::not_differentiable("qr", why));
        }
        let (q, r) = (&primals[0], &primals[1]);
        let solve = TriangularSolve { left: false, lower: false, transpose: false, unit: false };
        let da_r = cx.bind(solve, &[r, da])?;
        let qt = adjoint(cx, q)?;
        let f = product(cx, &qt, &da_r)?;
        let below = part(cx, &f, Comparison::Gt)?;
        let mirrored = adjoint(cx, &below)?;
        let mut omega = minus(cx, &below, &mirrored)?;
        if cx.ty(&f).dtype.is_complex() {
            // The diagonal of `r` stays real.
            let diagonal = part(cx, &f, Comparison::Eq)?;
            let conj = conjugate(cx, &diagonal)?;
            let twice = minus(cx, &diagonal, &conj)?;
            let imaginary = half(cx, &twice)?;
            omega = plus(cx, &omega, &imaginary)?;
        }
        let (turn, rest) = (minus(cx, &omega, &f)?, minus(cx, &f, &omega)?);
        let turned = product(cx, q, &turn)?;
        let dq = plus(cx, &turned, &da_r)?;
        let dr = product(cx, &rest, r)?;
        Ok(Jvp { primals, tangents: vec![Some(dq), Some(dr)] })
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("qr"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_matrices(cx, self.clone(), size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(lower_matrices(Linalg::Qr { full: self.full }, inputs, outputs))
    }

    fn examples() -> Vec<Example> {
        let shapes: [(&[usize], bool); 10] = [
            (&[1, 1], false),
            (&[3, 3], true),
            (&[4, 2], false),
            (&[4, 2], true),
            (&[2, 4], false),
            (&[2, 3, 3], false),
            (&[2, 0, 3], true),
            (&[3, 0], true),
            (&[1, 2, 1, 3, 2], false),
            (&[18, 17], false),
        ];
        number_examples(&shapes.map(|(shape, full)| (Qr { full }.into(), vec![Shape::from(shape)])))
    }
}
