//! `abs x` and `sign x`: how large a number is, and where it points. Of complex numbers the first is real.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::{Comparison, KernelBuilder, Op, Value};

use super::complex_math::{self, reference};
use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use super::sheet::Sheet;
use super::{Complex, Conj, Div, Mul, Real, Select, Sub};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `abs x`: the magnitude, which is real. The derivative at 0 is 0.
    pub struct Abs {}
}

params! {
    /// `sign x`: -1, 0 or 1; NaN for NaN, and a zero keeps its sign. Of complex numbers `x / |x|`, and 0 of 0.
    pub struct Sign {}
}

impl Primitive for Abs {
    fn name(&self) -> &str {
        "abs"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("abs", inputs, 1)?;
        let ty = same_type("abs", Domain::Field, inputs)?;
        Ok(vec![ArrayType { dtype: ty.dtype.real(), ..ty }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let dtype = inputs[0].dtype();
        Ok(vec![map_literals(dtype.real(), inputs[0].shape(), inputs, |x| match dtype {
            dtype if dtype.is_complex() => Literal::from_f64(dtype.real(), x[0].as_complex().norm()),
            dtype if dtype.is_float() => Literal::from_f64(dtype, x[0].as_f64().abs()),
            dtype => Literal::from_i64(dtype, x[0].as_i64().wrapping_abs()),
        })])
    }

    /// `d|x| = sign(x) dx`; of complex numbers `Re(conj(sign x) dx)`.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let x = &primals[0];
        let y = cx.bind(Abs {}, &[x])?;
        let Some(dx) = &tangents[0] else { return Ok(Jvp::one(y, None)) };
        let mut slope = cx.bind(Sign {}, &[x])?;
        let is_complex = cx.ty(x).dtype.is_complex();
        if is_complex {
            slope = cx.bind(Conj {}, &[&slope])?;
        }
        let mut dy = cx.bind(Mul {}, &[dx, &slope])?;
        if is_complex {
            dy = cx.bind(Real {}, &[&dy])?;
        }
        Ok(Jvp::one(y, Some(dy)))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("abs"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, Abs {}, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Sheet::lowering("abs", inputs, complex_math::abs));
        }
        Ok(Lowering::map(|b, x| b.op(Op::Abs, x)))
    }

    fn examples() -> Vec<Example> {
        elementwise::examples(Abs {}, Domain::Field, 1)
    }
}

impl Primitive for Sign {
    fn name(&self) -> &str {
        "sign"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("sign", inputs, 1)?;
        Ok(vec![same_type("sign", Domain::Field, inputs)?])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let dtype = inputs[0].dtype();
        let real = |x: f64| if x == 0.0 || x.is_nan() { x } else { x.signum() };
        Ok(vec![map_literals(dtype, inputs[0].shape(), inputs, |x| match dtype {
            dtype if dtype.is_complex() => Literal::from_complex(dtype, reference::sign(x[0].as_complex())),
            dtype if dtype.is_float() => Literal::from_f64(dtype, real(x[0].as_f64())),
            dtype => Literal::from_i64(dtype, x[0].as_i64().signum()),
        })])
    }

    /// Constant almost everywhere on the real line. A complex one turns with what is across it:
    /// `(dx - sign(x) Re(conj(sign x) dx)) / |x|`, and nothing at 0.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let x = &primals[0];
        let y = cx.bind(Sign {}, &[x])?;
        let Some(dx) = tangents[0].as_ref().filter(|_| cx.ty(x).dtype.is_complex()) else {
            return Ok(Jvp::one(y, None));
        };
        let size = cx.bind(Abs {}, &[x])?;
        let (zero, one) = (cx.fill(&size, 0.0), cx.fill(&size, 1.0));
        let is_zero = super::Compare { comparison: Comparison::Eq };
        let is_zero = cx.bind(is_zero, &[&size, &zero])?;
        let divisor = cx.bind(Select {}, &[&is_zero, &one, &size])?;
        let weight = cx.bind(Select {}, &[&is_zero, &zero, &one])?;
        let weight = cx.bind(Div {}, &[&weight, &divisor])?;
        let conj = cx.bind(Conj {}, &[&y])?;
        let along = cx.bind(Mul {}, &[dx, &conj])?;
        let along = cx.bind(Real {}, &[&along])?;
        let along = cx.bind(Complex {}, &[&along, &zero])?;
        let along = cx.bind(Mul {}, &[&along, &y])?;
        let across = cx.bind(Sub {}, &[dx, &along])?;
        let weight = cx.bind(Complex {}, &[&weight, &zero])?;
        Ok(Jvp::one(y, Some(cx.bind(Mul {}, &[&across, &weight])?)))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("sign"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, Sign {}, size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Sheet::lowering("sign", inputs, complex_math::sign));
        }
        Ok(Lowering::map(|b, x| lower_sign(b, x[0])))
    }

    fn examples() -> Vec<Example> {
        elementwise::examples(Sign {}, Domain::Field, 1)
    }
}

/// -1, 0 or 1 by comparison with zero; the operand itself where it is neither, which is NaN and the zeros.
fn lower_sign(b: &mut KernelBuilder, x: Value) -> Value {
    let zero = b.like(x, 0.0);
    let one = b.like(x, 1.0);
    let positive = b.compare(Comparison::Gt, x, zero);
    let upper = b.select(positive, one, x);
    if b.dtype(x) == DType::U8 || b.dtype(x) == DType::U32 {
        return upper;
    }
    let minus_one = b.like(x, -1.0);
    let negative = b.compare(Comparison::Lt, x, zero);
    b.select(negative, minus_one, upper)
}
