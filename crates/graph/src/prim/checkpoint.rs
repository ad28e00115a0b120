//! `checkpoint[policy="nothing", graph=G] x…`: applies a graph, and in reverse mode computes it again instead of
//! keeping its values.
//!
//! While linearizing, the primal part passes out what the policy keeps, and the linear part begins by computing the
//! other residuals from that. It reads what is kept through `barrier`, so that no pass finds the two computations
//! equal and merges them.

use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::nested::{batch_nested, bind_first_half, check_operands, jvp_nested, spread, transpose_nested};
use super::{Barrier, Exp, Mul, Prim};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Equation, Graph};
use crate::params;
use crate::params::{Param, ParamValue};
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive, Rematerialized};
use crate::ty::ArrayType;

params! {
    /// `checkpoint[policy="nothing", graph=G] x…`: the outputs of `G`, computed again in reverse mode.
    pub struct Checkpoint {
        /// What is kept all the same.
        policy: Policy,
        /// What is applied.
        graph: Arc<Graph>,
    }
}

/// Which values a checkpointed function keeps for its backward pass; all others are computed again.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum Policy {
    /// The arguments only.
    #[default]
    Nothing,
    /// All that the backward pass reads, as without a checkpoint.
    Everything,
    /// Results of matrix products.
    Dots,
    /// Results of these primitives.
    Primitives(Vec<String>),
    /// What was given one of these names by `checkpoint_name`.
    Names(Vec<String>),
}

impl Policy {
    /// Whether the results of an equation are kept.
    pub fn keeps(&self, equation: &Equation) -> bool {
        let name = equation.prim.name();
        match self {
            Policy::Nothing => false,
            Policy::Everything => true,
            Policy::Dots => name == "dot_general",
            Policy::Primitives(names) => names.iter().any(|n| n == name),
            Policy::Names(names) => match &equation.prim {
                Prim::CheckpointName(named) => names.contains(&named.label),
                _ => false,
            },
        }
    }
}

/// `"dots"`, `"names a,b"`.
impl Param for Policy {
    fn to_value(&self) -> ParamValue {
        ParamValue::Text(match self {
            Policy::Nothing => "nothing".to_string(),
            Policy::Everything => "everything".to_string(),
            Policy::Dots => "dots".to_string(),
            Policy::Primitives(names) => format!("primitives {}", names.join(",")),
            Policy::Names(names) => format!("names {}", names.join(",")),
        })
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        let ParamValue::Text(text) = value else { return None };
        let list = |names: &str| names.split(',').filter(|n| !n.is_empty()).map(String::from).collect();
        match text.split_once(' ') {
            None if text == "nothing" => Some(Policy::Nothing),
            None if text == "everything" => Some(Policy::Everything),
            None if text == "dots" => Some(Policy::Dots),
            Some(("primitives", names)) => Some(Policy::Primitives(list(names))),
            Some(("names", names)) => Some(Policy::Names(list(names))),
            _ => None,
        }
    }
}

impl Checkpoint {
    fn wrap(&self) -> impl Fn(Arc<Graph>) -> Prim + use<> {
        let policy = self.policy.clone();
        move |graph| Checkpoint { policy: policy.clone(), graph }.into()
    }
}

impl Primitive for Checkpoint {
    fn name(&self) -> &str {
        "checkpoint"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        check_operands("checkpoint", &self.graph, inputs)?;
        Ok(self.graph.output_types())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval(&self.graph, inputs)
    }

    /// When linearizing, the linear part computes again what was not kept.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        if !cx.linearizing() {
            return jvp_nested(cx, &self.graph, self.wrap(), primals, tangents);
        }
        let active: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        // What is inside a call can be kept only where it is seen.
        let flat;
        let graph = match self.policy {
            Policy::Nothing => &*self.graph,
            _ => {
                flat = flattened(&self.graph);
                &flat
            }
        };
        let parts = cx.walks().checkpoint(graph, &active, &|equation| self.policy.keeps(equation))?;
        let again = again(&parts);
        let (primals, mut operands) =
            bind_first_half(cx, parts.primal, self.graph.outputs.len(), self.wrap(), primals)?;
        operands.extend(tangents.iter().flatten().cloned());
        let found = cx.bind_all(self.wrap()(Arc::new(again)), &operands)?;
        Ok(Jvp { primals, tangents: spread(found, &parts.tangents) })
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        transpose_nested(cx, &self.graph, self.wrap(), operands, cotangents)
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_nested(cx, &self.graph, self.wrap(), size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Graph(self.graph.clone()))
    }

    /// `x·exp(y)·exp(y)`, under each kind of policy.
    fn examples() -> Vec<Example> {
        let policies =
            [Policy::Nothing, Policy::Everything, Policy::Dots, Policy::Primitives(vec!["exp".to_string()])];
        let example = |policy: &Policy, dtype: DType| {
            let ty = ArrayType::new(dtype, [3]);
            let mut b = GraphBuilder::new();
            let (x, y) = (Atom::Var(b.input(ty.clone())), Atom::Var(b.input(ty.clone())));
            let e = b.bind1(Exp {}, &[y]).expect("typed");
            let p = b.bind1(Mul {}, &[x, e.clone()]).expect("typed");
            let p = b.bind1(Mul {}, &[p, e]).expect("typed");
            let graph = Arc::new(b.finish("example", vec![p]));
            Example {
                prim: Checkpoint { policy: policy.clone(), graph }.into(),
                inputs: vec![ty.clone(), ty],
            }
        };
        let each = |policy| [DType::F32, DType::F64].map(|dtype| example(policy, dtype));
        policies.iter().flat_map(each).collect()
    }
}

/// From what is kept and the tangents to the tangents of results: the residuals are computed again first, from
/// values that no pass sees through.
fn again(parts: &Rematerialized) -> Graph {
    let mut b = GraphBuilder::new();
    let kept: Vec<Atom> = parts.again.input_types().into_iter().map(|ty| b.input(ty).into()).collect();
    let tangents = parts.linear.input_types().split_off(parts.again.outputs.len());
    let tangents: Vec<Atom> = tangents.into_iter().map(|ty| b.input(ty).into()).collect();
    let reads = |var| parts.again.equations.iter().any(|eq| eq.inputs.contains(&Atom::Var(var)));
    let mut behind = Vec::with_capacity(kept.len());
    for (atom, &var) in kept.iter().zip(&parts.again.inputs) {
        let read =
            if reads(var) { b.bind1(Barrier {}, std::slice::from_ref(atom)) } else { Ok(atom.clone()) };
        behind.push(read.expect("any array has a barrier"));
    }
    let mut operands = b.inline(&parts.again, &behind);
    operands.extend(tangents);
    let outputs = b.inline(&parts.linear, &operands);
    b.finish(parts.linear.name.clone(), outputs)
}

/// The graph with the equations of the graphs that it calls, at any depth, in the place of the calls.
fn flattened(graph: &Graph) -> Graph {
    fn copy(b: &mut GraphBuilder, graph: &Graph, inputs: &[Atom]) -> Vec<Atom> {
        let mut values: Vec<Option<Atom>> = vec![None; graph.types.len()];
        for (var, atom) in graph.inputs.iter().zip(inputs) {
            values[var.0 as usize] = Some(atom.clone());
        }
        let look = |values: &[Option<Atom>], atom: &Atom| match atom {
            Atom::Var(var) => {
                values[var.0 as usize].clone().expect("operands are defined before they are used")
            }
            Atom::Splat(_) => atom.clone(),
        };
        for equation in &graph.equations {
            let operands: Vec<Atom> = equation.inputs.iter().map(|a| look(&values, a)).collect();
            b.at(equation.location.clone());
            let results = match &equation.prim {
                // An operand that is weaker than the input would make equations inside weaker than they say.
                Prim::Call(call)
                    if operands.iter().zip(call.graph.input_types()).all(|(a, ty)| b.ty(a) == ty) =>
                {
                    copy(b, &call.graph, &operands)
                }
                prim => {
                    let types = equation.outputs.iter().map(|&v| graph.ty(v).clone());
                    b.push(prim.clone(), &operands, types).into_vec()
                }
            };
            for (&var, result) in equation.outputs.iter().zip(results) {
                values[var.0 as usize] = Some(result);
            }
        }
        graph.outputs.iter().map(|a| look(&values, a)).collect()
    }
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = graph.input_types().into_iter().map(|ty| b.input(ty).into()).collect();
    let outputs = copy(&mut b, graph, &inputs);
    b.finish(graph.name.clone(), outputs)
}
