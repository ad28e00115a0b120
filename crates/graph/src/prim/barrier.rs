//! `barrier x`: `x` itself, which no pass may see through.
//!
//! What is computed from `barrier x` is not merged with the same computed from `x`: how `checkpoint` keeps what it
//! computes again from being found twice and kept instead.

use tracewell_array::Tensor;

use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `barrier x`: `x`, which no pass sees through.
    pub struct Barrier {}
}

impl Primitive for Barrier {
    fn name(&self) -> &str {
        "barrier"
    }

    /// One operand, whose type the result has.
    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("barrier", inputs, 1)?;
        Ok(vec![same_type("barrier", Domain::Any, inputs)?])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![map_literals(inputs[0].dtype(), inputs[0].shape(), inputs, |x| x[0])])
    }

    /// The tangent is computed anew anyway and needs none: dy = dx.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Ok(Jvp::one(cx.bind(self.clone(), &[&primals[0]])?, tangents[0].clone()))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Ok(cotangents.to_vec())
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, self.clone(), size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Lowering::Parts);
        }
        Ok(Lowering::map(|_, x| x[0]))
    }

    fn examples() -> Vec<Example> {
        elementwise::examples(Barrier {}, Domain::Any, 1)
    }
}
