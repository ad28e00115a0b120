//! `switch[branches=[G…]] i, x…`: applies one of several graphs.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::nested::{check_operands, check_types};
use super::{switch_examples, switch_rules};
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Control, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `switch[branches=[G…]] i, x…`: the outputs of graph number `i` on the operands. `i` is an `i32` scalar, taken
    /// as the nearest number that there is.
    pub struct Switch {
        /// What is applied, all of one type.
        branches: Vec<Arc<Graph>>,
    }
}

impl Primitive for Switch {
    fn name(&self) -> &str {
        "switch"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let Some(first) = self.branches.first() else {
            return Err(TypeError::new("switch", "a switch has at least one branch"));
        };
        let Some((index, operands)) = inputs.split_first() else {
            return Err(TypeError::new("switch", "a switch has an index"));
        };
        if index.dtype != DType::I32 || index.rank() != 0 {
            return Err(TypeError::new("switch", format!("the index of a switch is i32[], found {index}")));
        }
        for branch in &self.branches {
            check_operands("switch", branch, operands)?;
            check_types("switch", &branch.name, &first.output_types(), &branch.output_types())?;
        }
        Ok(first.output_types())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let index = inputs[0].literal(0).as_i64().clamp(0, self.branches.len() as i64 - 1);
        eval(&self.branches[index as usize], &inputs[1..])
    }

    /// A switch of the branches' derivatives; when linearizing, two switches with residuals between.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        switch_rules::jvp(self, cx, primals, tangents)
    }

    /// A switch of the branches' adjoints.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        switch_rules::transpose(self, cx, operands, cotangents)
    }

    /// A switch of the batched branches; where the index is batched, all branches, and a choice between their results.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        switch_rules::batch(self, cx, size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Control(Control::Switch(self.clone())))
    }

    fn examples() -> Vec<Example> {
        switch_examples::examples()
    }
}
