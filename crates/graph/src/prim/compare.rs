//! `compare[comparison=lt] a, b`: bools, elementwise. IEEE for floats: all but `ne` are false on NaN.

use std::cmp::Ordering;

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::Comparison;

use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use super::sheet::Sheet;
use super::{And, Or};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `compare[comparison=C] a, b`: whether `a C b` holds, elementwise.
    pub struct Compare {
        /// Which of the six.
        comparison: Comparison,
    }
}

impl Compare {
    /// Complex numbers are equal or not; they have no order.
    fn domain(&self) -> Domain {
        match self.comparison {
            Comparison::Eq | Comparison::Ne => Domain::Any,
            _ => Domain::Ordered,
        }
    }
}

impl Primitive for Compare {
    fn name(&self) -> &str {
        "compare"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("compare", inputs, 2)?;
        Ok(vec![same_type("compare", self.domain(), inputs)?.with_dtype(DType::Bool)])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let float = inputs[0].dtype().is_float();
        Ok(vec![map_literals(DType::Bool, inputs[0].shape(), inputs, |x| {
            if x[0].dtype().is_complex() {
                let equal = x[0].as_complex() == x[1].as_complex();
                return Literal::new(equal == (self.comparison == Comparison::Eq));
            }
            let order = if float {
                x[0].as_f64().partial_cmp(&x[1].as_f64())
            } else {
                Some(x[0].as_i64().cmp(&x[1].as_i64()))
            };
            Literal::new(match self.comparison {
                Comparison::Eq => order == Some(Ordering::Equal),
                Comparison::Ne => order != Some(Ordering::Equal),
                Comparison::Lt => order == Some(Ordering::Less),
                Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                Comparison::Gt => order == Some(Ordering::Greater),
                Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            })
        })])
    }

    /// Bools have no tangent.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Ok(Jvp::one(cx.bind(self.clone(), &[&primals[0], &primals[1]])?, None))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("compare"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, self.clone(), size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let comparison = self.comparison;
        if inputs[0].dtype.is_complex() {
            return Ok(Sheet::lowering("compare", inputs, |s, x| {
                let ((a, b), (c, d)) = (s.parts(&x[0]), s.parts(&x[1]));
                let both = [s.compare(comparison, &a, &c), s.compare(comparison, &b, &d)];
                if comparison == Comparison::Eq { s.bind(And {}, &both) } else { s.bind(Or {}, &both) }
            }));
        }
        Ok(Lowering::map(move |b, x| b.compare(comparison, x[0], x[1])))
    }

    fn examples() -> Vec<Example> {
        Comparison::ALL
            .into_iter()
            .flat_map(|comparison| {
                let compare = Compare { comparison };
                let domain = compare.domain();
                elementwise::examples(compare, domain, 2)
            })
            .collect()
    }
}
