//! `select c, a, b`: `a` where the bool `c` holds, `b` elsewhere; elementwise. Linear in `a` and `b`.

use tracewell_array::Tensor;

use super::elementwise::{Domain, arity, batch_elementwise, example_types, map_literals, same_type};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `select c, a, b`: `a` where `c` holds, else `b`.
    pub struct Select {}
}

impl Primitive for Select {
    fn name(&self) -> &str {
        "select"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("select", inputs, 3)?;
        let [condition, a, _] = inputs else { unreachable!("arity is checked above") };
        let ty = same_type("select", Domain::Any, &inputs[1..])?;
        if !condition.dtype.is_bool() || condition.shape != a.shape {
            return Err(TypeError::new(
                "select",
                format!("`select` expects a condition of type bool{}, found {condition}", a.shape),
            ));
        }
        Ok(vec![ty])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![map_literals(inputs[1].dtype(), inputs[1].shape(), inputs, |x| {
            if x[0].as_i64() != 0 { x[1] } else { x[2] }
        })])
    }

    /// The tangent is selected by the same condition.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let [c, a, b] = primals else { unreachable!("typed") };
        let y = cx.bind(Select {}, &[c, a, b])?;
        let dy = match (&tangents[1], &tangents[2]) {
            (None, None) => None,
            (da, db) => {
                let zero = cx.fill(&y, 0.0);
                let (da, db) = (da.as_ref().unwrap_or(&zero), db.as_ref().unwrap_or(&zero));
                Some(cx.bind(Select {}, &[c, da, db])?)
            }
        };
        Ok(Jvp::one(y, dy))
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None; 3]) };
        let Some(c) = operands[0].known() else { return Err(RuleError::not_linear("select")) };
        let zero = cx.fill(ct, 0.0);
        let mut of =
            |linear: bool, a: &Atom, b: &Atom| linear.then(|| cx.bind(Select {}, &[c, a, b])).transpose();
        let a = of(operands[1].is_linear(), ct, &zero)?;
        let b = of(operands[2].is_linear(), &zero, ct)?;
        Ok(vec![None, a, b])
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, Select {}, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[1].dtype.is_complex() {
            return Ok(Lowering::Parts);
        }
        Ok(Lowering::map(|b, x| b.select(x[0], x[1], x[2])))
    }

    fn examples() -> Vec<Example> {
        example_types(Domain::Any)
            .map(|ty| Example {
                prim: Select {}.into(),
                inputs: vec![ty.with_dtype(tracewell_array::DType::Bool), ty.clone(), ty],
            })
            .collect()
    }
}
