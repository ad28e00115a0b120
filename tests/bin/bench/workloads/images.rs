//! Convolutions over a batch of 32 images of 28 by 28.

use tracewell::prelude::*;

use super::ROUNDING;
use super::network::cross_entropy;
use crate::beside::{Program, program};
use crate::inputs::{floats, on, scaled};

/// Of 32 channels to 64.
const CONV: f64 = 2.0 * 32.0 * 28.0 * 28.0 * 9.0 * 32.0 * 64.0;
/// Of one channel to 32.
const FIRST: f64 = 2.0 * 32.0 * 28.0 * 28.0 * 9.0 * 32.0;

pub(super) const PROGRAMS: &[Program] = &[
    program("conv3x3", ROUNDING, || {
        on([floats([32, 28, 28, 32], 1), scaled([3, 3, 32, 64], 2, 0.1)], |[x, w]| same(x, w))
    })
    .flops(CONV),
    program("cnn_forward", ROUNDING, || {
        on(inputs(), |[w1, w2, w3, b3, x, _]| predict(&[w1, w2, w3, b3].map(Array::clone), x))
    })
    .flops(CONV + FIRST),
    program("cnn_step", ROUNDING, || on(inputs(), step)).flops(3.0 * CONV + 2.0 * FIRST),
];

/// Weights, images and the classes they belong to.
fn inputs() -> [Array; 6] {
    let classes = Array::from((0..32).map(|i| i % 10).collect::<Vec<i32>>());
    [
        scaled([3, 3, 1, 32], 3, 0.5),
        scaled([3, 3, 32, 64], 4, 0.1),
        scaled([64, 10], 5, 0.2),
        scaled([10], 6, 0.2),
        floats([32, 28, 28, 1], 7),
        one_hot(&classes, 10, F32),
    ]
}

/// Channels last, as large as before.
fn same(x: &Array, w: &Array) -> Array {
    conv(x, w, &Conv::new().padding(Padding::Same))
}

/// Two convolutions, the mean of each channel, one layer.
fn predict([w1, w2, w3, b3]: &[Array; 4], x: &Array) -> Array {
    let h = same(x, w1).maximum(0.0);
    let h = same(&h, w2).maximum(0.0);
    h.mean_axes(&[1, 2]).dot(w3) + b3
}

/// The loss, and the weights after one step down its slope.
fn step([w1, w2, w3, b3, x, classes]: &[Array; 6]) -> (Array, [Array; 4]) {
    let weights = [w1, w2, w3, b3].map(Array::clone);
    let loss = |weights: &[Array; 4]| cross_entropy(&predict(weights, x), classes);
    let (loss, slope) = value_and_grad(loss)(&weights);
    (loss, tree::map2(&weights, &slope, |w, g| w - 0.1 * g))
}
