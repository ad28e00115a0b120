//! A function of one thing, mapped over a hundred thousand.

use tracewell::prelude::*;

use super::ROUNDING;
use crate::beside::{Program, in_numpy, program};
use crate::inputs::{floats, on};

const MANY: usize = 100_000;

pub(super) const PROGRAMS: &[Program] = &[
    in_numpy("quat_rotate_1e5", ROUNDING, || {
        on([floats([MANY, 4], 1), floats([MANY, 3], 2)], |[q, v]| {
            vmap(|(q, v): &(Array, Array)| rotated(q, v))(&(q.clone(), v.clone()))
        })
    }),
    program("vmap_grad_1e5", ROUNDING, || on([floats([MANY, 4], 3)], |[x]| vmap(grad(small))(x))),
];

/// A vector turned by a quaternion, which is made one of length 1 first.
fn rotated(q: &Array, v: &Array) -> Array {
    let q = q * (q.square().sum() + 1e-6).rsqrt();
    let (u, w) = (q.slice(s![..3]), q.slice(s![3]));
    let t = 2.0 * linalg::cross(&u, v);
    v + w * &t + linalg::cross(&u, &t)
}

fn small(x: &Array) -> Array {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| x.slice(s![i]));
    &a.sin() * &b.exp() + c.square() * d.tanh() + x.square().sum().log1p() * a.cos()
}
