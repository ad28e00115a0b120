//! A network of three layers, 784 to 512 to 256 to 10, on a batch of 128.

use tracewell::prelude::*;

use super::ROUNDING;
use crate::beside::{Program, in_numpy, program};
use crate::inputs::{floats, on, scaled};

/// Multiplications and additions of the layers on the batch.
const LAYERS: f64 = 2.0 * 128.0 * (784.0 * 512.0 + 512.0 * 256.0 + 256.0 * 10.0);
/// Of the first layer, whose input needs no gradient.
const FIRST: f64 = 2.0 * 128.0 * 784.0 * 512.0;

pub(super) const PROGRAMS: &[Program] = &[
    in_numpy("mlp_forward", ROUNDING, || {
        on(inputs(), |[w1, b1, w2, b2, w3, b3, x, _]| predict(&[w1, b1, w2, b2, w3, b3].map(Array::clone), x))
    })
    .flops(LAYERS),
    program("mlp_step", ROUNDING, || on(inputs(), step)).flops(3.0 * LAYERS - FIRST),
];

/// Weights, images and the classes they belong to.
fn inputs() -> [Array; 8] {
    let classes = Array::from((0..128).map(|i| i % 10).collect::<Vec<i32>>());
    [
        scaled([784, 512], 1, 0.06),
        scaled([512], 2, 0.06),
        scaled([512, 256], 3, 0.08),
        scaled([256], 4, 0.08),
        scaled([256, 10], 5, 0.1),
        scaled([10], 6, 0.1),
        floats([128, 784], 7),
        one_hot(&classes, 10, F32),
    ]
}

fn predict([w1, b1, w2, b2, w3, b3]: &[Array; 6], x: &Array) -> Array {
    let h = (x.dot(w1) + b1).maximum(0.0);
    let h = (h.dot(w2) + b2).maximum(0.0);
    h.dot(w3) + b3
}

/// The mean over the batch of what the classes are surprised by.
pub(super) fn cross_entropy(logits: &Array, classes: &Array) -> Array {
    let shifted = logits - logits.max_axes(&[1]).expand(1);
    let likelihood = &shifted - shifted.exp().sum_axes(&[1]).log().expand(1);
    -(classes * likelihood).sum_axes(&[1]).mean()
}

/// The loss, and the weights after one step down its slope.
fn step([w1, b1, w2, b2, w3, b3, x, classes]: &[Array; 8]) -> (Array, [Array; 6]) {
    let weights = [w1, b1, w2, b2, w3, b3].map(Array::clone);
    let loss = |weights: &[Array; 6]| cross_entropy(&predict(weights, x), classes);
    let (loss, slope) = value_and_grad(loss)(&weights);
    (loss, tree::map2(&weights, &slope, |w, g| w - 0.1 * g))
}
