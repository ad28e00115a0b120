//! Gaussian process regression: the hyperparameters are tuned by gradients of the marginal likelihood, which go through
//! a Cholesky factor.
//!
//! `cargo run --release --example gp`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use linalg::{Triangle, cholesky, diag, solve_triangular};
use tracewell::prelude::*;

/// The deviation of a measurement.
const NOISE: f64 = 0.2;

/// Logarithms, so that every step keeps them positive.
#[derive(Clone, Tree)]
pub(crate) struct Hyper {
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
    /// The logarithm of the probability of the data, all of it.
    fn log_likelihood(p: &Hyper, x: &Array, y: &Array) -> Array {
        let (l, weights) = fitted(p, x, y);
        -0.5 * y.dot(&weights) - diag(&l).log().sum() - 0.5 * x.len() as f64 * std::f64::consts::TAU.ln()
    }
}

jit! {
    /// One step up the gradient of the mean of a datum, with momentum.
    fn step(p: &Hyper, velocity: &Hyper, x: &Array, y: &Array) -> (Array, Hyper, Hyper) {
        let (value, slope) = value_and_grad(|p: &Hyper| log_likelihood(p, x, y))(p);
        let rate = 0.1 / x.len() as f64;
        let velocity = tree::map2(velocity, &slope, |v, g| 0.8 * v + rate * g);
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

/// How far the tuning is.
pub(crate) struct Progress {
    /// Steps done.
    pub(crate) step: usize,
    /// The logarithm of the probability of the data before this step.
    pub(crate) log_likelihood: f64,
    /// Length, height and noise before this step.
    pub(crate) hyper: [f64; 3],
}

/// The wave that is measured.
fn wave(x: &Array) -> Array {
    x.sin() + 0.3 * (3.0 * x).cos()
}

/// Measures the wave at `n` places, with some noise, and tunes. Gives the places, what was measured and the parameters.
pub(crate) fn tune(
    n: usize,
    steps: usize,
    every: usize,
    mut report: impl FnMut(&Progress),
) -> (Array, Array, Hyper) {
    let x = Array::linspace(0.0, 6.0, n, F64);
    let y = wave(&x) + NOISE * random::normal(&random::key(1), [n], F64);
    let zero = || Array::from(0.0f64);
    let mut p = Hyper { length: Array::from(1.0f64), height: zero(), noise: zero() };
    let mut velocity = Hyper { length: zero(), height: zero(), noise: zero() };
    for turn in 0..=steps {
        let (value, next, moved) = step(&p, &velocity, &x, &y);
        if turn % every == 0 {
            let hyper = [&p.length, &p.height, &p.noise].map(|log| log.exp().item());
            report(&Progress { step: turn, log_likelihood: value.item(), hyper });
        }
        (p, velocity) = (next, moved);
    }
    (x, y, p)
}

/// Tunes on 200 measurements; fails if the wave is not found behind the noise.
fn main() -> Result<(), String> {
    let mut start = Instant::now();
    println!("step   log likelihood   length   height   noise   time per step");
    let (x, y, p) = tune(200, 150, 10, |now| {
        let ([length, height, noise], each) = (now.hyper, start.elapsed() / 10);
        // The curve: a bar from -250 on.
        let bar = "#".repeat(((now.log_likelihood + 250.0) / 10.0).clamp(0.0, 40.0) as usize);
        println!(
            "{:4}   {:14.3}   {length:6.3}   {height:6.3}   {noise:5.3}   {each:.1?}   {bar}",
            now.step, now.log_likelihood
        );
        start = Instant::now();
    });
    let at = Array::linspace(0.0, 6.0, 64, F64);
    let (mean, deviation) = predict(&p, &x, &y, &at);
    picture(&numbers(&at), &numbers(&mean), &numbers(&deviation), &numbers(&x), &numbers(&y));
    let error = (mean - wave(&at)).square().mean().sqrt().item::<f64>();
    println!("the mean is {error:.3} from the wave, of which measurements are {NOISE} away");
    if error < NOISE / 2.0 { Ok(()) } else { Err("the wave is not found".to_owned()) }
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
