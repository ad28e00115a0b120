//! A recurrent network of 128 units over 1000 steps, and its gradient.

use tracewell::prelude::*;

use super::{Work, noise};

#[derive(Clone, Tree)]
struct Weights {
    w: Array,
    u: Array,
    b: Array,
}

fn network(weights: &Weights, xs: &Array, h: &Array) -> (Array, Array) {
    let Weights { w, u, b } = weights;
    let (h, ()) = scan(h.clone(), xs, |h: &Array, x: &Array| ((h.dot(w) + x.dot(u) + b).tanh(), ()));
    (h.square().mean(), h)
}

jit! {
    fn run(weights: &Weights, xs: &Array, h: &Array) -> (Array, Array) {
        network(weights, xs, h)
    }
    fn slope(weights: &Weights, xs: &Array, h: &Array) -> Weights {
        grad(|weights: &Weights| network(weights, xs, h).0)(weights)
    }
}

fn inputs(batch: usize) -> (Weights, Array, Array) {
    let w = noise([128, 128], 1, 0.2, F32);
    let u = noise([128, 128], 2, 0.2, F32);
    let b = noise([128], 3, 0.2, F32);
    (Weights { w, u, b }, noise([1000, batch, 128], 4, 2.0, F32), Array::zeros([batch, 128], F32))
}

/// The mean square of the last state, and the state.
pub(super) fn forward(batch: usize) -> Work {
    let (weights, xs, h) = inputs(batch);
    Box::new(move || run(&weights, &xs, &h))
}

/// The gradient of the mean square by the weights.
pub(super) fn gradient(batch: usize) -> Work {
    let (weights, xs, h) = inputs(batch);
    Box::new(move || slope(&weights, &xs, &h))
}
