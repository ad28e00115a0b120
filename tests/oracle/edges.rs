//! Where functions have kinks, poles and ties: edges.txt, made by edges.py, and the same functions on our face.

use tracewell::prelude::*;

/// A line of edges.txt, and what we have.
pub(super) struct Edge {
    pub(super) function: &'static str,
    pub(super) point: Vec<f64>,
    pub(super) jax: Answer,
    pub(super) ours: Answer,
}

/// A value, and the derivative by every number of the point.
pub(super) struct Answer {
    pub(super) value: f64,
    pub(super) slopes: Vec<f64>,
}

impl Answer {
    /// Whether two agree up to rounding; NaN with NaN, and the sign of a zero does not count.
    pub(super) fn agrees(&self, other: &Answer) -> bool {
        let same = |x: f64, y: f64| {
            x == y || x.is_nan() && y.is_nan() || x.is_finite() && (x - y).abs() <= 1e-12 * y.abs()
        };
        let slopes = self.slopes.iter().zip(&other.slopes);
        self.slopes.len() == other.slopes.len()
            && same(self.value, other.value)
            && slopes.into_iter().all(|(x, y)| same(*x, *y))
    }
}

/// A function of a number, or of an array of several.
type Function = fn(&Array) -> Array;

const FUNCTIONS: &[(&str, Function)] = &[
    ("abs(x)", Array::abs),
    ("sign(x)", Array::sign),
    ("floor(x)", Array::floor),
    ("ceil(x)", Array::ceil),
    ("round(x)", Array::round),
    ("sqrt(x)", Array::sqrt),
    ("rsqrt(x)", Array::rsqrt),
    ("cbrt(x)", Array::cbrt),
    ("x * sqrt(x)", |x| x * x.sqrt()),
    ("sqrt(x * x)", |x| (x * x).sqrt()),
    ("norm(x)", |x| x.square().sum().sqrt()),
    ("norm(x), double where", |x| safe_sqrt(&x.square().sum())),
    ("max(x, y)", |p| first(p).maximum(second(p))),
    ("min(x, y)", |p| first(p).minimum(second(p))),
    ("max(x, 0)", |x| x.maximum(0.0)),
    ("select(x > 0, x, 0)", |x| select(&x.gt(0.0), x, 0.0)),
    ("max of all", Array::max),
    ("min of all", Array::min),
    ("clamp(x, -1, 1)", |x| x.clamp(-1.0, 1.0)),
    ("min(max(x, -1), 1)", |x| x.maximum(-1.0).minimum(1.0)),
    ("prod of all", Array::prod),
    ("sum of all", Array::sum),
    ("mean of all", Array::mean),
    ("pow(x, y)", |p| first(p).pow(second(p))),
    ("pow(x, 2)", |x| x.pow(2.0)),
    ("pow(x, 0)", |x| x.pow(0.0)),
    ("powi(x, 0)", |x| x.powi(0)),
    ("powi(x, 1)", |x| x.powi(1)),
    ("powi(x, 2)", |x| x.powi(2)),
    ("powi(x, -1)", |x| x.powi(-1)),
    ("1 / x", |x| 1.0 / x),
    ("x / y", |p| first(p) / second(p)),
    ("x * y", |p| first(p) * second(p)),
    ("x % y", |p| first(p) % second(p)),
    ("exp(x)", Array::exp),
    ("expm1(x)", Array::expm1),
    ("log(x)", Array::log),
    ("log1p(x)", Array::log1p),
    ("x * log(x)", |x| x * x.log()),
    ("x * log(x), double where", |x| select(&x.gt(0.0), x * or_one(x).log(), 0.0)),
    ("log(1 + exp(x))", |x| (1.0 + x.exp()).log()),
    ("softplus(x)", super::networks::softplus),
    ("logsumexp", log_sum_exp),
    ("tanh(x)", Array::tanh),
    ("logistic(x)", Array::logistic),
    ("erf(x)", Array::erf),
    ("erfc(x)", Array::erfc),
    ("erf_inv(x)", Array::erf_inv),
    ("lgamma(x)", Array::lgamma),
    ("digamma(x)", Array::digamma),
    ("sin(x)", Array::sin),
    ("tan(x)", Array::tan),
    ("asin(x)", Array::asin),
    ("acos(x)", Array::acos),
    ("acosh(x)", Array::acosh),
    ("atanh(x)", Array::atanh),
    ("atan(x)", Array::atan),
    ("atan2(y, x)", |p| first(p).atan2(second(p))),
    ("sin(x) / x", |x| x.sin() / x),
    ("sin(x) / x, double where", |x| {
        let zero = x.eq(0.0);
        select(&zero, 1.0, x.sin() / select(&zero, 1.0, x))
    }),
    ("select(x > 0, sqrt(x), 0)", |x| select(&x.gt(0.0), x.sqrt(), 0.0)),
    ("select(x > 0, log(x), x)", |x| select(&x.gt(0.0), x.log(), x)),
    ("sqrt(x), double where", safe_sqrt),
    ("stop_gradient(x) * x", |x| stop_gradient(x) * x),
    ("derivative of abs(x)", |x| grad(Array::abs)(x)),
    ("derivative of max(x, 0)", |x| grad(|x: &Array| x.maximum(0.0))(x)),
    ("derivative of x * abs(x)", |x| grad(|x: &Array| x * x.abs())(x)),
    ("derivative of sqrt(x)", |x| grad(Array::sqrt)(x)),
    ("derivative of pow(x, 2)", |x| grad(|x: &Array| x.pow(2.0))(x)),
    ("derivative of pow(x, 1)", |x| grad(|x: &Array| x.pow(1.0))(x)),
    ("derivative of powi(x, 2)", |x| grad(|x: &Array| x.powi(2))(x)),
    ("derivative of tanh(x)", |x| grad(Array::tanh)(x)),
];

fn first(p: &Array) -> Array {
    p.slice(s![0])
}

fn second(p: &Array) -> Array {
    p.slice(s![1])
}

/// Positive numbers, and 1 for others: the inner `select` of two.
fn or_one(x: &Array) -> Array {
    select(&x.gt(0.0), x, 1.0)
}

fn safe_sqrt(x: &Array) -> Array {
    select(&x.gt(0.0), or_one(x).sqrt(), 0.0)
}

/// The largest is taken out where that is a number.
fn log_sum_exp(x: &Array) -> Array {
    let largest = x.max().stop_gradient();
    let largest = select(&largest.is_finite(), &largest, 0.0);
    (x - &largest).exp().sum().log() + largest
}

/// Every line of edges.txt with what we have, at once and jitted, which must be the same.
pub(super) fn edges() -> Vec<Edge> {
    let lines = include_str!("edges.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| edge(line).unwrap_or_else(|| panic!("not a row: {line}"))).collect()
}

fn edge(line: &'static str) -> Option<Edge> {
    let (function, rest) = line.split_once(" @ ")?;
    let (point, rest) = rest.split_once(": ")?;
    let (value, slopes) = rest.split_once(" | ")?;
    let list = |text: &str| -> Vec<f64> { text.split(", ").map(|n| n.parse().unwrap()).collect() };
    let point = list(point);
    let jax = Answer { value: value.parse().ok()?, slopes: list(slopes) };
    let f = FUNCTIONS.iter().find(|(name, _)| *name == function)?.1;
    let x = if point.len() == 1 { Array::from(point[0]) } else { Array::from(point.clone()) };
    let answer =
        |(value, slopes): (Array, Array)| Answer { value: value.item(), slopes: crate::numbers(&slopes) };
    let ours = answer(value_and_grad(f)(&x));
    let jitted = answer(jit(move |x: &Array| value_and_grad(f)(x)).call(&x));
    assert!(jitted.agrees(&ours), "{function} at {point:?} differs from itself when jitted");
    Some(Edge { function, point, jax, ours })
}

/// A function without a row says nothing.
#[test]
fn every_function_has_an_edge() {
    for (name, _) in FUNCTIONS {
        let row = format!("{name} @ ");
        assert!(include_str!("edges.txt").lines().any(|line| line.starts_with(&row)), "{name} has no row");
    }
}
