//! `linear_call[known=n, forward=F, adjoint=A] r…, x…`: applies a linear graph whose adjoint is another graph.
//!
//! For linear maps whose adjoint is better written down than derived: the derivative of a loop knows how to run
//! backwards, which no walk over the loop finds out.

use std::sync::Arc;

use tracewell_array::{DType, Shape, Tensor};

use super::custom_vjp::batch_pullback;
use super::nested::{batch_whole, check_operands, check_types, inline_strictly, jvp_nested, unless_zero};
use super::{Broadcast, Call, Mul, ReduceSum};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::eval::eval;
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `linear_call[known=n, forward=F, adjoint=A] r…, x…`: the outputs of `F`, which is linear in all its inputs but
    /// the first `n`. Its adjoint at these is `A`, from the cotangents of results to those of the other inputs.
    pub struct LinearCall {
        /// How many operands are coefficients.
        known: usize,
        /// From the coefficients and the other operands to the results.
        forward: Arc<Graph>,
        /// From the coefficients and the cotangents of results to those of the other operands.
        adjoint: Arc<Graph>,
    }
}

impl Primitive for LinearCall {
    fn name(&self) -> &str {
        "linear_call"
    }

    /// The types of `F`; those of `A` follow from them.
    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        check_operands("linear_call", &self.forward, inputs)?;
        if inputs.len() < self.known {
            let message = format!("{} operands are known, but there are {}", self.known, inputs.len());
            return Err(TypeError::new("linear_call", message));
        }
        let (known, linear) = inputs.split_at(self.known);
        let results = self.forward.output_types();
        check_operands("linear_call", &self.adjoint, &[known, &results].concat())?;
        check_types("linear_call", "the adjoint's result", linear, &self.adjoint.output_types())?;
        Ok(results)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval(&self.forward, inputs)
    }

    /// Linear where the coefficients do not vary; else the derivative of the forward graph.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        if tangents[..self.known].iter().any(Option::is_some) {
            return jvp_nested(cx, &self.forward, |graph| Call { graph }.into(), primals, tangents);
        }
        let results = cx.bind_all(self.clone(), primals)?;
        let mut operands = primals[..self.known].to_vec();
        for (primal, tangent) in primals.iter().zip(tangents).skip(self.known) {
            operands.push(tangent.clone().unwrap_or_else(|| cx.fill(primal, 0.0)));
        }
        let tangents = cx.bind_all(self.clone(), &operands)?.into_iter().map(Some).collect();
        Ok(Jvp { primals: results, tangents })
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let (known, linear) = operands.split_at(self.known);
        let known: Option<Vec<Atom>> = known.iter().map(|operand| operand.known().cloned()).collect();
        let mut inputs = known.ok_or_else(|| RuleError::not_linear("linear_call"))?;
        let zero = |(ct, ty): (&Option<Atom>, ArrayType)| ct.clone().unwrap_or_else(|| Atom::fill(&ty, 0.0));
        inputs.extend(cotangents.iter().zip(self.forward.output_types()).map(zero));
        let found = inline_strictly(cx, &self.adjoint, &inputs)?.into_iter().zip(linear);
        let found = found.map(|(ct, operand)| if operand.is_linear() { unless_zero(ct) } else { None });
        Ok(std::iter::repeat_n(None, self.known).chain(found).collect())
    }

    /// Both graphs batched. All results get the axis; what is the same for the whole batch has the sum of its
    /// cotangents.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let flags: Vec<bool> = operands.iter().map(|operand| operand.batched).collect();
        let (known, linear) = flags.split_at(self.known);
        let given = vec![true; self.forward.outputs.len()];
        let batched = LinearCall {
            known: self.known,
            forward: Arc::new(batch_whole(cx, &self.forward, size, &flags)?),
            adjoint: Arc::new(batch_pullback(cx, &self.adjoint, size, &[known, &given].concat(), linear)?),
        };
        let atoms: Vec<Atom> = operands.iter().map(|operand| operand.atom.clone()).collect();
        Ok(cx.bind_all(batched, &atoms)?.into_iter().map(Batched::yes).collect())
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::Graph(self.forward.clone()))
    }

    /// Two results that are linear in two operands, by two coefficients.
    fn examples() -> Vec<Example> {
        let example = |dtype: DType| {
            let (row, one) = (ArrayType::new(dtype, [3]), ArrayType::new(dtype, Shape::scalar()));
            let repeat = Broadcast { shape: Shape::from([3].as_slice()), axes: vec![] };
            let inputs =
                |b: &mut GraphBuilder, types: [&ArrayType; 4]| types.map(|ty| Atom::Var(b.input(ty.clone())));
            // (r, s, x, y) ↦ (r·x, s·y)
            let mut b = GraphBuilder::new();
            let [r, s, x, y] = inputs(&mut b, [&row, &row, &row, &one]);
            let by_x = b.bind1(Mul {}, &[r, x]).expect("typed");
            let y = b.bind1(repeat.clone(), &[y]).expect("typed");
            let by_y = b.bind1(Mul {}, &[s, y]).expect("typed");
            let forward = Arc::new(b.finish("example", vec![by_x, by_y]));
            // (r, s, u, v) ↦ (r·u, Σ s·v)
            let mut b = GraphBuilder::new();
            let [r, s, u, v] = inputs(&mut b, [&row, &row, &row, &row]);
            let of_x = b.bind1(Mul {}, &[r, u]).expect("typed");
            let of_y = b.bind1(Mul {}, &[s, v]).expect("typed");
            let of_y = b.bind1(ReduceSum { axes: vec![0] }, &[of_y]).expect("typed");
            let adjoint = Arc::new(b.finish("example_adjoint", vec![of_x, of_y]));
            let prim = LinearCall { known: 2, forward, adjoint }.into();
            Example { prim, inputs: vec![row.clone(), row.clone(), row, one] }
        };
        [DType::F32, DType::F64].map(example).to_vec()
    }
}
