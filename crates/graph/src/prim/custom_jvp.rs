//! `custom_jvp[captured="…", primal=F, rule=R] x…`: applies a graph whose derivative is another graph.
//!
//! `R` takes the operands and then the tangents of those that are floats, and gives the results of `F` and then
//! their tangents, where they are floats. The first operands, as many as `captured` names, are what the user's
//! functions captured: the rule says nothing of their derivative, and differentiating by them is an error.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::nested::{
    batch_whole, check_operands, check_types, chosen, floats, inline_strictly, spread, transpose_nested,
    unless_zero,
};
use super::{Call, Exp, Mul};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph};
use crate::params;
use crate::params::Labels;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `custom_jvp[captured="…", primal=F, rule=R] x…`: the outputs of `F`, whose derivative is `R`.
    pub struct CustomJvp {
        /// What the first operands are.
        captured: Labels,
        /// What is applied.
        primal: Arc<Graph>,
        /// Its results and their tangents.
        rule: Arc<Graph>,
    }
}

impl Primitive for CustomJvp {
    fn name(&self) -> &str {
        "custom_jvp"
    }

    /// The types of `F`; those of `R` follow from them.
    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        check_operands("custom_jvp", &self.primal, inputs)?;
        let with_tangents = |types: &[ArrayType], skip: usize| -> Vec<ArrayType> {
            let tangents = types.iter().skip(skip).filter(|ty| ty.dtype.is_inexact());
            types.iter().chain(tangents).cloned().collect()
        };
        let (own, outputs) = (self.primal.input_types(), self.primal.output_types());
        let wanted = with_tangents(&own, self.captured.0.len());
        check_types("custom_jvp", "the rule", &self.rule.input_types(), &wanted)?;
        check_types(
            "custom_jvp",
            "the rule's result",
            &with_tangents(&outputs, 0),
            &self.rule.output_types(),
        )?;
        Ok(outputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval(&self.primal, inputs)
    }

    /// The rule's equations, where a zero tangent is a literal.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let captured = self.captured.0.len();
        refuse_captured("custom_jvp", &self.captured, &tangents[..captured])?;
        let types = self.primal.input_types();
        let zero = |(ty, tangent): (&ArrayType, &Option<Atom>)| {
            tangent.clone().unwrap_or_else(|| Atom::fill(ty, 0.0))
        };
        let tangents: Vec<Atom> = types.iter().zip(tangents).map(zero).collect();
        let given = chosen(&tangents[captured..], &floats(&types[captured..]));
        let operands: Vec<Atom> = primals.iter().cloned().chain(given).collect();
        let mut results = inline_strictly(cx, &self.rule, &operands)?;
        let found = results.split_off(self.primal.outputs.len());
        let outputs = self.primal.output_types();
        let tangents =
            spread(found, &floats(&outputs)).into_iter().map(|dy| dy.and_then(unless_zero)).collect();
        // The rule's own results are used, as they share its work, unless they seem to depend on a tangent.
        let mixed = depends(&self.rule, &self.rule.inputs[primals.len()..]);
        if cx.linearizing() && mixed[..outputs.len()].contains(&true) {
            results = cx.bind_all(self.clone(), primals)?;
        }
        Ok(Jvp { primals: results, tangents })
    }

    /// As the call of `F`, which must be linear.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        transpose_nested(cx, &self.primal, |graph| Call { graph }.into(), operands, cotangents)
    }

    /// Both graphs batched. All results get the axis, so that a result and its tangent agree.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let flags: Vec<bool> = operands.iter().map(|o| o.batched).collect();
        let captured = self.captured.0.len();
        let tangents = chosen(&flags[captured..], &floats(&self.primal.input_types()[captured..]));
        let both: Vec<bool> = flags.iter().copied().chain(tangents).collect();
        let primal = Arc::new(batch_whole(cx, &self.primal, size, &flags)?);
        let rule = Arc::new(batch_whole(cx, &self.rule, size, &both)?);
        let atoms: Vec<Atom> = operands.iter().map(|o| o.atom.clone()).collect();
        let results = cx.bind_all(CustomJvp { captured: self.captured.clone(), primal, rule }, &atoms)?;
        Ok(results.into_iter().map(Batched::yes).collect())
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Graph(self.primal.clone()))
    }

    /// `c·exp(x)`, whose derivative the rule takes from the result.
    fn examples() -> Vec<Example> {
        let example = |dtype: DType| {
            let ty = ArrayType::new(dtype, [3]);
            let mut f = GraphBuilder::new();
            let (c, x) = (Atom::Var(f.input(ty.clone())), Atom::Var(f.input(ty.clone())));
            let e = f.bind1(Exp {}, std::slice::from_ref(&x)).expect("typed");
            let y = f.bind1(Mul {}, &[c, e]).expect("typed");
            let primal = Arc::new(f.finish("example", vec![y]));
            let mut r = GraphBuilder::new();
            let inputs: Vec<Atom> = (0..4).map(|_| Atom::Var(r.input(ty.clone()))).collect();
            let e = r.bind1(Exp {}, &inputs[1..2]).expect("typed");
            let y = r.bind1(Mul {}, &[inputs[0].clone(), e.clone()]).expect("typed");
            let by_x = r.bind1(Mul {}, &[inputs[3].clone(), y.clone()]).expect("typed");
            let by_c = r.bind1(Mul {}, &[inputs[2].clone(), e]).expect("typed");
            let dy = r.bind1(super::Add {}, &[by_c, by_x]).expect("typed");
            let rule = Arc::new(r.finish("example_rule", vec![y, dy]));
            let prim = CustomJvp { captured: Labels::default(), primal, rule }.into();
            Example { prim, inputs: vec![ty.clone(), ty] }
        };
        [DType::F32, DType::F64].map(example).to_vec()
    }
}

/// Rules say nothing about what was captured: a tangent there has no derivative to go through.
pub(super) fn refuse_captured(
    primitive: &str,
    captured: &Labels,
    tangents: &[Option<Atom>],
) -> Result<(), RuleError> {
    match captured.0.iter().zip(tangents).find(|(_, tangent)| tangent.is_some()) {
        Some((label, _)) => {
            let why = format!(
                "a function given to it captured {label}, by which this differentiates, \
                 and its rule is about its argument only: make it part of the argument"
            );
            Err(RuleError::not_differentiable(primitive, &why))
        }
        None => Ok(()),
    }
}

/// For each output, whether it depends on one of these inputs, as far as equations show.
fn depends(graph: &Graph, inputs: &[crate::graph::Var]) -> Vec<bool> {
    let mut varies = vec![false; graph.types.len()];
    inputs.iter().for_each(|var| varies[var.0 as usize] = true);
    let reads = |varies: &[bool], atom: &Atom| atom.var().is_some_and(|var| varies[var.0 as usize]);
    for equation in &graph.equations {
        if equation.inputs.iter().any(|atom| reads(&varies, atom)) {
            equation.outputs.iter().for_each(|var| varies[var.0 as usize] = true);
        }
    }
    graph.outputs.iter().map(|atom| reads(&varies, atom)).collect()
}
