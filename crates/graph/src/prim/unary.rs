//! Elementwise functions of one operand: one entry each, with its derivative.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, LOG10_E};

use tracewell_array::{Complex64, Literal, Tensor};
use tracewell_kernel::{KernelBuilder, Op, Value, math};

use super::complex_math::{self, Split, reference as complex, split_or_none};
use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use super::reference;
use super::tetragamma::tetragamma;
use super::{Add, Div, IntegerPow, Mul, Sub};
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

type SlopeFn = fn(&mut Cx<'_>, &Atom, &Atom) -> Result<Slope, RuleError>;
type ComplexFn = fn(Complex64) -> Complex64;

/// One line a function: its meaning for reals and integers, its expansion, its derivative; for those of complex numbers
/// too, what it is and how it is computed.
macro_rules! unary {
    ($($(#[doc = $doc:literal])* $Name:ident $name:literal $domain:ident
        real $real:expr, int $int:expr, lower $lower:expr, slope $slope:expr
        $(, complex $complex:expr, by $split:expr)?;)*) => {$(
        params! { $(#[doc = $doc])* pub struct $Name {} }

        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, 1)?;
                Ok(vec![same_type($name, Domain::$domain, inputs)?])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                let complex: &[ComplexFn] = &[$($complex)?];
                Ok(vec![eval_unary(&inputs[0], $real, $int, complex.first())])
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
                let slope: SlopeFn = $slope;
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
                let slope: SlopeFn = $slope;
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

            fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
                let splits: [Split; _] = [$($split)?];
                if let Some(split) = split_or_none($name, inputs, splits) {
                    return split;
                }
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
    /// `acos x`: the arccosine; NaN beyond 1.
    Acos "acos" Float
        real f64::acos, int |x| x,
        lower math::acos,
        slope |cx, x, _| { let s = circle(cx, x)?; Ok(Slope::Times(cx.bind(Neg {}, &[&s])?)) };
    /// `acosh x`: the inverse hyperbolic cosine; NaN below 1.
    Acosh "acosh" Float
        real |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, int |x| x,
        lower math::acosh,
        slope |cx, x, _| {
            let (below, above) = (shifted(cx, x, -1.0)?, shifted(cx, x, 1.0)?);
            let product = cx.bind(Mul {}, &[&below, &above])?;
            Ok(Slope::Times(cx.bind(Rsqrt {}, &[&product])?))
        };
    /// `asin x`: the arcsine; NaN beyond 1.
    Asin "asin" Float
        real f64::asin, int |x| x,
        lower math::asin,
        slope |cx, x, _| Ok(Slope::Times(circle(cx, x)?));
    /// `asinh x`: the inverse hyperbolic sine.
    Asinh "asinh" Float
        real libm::asinh, int |x| x,
        lower math::asinh,
        slope |cx, x, _| {
            let square = cx.bind(Mul {}, &[x, x])?;
            let sum = shifted(cx, &square, 1.0)?;
            Ok(Slope::Times(cx.bind(Rsqrt {}, &[&sum])?))
        };
    /// `atan x`: the arctangent.
    Atan "atan" Float
        real f64::atan, int |x| x,
        lower math::atan,
        slope |cx, x, _| {
            let square = cx.bind(Mul {}, &[x, x])?;
            let sum = shifted(cx, &square, 1.0)?;
            Ok(Slope::Times(over(cx, 1.0, &sum)?))
        };
    /// `atanh x`: the inverse hyperbolic tangent; NaN beyond 1.
    Atanh "atanh" Float
        real libm::atanh, int |x| x,
        lower math::atanh,
        slope |cx, x, _| {
            let one = cx.fill(x, 1.0);
            let (above, below) = (cx.bind(Add {}, &[&one, x])?, cx.bind(Sub {}, &[&one, x])?);
            let inverse = over(cx, 1.0, &above)?;
            Ok(Slope::Times(cx.bind(Div {}, &[&inverse, &below])?))
        };
    /// `cbrt x`: the cube root.
    Cbrt "cbrt" Float
        real f64::cbrt, int |x| x,
        lower math::cbrt,
        slope |cx, _, y| {
            let power = cx.bind(IntegerPow { exponent: -2 }, &[y])?;
            Ok(Slope::Times(scaled(cx, &power, 1.0 / 3.0)?))
        };
    /// `ceil x`: the smallest integer not below `x`.
    Ceil "ceil" Float
        real f64::ceil, int |x| x,
        lower |b, x| b.op(Op::Ceil, &[x]),
        slope |_, _, _| Ok(Slope::Zero);
    /// `cos x`: the cosine.
    Cos "cos" Inexact
        real f64::cos, int |x| x,
        lower math::cos,
        slope |cx, x, _| { let s = cx.bind(Sin {}, &[x])?; Ok(Slope::Times(cx.bind(Neg {}, &[&s])?)) },
        complex Complex64::cos, by Split::Formula(complex_math::cos);
    /// `cosh x`: the hyperbolic cosine.
    Cosh "cosh" Inexact
        real f64::cosh, int |x| x,
        lower math::cosh,
        slope |cx, x, _| Ok(Slope::Times(cx.bind(Sinh {}, &[x])?)),
        complex Complex64::cosh, by Split::Formula(complex_math::cosh);
    /// `digamma x`: the derivative of `lgamma`; NaN at negative integers.
    Digamma "digamma" Float
        real reference::digamma, int |x| x,
        lower math::digamma,
        slope |cx, x, _| Ok(Slope::Times(cx.bind(Trigamma {}, &[x])?));
    /// `erf x`: the error function.
    Erf "erf" Float
        real libm::erf, int |x| x,
        lower math::erf,
        slope |cx, x, _| Ok(Slope::Times(bell(cx, x, FRAC_2_SQRT_PI)?));
    /// `erf_inv x`: the inverse of `erf`; infinite at ±1, NaN beyond.
    ErfInv "erf_inv" Float
        real reference::erf_inv, int |x| x,
        lower math::erf_inv,
        slope |cx, _, y| {
            let square = cx.bind(Mul {}, &[y, y])?;
            let exp = cx.bind(Exp {}, &[&square])?;
            Ok(Slope::Times(scaled(cx, &exp, 1.0 / FRAC_2_SQRT_PI)?))
        };
    /// `erfc x`: `1 - erf x`, with all digits also where that is small.
    Erfc "erfc" Float
        real libm::erfc, int |x| x,
        lower math::erfc,
        slope |cx, x, _| Ok(Slope::Times(bell(cx, x, -FRAC_2_SQRT_PI)?));
    /// `exp x`: the exponential.
    Exp "exp" Inexact
        real f64::exp, int |x| x,
        lower math::exp,
        slope |_, _, y| Ok(Slope::Times(y.clone())),
        complex Complex64::exp, by Split::Formula(complex_math::exp);
    /// `exp2 x`: two to the power of `x`.
    Exp2 "exp2" Float
        real f64::exp2, int |x| x,
        lower math::exp2,
        slope |cx, _, y| Ok(Slope::Times(scaled(cx, y, LN_2)?));
    /// `expm1 x`: `exp x - 1`, with all digits also near 0.
    Expm1 "expm1" Float
        real f64::exp_m1, int |x| x,
        lower math::expm1,
        slope |cx, _, y| Ok(Slope::Times(shifted(cx, y, 1.0)?));
    /// `floor x`: the largest integer not above `x`.
    Floor "floor" Float
        real f64::floor, int |x| x,
        lower |b, x| b.op(Op::Floor, &[x]),
        slope |_, _, _| Ok(Slope::Zero);
    /// `lgamma x`: the logarithm of the magnitude of the gamma function.
    Lgamma "lgamma" Float
        real libm::lgamma, int |x| x,
        lower math::lgamma,
        slope |cx, x, _| Ok(Slope::Times(cx.bind(Digamma {}, &[x])?));
    /// `log x`: the natural logarithm.
    Log "log" Inexact
        real f64::ln, int |x| x,
        lower math::log,
        slope |cx, x, _| Ok(Slope::Times(over(cx, 1.0, x)?)),
        complex complex::log, by Split::Formula(complex_math::log);
    /// `log10 x`: the logarithm to base 10.
    Log10 "log10" Inexact
        real f64::log10, int |x| x,
        lower math::log10,
        slope |cx, x, _| Ok(Slope::Times(over(cx, LOG10_E, x)?)),
        complex |z| complex::log(z) * LOG10_E, by Split::Formula(complex_math::log10);
    /// `log1p x`: `log (1 + x)`, with all digits also near 0.
    Log1p "log1p" Float
        real f64::ln_1p, int |x| x,
        lower math::log1p,
        slope |cx, x, _| { let sum = shifted(cx, x, 1.0)?; Ok(Slope::Times(over(cx, 1.0, &sum)?)) };
    /// `log2 x`: the logarithm to base 2.
    Log2 "log2" Inexact
        real f64::log2, int |x| x,
        lower math::log2,
        slope |cx, x, _| Ok(Slope::Times(over(cx, LOG2_E, x)?)),
        complex |z| complex::log(z) * LOG2_E, by Split::Formula(complex_math::log2);
    /// `logistic x`: `1 / (1 + exp -x)`.
    Logistic "logistic" Inexact
        real reference::logistic, int |x| x,
        lower math::logistic,
        slope |cx, _, y| {
            let one = cx.fill(y, 1.0);
            let rest = cx.bind(Sub {}, &[&one, y])?;
            Ok(Slope::Times(cx.bind(Mul {}, &[y, &rest])?))
        },
        complex complex::logistic, by Split::Formula(complex_math::logistic);
    /// `neg x`: the negative.
    Neg "neg" Field
        real |x| -x, int i64::wrapping_neg,
        lower |b, x| b.op(Op::Neg, &[x]),
        slope |_, _, _| Ok(Slope::Linear),
        complex |z| -z, by Split::Parts;
    /// `rsqrt x`: one over the square root.
    Rsqrt "rsqrt" Inexact
        real |x| 1.0 / x.sqrt(), int |x| x,
        lower math::rsqrt,
        slope |cx, x, y| { let f = cx.bind(Div {}, &[y, x])?; Ok(Slope::Times(scaled(cx, &f, -0.5)?)) },
        complex complex::rsqrt, by Split::Formula(complex_math::rsqrt);
    /// `sin x`: the sine.
    Sin "sin" Inexact
        real f64::sin, int |x| x,
        lower math::sin,
        slope |cx, x, _| Ok(Slope::Times(cx.bind(Cos {}, &[x])?)),
        complex Complex64::sin, by Split::Formula(complex_math::sin);
    /// `sinh x`: the hyperbolic sine.
    Sinh "sinh" Inexact
        real f64::sinh, int |x| x,
        lower math::sinh,
        slope |cx, x, _| Ok(Slope::Times(cx.bind(Cosh {}, &[x])?)),
        complex Complex64::sinh, by Split::Formula(complex_math::sinh);
    /// `sqrt x`: the square root.
    Sqrt "sqrt" Inexact
        real f64::sqrt, int |x| x,
        lower |b, x| b.op(Op::Sqrt, &[x]),
        slope |cx, _, y| Ok(Slope::Times(over(cx, 0.5, y)?)),
        complex Complex64::sqrt, by Split::Formula(complex_math::sqrt);
    /// `stop_gradient x`: `x`, held constant by derivatives.
    StopGradient "stop_gradient" Any
        real |x| x, int |x| x,
        lower |_, x| x,
        slope |_, _, _| Ok(Slope::Zero),
        complex |z| z, by Split::Parts;
    /// `tan x`: the tangent.
    Tan "tan" Inexact
        real f64::tan, int |x| x,
        lower math::tan,
        slope |cx, _, y| {
            let square = cx.bind(Mul {}, &[y, y])?;
            Ok(Slope::Times(shifted(cx, &square, 1.0)?))
        },
        complex complex::tan, by Split::Formula(complex_math::tan);
    /// `tanh x`: the hyperbolic tangent.
    Tanh "tanh" Inexact
        real f64::tanh, int |x| x,
        lower math::tanh,
        slope |cx, _, y| {
            let one = cx.fill(y, 1.0);
            let square = cx.bind(Mul {}, &[y, y])?;
            Ok(Slope::Times(cx.bind(Sub {}, &[&one, &square])?))
        },
        complex complex::tanh, by Split::Formula(complex_math::tanh);
    /// `trigamma x`: the derivative of `digamma`; infinite at 0 and negative integers.
    Trigamma "trigamma" Float
        real reference::trigamma, int |x| x,
        lower math::trigamma,
        slope |cx, x, _| Ok(Slope::Times(tetragamma(cx, x)?));
}

/// `x + number`
fn shifted(cx: &mut Cx<'_>, x: &Atom, number: f64) -> Result<Atom, RuleError> {
    let number = cx.fill(x, number);
    cx.bind(Add {}, &[x, &number])
}

/// `number × x`
fn scaled(cx: &mut Cx<'_>, x: &Atom, number: f64) -> Result<Atom, RuleError> {
    let number = cx.fill(x, number);
    cx.bind(Mul {}, &[&number, x])
}

/// `number / x`
fn over(cx: &mut Cx<'_>, number: f64, x: &Atom) -> Result<Atom, RuleError> {
    let number = cx.fill(x, number);
    cx.bind(Div {}, &[&number, x])
}

/// `1 / √(1 - x²)`: the derivative of the arcsine.
fn circle(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let one = cx.fill(x, 1.0);
    let square = cx.bind(Mul {}, &[x, x])?;
    let rest = cx.bind(Sub {}, &[&one, &square])?;
    cx.bind(Rsqrt {}, &[&rest])
}

/// `number × exp(-x²)`
fn bell(cx: &mut Cx<'_>, x: &Atom, number: f64) -> Result<Atom, RuleError> {
    let square = cx.bind(Mul {}, &[x, x])?;
    let negative = cx.bind(Neg {}, &[&square])?;
    let exp = cx.bind(Exp {}, &[&negative])?;
    scaled(cx, &exp, number)
}

/// Evaluates in `f64` for floats and complex numbers (which rounds once more for narrower ones), in `i64` for integers.
fn eval_unary(x: &Tensor, real: fn(f64) -> f64, int: fn(i64) -> i64, complex: Option<&ComplexFn>) -> Tensor {
    let dtype = x.dtype();
    map_literals(dtype, x.shape(), std::slice::from_ref(x), |x| match complex {
        Some(complex) if dtype.is_complex() => Literal::from_complex(dtype, complex(x[0].as_complex())),
        _ if dtype.is_float() => Literal::from_f64(dtype, real(x[0].as_f64())),
        _ => Literal::from_i64(dtype, int(x[0].as_i64())),
    })
}
