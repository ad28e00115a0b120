//! `integer_pow[exponent=n] x`: `x` to a power that is known now, by repeated squaring.

use tracewell_array::{Complex64, DType, Literal, Tensor};
use tracewell_kernel::{KernelBuilder, Op, Value};

use super::Mul;
use super::complex_math::reference;
use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use super::sheet::Sheet;
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `integer_pow[exponent=n] x`: a product of `n` factors `x`, from squares; each product is rounded, or wraps
    /// for integers. One over it where `n` is negative, which integers may not have. 1 where `n` is 0.
    pub struct IntegerPow {
        /// The power.
        exponent: i32,
    }
}

impl Primitive for IntegerPow {
    fn name(&self) -> &str {
        "integer_pow"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("integer_pow", inputs, 1)?;
        let ty = same_type("integer_pow", Domain::Field, inputs)?;
        if self.exponent < 0 && !ty.dtype.is_inexact() {
            let power = self.exponent;
            let message = format!("cannot raise {ty} to the power {power}");
            return Err(TypeError::new("integer_pow", message).help("`.convert(F32)` first"));
        }
        Ok(vec![ty])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (dtype, n) = (inputs[0].dtype(), self.exponent.unsigned_abs());
        Ok(vec![map_literals(dtype, inputs[0].shape(), inputs, |x| {
            if dtype.is_complex() {
                let power = power(n, x[0].as_complex(), |a, b| a * b).unwrap_or(Complex64::ONE);
                let inverse = || reference::div(Complex64::ONE, power);
                return Literal::from_complex(dtype, if self.exponent < 0 { inverse() } else { power });
            }
            if !dtype.is_float() {
                return Literal::from_i64(dtype, x[0].as_i64().wrapping_pow(n));
            }
            // Rounding to the type is part of what the function is.
            let round = |x: f64| Literal::from_f64(dtype, x).as_f64();
            let power = power(n, x[0].as_f64(), |a, b| round(a * b)).unwrap_or(1.0);
            Literal::from_f64(dtype, if self.exponent < 0 { 1.0 / power } else { power })
        })])
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let x = &primals[0];
        let y = cx.bind(self.clone(), &[x])?;
        let (Some(dx), Some(less)) = (&tangents[0], self.exponent.checked_sub(1)) else {
            let smallest = tangents[0].is_some();
            let why = "its exponent is the smallest there is";
            let error = || RuleError::not_differentiable("integer_pow", why);
            return if smallest { Err(error()) } else { Ok(Jvp::one(y, None)) };
        };
        if self.exponent == 0 {
            return Ok(Jvp::one(y, None));
        }
        let factor = cx.fill(x, f64::from(self.exponent));
        let power = cx.bind(IntegerPow { exponent: less }, &[x])?;
        let slope = cx.bind(Mul {}, &[&factor, &power])?;
        Ok(Jvp::one(y, Some(cx.bind(Mul {}, &[dx, &slope])?)))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("integer_pow"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, self.clone(), size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let exponent = self.exponent;
        if inputs[0].dtype.is_complex() {
            return Ok(Sheet::lowering("integer_pow", inputs, |s, x| {
                let one = s.fill(&x[0], 1.0);
                let power = power(exponent.unsigned_abs(), x[0].clone(), |a, b| s.mul(&a, &b));
                match power {
                    Some(power) if exponent < 0 => s.div(&one, &power),
                    Some(power) => power,
                    None => one,
                }
            }));
        }
        Ok(Lowering::map(move |b: &mut KernelBuilder, x: &[Value]| {
            let squared = power(exponent.unsigned_abs(), x[0], |x, y| b.op(Op::Mul, &[x, y]));
            let one = b.like(x[0], 1.0);
            match squared {
                Some(power) if exponent < 0 => b.op(Op::Div, &[one, power]),
                Some(power) => power,
                None => one,
            }
        }))
    }

    fn examples() -> Vec<Example> {
        let of = |exponent: i32| {
            let domain = if exponent < 0 { Domain::Inexact } else { Domain::Field };
            elementwise::examples(IntegerPow { exponent }, domain, 1)
        };
        let large = ArrayType::new(DType::F64, [3]);
        let large = [i32::MAX, i32::MIN + 1]
            .map(|exponent| Example { prim: IntegerPow { exponent }.into(), inputs: vec![large.clone()] });
        [0, 1, 2, 3, 7, -1, -4].into_iter().flat_map(of).chain(large).collect()
    }
}

/// The product of `n` factors `x`: squares of squares, of which those are multiplied that the bits of `n` name, the
/// lowest first. None of no factors.
fn power<T: Clone>(mut n: u32, x: T, mut times: impl FnMut(T, T) -> T) -> Option<T> {
    let (mut square, mut product) = (x, None);
    while n > 0 {
        if n & 1 == 1 {
            product = Some(match product {
                Some(product) => times(product, square.clone()),
                None => square.clone(),
            });
        }
        n >>= 1;
        if n > 0 {
            square = times(square.clone(), square);
        }
    }
    product
}
