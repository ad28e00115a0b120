//! Elementwise functions of one operand: all derivatives on one screen.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::{Comparison, KernelBuilder, Op, Value, math};

use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use super::{Div, Mul, Sub};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

/// The derivative of `y = f(x)`.
enum Slope {
    /// `f` is linear: its tangent is `f(dx)`, and it is its own transpose.
    Linear,
    /// `dy = factor × dx`.
    Times(Atom),
    /// `f` is constant almost everywhere, or says so.
    Zero,
}

/// One line a function: its meaning for reals and integers, its expansion, its derivative.
macro_rules! unary {
    ($($(#[doc = $doc:literal])* $Name:ident $name:literal $domain:ident
        real $real:expr, int $int:expr, lower $lower:expr, slope $slope:expr;)*) => {$(
        params! { $(#[doc = $doc])* pub struct $Name {} }

        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, 1)?;
                Ok(vec![same_type($name, Domain::$domain, inputs)?])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                Ok(vec![eval_unary(&inputs[0], $real, $int)])
            }

            fn jvp(
                &self,
                cx: &mut Cx<'_>,
                primals: &[Atom],
                tangents: &[Option<Atom>],
            ) -> Result<Jvp, RuleError> {
                let x = &primals[0];
                let y = cx.bind($Name {}, &[x])?;
                let Some(dx) = &tangents[0] else { return Ok(Jvp::one(y, None)) };
                let slope: fn(&mut Cx<'_>, &Atom, &Atom) -> Result<Slope, RuleError> = $slope;
                let dy = match slope(cx, x, &y)? {
                    Slope::Linear => Some(cx.bind($Name {}, &[dx])?),
                    Slope::Times(factor) => Some(cx.bind(Mul {}, &[dx, &factor])?),
                    Slope::Zero => None,
                };
                Ok(Jvp::one(y, dy))
            }

            fn transpose(
                &self,
                cx: &mut Cx<'_>,
                operands: &[Operand],
                cotangents: &[Option<Atom>],
            ) -> Result<Vec<Option<Atom>>, RuleError> {
                let (Operand::Linear(ty), Some(ct)) = (&operands[0], &cotangents[0]) else {
                    return Ok(vec![None]);
                };
                // The slope does not look at its operands where the function is linear.
                let probe = Atom::fill(ty, 0.0);
                let slope: fn(&mut Cx<'_>, &Atom, &Atom) -> Result<Slope, RuleError> = $slope;
                match slope(cx, &probe, &probe)? {
                    Slope::Linear => Ok(vec![Some(cx.bind($Name {}, &[ct])?)]),
                    Slope::Times(_) | Slope::Zero => Err(RuleError::not_linear($name)),
                }
            }

            fn batch(
                &self,
                cx: &mut Cx<'_>,
                size: usize,
                operands: &[Batched],
            ) -> Result<Vec<Batched>, RuleError> {
                batch_elementwise(cx, $Name {}, size, operands)
            }

            fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
                let lower: fn(&mut KernelBuilder, Value) -> Value = $lower;
                Ok(Lowering::map(move |b, x| lower(b, x[0])))
            }

            fn examples() -> Vec<Example> {
                elementwise::examples($Name {}, Domain::$domain, 1)
            }
        }
    )*};
}

unary! {
    /// `abs x`: the magnitude. The derivative at 0 is 0.
    Abs "abs" Number
        real f64::abs, int i64::wrapping_abs,
        lower |b, x| b.op(Op::Abs, &[x]),
        slope |cx, x, _| Ok(Slope::Times(cx.bind(Sign {}, &[x])?));
    /// `ceil x`: the smallest integer not below `x`.
    Ceil "ceil" Float
        real f64::ceil, int |x| x,
        lower |b, x| b.op(Op::Ceil, &[x]),
        slope |_, _, _| Ok(Slope::Zero);
    /// `cos x`: the cosine.
    Cos "cos" Float
        real f64::cos, int |x| x,
        lower math::cos,
        slope |cx, x, _| { let s = cx.bind(Sin {}, &[x])?; Ok(Slope::Times(cx.bind(Neg {}, &[&s])?)) };
    /// `exp x`: the exponential.
    Exp "exp" Float
        real f64::exp, int |x| x,
        lower math::exp,
        slope |_, _, y| Ok(Slope::Times(y.clone()));
    /// `floor x`: the largest integer not above `x`.
    Floor "floor" Float
        real f64::floor, int |x| x,
        lower |b, x| b.op(Op::Floor, &[x]),
        slope |_, _, _| Ok(Slope::Zero);
    /// `log x`: the natural logarithm.
    Log "log" Float
        real f64::ln, int |x| x,
        lower math::log,
        slope |cx, x, _| { let one = cx.fill(x, 1.0); Ok(Slope::Times(cx.bind(Div {}, &[&one, x])?)) };
    /// `neg x`: the negative.
    Neg "neg" Number
        real |x| -x, int i64::wrapping_neg,
        lower |b, x| b.op(Op::Neg, &[x]),
        slope |_, _, _| Ok(Slope::Linear);
    /// `sign x`: -1, 0 or 1; NaN for NaN, and a zero keeps its sign.
    Sign "sign" Number
        real |x| if x == 0.0 || x.is_nan() { x } else { x.signum() }, int i64::signum,
        lower lower_sign,
        slope |_, _, _| Ok(Slope::Zero);
    /// `sin x`: the sine.
    Sin "sin" Float
        real f64::sin, int |x| x,
        lower math::sin,
        slope |cx, x, _| Ok(Slope::Times(cx.bind(Cos {}, &[x])?));
    /// `sqrt x`: the square root.
    Sqrt "sqrt" Float
        real f64::sqrt, int |x| x,
        lower |b, x| b.op(Op::Sqrt, &[x]),
        slope |cx, _, y| { let half = cx.fill(y, 0.5); Ok(Slope::Times(cx.bind(Div {}, &[&half, y])?)) };
    /// `stop_gradient x`: `x`, held constant by derivatives.
    StopGradient "stop_gradient" Any
        real |x| x, int |x| x,
        lower |_, x| x,
        slope |_, _, _| Ok(Slope::Zero);
    /// `tanh x`: the hyperbolic tangent.
    Tanh "tanh" Float
        real f64::tanh, int |x| x,
        lower math::tanh,
        slope |cx, _, y| {
            let one = cx.fill(y, 1.0);
            let square = cx.bind(Mul {}, &[y, y])?;
            Ok(Slope::Times(cx.bind(Sub {}, &[&one, &square])?))
        };
}

/// Evaluates in `f64` for floats (which rounds once more for `f32`), in `i64` for integers.
fn eval_unary(x: &Tensor, real: fn(f64) -> f64, int: fn(i64) -> i64) -> Tensor {
    let dtype = x.dtype();
    map_literals(dtype, x.shape(), std::slice::from_ref(x), |x| {
        if dtype.is_float() {
            Literal::from_f64(dtype, real(x[0].as_f64()))
        } else {
            Literal::from_i64(dtype, int(x[0].as_i64()))
        }
    })
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
