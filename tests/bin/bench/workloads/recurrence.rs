//! A recurrent network of 128 units over a thousand steps, whose inputs are added as they are.

use tracewell::prelude::*;

use super::ROUNDING;
use crate::beside::{Program, Work, in_numpy};
use crate::inputs::{floats, on, scaled};

pub(super) const PROGRAMS: &[Program] = &[
    in_numpy("scan_rnn_b1", ROUNDING, || run(1)).flops(1000.0 * 2.0 * 128.0 * 128.0),
    in_numpy("scan_rnn_b32", ROUNDING, || run(32)).flops(1000.0 * 32.0 * 2.0 * 128.0 * 128.0),
];

fn run(batch: usize) -> Work {
    let inputs = [scaled([128, 128], 1, 0.1), Array::zeros([batch, 128], F32), floats([1000, batch, 128], 2)];
    on(inputs, |[w, h, xs]| scan(h.clone(), xs, |h: &Array, x: &Array| ((h.dot(w) + x).tanh(), ())).0)
}
