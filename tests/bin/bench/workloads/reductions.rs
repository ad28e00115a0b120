//! Sums, means and maxima over all, rows and columns, and what normalises rows.

use tracewell::prelude::*;

use super::ROUNDING;
use crate::beside::{Program, in_numpy};
use crate::inputs::{floats, on, scaled};

pub(super) const PROGRAMS: &[Program] = &[
    in_numpy("sum_all_4096", ROUNDING, || on([large()], |[x]| x.sum())),
    in_numpy("sum_rows_4096", ROUNDING, || on([large()], |[x]| x.sum_axes(&[1]))),
    in_numpy("sum_cols_4096", ROUNDING, || on([large()], |[x]| x.sum_axes(&[0]))),
    in_numpy("mean_all_4096", ROUNDING, || on([large()], |[x]| x.mean())),
    in_numpy("mean_rows_4096", ROUNDING, || on([large()], |[x]| x.mean_axes(&[1]))),
    in_numpy("mean_cols_4096", ROUNDING, || on([large()], |[x]| x.mean_axes(&[0]))),
    in_numpy("max_all_4096", 1e-12, || on([large()], |[x]| x.max())),
    in_numpy("max_rows_4096", 1e-12, || on([large()], |[x]| x.max_axes(&[1]))),
    in_numpy("max_cols_4096", 1e-12, || on([large()], |[x]| x.max_axes(&[0]))),
    in_numpy("softmax_rows_1024", ROUNDING, || on([small()], |[x]| softmax(x))),
    in_numpy("layernorm_rows_1024", ROUNDING, || on([small()], |[x]| layernorm(x))),
    in_numpy("logsumexp_rows_1024", ROUNDING, || on([small()], |[x]| logsumexp(x))),
];

/// Around one half, so that sums do not cancel.
fn large() -> Array {
    floats([4096, 4096], 1) + 0.5
}

fn small() -> Array {
    scaled([1024, 1024], 2, 4.0)
}

/// Along the last axis.
pub(super) fn softmax(x: &Array) -> Array {
    let e = (x - x.max_axes(&[-1]).expand(-1)).exp();
    &e / e.sum_axes(&[-1]).expand(-1)
}

/// Along the last axis.
pub(super) fn layernorm(x: &Array) -> Array {
    let centred = x - x.mean_axes(&[-1]).expand(-1);
    let variance = centred.square().mean_axes(&[-1]).expand(-1);
    centred * (variance + 1e-5).rsqrt()
}

fn logsumexp(x: &Array) -> Array {
    let largest = x.max_axes(&[1]);
    (x - largest.expand(1)).exp().sum_axes(&[1]).log() + largest
}
