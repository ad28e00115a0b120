//! A small network learns to tell two spirals apart: one jitted step, a struct of parameters, momentum.
//!
//! `cargo run --release --example mlp`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use tracewell::prelude::*;

#[derive(Clone, Tree)]
struct Layer {
    w: Array,
    b: Array,
}

#[derive(Clone, Tree)]
struct Network {
    hidden: Vec<Layer>,
    output: Layer,
}

/// How far the training is.
pub(crate) struct Progress {
    /// Steps done.
    pub(crate) step: usize,
    /// The mean cross-entropy before this step.
    pub(crate) loss: f32,
    /// The part of points that are told right.
    pub(crate) accuracy: f32,
}

/// Points of the plane by rows, and to which spiral each belongs, 0 or 1.
struct Points {
    x: Array,
    y: Array,
}

/// Numbers between -1 and 1 that look random, and are the same each time.
fn noise(shape: impl Into<Shape>, seed: f64) -> Array {
    let shape = shape.into();
    let hash = |i: usize| (i as f64 * 12.9898 + seed).sin() * 43758.5453;
    let numbers: Vec<f32> =
        (0..shape.len()).map(|i| (2.0 * (hash(i) - hash(i).floor()) - 1.0) as f32).collect();
    Array::from(numbers).reshape(shape)
}

/// Two spirals of one and a half turns, one the other's reflection.
fn spirals(n: usize) -> Points {
    let t = Array::linspace(0.0, 1.0, n, F32);
    let (radius, angle) = (0.1 + 0.9 * &t, 3.0 * std::f64::consts::PI * &t);
    let one = stack(&[&radius * angle.cos(), &radius * angle.sin()], 1);
    let x = concatenate(&[&one, &-&one], 0) + 0.02 * noise([2 * n, 2], 0.5);
    let y = concatenate(&[Array::zeros([n, 1], F32), Array::ones([n, 1], F32)], 0);
    Points { x, y }
}

impl Network {
    /// Two hidden layers.
    fn new(width: usize) -> Network {
        let layer = |inputs: usize, outputs: usize, scale: f64, seed: f64| Layer {
            w: noise([inputs, outputs], seed) * (scale * (3.0 / inputs as f64).sqrt()),
            b: noise([outputs], seed + 6.0),
        };
        Network {
            // The first sees the plane coarsely unless its weights are large.
            hidden: vec![layer(2, width, 3.0, 1.0), layer(width, width, 1.0, 2.0)],
            output: layer(width, 1, 1.0, 3.0),
        }
    }
}

jit! {
    /// How much each point looks like one of the second spiral: positive if it does.
    fn predict(network: &Network, x: &Array) -> Array {
        let mut h = x.clone();
        for layer in &network.hidden {
            h = (h.dot(&layer.w) + &layer.b).tanh();
        }
        h.dot(&network.output.w) + &network.output.b
    }
}

jit! {
    /// The part of points that are told right.
    fn accuracy(network: &Network, x: &Array, y: &Array) -> Array {
        predict(network, x).gt(0.0).eq(y.gt(0.5)).convert(F32).mean()
    }
}

jit! {
    /// One step downhill with momentum. The new parameters take over the memory of the old.
    #[jit(donate(network, speed))]
    fn step(network: Network, speed: Network, x: &Array, y: &Array, rate: Scalar) -> (Array, Network, Network) {
        let cross_entropy = |network: &Network| {
            let z = predict(network, x);
            // `log(1 + exp z) - y z` without overflow.
            ((-z.abs()).exp().log1p() + z.maximum(0.0) - y * z).mean()
        };
        let (loss, slope) = value_and_grad(cross_entropy)(&network);
        let speed = tree::map2(&speed, &slope, |v, g| 0.9 * v + g);
        let network = tree::map2(&network, &speed, |p, v| p - &rate * v);
        (loss, network, speed)
    }
}

/// Trains, and reports after every so many steps.
pub(crate) fn train(
    points: usize,
    width: usize,
    steps: usize,
    every: usize,
    mut report: impl FnMut(&Progress),
) {
    let Points { x, y } = spirals(points);
    let mut network = Network::new(width);
    let mut speed = tree::map(&network, |p| Array::zeros(p.shape(), F32));
    for i in 1..=steps {
        let loss;
        (loss, network, speed) = step(network, speed, &x, &y, 0.3);
        if i % every == 0 {
            let accuracy = accuracy(&network, &x, &y).item();
            report(&Progress { step: i, loss: loss.item(), accuracy });
        }
    }
}

/// Trains on 400 points; fails if fewer than 95 % of them are told right in the end.
fn main() -> Result<(), String> {
    let (mut start, mut last) = (Instant::now(), 0.0);
    println!("step   loss      accuracy   time per step");
    train(200, 32, 600, 50, |now| {
        let each = start.elapsed() / 50;
        println!("{:4}   {:.5}   {:5.1} %    {each:.1?}", now.step, now.loss, 100.0 * now.accuracy);
        (start, last) = (Instant::now(), now.accuracy);
    });
    if last < 0.95 { Err(format!("only {:.1} % are told right", 100.0 * last)) } else { Ok(()) }
}
