//! Every point with every other: forces and distances.

use tracewell::prelude::*;

use super::ROUNDING;
use crate::beside::{Program, in_numpy, program};
use crate::inputs::{floats, on};

/// Of the forces between 2048 bodies, at 20 a pair.
const FORCES: f64 = 20.0 * 2048.0 * 2048.0;

pub(super) const PROGRAMS: &[Program] = &[
    in_numpy("nbody_2048", ROUNDING, || {
        on(bodies(), |[at, mass]| {
            // One over the cube of the distance.
            pull(at, mass, |square| 1.0 / (square * square.sqrt()))
        })
    })
    .flops(FORCES),
    program("nbody_2048_rsqrt", ROUNDING, || {
        on(bodies(), |[at, mass]| pull(at, mass, |square| square.rsqrt().powi(3)))
    })
    .flops(FORCES),
    program("nbody_2048_planar", ROUNDING, || on(planar(), |[x, y, z, mass]| forces([x, y, z], mass)))
        .flops(FORCES),
    in_numpy("pairwise_1024x16", ROUNDING, || {
        on([floats([1024, 16], 3), floats([1024, 16], 4)], |[a, b]| {
            (a.expand(1) - b.expand(0)).square().sum_axes(&[2]).min_axes(&[1])
        })
    })
    .flops(3.0 * 1024.0 * 1024.0 * 16.0),
];

fn bodies() -> [Array; 2] {
    [floats([2048, 3], 1), floats([2048], 2).abs() + 0.1]
}

fn planar() -> [Array; 4] {
    let [at, mass] = bodies();
    let [x, y, z] = [0, 1, 2].map(|i| at.slice(s![.., i]));
    [x, y, z, mass]
}

/// What pulls at each body, the places as rows of three.
fn pull(at: &Array, mass: &Array, fall: impl Fn(&Array) -> Array) -> Array {
    let apart = at.expand(0) - at.expand(1);
    let weight = fall(&(apart.square().sum_axes(&[2]) + 1e-3)) * mass;
    (apart * weight.expand(2)).sum_axes(&[1])
}

/// The same, one array for each direction.
fn forces(at: [&Array; 3], mass: &Array) -> [Array; 3] {
    let apart = at.map(|x| x.expand(0) - x.expand(1));
    let [x, y, z] = &apart;
    let weight = (x.square() + y.square() + z.square() + 1e-3).rsqrt().powi(3) * mass;
    apart.map(|x| (x * &weight).sum_axes(&[1]))
}
