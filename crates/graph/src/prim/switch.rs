//! `switch[branches=[G…]] i, x…`: applies one of several graphs.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::nested::{check_operands, check_types};
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

    fn jvp(&self, _: &mut Cx<'_>, _: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Err(RuleError::not_differentiable("switch", "TODO"))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("switch"))
    }

    fn batch(&self, _: &mut Cx<'_>, _: usize, _: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        Err(RuleError::Unsupported { primitive: "switch".into(), why: "TODO".into() })
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Control(Control::Switch(self.clone())))
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}
