//! First calls of graphs of 10 to 5,000 equations, deep and wide: what tracing and compiling takes.

use tracewell::prelude::*;

use crate::beside::{Program, Work, program};
use crate::inputs::{floats, on, scaled};

pub(crate) const PROGRAMS: &[Program] = &[
    called_once("sines_10", || sines::<10>()),
    called_once("sines_100", || sines::<100>()),
    called_once("sines_1000", || sines::<1000>()),
    called_once("sines_5000", || sines::<5000>()),
    called_once("products_10", || products::<10>()),
    called_once("products_100", || products::<100>()),
    called_once("products_1000", || products::<1000>()),
    called_once("products_5000", || products::<5000>()),
    called_once("wide_10", || wide::<10>()),
    called_once("wide_100", || wide::<100>()),
    called_once("wide_1000", || wide::<1000>()),
    called_once("wide_5000", || wide::<5000>()),
    called_once("layers_10", || layers::<10>()),
    called_once("layers_100", || layers::<100>()),
    called_once("layers_1000", || layers::<1000>()),
    called_once("layers_5000", || layers::<5000>()),
];

const fn called_once(name: &'static str, make: fn() -> Work) -> Program {
    program(name, 1e-3, make).first_calls()
}

fn vector() -> [Array; 1] {
    [floats([1024], 1)]
}

/// A chain of products and sums, a tenth of the steps sines.
fn sines<const N: usize>() -> Work {
    const STEP: fn(Array, usize) -> Array = |x, i| match i {
        i if i % 10 == 9 => x.sin(),
        i if i % 2 == 0 => x * 0.99,
        _ => x + 0.01,
    };
    on(vector(), |[x]| (0..N).fold(x.clone(), STEP))
}

/// A chain of products and sums.
fn products<const N: usize>() -> Work {
    on(vector(), |[x]| (0..N).fold(x.clone(), |x, i| if i % 2 == 0 { x * 0.99 } else { x + 0.01 }))
}

/// As many results as half of the equations, each of two.
fn wide<const N: usize>() -> Work {
    on(vector(), |[x]| (0..N / 2).map(|i| x * (1.0 + i as f64) + 0.5).collect::<Vec<_>>())
}

/// Products with one matrix and tanh.
fn layers<const N: usize>() -> Work {
    let inputs = [floats([64, 64], 1), scaled([64, 64], 2, 0.1)];
    on(inputs, |[x, w]| (0..N / 2).fold(x.clone(), |x, _| x.dot(w).tanh()))
}
