//! A sum over a million elements, each of which is some work: the same to the bit with any number of threads.

use tracewell::prelude::*;

use super::{Work, noise};

jit! {
    fn total(xs: &Array) -> Array {
        let one = |x: &Array| (3 * x).sin() * (x.square() - 1).exp() + (2 * x).tanh();
        map_reduce(Array::from(0f32), xs, one, |a: &Array, b: &Array| a + b)
    }
}

/// The sum.
pub(super) fn work() -> Work {
    let xs = noise([1 << 20], 6, 4.0, F32);
    Box::new(move || total(&xs))
}
