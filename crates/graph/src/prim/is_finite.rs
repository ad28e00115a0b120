//! `is_finite x`: whether each float, or both parts of each complex number, is neither infinite nor NaN.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::{Comparison, Op};

use super::And;
use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use super::sheet::Sheet;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `is_finite x`: bools, elementwise.
    pub struct IsFinite {}
}

impl Primitive for IsFinite {
    fn name(&self) -> &str {
        "is_finite"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("is_finite", inputs, 1)?;
        Ok(vec![same_type("is_finite", Domain::Inexact, inputs)?.with_dtype(DType::Bool)])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![map_literals(DType::Bool, inputs[0].shape(), inputs, |x| {
            Literal::new(x[0].as_complex().is_finite())
        })])
    }

    /// Bools have no tangent.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Ok(Jvp::one(cx.bind(IsFinite {}, &[&primals[0]])?, None))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("is_finite"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, IsFinite {}, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Sheet::lowering("is_finite", inputs, |s, x| {
                let (re, im) = s.parts(&x[0]);
                let both = [s.bind(IsFinite {}, &[re]), s.bind(IsFinite {}, &[im])];
                s.bind(And {}, &both)
            }));
        }
        Ok(Lowering::map(|b, x| {
            let size = b.op(Op::Abs, x);
            let infinity = b.like(x[0], f64::INFINITY);
            b.compare(Comparison::Lt, size, infinity)
        }))
    }

    fn examples() -> Vec<Example> {
        elementwise::examples(IsFinite {}, Domain::Inexact, 1)
    }
}
