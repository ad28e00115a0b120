//! `while[cond=C, body=B, cond_consts=m, body_consts=n] c…, b…, x…`: repeats a graph as long as another holds.

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
    /// `while[cond=C, body=B, cond_consts=m, body_consts=n] c…, b…, x…`: `x = B(b…, x…)` as long as `C(c…, x…)`
    /// holds.
    pub struct While {
        /// From its constants and what is carried to a `bool` scalar.
        cond: Arc<Graph>,
        /// From its constants and what is carried to what is carried on.
        body: Arc<Graph>,
        /// How many operands only the condition reads.
        cond_consts: usize,
        /// How many operands only the body reads.
        body_consts: usize,
    }
}

impl Primitive for While {
    fn name(&self) -> &str {
        "while"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let consts = self.cond_consts + self.body_consts;
        if inputs.len() < consts {
            let message = format!("a while takes at least {consts} operands, found {}", inputs.len());
            return Err(TypeError::new("while", message));
        }
        let (cond, rest) = inputs.split_at(self.cond_consts);
        let (_, carries) = rest.split_at(self.body_consts);
        check_operands("while", &self.cond, &[cond, carries].concat())?;
        check_operands("while", &self.body, rest)?;
        match self.cond.output_types().as_slice() {
            [ty] if ty.dtype == DType::Bool && ty.rank() == 0 => {}
            _ => return Err(TypeError::new("while", "the condition of a while gives one bool[]")),
        }
        let carried = self.body.input_types().split_off(self.body_consts);
        check_types("while", "body", &carried, &self.body.output_types())?;
        Ok(carried)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (cond, rest) = inputs.split_at(self.cond_consts);
        let (consts, carries) = rest.split_at(self.body_consts);
        let mut carries = carries.to_vec();
        while eval(&self.cond, &[cond, &carries].concat())?[0].literal(0).as_i64() != 0 {
            carries = eval(&self.body, &[consts, &carries].concat())?;
        }
        Ok(carries)
    }

    fn jvp(&self, _: &mut Cx<'_>, _: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Err(RuleError::not_differentiable("while", "TODO"))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("while"))
    }

    fn batch(&self, _: &mut Cx<'_>, _: usize, _: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        Err(RuleError::Unsupported { primitive: "while".into(), why: "TODO".into() })
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Control(Control::While(self.clone())))
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}
