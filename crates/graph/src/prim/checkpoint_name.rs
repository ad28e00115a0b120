//! `checkpoint_name[label="h"] x`: `x` itself, by a name that a policy of `checkpoint` can keep it by.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::elementwise::{Domain, arity, batch_elementwise, map_literals, same_type};
use super::examples_of;
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `checkpoint_name[label="h"] x`: `x`, by a name.
    pub struct CheckpointName {
        /// What a policy of `checkpoint` calls it.
        label: String,
    }
}

impl Primitive for CheckpointName {
    fn name(&self) -> &str {
        "checkpoint_name"
    }

    /// One operand, whose type the result has.
    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("checkpoint_name", inputs, 1)?;
        Ok(vec![same_type("checkpoint_name", Domain::Any, inputs)?])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![map_literals(inputs[0].dtype(), inputs[0].shape(), inputs, |x| x[0])])
    }

    /// The name is that of the value, not of its tangent: dy = dx.
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

    /// Nothing is computed.
    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let mut b = GraphBuilder::new();
        let x = b.input(inputs[0].clone());
        Ok(Lowering::Graph(Arc::new(b.finish("checkpoint_name", vec![x.into()]))))
    }

    fn examples() -> Vec<Example> {
        let label = "h".to_string();
        examples_of(&[(CheckpointName { label }.into(), vec![[3].into()])], DType::ALL)
    }
}
