//! `triangular_solve[…] a, b`: the solution of a triangular system, for several right sides at once.

use tracewell_array::{Shape, Tensor};
use tracewell_kernel::{Comparison, Linalg, Triangular};

use super::matrices::{
    batch_matrices, eval_matrices, lower_matrices, matrix_types, minus, number_examples, part, product,
    transposed,
};
use super::{Neg, Permute, Reshape};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `triangular_solve[…] a, b`: `x` with `a x = b`, or `x a = b`, where one triangle of `a` is all that is read.
    pub struct TriangularSolve {
        /// `a x = b`; else `x a = b`.
        left: bool,
        /// Whether the lower triangle is read; else the upper one.
        lower: bool,
        /// Whether the triangle is transposed.
        transpose: bool,
        /// Whether the diagonal is taken for ones.
        unit: bool,
    }
}

impl TriangularSolve {
    fn linalg(&self) -> Linalg {
        let TriangularSolve { left, lower, transpose, unit } = *self;
        Linalg::TriangularSolve(Triangular { left, lower, transpose, unit })
    }

    /// The triangle that is read, as it is read; zeros elsewhere.
    fn read_part(&self, cx: &mut Cx<'_>, a: &Atom) -> Result<Atom, RuleError> {
        let comparison = match (self.lower, self.unit) {
            (true, false) => Comparison::Ge,
            (true, true) => Comparison::Gt,
            (false, false) => Comparison::Le,
            (false, true) => Comparison::Lt,
        };
        let triangle = part(cx, a, comparison)?;
        if self.transpose { transposed(cx, &triangle) } else { Ok(triangle) }
    }
}

impl Primitive for TriangularSolve {
    fn name(&self) -> &str {
        "triangular_solve"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        matrix_types("triangular_solve", self.linalg(), inputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval_matrices(self.linalg(), inputs)
    }

    /// `a dx = db - da x`, of the triangle of `da` that is read.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let (a, b) = (&primals[0], &primals[1]);
        let x = cx.bind(self.clone(), &[a, b])?;
        let moved = match &tangents[0] {
            Some(da) => {
                let da = self.read_part(cx, da)?;
                Some(if self.left { product(cx, &da, &x)? } else { product(cx, &x, &da)? })
            }
            None => None,
        };
        let side = match (&tangents[1], moved) {
            (Some(db), Some(moved)) => Some(minus(cx, db, &moved)?),
            (Some(db), None) => Some(db.clone()),
            (None, Some(moved)) => Some(cx.bind(Neg {}, &[&moved])?),
            (None, None) => None,
        };
        let dx = side.map(|side| cx.bind(self.clone(), &[a, &side])).transpose()?;
        Ok(Jvp::one(x, dx))
    }

    /// The adjoint of the inverse is the inverse of the adjoint.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let (Operand::Known(a), Operand::Linear(_)) = (&operands[0], &operands[1]) else {
            return Err(RuleError::not_linear("triangular_solve"));
        };
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let adjoint = TriangularSolve { transpose: !self.transpose, ..self.clone() };
        Ok(vec![None, Some(cx.bind(adjoint, &[a, ct])?)])
    }

    /// For one matrix, a batch of right sides is more right sides.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        if operands[0].batched {
            return batch_matrices(cx, self.clone(), size, operands);
        }
        let ty = cx.ty(&operands[1].atom);
        let rank = ty.rank();
        // The batch axis goes to that of the right sides, in front of it.
        let sides = if self.left { rank - 1 } else { rank - 2 };
        let axes: Vec<usize> = (1..sides).chain([0]).chain(sides..rank).collect();
        let there = Permute { axes };
        let back = there.inverse();
        let beside = cx.bind(there, &[&operands[1].atom])?;
        let apart = cx.ty(&beside).shape;
        let count = apart.size(sides - 1) * apart.size(sides);
        let together = apart.remove(sides).with(sides - 1, count);
        let b = cx.bind(Reshape { shape: together }, &[&beside])?;
        let x = cx.bind(self.clone(), &[&operands[0].atom, &b])?;
        let x = cx.bind(Reshape { shape: apart }, &[&x])?;
        Ok(vec![Batched::yes(cx.bind(back, &[&x])?)])
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(lower_matrices(self.linalg(), inputs, outputs))
    }

    fn examples() -> Vec<Example> {
        let all = (0..16).map(|bits| {
            let bit = |k: u32| bits >> k & 1 == 1;
            TriangularSolve { left: bit(0), lower: bit(1), transpose: bit(2), unit: bit(3) }
        });
        // Each kind once, and every shape for some of them.
        let shapes: [(&[usize], usize); 6] =
            [(&[3], 2), (&[1], 1), (&[2, 2], 3), (&[2, 0], 2), (&[1, 2, 1, 2], 0), (&[18], 3)];
        let mut cases = Vec::new();
        for (number, prim) in all.enumerate() {
            for (at, (sizes, sides)) in shapes.iter().enumerate() {
                if at != 0 && (number + at) % 5 != 0 {
                    continue;
                }
                let (batch, n) = sizes.split_at(sizes.len() - 1);
                let own = if prim.left { [n[0], *sides] } else { [*sides, n[0]] };
                let shape = |last: [usize; 2]| -> Shape { batch.iter().copied().chain(last).collect() };
                cases.push((prim.clone().into(), vec![shape([n[0], n[0]]), shape(own)]));
            }
        }
        number_examples(&cases)
    }
}
