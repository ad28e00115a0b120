//! Elementwise functions of two operands of one type: one entry each, with its derivatives.

use tracewell_array::{Complex64, Literal, Tensor};
use tracewell_kernel::steps::{Fault, is_broken};
use tracewell_kernel::{Comparison, KernelBuilder, Op, Value, math};

use super::complex_math::{self, Split, reference as complex, split_or_none};
use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use super::{Abs, Compare, Floor, Log, Neg, Select, Sign};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

/// What multiplies the tangent of one operand.
enum Slope {
    /// `+d`
    Plus,
    /// `-d`
    Minus,
    /// `factor × d`
    Times(Atom),
    /// `d / divisor`
    Over(Atom),
}

type SlopeFn = fn(&mut Cx<'_>, &Atom, &Atom, &Atom) -> Result<Slope, RuleError>;

type ComplexFn = fn(Complex64, Complex64) -> Complex64;

/// The cotangents of two operands; [`None`] marks an operand in which the function is not linear.
type Adjoint = fn(&mut Cx<'_>, ct: &Atom, other: Option<&Atom>) -> Result<Option<Atom>, RuleError>;

macro_rules! binary {
    ($($(#[doc = $doc:literal])* $Name:ident $name:literal $domain:ident
        real $real:expr, int $int:expr, lower $lower:expr,
        slopes $left:expr, $right:expr, adjoint $adjoint_left:expr, $adjoint_right:expr
        $(, complex $complex:expr, by $split:expr)?;)*) => {$(
        params! { $(#[doc = $doc])* pub struct $Name {} }

        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, 2)?;
                Ok(vec![same_type($name, Domain::$domain, inputs)?])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                let complex: &[ComplexFn] = &[$($complex)?];
                Ok(vec![eval_binary(inputs, $real, $int, complex.first())])
            }

            fn jvp(
                &self,
                cx: &mut Cx<'_>,
                primals: &[Atom],
                tangents: &[Option<Atom>],
            ) -> Result<Jvp, RuleError> {
                let (a, b) = (&primals[0], &primals[1]);
                let y = cx.bind($Name {}, &[a, b])?;
                let mut total: Option<Atom> = None;
                let slopes: [SlopeFn; 2] = [$left, $right];
                for (tangent, slope) in tangents.iter().zip(slopes) {
                    let Some(d) = tangent else { continue };
                    let term = match (slope(cx, a, b, &y)?, &total) {
                        (Slope::Plus, None) => d.clone(),
                        (Slope::Minus, None) => cx.bind(Neg {}, &[d])?,
                        (Slope::Plus, Some(t)) => cx.bind(Add {}, &[t, d])?,
                        (Slope::Minus, Some(t)) => cx.bind(Sub {}, &[t, d])?,
                        (Slope::Times(factor), t) => {
                            let term = cx.bind(Mul {}, &[d, &factor])?;
                            sum(cx, t, term)?
                        }
                        (Slope::Over(divisor), t) => {
                            let term = cx.bind(Div {}, &[d, &divisor])?;
                            sum(cx, t, term)?
                        }
                    };
                    total = Some(term);
                }
                Ok(Jvp::one(y, total))
            }

            fn transpose(
                &self,
                cx: &mut Cx<'_>,
                operands: &[Operand],
                cotangents: &[Option<Atom>],
            ) -> Result<Vec<Option<Atom>>, RuleError> {
                let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
                let adjoints: [Adjoint; 2] = [$adjoint_left, $adjoint_right];
                let mut results = Vec::with_capacity(2);
                for (i, adjoint) in adjoints.into_iter().enumerate() {
                    results.push(if operands[i].is_linear() {
                        let result = adjoint(cx, ct, operands[1 - i].known())?;
                        Some(result.ok_or_else(|| RuleError::not_linear($name))?)
                    } else {
                        None
                    });
                }
                Ok(results)
            }

            fn batch(
                &self,
                cx: &mut Cx<'_>,
                size: usize,
                operands: &[Batched],
            ) -> Result<Vec<Batched>, RuleError> {
                batch_elementwise(cx, $Name {}, size, operands)
            }

            fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
                let splits: [Split; _] = [$($split)?];
                if let Some(split) = split_or_none($name, inputs, splits) {
                    return split;
                }
                let lower: fn(&mut KernelBuilder, Value, Value) -> Value = $lower;
                Ok(Lowering::map(move |b, x| lower(b, x[0], x[1])))
            }

            fn examples() -> Vec<Example> {
                elementwise::examples($Name {}, Domain::$domain, 2)
            }
        }
    )*};
}

binary! {
    /// `add a, b`: the sum; integers wrap.
    Add "add" Field
        real |a, b| a + b, int i64::wrapping_add,
        lower |k, a, b| k.op(Op::Add, &[a, b]),
        slopes |_, _, _, _| Ok(Slope::Plus), |_, _, _, _| Ok(Slope::Plus),
        adjoint |_, ct, _| Ok(Some(ct.clone())), |_, ct, _| Ok(Some(ct.clone())),
        complex |a, b| a + b, by Split::Parts;
    /// `sub a, b`: the difference; integers wrap.
    Sub "sub" Field
        real |a, b| a - b, int i64::wrapping_sub,
        lower |k, a, b| k.op(Op::Sub, &if is_broken(Fault::Lowering) { [b, a] } else { [a, b] }),
        slopes |_, _, _, _| Ok(Slope::Plus), |_, _, _, _| Ok(Slope::Minus),
        adjoint |_, ct, _| Ok(Some(ct.clone())), |cx, ct, _| Ok(Some(cx.bind(Neg {}, &[ct])?)),
        complex |a, b| a - b, by Split::Parts;
    /// `mul a, b`: the product; integers wrap.
    Mul "mul" Field
        real |a, b| a * b, int i64::wrapping_mul,
        lower |k, a, b| k.op(Op::Mul, &[a, b]),
        slopes |_, _, b, _| Ok(Slope::Times(b.clone())), |_, a, _, _| Ok(Slope::Times(a.clone())),
        adjoint times_known, times_known,
        complex |a, b| a * b, by Split::Formula(complex_math::mul);
    /// `div a, b`: the quotient. Integers truncate; `x/0` has all bits set and `MIN/-1` is `MIN`.
    Div "div" Field
        real |a, b| a / b, int integer_quotient,
        lower |k, a, b| k.op(Op::Div, &[a, b]),
        slopes |_, _, b, _| Ok(Slope::Over(b.clone())),
            |cx, _, b, y| { let f = cx.bind(Div {}, &[y, b])?; Ok(Slope::Times(cx.bind(Neg {}, &[&f])?)) },
        adjoint |cx, ct, b| b.map(|b| cx.bind(Div {}, &[ct, b])).transpose(), |_, _, _| Ok(None),
        complex complex::div, by Split::Formula(complex_math::div);
    /// `max a, b`: the larger; NaN where either is. The derivative is shared equally at ties.
    Max "max" Number
        real |a, b| if a > b || a.is_nan() { a } else { b }, int i64::max,
        lower |k, a, b| k.op(Op::Max, &[a, b]),
        slopes |cx, a, b, _| winner(cx, Comparison::Gt, a, b), |cx, a, b, _| winner(cx, Comparison::Gt, b, a),
        adjoint |_, _, _| Ok(None), |_, _, _| Ok(None);
    /// `min a, b`: the smaller; NaN where either is. The derivative is shared equally at ties.
    Min "min" Number
        real |a, b| if a < b || a.is_nan() { a } else { b }, int i64::min,
        lower |k, a, b| k.op(Op::Min, &[a, b]),
        slopes |cx, a, b, _| winner(cx, Comparison::Lt, a, b), |cx, a, b, _| winner(cx, Comparison::Lt, b, a),
        adjoint |_, _, _| Ok(None), |_, _, _| Ok(None);
    /// `atan2 y, x`: the angle of the point `(x, y)`. Zeros and infinities as in C.
    Atan2 "atan2" Float
        real f64::atan2, int |a, _| a,
        lower math::atan2,
        slopes |cx, y, x, _| { let d = square_sum(cx, y, x)?; Ok(Slope::Times(cx.bind(Div {}, &[x, &d])?)) },
            |cx, y, x, _| {
                let d = square_sum(cx, y, x)?;
                let f = cx.bind(Div {}, &[y, &d])?;
                Ok(Slope::Times(cx.bind(Neg {}, &[&f])?))
            },
        adjoint |_, _, _| Ok(None), |_, _, _| Ok(None);
    /// `pow a, b`: `a` to the power of `b`. Special values as in C; NaN for a negative base, but for whole exponents.
    Pow "pow" Inexact
        real f64::powf, int |a, _| a,
        lower math::pow,
        slopes |cx, a, b, _| power_by_base(cx, a, b),
            |cx, a, _, y| {
                // At a zero base the logarithm would make NaN of a zero.
                let one = cx.fill(a, 1.0);
                let base = unless_zero(cx, a, a, &one)?;
                let log = cx.bind(Log {}, &[&base])?;
                Ok(Slope::Times(cx.bind(Mul {}, &[&log, y])?))
            },
        adjoint |_, _, _| Ok(None), |_, _, _| Ok(None),
        complex complex::pow, by Split::Formula(complex_math::pow);
    /// `rem a, b`: what is left by the truncated quotient, with the sign of `a`. `x % 0` is `x` for integers and
    /// NaN for floats.
    Rem "rem" Number
        real |a, b| a % b, int |a, b| if b == 0 { a } else { a.wrapping_rem(b) },
        lower |k, a, b| k.op(Op::Rem, &[a, b]),
        slopes |_, _, _, _| Ok(Slope::Plus),
            |cx, a, b, _| {
                let ratio = cx.bind(Div {}, &[a, b])?;
                let (sign, size) = (cx.bind(Sign {}, &[&ratio])?, cx.bind(Abs {}, &[&ratio])?);
                let whole = cx.bind(Floor {}, &[&size])?;
                let whole = cx.bind(Mul {}, &[&sign, &whole])?;
                Ok(Slope::Times(cx.bind(Neg {}, &[&whole])?))
            },
        adjoint |_, _, _| Ok(None), |_, _, _| Ok(None);
}

fn sum(cx: &mut Cx<'_>, total: &Option<Atom>, term: Atom) -> Result<Atom, RuleError> {
    match total {
        Some(total) => cx.bind(Add {}, &[total, &term]),
        None => Ok(term),
    }
}

/// The adjoint of a product in one operand is the product with the other, which must be known.
fn times_known(cx: &mut Cx<'_>, ct: &Atom, other: Option<&Atom>) -> Result<Option<Atom>, RuleError> {
    other.map(|other| cx.bind(Mul {}, &[ct, other])).transpose()
}

/// `a² + b²`
fn square_sum(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Atom, RuleError> {
    let (a, b) = (cx.bind(Mul {}, &[a, a])?, cx.bind(Mul {}, &[b, b])?);
    cx.bind(Add {}, &[&a, &b])
}

/// `value` where `x` is not zero, else `other`.
fn unless_zero(cx: &mut Cx<'_>, x: &Atom, value: &Atom, other: &Atom) -> Result<Atom, RuleError> {
    let zero = cx.fill(x, 0.0);
    let is_zero = cx.bind(Compare { comparison: Comparison::Eq }, &[x, &zero])?;
    cx.bind(Select {}, &[&is_zero, other, value])
}

/// `b a^(b - 1)`, and 0 for a zero exponent also where the base is zero or infinite.
fn power_by_base(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Slope, RuleError> {
    let (zero, one) = (cx.fill(b, 0.0), cx.fill(b, 1.0));
    let less = cx.bind(Sub {}, &[b, &one])?;
    let less = unless_zero(cx, b, &less, &one)?;
    let power = cx.bind(Pow {}, &[a, &less])?;
    let slope = cx.bind(Mul {}, &[b, &power])?;
    Ok(Slope::Times(unless_zero(cx, b, &slope, &zero)?))
}

/// 1 where `a` wins, 0 where `b` does, 1/2 at ties.
fn winner(cx: &mut Cx<'_>, wins: Comparison, a: &Atom, b: &Atom) -> Result<Slope, RuleError> {
    let (zero, half, one) = (cx.fill(a, 0.0), cx.fill(a, 0.5), cx.fill(a, 1.0));
    let won = cx.bind(Compare { comparison: wins }, &[a, b])?;
    let tied = cx.bind(Compare { comparison: Comparison::Eq }, &[a, b])?;
    let lost = cx.bind(Select {}, &[&tied, &half, &zero])?;
    Ok(Slope::Times(cx.bind(Select {}, &[&won, &one, &lost])?))
}

/// Total division of integers already widened to `i64`. All bits set is -1, which wraps to the type's own.
fn integer_quotient(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// Evaluates in `f64` for floats and complex numbers (one more rounding for `f32`, which is exact for arithmetic), in `i64` for integers.
fn eval_binary(
    inputs: &[Tensor],
    real: fn(f64, f64) -> f64,
    int: fn(i64, i64) -> i64,
    complex: Option<&ComplexFn>,
) -> Tensor {
    let dtype = inputs[0].dtype();
    map_literals(dtype, inputs[0].shape(), inputs, |x| match complex {
        Some(complex) if dtype.is_complex() => {
            Literal::from_complex(dtype, complex(x[0].as_complex(), x[1].as_complex()))
        }
        _ if dtype.is_float() => Literal::from_f64(dtype, real(x[0].as_f64(), x[1].as_f64())),
        _ => Literal::from_i64(dtype, int(x[0].as_i64(), x[1].as_i64())),
    })
}
