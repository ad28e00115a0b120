//! Gaussian process regression: the hyperparameters are tuned by gradients of the marginal likelihood, which go through
//! a Cholesky factor.
//!
//! `cargo run --release --example gp`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use linalg::{Triangle, cholesky, diag, solve_triangular};
use tracewell::prelude::*;

/// Logarithms, so that every step keeps them positive.
#[derive(Clone, Tree)]
struct Hyper {
    length: Array,
    height: Array,
    noise: Array,
}

/// How alike the values at two sets of points are.
fn kernel(p: &Hyper, a: &Array, b: &Array) -> Array {
    let distance = (a.expand(1) - b.expand(0)) / p.length.exp();
    (2.0 * &p.height).exp() * (-0.5 * distance.square()).exp()
}

/// The factor of the covariance of the data, and what it makes of their values.
fn fitted(p: &Hyper, x: &Array, y: &Array) -> (Array, Array) {
    let n = x.len();
    let covariance = kernel(p, x, x) + (2.0 * &p.noise).exp() * Array::eye(n, x.dtype());
    let l = cholesky(&covariance);
    let half_way = solve_triangular(&l, y, Triangle::lower());
    let weights = solve_triangular(&l, &half_way, Triangle::lower().transposed());
    (l, weights)
}

jit! {
    /// The logarithm of the probability of the data, less for each datum.
    fn unlikeliness(p: &Hyper, x: &Array, y: &Array) -> Array {
        let (l, weights) = fitted(p, x, y);
        let n = x.len() as f64;
        (0.5 * y.dot(&weights) + diag(&l).log().sum()) / n + 0.5 * std::f64::consts::TAU.ln()
    }
}

jit! {
    /// One step down the gradient, with momentum.
    fn step(p: &Hyper, velocity: &Hyper, x: &Array, y: &Array) -> (Array, Hyper, Hyper) {
        let (value, slope) = value_and_grad(|p: &Hyper| unlikeliness(p, x, y))(p);
        let velocity = tree::map2(velocity, &slope, |v, g| 0.8 * v - 0.1 * g);
        let p = tree::map2(p, &velocity, |p, v| p + v);
        (value, p, velocity)
    }
}

jit! {
    /// Mean and deviation at other points.
    fn predict(p: &Hyper, x: &Array, y: &Array, at: &Array) -> (Array, Array) {
        let (l, weights) = fitted(p, x, y);
        let across = kernel(p, x, at);
        let mean = weights.dot(&across);
        let explained = solve_triangular(&l, &across, Triangle::lower());
        let left = (2.0 * &p.height).exp() - explained.square().sum_axes(&[0]);
        (mean, left.maximum(0.0).sqrt())
    }
}

fn main() {
    // A wave, measured at 40 places with some noise that looks random.
    let x = Array::linspace(0.0, 6.0, 40, F64);
    let noise = (Array::arange(40, F64).square() * 12.9898).sin() * 0.2;
    let y = x.sin() + 0.3 * (3.0 * &x).cos() + noise;

    let zero = || Array::from(0.0f64);
    let mut p = Hyper { length: Array::from(1.0f64), height: zero(), noise: zero() };
    let mut velocity = Hyper { length: zero(), height: zero(), noise: zero() };
    for turn in 0..=120 {
        let (value, next, moved) = step(&p, &velocity, &x, &y);
        if turn % 20 == 0 {
            let shown = |log: &Array| log.exp().item::<f64>();
            println!(
                "step {turn:3}: -log p = {:8.5}, length {:.3}, height {:.3}, noise {:.3}",
                value.item::<f64>(),
                shown(&p.length),
                shown(&p.height),
                shown(&p.noise),
            );
        }
        (p, velocity) = (next, moved);
    }

    let at = Array::linspace(0.0, 6.0, 64, F64);
    let (mean, deviation) = predict(&p, &x, &y, &at);
    picture(&numbers(&at), &numbers(&mean), &numbers(&deviation), &numbers(&x), &numbers(&y));
}

fn numbers(x: &Array) -> Vec<f64> {
    x.to_vec().expect("these are f64")
}

/// The fit as `#`, two deviations around it as `.`, the data as `o`.
fn picture(at: &[f64], mean: &[f64], deviation: &[f64], x: &[f64], y: &[f64]) {
    let (rows, columns) = (17, at.len());
    let row =
        |value: f64| ((1.6 - value) / 3.2 * (rows - 1) as f64).round().clamp(0.0, (rows - 1) as f64) as usize;
    let mut text = vec![vec![' '; columns]; rows];
    for column in 0..columns {
        let (low, high) = (mean[column] - 2.0 * deviation[column], mean[column] + 2.0 * deviation[column]);
        for line in &mut text[row(high)..=row(low)] {
            line[column] = '.';
        }
    }
    for (x, y) in x.iter().zip(y) {
        let column = (x / 6.0 * (columns - 1) as f64).round() as usize;
        text[row(*y)][column] = 'o';
    }
    for column in 0..columns {
        text[row(mean[column])][column] = '#';
    }
    for line in text {
        println!("{}", line.into_iter().collect::<String>().trim_end());
    }
}
