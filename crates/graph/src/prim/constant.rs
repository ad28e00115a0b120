//! `constant[value=…]`: an array known when the graph was made, captured by the traced function.

use tracewell_array::{DType, Tensor};

use super::elementwise::arity;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `constant[value=V]`: `V`.
    pub struct Constant {
        /// Compared and hashed by its bits.
        value: Tensor,
    }
}

impl Primitive for Constant {
    fn name(&self) -> &str {
        "constant"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("constant", inputs, 0)?;
        Ok(vec![ArrayType::of(&self.value)])
    }

    fn eval(&self, _: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![self.value.clone()])
    }

    fn jvp(&self, cx: &mut Cx<'_>, _: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Ok(Jvp::one(cx.bind(self.clone(), &[])?, None))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Ok(Vec::new())
    }

    fn batch(&self, cx: &mut Cx<'_>, _: usize, _: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        Ok(vec![Batched::no(cx.bind(self.clone(), &[])?)])
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Constant(self.value.clone()))
    }

    fn examples() -> Vec<Example> {
        DType::ALL
            .iter()
            .map(|&dtype| Example {
                prim: Constant { value: Tensor::zeros(dtype, [2, 3]) }.into(),
                inputs: Vec::new(),
            })
            .collect()
    }
}
