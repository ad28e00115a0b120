//! Elementwise functions and their higher derivatives.

use tracewell::prelude::*;

use super::{Composition, at, of, wave};

pub(super) const ALL: &[Composition] = &[
    of("x_tanh", || at([4], 0.3), |x| x * x.tanh()),
    of("sine_times_exponential", || at([4], 0.3), |x| ((3.0 * x).sin() * (-x).exp()).sum()),
    of("rosenbrock", || Array::from([-1.2, 1.0]), rosenbrock),
    of("rosenbrock_chain", || at([5], 0.3), rosenbrock_chain),
    of("polynomial", || at([4], 0.5), polynomial),
    of("rational", || at([4], 0.5), |x| (1.0 + x.square()) / (2.0 + x.powi(4))),
    of("norm", || at([4], 0.5), |x| x.square().sum().sqrt()),
    of("variance", || at([6], 0.5), variance),
    of("standard_score", || at([6], 0.5), |x| (x - x.mean()) / variance(x).sqrt()),
    of("powers", || 1.5 + at([4], 0.5), |x| x.pow(2.5) + x.pow(-1.5) + x.pow(0.5) - x.pow(3.0)),
    of("power_by_itself", || at([4], 0.5), |x| (x.abs() + 0.5).pow(x.sin())),
    of("integer_powers", || 1.5 + at([4], 0.5), |x| x.powi(3) - x.powi(-2) + 0.01 * x.powi(7)),
    of("angles", || at([2, 4], 0.5), |x| x.slice(s![0]).atan2(x.slice(s![1]))),
    of("trigonometry", || at([5], 0.5), |x| (2.0 * x).sin() * x.cos() + x.tan() - x.cos().square()),
    of("inverse_trigonometry", || 0.9 * at([5], 0.5), |x| (0.9 * x).asin() + (0.5 * x).acos() * x.atan()),
    of("hyperbolic", || at([5], 0.5), hyperbolic),
    of("exponentials_and_logarithms", || at([5], 0.5), exponentials_and_logarithms),
    of("roots", || 1.5 + at([5], 0.5), |x| x.sqrt() * (1.0 + x).rsqrt() + x.cbrt()),
    of("gamma_functions", || at([5], 0.5), |x| (x + 2.0).lgamma() * (x + 2.5).digamma() + (x - 1.5).lgamma()),
    of("error_functions", || at([5], 0.5), |x| x.erf() * (2.0 * x).erfc() + (0.9 * x.tanh()).erf_inv()),
    of("pieces", || 3.0 * at([8], 0.5), pieces),
    of("extremes", || at([8], 0.5), extremes),
    of("quadratic_form", || at([4], 0.5), |x| x.dot(&wave([4, 4], 0.2, x)).dot(x)),
    of("determinant", || Array::eye(3, F64) + at([3, 3], 0.5), determinant),
    of("pairwise_potential", || at([3, 2], 0.5), pairwise_potential),
    of("lennard_jones", || 1.5 + 0.4 * at([3], 0.5), |r| (4.0 * (r.powi(-12) - r.powi(-6))).sum()),
    of("weak_numbers", || at([4], 0.5), |x| 2 * x + 1 / (x + 3) - 7 * (1.5 - x) / 2 * x),
    of("double_where", || at([6], 0.5), double_where),
];

pub(super) fn rosenbrock(x: &Array) -> Array {
    let (a, b) = (x.slice(s![0]), x.slice(s![1]));
    (1.0 - &a).square() + 100.0 * (b - a.square()).square()
}

fn rosenbrock_chain(x: &Array) -> Array {
    let (a, b) = (x.slice(s![..-1]), x.slice(s![1..]));
    (100.0 * (b - a.square()).square() + (1.0 - a).square()).sum()
}

/// By Horner's rule.
fn polynomial(x: &Array) -> Array {
    [0.5, 3.0, -2.0].iter().fold(2.0 * x - 1.0, |y, &c| y * x + c)
}

fn variance(x: &Array) -> Array {
    (x - x.mean()).square().mean()
}

fn hyperbolic(x: &Array) -> Array {
    x.sinh() * x.asinh() + x.cosh() * (0.5 * x).atanh() - (2.0 + x.square()).acosh()
}

fn exponentials_and_logarithms(x: &Array) -> Array {
    x.exp2() * x.expm1() + x.square().log1p() - (2.0 + x).log2() * (3.0 + x).log10()
}

fn pieces(x: &Array) -> Array {
    let inside = x.clamp(-1.0, 2.0);
    x.abs() * (x + 1.0).sign() + x.floor() * x + x.ceil() - x.round() * inside + x % 0.7
}

fn extremes(x: &Array) -> Array {
    x.maximum(x.flip(&[0]).square()) * x.minimum(0.25) + x.max() * x.min()
}

/// A row times the cross product of the others.
fn determinant(m: &Array) -> Array {
    let e = |i: usize, j: usize| m.slice(s![i, j % 3]);
    let term = |j: usize| e(0, j) * (e(1, j + 1) * e(2, j + 2) - e(1, j + 2) * e(2, j + 1));
    term(0) + term(1) + term(2)
}

fn pairwise_potential(x: &Array) -> Array {
    let pair = |i: usize, j: usize| 1.0 / (x.slice(s![i]) - x.slice(s![j])).square().sum().sqrt();
    pair(1, 0) + pair(2, 0) + pair(2, 1)
}

/// The inner `select` keeps the root away from where its derivative is not a number.
fn double_where(x: &Array) -> Array {
    let positive = x.gt(0.0);
    select(&positive, select(&positive, x, 1.0).sqrt(), 0.0)
}
