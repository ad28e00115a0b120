//! Calls of which the work is nothing: what a call costs.

use tracewell::prelude::*;

use crate::beside::{Program, Work, in_numpy, program};
use crate::inputs::floats;

pub(super) const PROGRAMS: &[Program] = &[
    in_numpy("dispatch_scalar_add", 0.0, || added(1.0f32.into(), 2.0f32.into())),
    in_numpy("dispatch_add_4", 0.0, || added([1.0f32, 2.0, 3.0, 4.0].into(), [1.0f32; 4].into())),
    // A number of the host language is handed over in each call.
    program("dispatch_number", 0.0, || {
        let x = Array::from(1.0f32);
        Box::new(move || with_number(&x, 2.0))
    }),
    program("dispatch_20_to_1", 1e-6, || {
        let xs = twenty();
        Box::new(move || total(&xs))
    }),
    program("dispatch_20_to_20", 0.0, || {
        let xs = twenty();
        Box::new(move || each(&xs))
    }),
    // A hundred calls, each on what the one before returned.
    program("dispatch_chained_100", 0.0, || {
        let (x, one) = (Array::from(0.0f32), Array::from(1.0f32));
        Box::new(move || (0..100).fold(x.clone(), |x, _| add(&x, &one)))
    }),
    in_numpy("eager_add", 0.0, || {
        let (x, y) = (Array::from(1.0f32), Array::from(2.0f32));
        Box::new(move || &x + &y)
    }),
    // A copy of numbers that the host language has.
    program("asarray_1e6", 1e-12, || {
        let numbers = floats([1_000_000], 1).to_vec::<f32>().unwrap_or_default();
        Box::new(move || Array::from(&numbers[..]))
    }),
];

jit! {
    fn add(x: &Array, y: &Array) -> Array { x + y }
    fn with_number(x: &Array, y: Scalar) -> Array { x + &y }
    fn total(xs: &[Array; 20]) -> Array { xs[1..].iter().fold(xs[0].clone(), |sum, x| sum + x) }
    fn each(xs: &[Array; 20]) -> [Array; 20] { std::array::from_fn(|i| &xs[i] + 1.0) }
}

fn added(x: Array, y: Array) -> Work {
    Box::new(move || add(&x, &y))
}

fn twenty() -> [Array; 20] {
    std::array::from_fn(|i| Array::from(i as f32))
}
