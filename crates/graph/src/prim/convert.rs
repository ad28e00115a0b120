//! `convert[dtype=T] x`: the same values as another element type. Float to integer saturates and takes NaN to
//! 0, integer to integer wraps, to bool is `!= 0`; an imaginary part is lost on the way to a real type.

use tracewell_array::{DType, Tensor};
use tracewell_kernel::Op;

use super::Or;
use super::elementwise::{Domain, arity, batch_elementwise, example_types, map_literals};
use super::sheet::Sheet;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `convert[dtype=T, weak=W] x`: the elements as `T`; the result's type is weak where `W` holds.
    pub struct Convert {
        /// The new element type.
        dtype: DType,
        /// Whether the result yields in promotion.
        weak: bool,
    }
}

impl Convert {
    /// Between real and complex numbers: there is no imaginary part before, or it is lost.
    fn of_parts(&self, inputs: &[ArrayType]) -> Lowering {
        Sheet::lowering("convert", inputs, |s, x| {
            let part = Convert { dtype: self.dtype.real(), weak: self.weak };
            let (re, im) = match inputs[0].dtype.is_complex() {
                true => s.parts(&x[0]),
                false => (x[0].clone(), s.fill(&x[0], 0.0)),
            };
            if self.dtype.is_bool() {
                let both = [s.bind(part.clone(), &[re]), s.bind(part, &[im])];
                return s.bind(Or {}, &both);
            }
            let re = s.bind(part.clone(), &[re]);
            if !self.dtype.is_complex() {
                return re;
            }
            let im = s.bind(part, &[im]);
            s.complex(&re, &im)
        })
    }
}

impl Primitive for Convert {
    fn name(&self) -> &str {
        "convert"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("convert", inputs, 1)?;
        Ok(vec![ArrayType { dtype: self.dtype, shape: inputs[0].shape.clone(), weak: self.weak }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        Ok(vec![map_literals(self.dtype, inputs[0].shape(), inputs, |x| x[0].convert(self.dtype))])
    }

    /// Linear between floats; everything else has no tangent.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(self.clone(), &[&primals[0]])?;
        let dy = match &tangents[0] {
            Some(dx) if self.dtype.is_inexact() => Some(cx.bind(self.clone(), &[dx])?),
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
            (Operand::Linear(ty), Some(ct)) => {
                Ok(vec![Some(cx.bind(Convert { dtype: ty.dtype, weak: ty.weak }, &[ct])?)])
            }
            _ => Ok(vec![None]),
        }
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, self.clone(), size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let dtype = self.dtype;
        if dtype.is_complex() || inputs[0].dtype.is_complex() {
            return Ok(self.of_parts(inputs));
        }
        Ok(Lowering::map(
            move |b, x| {
                if b.dtype(x[0]) == dtype { x[0] } else { b.op(Op::Convert(dtype), &[x[0]]) }
            },
        ))
    }

    fn examples() -> Vec<Example> {
        DType::ALL
            .iter()
            .flat_map(|&dtype| {
                example_types(Domain::Any)
                    .map(move |ty| Example { prim: Convert { dtype, weak: false }.into(), inputs: vec![ty] })
            })
            .collect()
    }
}
