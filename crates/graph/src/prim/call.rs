//! `call[graph=G] x…`: applies a graph. How a nested `jit!` call stays visible.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::{Exp, Mul};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `call[graph=G] x…`: the outputs of `G` on the operands.
    pub struct Call {
        /// What is applied.
        graph: Arc<Graph>,
    }
}

impl Primitive for Call {
    fn name(&self) -> &str {
        "call"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let expected = self.graph.input_types();
        let name = &self.graph.name;
        if expected.len() != inputs.len() {
            let message = format!("`{name}` takes {} operands, found {}", expected.len(), inputs.len());
            return Err(TypeError::new("call", message));
        }
        for (i, (want, found)) in expected.iter().zip(inputs).enumerate() {
            if !want.matches(found) {
                let message = format!("operand {i} of `{name}` is {want}, found {found}");
                return Err(TypeError::new("call", message));
            }
        }
        Ok(self.graph.output_types())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval(&self.graph, inputs)
    }

    /// The call of the nested graph's derivative; when linearizing, two calls with residuals between.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let active: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        let given: Vec<Atom> = tangents.iter().flatten().cloned().collect();
        if given.is_empty() {
            let primals = cx.bind_all(self.clone(), primals)?;
            return Ok(Jvp { tangents: vec![None; primals.len()], primals });
        }
        let count = self.graph.outputs.len();
        let (primal_outs, has_tangent, tangent_outs) = if cx.linearizing() {
            let split = cx.walks().linearize(&self.graph, &active)?;
            let mut outs = cx.bind_all(Call { graph: Arc::new(split.primal) }, primals)?;
            let mut operands = outs.split_off(count);
            operands.extend(given);
            (outs, split.tangents, cx.bind_all(Call { graph: Arc::new(split.linear) }, &operands)?)
        } else {
            let (graph, has_tangent) = cx.walks().jvp(&self.graph, &active)?;
            let operands: Vec<Atom> = primals.iter().cloned().chain(given).collect();
            let mut outs = cx.bind_all(Call { graph: Arc::new(graph) }, &operands)?;
            let tangent_outs = outs.split_off(count);
            (outs, has_tangent, tangent_outs)
        };
        let mut rest = tangent_outs.into_iter();
        let tangents = has_tangent.iter().map(|&has| if has { rest.next() } else { None }).collect();
        Ok(Jvp { primals: primal_outs, tangents })
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let linear: Vec<bool> = operands.iter().map(Operand::is_linear).collect();
        let given: Vec<bool> = cotangents.iter().map(Option::is_some).collect();
        let (graph, nonzero) = cx.walks().transpose(&self.graph, &linear, &given)?;
        let known = operands.iter().filter_map(Operand::known).cloned();
        let inputs: Vec<Atom> = known.chain(cotangents.iter().flatten().cloned()).collect();
        let mut outs = cx.bind_all(Call { graph: Arc::new(graph) }, &inputs)?.into_iter();
        let mut nonzero = nonzero.into_iter();
        let result = |&linear: &bool| {
            if linear && nonzero.next() == Some(true) { outs.next() } else { None }
        };
        Ok(linear.iter().map(result).collect())
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let flags: Vec<bool> = operands.iter().map(|o| o.batched).collect();
        let (graph, batched) = cx.walks().batch(&self.graph, size, &flags)?;
        let atoms: Vec<Atom> = operands.iter().map(|o| o.atom.clone()).collect();
        let outs = cx.bind_all(Call { graph: Arc::new(graph) }, &atoms)?;
        Ok(outs.into_iter().zip(batched).map(|(atom, batched)| Batched { atom, batched }).collect())
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Graph(self.graph.clone()))
    }

    fn examples() -> Vec<Example> {
        [DType::F32, DType::F64]
            .map(|dtype| {
                let ty = ArrayType::new(dtype, [3]);
                let mut b = GraphBuilder::new();
                let (x, y) = (Atom::Var(b.input(ty.clone())), Atom::Var(b.input(ty.clone())));
                let e = b.bind1(Exp {}, std::slice::from_ref(&x)).expect("typed");
                let p = b.bind1(Mul {}, &[e.clone(), y]).expect("typed");
                let graph = Arc::new(b.finish("example", vec![p, e]));
                Example { prim: Call { graph }.into(), inputs: vec![ty.clone(), ty] }
            })
            .to_vec()
    }
}
