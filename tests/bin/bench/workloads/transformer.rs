//! One block of a transformer: 4 sequences of 128, 256 wide, 8 heads, 1024 in the middle.

use tracewell::prelude::*;

use super::ROUNDING;
use super::reductions::{layernorm, softmax};
use crate::beside::{Program, program};
use crate::inputs::{floats, on, scaled};

const BATCH: usize = 4;
const LENGTH: usize = 128;
const WIDTH: usize = 256;
const HEADS: usize = 8;

const FLOPS: f64 = 2.0 * (BATCH * LENGTH * WIDTH * (12 * WIDTH + 2 * LENGTH)) as f64;

pub(super) const PROGRAMS: &[Program] = &[
    program("transformer_forward", ROUNDING, || {
        on(inputs(), |[qkv, out, up, down, x]| block(&[qkv, out, up, down].map(Array::clone), x))
    })
    .flops(FLOPS),
    program("transformer_grad", 1e-3, || {
        on(inputs(), |[qkv, out, up, down, x]| {
            let weights = [qkv, out, up, down].map(Array::clone);
            value_and_grad(|(weights, x): &([Array; 4], Array)| block(weights, x).square().mean())(&(
                weights,
                x.clone(),
            ))
        })
    })
    .flops(3.0 * FLOPS),
];

fn inputs() -> [Array; 5] {
    [
        scaled([WIDTH, 3 * WIDTH], 1, 0.1),
        scaled([WIDTH, WIDTH], 2, 0.1),
        scaled([WIDTH, 4 * WIDTH], 3, 0.1),
        scaled([4 * WIDTH, WIDTH], 4, 0.05),
        floats([BATCH, LENGTH, WIDTH], 5),
    ]
}

/// Attention and a layer, each after a normalisation and added to what went in.
fn block([qkv, out, up, down]: &[Array; 4], x: &Array) -> Array {
    let each = WIDTH / HEADS;
    let heads = layernorm(x).dot(qkv).reshape([BATCH, LENGTH, 3, HEADS, each]).permute(&[2, 0, 3, 1, 4]);
    let [q, k, v] = [0, 1, 2].map(|i| heads.slice(s![i]));
    let scores = matmul(&q, &k.permute(&[0, 1, 3, 2])) * (1.0 / (each as f64).sqrt());
    let seen = matmul(&softmax(&scores), &v).permute(&[0, 2, 1, 3]).reshape([BATCH, LENGTH, WIDTH]);
    let x = x + seen.dot(out);
    let h = layernorm(&x).dot(up);
    let gelu = 0.5 * &h * (1.0 + (0.797_884_560_802_865_4 * (&h + 0.044_715 * h.powi(3))).tanh());
    x + gelu.dot(down)
}
