//! The derivative of `trigamma`, written with other primitives, so that it has derivatives of every order.

use std::f64::consts::PI;

use tracewell_kernel::Comparison;

use super::{Add, Compare, Cos, Div, IntegerPow, Mul, Round, Select, Sin, Sub};
use crate::error::RuleError;
use crate::graph::Atom;
use crate::primitive::Cx;

/// How far the recurrence `ψ''(x) = ψ''(x+1) - 2/x³` goes up before the series takes over.
const STEPS: u32 = 12;

/// `-ψ''(z) = z⁻² + z⁻³ + Σ SERIES[k] z⁻⁽²ᵏ⁺⁴⁾` for large `z`: the Bernoulli numbers `B₂ₖ₊₂ (2k + 3)`.
const SERIES: [f64; 8] = [0.5, -1.0 / 6.0, 1.0 / 6.0, -0.3, 5.0 / 6.0, -691.0 / 210.0, 17.5, -3617.0 / 30.0];

/// `ψ''(x)`: for negative `x` by reflection, `ψ''(x) = ψ''(1-x) - 2π³ cot(πx) / sin²(πx)`.
///
/// Each side of the choice gets an operand inside its domain, so that no infinity of the other side
/// reaches a derivative.
pub(super) fn tetragamma(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let (zero, half, one) = (cx.fill(x, 0.0), cx.fill(x, 0.5), cx.fill(x, 1.0));
    let negative = cx.bind(Compare { comparison: Comparison::Lt }, &[x, &zero])?;
    let mirrored = cx.bind(Sub {}, &[&one, x])?;
    let above = cx.bind(Select {}, &[&negative, &mirrored, x])?;
    let direct = by_recurrence(cx, &above)?;
    let below = cx.bind(Select {}, &[&negative, x, &half])?;
    let turned = reflection(cx, &below)?;
    let reflected = cx.bind(Sub {}, &[&direct, &turned])?;
    cx.bind(Select {}, &[&negative, &reflected, &direct])
}

/// `ψ''(x)` for `x ≥ 0`.
fn by_recurrence(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let mut sum = cx.bind(IntegerPow { exponent: -3 }, &[x])?;
    for step in 1..STEPS {
        let step = cx.fill(x, f64::from(step));
        let at = cx.bind(Add {}, &[x, &step])?;
        let term = cx.bind(IntegerPow { exponent: -3 }, &[&at])?;
        sum = cx.bind(Add {}, &[&sum, &term])?;
    }
    let steps = cx.fill(x, f64::from(STEPS));
    let z = cx.bind(Add {}, &[x, &steps])?;
    let tail = series(cx, &z)?;
    let minus_two = cx.fill(x, -2.0);
    let twice = cx.bind(Mul {}, &[&minus_two, &sum])?;
    cx.bind(Sub {}, &[&twice, &tail])
}

/// `-ψ''(z)` for large `z`.
fn series(cx: &mut Cx<'_>, z: &Atom) -> Result<Atom, RuleError> {
    let inverse = cx.bind(IntegerPow { exponent: -1 }, &[z])?;
    let square = cx.bind(Mul {}, &[&inverse, &inverse])?;
    let mut sum = cx.fill(z, 0.0);
    for factor in SERIES.into_iter().rev() {
        let factor = cx.fill(z, factor);
        let product = cx.bind(Mul {}, &[&sum, &square])?;
        sum = cx.bind(Add {}, &[&factor, &product])?;
    }
    let product = cx.bind(Mul {}, &[&sum, &square])?;
    let one = cx.fill(z, 1.0);
    let head = cx.bind(Add {}, &[&one, &inverse])?;
    let sum = cx.bind(Add {}, &[&head, &product])?;
    cx.bind(Mul {}, &[&sum, &square])
}

/// `2π³ cot(πx) / sin²(πx)`, from the distance to the nearest integer: that much of `x` matters.
fn reflection(cx: &mut Cx<'_>, x: &Atom) -> Result<Atom, RuleError> {
    let nearest = cx.bind(Round { to_even: true }, &[x])?;
    let rest = cx.bind(Sub {}, &[x, &nearest])?;
    let pi = cx.fill(x, PI);
    let angle = cx.bind(Mul {}, &[&pi, &rest])?;
    let (sine, cosine) = (cx.bind(Sin {}, &[&angle])?, cx.bind(Cos {}, &[&angle])?);
    let cube = cx.bind(IntegerPow { exponent: 3 }, &[&sine])?;
    let quotient = cx.bind(Div {}, &[&cosine, &cube])?;
    let factor = cx.fill(x, 2.0 * PI.powi(3));
    cx.bind(Mul {}, &[&factor, &quotient])
}
