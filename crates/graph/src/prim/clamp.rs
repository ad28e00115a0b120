//! `clamp lo, x, hi`: `x`, but not below `lo` and not above `hi`; elementwise.

use tracewell_array::{Literal, Tensor};
use tracewell_kernel::{Comparison, Op};

use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use super::{Add, And, Compare, Max, Select};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `clamp lo, x, hi`: the smaller of `hi` and of the larger of `lo` and `x`; NaN where one of them is. At a
    /// bound the derivative is zero.
    pub struct Clamp {}
}

impl Primitive for Clamp {
    fn name(&self) -> &str {
        "clamp"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("clamp", inputs, 3)?;
        Ok(vec![same_type("clamp", Domain::Number, inputs)?])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let dtype = inputs[0].dtype();
        Ok(vec![map_literals(dtype, inputs[0].shape(), inputs, |x| {
            if let Some(&nan) = x.iter().find(|x| x.as_f64().is_nan()) {
                return nan;
            }
            let less = |a: Literal, b: Literal| {
                if dtype.is_float() { a.as_f64() < b.as_f64() } else { a.as_i64() < b.as_i64() }
            };
            let raised = if less(x[1], x[0]) { x[0] } else { x[1] };
            if less(raised, x[2]) { raised } else { x[2] }
        })])
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let [lo, x, hi] = primals else { unreachable!("typed") };
        let y = cx.bind(Clamp {}, &[lo, x, hi])?;
        let mut total: Option<Atom> = None;
        for (i, tangent) in tangents.iter().enumerate() {
            let Some(d) = tangent else { continue };
            let counts = match i {
                0 => rising(cx, x, lo, hi)?,
                1 => rising(cx, lo, x, hi)?,
                _ => {
                    let raised = cx.bind(Max {}, &[lo, x])?;
                    less(cx, hi, &raised)?
                }
            };
            let zero = cx.fill(d, 0.0);
            let term = cx.bind(Select {}, &[&counts, d, &zero])?;
            total = Some(match &total {
                Some(total) => cx.bind(Add {}, &[total, &term])?,
                None => term,
            });
        }
        Ok(Jvp::one(y, total))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("clamp"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, Clamp {}, size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::map(|b, x| {
            let raised = b.op(Op::Max, &[x[0], x[1]]);
            b.op(Op::Min, &[raised, x[2]])
        }))
    }

    fn examples() -> Vec<Example> {
        elementwise::examples(Clamp {}, Domain::Number, 3)
    }
}

/// `a < b`
fn less(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Atom, RuleError> {
    cx.bind(Compare { comparison: Comparison::Lt }, &[a, b])
}

/// `a < b < c`
fn rising(cx: &mut Cx<'_>, a: &Atom, b: &Atom, c: &Atom) -> Result<Atom, RuleError> {
    let (below, above) = (less(cx, a, b)?, less(cx, b, c)?);
    cx.bind(And {}, &[&below, &above])
}
