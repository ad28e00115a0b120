//! `call[graph=G] x…`: applies a graph. How a nested `jit!` call stays visible.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::nested::{batch_nested, check_operands, jvp_nested, transpose_nested};
use super::{Exp, Mul, Prim};
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

fn call(graph: Arc<Graph>) -> Prim {
    Call { graph }.into()
}

impl Primitive for Call {
    fn name(&self) -> &str {
        "call"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        check_operands("call", &self.graph, inputs)?;
        Ok(self.graph.output_types())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval(&self.graph, inputs)
    }

    /// The call of the nested graph's derivative; when linearizing, two calls with residuals between.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        jvp_nested(cx, &self.graph, call, primals, tangents)
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        transpose_nested(cx, &self.graph, call, operands, cotangents)
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_nested(cx, &self.graph, call, size, operands)
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
