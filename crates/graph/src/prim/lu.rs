//! `lu a`: the triangles of `P a = L U` in one matrix, the exchanges of rows that led to them, and their order.

use tracewell_array::{Shape, Tensor};
use tracewell_kernel::linalg::dims;
use tracewell_kernel::{Comparison, Linalg};

use super::matrices::{
    batch_matrices, eval_matrices, identity, lower_matrices, matrix_types, number_examples, part, plus,
    product, reordered,
};
use super::{Pad, TriangularSolve};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `lu a`: both triangles of the matrix with its rows exchanged for the largest pivots, in one matrix, without
    /// the ones of the lower diagonal; for each column the row its pivot came from; and the order of the rows.
    pub struct Lu {}
}

impl Primitive for Lu {
    fn name(&self) -> &str {
        "lu"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        matrix_types("lu", Linalg::Lu, inputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval_matrices(Linalg::Lu, inputs)
    }

    /// With `F = L⁻¹ P da U⁻¹`: its strict lower triangle moves `L`, the rest moves `U`. Triangles that are not
    /// square are made so.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let primals = cx.bind_all(Lu {}, &primals[..1])?;
        let Some(da) = &tangents[0] else { return Ok(Jvp { primals, tangents: vec![None; 3] }) };
        let lu = &primals[0];
        let (m, n) = dims(&cx.ty(lu).shape);
        let below = resized(cx, lu, 0, m as i64 - n as i64)?;
        let below = part(cx, &below, Comparison::Gt)?;
        let ones = identity(cx, &cx.ty(&below), 0)?;
        let l = plus(cx, &below, &ones)?;
        let above = resized(cx, lu, n as i64 - m as i64, 0)?;
        let mut u = part(cx, &above, Comparison::Le)?;
        if n > m {
            let ones = identity(cx, &cx.ty(&u), m)?;
            u = plus(cx, &u, &ones)?;
        }
        let moved = reordered(cx, &primals[2], da)?;
        let solve_l = TriangularSolve { left: true, lower: true, transpose: false, unit: true };
        let solve_u = TriangularSolve { left: false, lower: false, transpose: false, unit: false };
        let half_way = cx.bind(solve_l, &[&l, &moved])?;
        let f = cx.bind(solve_u, &[&u, &half_way])?;
        let (f_below, f_above) = (part(cx, &f, Comparison::Gt)?, part(cx, &f, Comparison::Le)?);
        let (dl, du) = (product(cx, &l, &f_below)?, product(cx, &f_above, &u)?);
        let d = plus(cx, &dl, &du)?;
        Ok(Jvp { primals, tangents: vec![Some(d), None, None] })
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("lu"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_matrices(cx, Lu {}, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(lower_matrices(Linalg::Lu, inputs, outputs))
    }

    fn examples() -> Vec<Example> {
        let shapes: [&[usize]; 8] =
            [&[1, 1], &[3, 3], &[4, 2], &[2, 4], &[2, 3, 3], &[2, 0, 3], &[1, 2, 1, 3, 2], &[18, 18]];
        number_examples(&shapes.map(|shape| (Lu {}.into(), vec![Shape::from(shape)])))
    }
}

/// With so many more rows and columns of zeros at the ends, or so many fewer.
fn resized(cx: &mut Cx<'_>, x: &Atom, rows: i64, columns: i64) -> Result<Atom, RuleError> {
    let ty = cx.ty(x);
    let rank = ty.rank();
    let none = vec![0; rank - 2];
    let pad = Pad {
        low: vec![0; rank],
        high: none.into_iter().chain([rows, columns]).collect(),
        interior: vec![0; rank],
    };
    let zero = Atom::fill(&ty.with_shape(Shape::scalar()), 0.0);
    cx.bind(pad, &[x, &zero])
}
