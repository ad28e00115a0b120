//! The heavy primitives: the same rows as in peer.py beside this, on the same inputs.

use tracewell::prelude::*;

use crate::beside::{Program, in_numpy, program};
use crate::inputs::{floats, on, places, words};

/// How far sums may be apart that were added in another order.
const ROUNDING: f64 = 1e-4;
const MILLION: usize = 1_000_000;

/// In the order of the table.
pub(crate) const PROGRAMS: &[Program] = &[
    in_numpy("sort_f32_1e6", 1e-12, || on([floats([MILLION], 1)], |[x]| x.sort(0))),
    in_numpy("sort_i32_1e6", 1e-12, || on([words(MILLION, 1).convert(I32)], |[x]| x.sort(0))),
    // NumPy puts equal elements in any order.
    in_numpy("argsort_f32_1e6", 1e-6, || on([floats([MILLION], 1)], |[x]| x.argsort(0))),
    program("top_k_100_of_1e6", 1e-12, || on([floats([MILLION], 1)], |[x]| x.top_k(100, 0))),
    in_numpy("searchsorted_1e6", 1e-12, || {
        on([floats([100_000], 3).sort(0), floats([MILLION], 1)], |[x, y]| x.searchsorted(y))
    }),
    in_numpy("cumsum_f32_1e7", ROUNDING, || on([floats([10 * MILLION], 2)], |[x]| x.cumsum(0))),
    in_numpy("cumsum_rows", ROUNDING, || on([floats([1000, 10_000], 4)], |[x]| x.cumsum(1))),
    in_numpy("gather_rows", 1e-12, || on(rows_and_places(), |[x, at]| x.take(at, 0))),
    in_numpy("gather_scalars", 1e-12, || on(scalars_and_places(), |[x, at]| x.take(at, 0))),
    program("gather_scalars_clip", 1e-12, || on(scalars_and_places(), |[x, at]| x.at(at).clip().get())),
    in_numpy("scatter_add_rows", ROUNDING, || {
        let [x, at] = rows_and_places();
        on([x, at, floats([100_000, 64], 9)], |[x, at, y]| x.at(s![at]).add(y))
    }),
    in_numpy("scatter_add_scalars", ROUNDING, || {
        let [x, at] = scalars_and_places();
        on([x, at, floats([MILLION], 9)], |[x, at, y]| x.at(s![at]).add(y))
    }),
    in_numpy("uniform_1e7", 1e-12, || {
        on([seed()], |[key]| random::uniform(&random::Key::from_words(key), [10 * MILLION], F32))
    })
    .drawing(),
    in_numpy("normal_1e7", ROUNDING, || {
        on([seed()], |[key]| random::normal(&random::Key::from_words(key), [10 * MILLION], F32))
    })
    .drawing(),
    program("conv_2d", ROUNDING, || on(planes(), convolved)),
    program("conv_2d_grad", ROUNDING, || on(planes(), conv_grad)),
    program("conv_1d", ROUNDING, || on(lines(), convolved)),
    program("conv_1d_grad", ROUNDING, || on(lines(), conv_grad)),
    in_numpy("cholesky_512", ROUNDING, || on([positive()], |[a]| linalg::cholesky(a))),
    in_numpy("solve_512", ROUNDING, || on([positive(), floats([512, 16], 16)], |[a, b]| linalg::solve(a, b))),
    program("max_pool", 1e-12, || on([images()], |[x]| pooled(x))),
    program("max_pool_grad", ROUNDING, || {
        on([images()], |[x]| grad(|x: &Array| pooled(x).square().sum())(x))
    }),
];

fn rows_and_places() -> [Array; 2] {
    [floats([100_000, 64], 5), places(100_000, 100_000, 6)]
}

fn scalars_and_places() -> [Array; 2] {
    [floats([MILLION], 7), places(MILLION, MILLION, 8)]
}

/// The words of a key.
fn seed() -> Array {
    Array::from([0u32, 42])
}

fn planes() -> [Array; 2] {
    [floats([32, 28, 28, 16], 10), floats([3, 3, 16, 32], 11)]
}

fn lines() -> [Array; 2] {
    [floats([32, 1024, 16], 12), floats([5, 16, 32], 13)]
}

fn images() -> Array {
    floats([32, 28, 28, 32], 14)
}

/// A matrix that is positive definite: small beside its diagonal.
fn positive() -> Array {
    let a = floats([512, 512], 15);
    &a + a.t() + 64.0 * Array::eye(512, F32)
}

/// Channels last, as large as before.
fn convolved([x, w]: &[Array; 2]) -> Array {
    conv(x, w, &Conv::new().padding(Padding::Same))
}

fn conv_grad(args: &[Array; 2]) -> [Array; 2] {
    grad(|args: &[Array; 2]| convolved(args).square().sum())(args)
}

fn pooled(x: &Array) -> Array {
    max_pool(x, &Window::new(2))
}
