//! Logistic regression by Newton's method: 8 steps, the equations of each solved by 20 conjugate gradients, each a
//! product with the Hessian.

use tracewell::prelude::*;

use super::ROUNDING;
use crate::beside::{Program, in_numpy};
use crate::inputs::{floats, on};

const ROWS: usize = 4096;
const COLUMNS: usize = 256;

pub(super) const PROGRAMS: &[Program] =
    &[in_numpy("newton_cg", ROUNDING, || on(inputs(), solve))
        .flops(8.0 * 20.0 * 4.0 * (ROWS * COLUMNS) as f64)];

/// Rows and their labels, 0 or 1, which no plane separates.
fn inputs() -> [Array; 2] {
    [floats([ROWS, COLUMNS], 1), floats([ROWS], 2).gt(0.0).convert(F32)]
}

fn solve([x, y]: &[Array; 2]) -> Array {
    let loss = |w: &Array| {
        // Without |z|, which has a kink at the start, where z is 0: what it makes of second derivatives there is a
        // matter of convention, and ours is not JAX's.
        let z = x.dot(w);
        (z.exp().log1p() - y * &z).mean() + 1e-3 * w.square().sum()
    };
    fori_loop(0..8, Array::zeros([COLUMNS], F32), |_, w| {
        let slope = grad(loss)(w);
        w - conjugate_gradients(|v| hvp(loss, w, v), &slope)
    })
}

/// Solves `product(x) = b` for x.
fn conjugate_gradients(product: impl Fn(&Array) -> Array, b: &Array) -> Array {
    let start = (Array::zeros([COLUMNS], F32), b.clone(), b.clone(), b.dot(b));
    fori_loop(0..20, start, |_, (x, r, p, square)| {
        let along = product(p);
        let far = square / (p.dot(&along) + 1e-30);
        let (x, r) = (x + &far * p, r - &far * along);
        let next = r.dot(&r);
        let p = &r + (&next / (square + 1e-30)) * p;
        (x, r, p, next)
    })
    .0
}
