//! Loops: the same programs as in peer.py beside this, on the same inputs.

mod compartments;
mod kalman;
mod lorenz;
mod mandelbrot;
mod map_reduce;
mod rnn;
mod scalars;
mod species;

use tracewell::prelude::*;

use crate::beside::{Peer, Program, Work, program};

/// In the order of the table.
pub(crate) const PROGRAMS: &[Program] = &[
    // Chaotic, so that the last number says whether every rounding was the same.
    Program { peers: &[Peer::Jax, Peer::C], ..program("fori_scalar_1e6", 0.0, scalars::fori_scalar) },
    program("while_60_scalars", 1e-5, scalars::while_60),
    // Points at the edge fall on either side of it, by the rounding of one product.
    program("mandelbrot_array", 1e-3, mandelbrot::array),
    program("mandelbrot_vmap", 1e-3, mandelbrot::vmapped),
    program("rnn_b1", 1e-4, || rnn::forward(1)),
    program("rnn_b32", 1e-4, || rnn::forward(32)),
    program("rnn_b1_grad", 1e-3, || rnn::gradient(1)),
    program("rnn_b32_grad", 1e-3, || rnn::gradient(32)),
    program("ode_rk4", 1e-10, species::forward),
    program("ode_rk4_grad", 1e-10, species::gradient),
    program("ode_compartments", 1e-10, compartments::forward),
    program("ode_compartments_grad", 1e-10, compartments::gradient),
    // The system forgets four digits on the way.
    program("ode_lorenz", 1e-8, lorenz::forward),
    program("ode_lorenz_grad", 1e-8, lorenz::gradient),
    program("ode_lorenz_scalars", 1e-8, lorenz::scalars),
    program("kalman", 1e-11, kalman::forward),
    program("kalman_grad", 1e-10, kalman::gradient),
    Program { peers: &[], threads: Some(1), ..program("map_reduce_1", 0.0, map_reduce::work) },
    Program { peers: &[Peer::OneThread], threads: Some(2), ..program("map_reduce_2", 0.0, map_reduce::work) },
];

/// Numbers between -scale / 2 and scale / 2 that look random, and are the same to the bit in peer.py.
fn noise(shape: impl Into<Shape>, seed: u64, scale: f64, dtype: DType) -> Array {
    let shape = shape.into();
    let hash = |i: u64| (i + seed * 7919) * 2_654_435_761 % (1 << 32);
    let numbers: Vec<f64> =
        (0..shape.len() as u64).map(|i| scale * (hash(i) as f64 / 4_294_967_296.0 - 0.5)).collect();
    Array::from(numbers).convert(dtype).reshape(shape)
}
