//! `custom_vjp[captured="…", fwd=F, bwd=B, primal=P] x…`: applies a graph whose pullback is another graph.
//!
//! `F` gives the results of `P` and then residuals; `B` takes the residuals and then the cotangents of results that
//! are floats, and gives those of operands that are floats. The first operands, as many as `captured` names, are
//! what the user's functions captured: `B` says nothing of them, and differentiating by them is an error.
//!
//! While linearizing, the linear part is a `custom_pull`, whose adjoint is `B`. Forwards it is the adjoint of `B`,
//! which exists where `B` is linear: a rule that clips gradients has a backward pass only.

use std::fmt;
use std::sync::Arc;

use tracewell_array::{DType, Tensor};

use super::custom_jvp::refuse_captured;
use super::nested::{
    batch_whole, check_operands, check_types, chosen, floats, inline_strictly, jvp_nested, spread,
    transpose_nested, unless_zero, wrapped,
};
use super::{Call, Exp, Mul, Prim, ReduceSum};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph};
use crate::params;
use crate::params::{Labels, ParamValue, Params};
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `custom_vjp[captured="…", fwd=F, bwd=B, primal=P] x…`: the outputs of `P`, whose pullback is `B`.
    pub struct CustomVjp {
        /// What the first operands are.
        captured: Labels,
        /// The results, and what the pullback needs.
        fwd: Arc<Graph>,
        /// The pullback.
        bwd: Arc<Graph>,
        /// What is applied.
        primal: Arc<Graph>,
    }
}

impl CustomVjp {
    /// The types of the operands that may vary.
    fn varying(&self) -> Vec<ArrayType> {
        let types = self.primal.input_types();
        let own = &types[self.captured.0.len()..];
        chosen(own, &floats(own))
    }

    /// The types of the results that may vary.
    fn results(&self) -> Vec<ArrayType> {
        let types = self.primal.output_types();
        chosen(&types, &floats(&types))
    }
}

impl Primitive for CustomVjp {
    fn name(&self) -> &str {
        "custom_vjp"
    }

    /// The types of `P`; those of `F` and `B` follow from them.
    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        check_operands("custom_vjp", &self.primal, inputs)?;
        check_operands("custom_vjp", &self.fwd, inputs)?;
        let (mut first, own) = (self.fwd.output_types(), self.primal.output_types());
        let residuals = first.split_off(own.len().min(first.len()));
        check_types("custom_vjp", "the forward rule's result", &own, &first)?;
        let wanted: Vec<ArrayType> = residuals.into_iter().chain(self.results()).collect();
        check_types("custom_vjp", "the backward rule", &self.bwd.input_types(), &wanted)?;
        check_types("custom_vjp", "the backward rule's result", &self.varying(), &self.bwd.output_types())?;
        Ok(own)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval(&self.primal, inputs)
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let captured = self.captured.0.len();
        refuse_captured("custom_vjp", &self.captured, &tangents[..captured])?;
        let mut results = inline_strictly(cx, &self.fwd, primals)?;
        let mut operands = results.split_off(self.primal.outputs.len());
        let own = chosen(&tangents[captured..], &floats(&self.primal.input_types()[captured..]));
        let zero = |(ty, tangent): (ArrayType, Option<Atom>)| tangent.unwrap_or_else(|| Atom::fill(&ty, 0.0));
        operands.extend(self.varying().into_iter().zip(own).map(zero));
        let push = CustomPull::new(cx, self.bwd.clone(), self.bwd.inputs.len() - self.results().len());
        if push.forward.is_none() && !cx.linearizing() {
            return Err(only_backward());
        }
        let found = cx.bind_all(Prim::custom(push), &operands)?;
        Ok(Jvp { primals: results, tangents: spread(found, &floats(&self.primal.output_types())) })
    }

    /// As the call of `P`, which must be linear.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        transpose_nested(cx, &self.primal, |graph| Call { graph }.into(), operands, cotangents)
    }

    /// All graphs batched. All results and residuals get the axis.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let flags: Vec<bool> = operands.iter().map(|o| o.batched).collect();
        let captured = self.captured.0.len();
        let varying = chosen(&flags[captured..], &floats(&self.primal.input_types()[captured..]));
        let all = vec![true; self.bwd.inputs.len()];
        let batched = CustomVjp {
            captured: self.captured.clone(),
            fwd: Arc::new(batch_whole(cx, &self.fwd, size, &flags)?),
            bwd: Arc::new(batch_pullback(cx, &self.bwd, size, &all, &varying)?),
            primal: Arc::new(batch_whole(cx, &self.primal, size, &flags)?),
        };
        let atoms: Vec<Atom> = operands.iter().map(|o| o.atom.clone()).collect();
        Ok(cx.bind_all(batched, &atoms)?.into_iter().map(Batched::yes).collect())
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Graph(self.primal.clone()))
    }

    /// `x·exp(y)`, whose residuals are the product and the exponential.
    fn examples() -> Vec<Example> {
        let example = |dtype: DType| {
            let ty = ArrayType::new(dtype, [3]);
            let forwards = |residuals: bool| {
                let mut b = GraphBuilder::new();
                let (x, y) = (Atom::Var(b.input(ty.clone())), Atom::Var(b.input(ty.clone())));
                let e = b.bind1(Exp {}, std::slice::from_ref(&y)).expect("typed");
                let z = b.bind1(Mul {}, &[x, e.clone()]).expect("typed");
                let outputs = if residuals { vec![z.clone(), e, z] } else { vec![z] };
                Arc::new(b.finish("example", outputs))
            };
            let mut b = GraphBuilder::new();
            let inputs: Vec<Atom> = (0..3).map(|_| Atom::Var(b.input(ty.clone()))).collect();
            let by_x = b.bind1(Mul {}, &[inputs[2].clone(), inputs[0].clone()]).expect("typed");
            let by_y = b.bind1(Mul {}, &[inputs[2].clone(), inputs[1].clone()]).expect("typed");
            let bwd = Arc::new(b.finish("example_bwd", vec![by_x, by_y]));
            let captured = Labels::default();
            let prim = CustomVjp { captured, fwd: forwards(true), bwd, primal: forwards(false) }.into();
            Example { prim, inputs: vec![ty.clone(), ty] }
        };
        [DType::F32, DType::F64].map(example).to_vec()
    }
}

/// The pullback over a batch axis on some of its inputs: the cotangent of an operand that is the same for the whole
/// batch is the sum over it.
pub(super) fn batch_pullback(
    cx: &Cx<'_>,
    bwd: &Graph,
    size: usize,
    flags: &[bool],
    varying: &[bool],
) -> Result<Graph, RuleError> {
    let batched = batch_whole(cx, bwd, size, flags)?;
    let name = batched.name.clone();
    wrapped(&batched, name, |b, results| {
        let mut cx = Cx::new(b, cx.walks(), false);
        let sum = |(atom, &batched): (Atom, &bool)| {
            if batched { Ok(atom) } else { cx.bind(ReduceSum { axes: vec![0] }, &[&atom]) }
        };
        results.into_iter().zip(varying).map(sum).collect()
    })
}

fn only_backward() -> RuleError {
    let why = "its backward rule is not linear in the cotangents, so that it has no forward mode: \
               use `grad` or `vjp`";
    RuleError::not_differentiable("custom_vjp", why)
}

/// `custom_pull[residuals=n, bwd=B] r…, dx…`: the linear map whose adjoint is `B` at those residuals.
#[derive(Clone)]
struct CustomPull {
    /// How many operands are residuals.
    residuals: usize,
    /// From the residuals and cotangents of results to cotangents of operands.
    bwd: Arc<Graph>,
    /// From the residuals and tangents of operands to tangents of results, where `bwd` is linear.
    forward: Option<Arc<Graph>>,
}

impl CustomPull {
    fn new(cx: &Cx<'_>, bwd: Arc<Graph>, residuals: usize) -> CustomPull {
        let linear: Vec<bool> = (0..bwd.inputs.len()).map(|i| i >= residuals).collect();
        let given = vec![true; bwd.outputs.len()];
        let types = bwd.input_types();
        let forward = cx.walks().transpose(&bwd, &linear, &given).and_then(|(adjoint, nonzero)| {
            let name = adjoint.name.clone();
            wrapped(&adjoint, name, |_, results| {
                let results = spread(results, &nonzero).into_iter().zip(&types[residuals..]);
                Ok(results.map(|(dy, ty)| dy.unwrap_or_else(|| Atom::fill(ty, 0.0))).collect())
            })
        });
        CustomPull { residuals, bwd, forward: forward.ok().map(Arc::new) }
    }
}

impl Params for CustomPull {
    fn each_param(&self, f: &mut dyn FnMut(&'static str, ParamValue)) {
        f("residuals", ParamValue::Int(self.residuals as i64));
        f("bwd", ParamValue::Graph(self.bwd.clone()));
        self.forward.iter().for_each(|graph| f("forward", ParamValue::Graph(graph.clone())));
    }
}

impl fmt::Debug for CustomPull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "custom_pull(@{})", self.bwd.name)
    }
}

/// Not in the list of primitives, as not everything it can hold can be evaluated.
impl Primitive for CustomPull {
    fn name(&self) -> &str {
        "custom_pull"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let mut types = self.bwd.input_types();
        let results = types.split_off(self.residuals);
        types.extend(self.bwd.output_types());
        check_types("custom_pull", "custom_pull", &types, inputs)?;
        Ok(results)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        match &self.forward {
            Some(forward) => eval(forward, inputs),
            None => Err(only_backward().to_string()),
        }
    }

    /// Linear in its tangents; by residuals, the derivative of the adjoint of `bwd`.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let forward = self.forward.as_ref().ok_or_else(only_backward)?;
        jvp_nested(cx, forward, |graph| Call { graph }.into(), primals, tangents)
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let (residuals, own) = operands.split_at(self.residuals);
        let known: Option<Vec<Atom>> = residuals.iter().map(|r| r.known().cloned()).collect();
        let mut inputs = known.ok_or_else(|| RuleError::not_linear("custom_pull"))?;
        let types = self.bwd.input_types();
        let zero = |(ct, ty): (&Option<Atom>, &ArrayType)| ct.clone().unwrap_or_else(|| Atom::fill(ty, 0.0));
        inputs.extend(cotangents.iter().zip(&types[self.residuals..]).map(zero));
        let results = inline_strictly(cx, &self.bwd, &inputs)?.into_iter().zip(own);
        let results = results.map(|(ct, own)| if own.is_linear() { unless_zero(ct) } else { None });
        Ok(residuals.iter().map(|_| None).chain(results).collect())
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let flags: Vec<bool> = operands.iter().map(|o| o.batched).collect();
        let (residuals, varying) = flags.split_at(self.residuals);
        let count = self.bwd.inputs.len() - self.residuals;
        let inputs: Vec<bool> = residuals.iter().copied().chain(std::iter::repeat_n(true, count)).collect();
        let forward = self.forward.as_ref().map(|graph| batch_whole(cx, graph, size, &flags)).transpose()?;
        let batched = CustomPull {
            residuals: self.residuals,
            bwd: Arc::new(batch_pullback(cx, &self.bwd, size, &inputs, varying)?),
            forward: forward.map(Arc::new),
        };
        let atoms: Vec<Atom> = operands.iter().map(|o| o.atom.clone()).collect();
        Ok(cx.bind_all(Prim::custom(batched), &atoms)?.into_iter().map(Batched::yes).collect())
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        self.forward.clone().map(Lowering::Graph).ok_or_else(only_backward)
    }

    fn examples() -> Vec<Example> {
        Vec::new()
    }
}
