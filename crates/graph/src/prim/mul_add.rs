//! `mul_add a, b, c`: `a × b + c`, rounded once; elementwise. Linear in `a`, in `b` and in `c`, but not in `a` and `b`
//! together.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::Op;

use super::Mul;
use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `mul_add a, b, c`: `a × b + c` with one rounding, where `mul` and `add` round twice.
    pub struct MulAdd {}
}

impl Primitive for MulAdd {
    fn name(&self) -> &str {
        "mul_add"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("mul_add", inputs, 3)?;
        Ok(vec![same_type("mul_add", Domain::Float, inputs)?])
    }

    /// In the type of the elements: a result in `f64` that is rounded to `f32` was rounded twice.
    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let dtype = inputs[0].dtype();
        Ok(vec![map_literals(dtype, inputs[0].shape(), inputs, |x| {
            let (a, b, c) = (x[0].as_f64(), x[1].as_f64(), x[2].as_f64());
            if dtype == DType::F32 {
                Literal::new((a as f32).mul_add(b as f32, c as f32))
            } else {
                Literal::new(a.mul_add(b, c))
            }
        })])
    }

    /// `da × b + (a × db + dc)`, each step fused as the value is.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let [a, b, c] = primals else { unreachable!("typed") };
        let [da, db, dc] = tangents else { unreachable!("typed") };
        let y = cx.bind(MulAdd {}, &[a, b, c])?;
        let mut total = dc.clone();
        if let Some(db) = db {
            total = Some(product_and(cx, a, db, total)?);
        }
        if let Some(da) = da {
            total = Some(product_and(cx, da, b, total)?);
        }
        Ok(Jvp::one(y, total))
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None; 3]) };
        let [a, b, c] = operands else { unreachable!("typed") };
        // The adjoint of a product in one factor is the product with the other, which must be known.
        let mut of = |factor: &Operand, other: &Operand| match (factor.is_linear(), other.known()) {
            (false, _) => Ok(None),
            (true, Some(other)) => cx.bind(Mul {}, &[ct, other]).map(Some),
            (true, None) => Err(RuleError::not_linear("mul_add")),
        };
        Ok(vec![of(a, b)?, of(b, a)?, c.is_linear().then(|| ct.clone())])
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, MulAdd {}, size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::map(|b, x| b.op(Op::Fma, &[x[0], x[1], x[2]])))
    }

    fn examples() -> Vec<Example> {
        elementwise::examples(MulAdd {}, Domain::Float, 3)
    }
}

/// `a × b`, and what is there already.
fn product_and(cx: &mut Cx<'_>, a: &Atom, b: &Atom, sum: Option<Atom>) -> Result<Atom, RuleError> {
    match &sum {
        Some(sum) => cx.bind(MulAdd {}, &[a, b, sum]),
        None => cx.bind(Mul {}, &[a, b]),
    }
}
