//! `round[to_even=E] x`: the nearest integer of each float.

use tracewell_array::{Literal, Tensor};
use tracewell_kernel::{Comparison, KernelBuilder, Op, Value};

use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `round[to_even=E] x`: the nearest integer. Between two, the even one, or where `E` does not hold the one
    /// farther from zero. The sign of zero stays. The derivative is zero.
    pub struct Round {
        /// Whether a half is rounded to an even number.
        to_even: bool,
    }
}

impl Primitive for Round {
    fn name(&self) -> &str {
        "round"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("round", inputs, 1)?;
        Ok(vec![same_type("round", Domain::Float, inputs)?])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let dtype = inputs[0].dtype();
        let round = if self.to_even { f64::round_ties_even } else { f64::round };
        Ok(vec![map_literals(dtype, inputs[0].shape(), inputs, |x| {
            Literal::from_f64(dtype, round(x[0].as_f64()))
        })])
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Ok(Jvp::one(cx.bind(self.clone(), &[&primals[0]])?, None))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("round"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, self.clone(), size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(if self.to_even {
            Lowering::map(|b, x| b.op(Op::RoundEven, x))
        } else {
            Lowering::map(|b, x| round_away(b, x[0]))
        })
    }

    fn examples() -> Vec<Example> {
        let of = |to_even| elementwise::examples(Round { to_even }, Domain::Float, 1);
        [true, false].into_iter().flat_map(of).collect()
    }
}

/// The integer towards zero, and one more where at least a half is left, which is exact.
fn round_away(b: &mut KernelBuilder, x: Value) -> Value {
    let whole = b.op(Op::Trunc, &[x]);
    let rest = b.op(Op::Sub, &[x, whole]);
    let size = b.op(Op::Abs, &[rest]);
    let half = b.like(x, 0.5);
    let far = b.compare(Comparison::Ge, size, half);
    let zero = b.like(x, 0.0);
    let negative = b.compare(Comparison::Lt, x, zero);
    let (one, minus_one) = (b.like(x, 1.0), b.like(x, -1.0));
    let step = b.select(negative, minus_one, one);
    let farther = b.op(Op::Add, &[whole, step]);
    b.select(far, farther, whole)
}
