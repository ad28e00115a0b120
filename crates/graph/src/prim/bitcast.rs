//! `bitcast[dtype=T] x`: the same bits as another element type of the same size.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::Op;

use super::elementwise::{Domain, arity, batch_elementwise, example_types, map_literals};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `bitcast[dtype=T] x`: the bits of the elements as elements of `T`.
    pub struct Bitcast {
        /// The new element type.
        dtype: DType,
    }
}

impl Primitive for Bitcast {
    fn name(&self) -> &str {
        "bitcast"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("bitcast", inputs, 1)?;
        let (from, to) = (inputs[0].dtype, self.dtype);
        let error = |why: &str, help: &str| {
            let message = format!("cannot bitcast {} to {to}: {why}", inputs[0]);
            Err(TypeError::new("bitcast", message).help(help))
        };
        if from.is_bool() || to.is_bool() {
            return error("bools have no bits of their own", "`.convert` instead");
        }
        if from.is_complex() || to.is_complex() {
            return error("complex numbers are two floats", "`.re()` and `.im()` have bits");
        }
        if from.size() != to.size() {
            let (from, to) = (8 * from.size(), 8 * to.size());
            return error(
                &format!("elements have {from} and {to} bits"),
                "`.convert` keeps the values instead",
            );
        }
        Ok(vec![ArrayType { dtype: to, shape: inputs[0].shape.clone(), weak: false }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![map_literals(self.dtype, inputs[0].shape(), inputs, |x| {
            Literal::from_bits(self.dtype, x[0].bits())
        })])
    }

    /// Integers have no tangents; between a float type and itself nothing changes.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(self.clone(), &[&primals[0]])?;
        let dy = match &tangents[0] {
            Some(dx) if self.dtype.is_float() => Some(cx.bind(self.clone(), &[dx])?),
            _ => None,
        };
        Ok(Jvp::one(y, dy))
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        match (&operands[0], &cotangents[0]) {
            (Operand::Linear(ty), Some(ct)) if ty.dtype == self.dtype => {
                Ok(vec![Some(cx.bind(self.clone(), &[ct])?)])
            }
            (Operand::Linear(_), Some(_)) => Err(RuleError::not_linear("bitcast")),
            _ => Ok(vec![None]),
        }
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, self.clone(), size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let dtype = self.dtype;
        Ok(Lowering::map(
            move |b, x| {
                if b.dtype(x[0]) == dtype { x[0] } else { b.op(Op::Bitcast(dtype), &[x[0]]) }
            },
        ))
    }

    fn examples() -> Vec<Example> {
        let to = |ty: ArrayType| {
            DType::ALL
                .iter()
                .map(|&dtype| Bitcast { dtype })
                .filter(|prim| prim.type_rule(std::slice::from_ref(&ty)).is_ok())
                .map(|prim| Example { prim: prim.into(), inputs: vec![ty.clone()] })
                .collect::<Vec<_>>()
        };
        example_types(Domain::Number).flat_map(to).collect()
    }
}
