//! Inputs that look random and are the same to the bit in inputs.py.
//!
//! They are copied into memory of the library's, as those of the peers are in memory of NumPy's: both ask for large
//! pages, which a `Vec` does not, and which are read faster.

use tracewell::prelude::*;

use crate::beside::Work;

/// A jitted function on its arguments.
pub(crate) fn on<const N: usize, R: Outcome + Tree + 'static>(
    args: [Array; N],
    f: fn(&[Array; N]) -> R,
) -> Work {
    let f = tracewell::jit(f);
    Box::new(move || f.call(&args))
}

fn word(i: usize, seed: u32) -> u32 {
    let x = (i as u32).wrapping_mul(0x9E37_79B9).wrapping_add(seed);
    [(16, 0x85EB_CA6B), (13, 0xC2B2_AE35), (16, 1)]
        .into_iter()
        .fold(x, |x: u32, (shift, factor)| (x ^ (x >> shift)).wrapping_mul(factor))
}

fn copied<T: tracewell::Element>(elements: &[T]) -> Array {
    Array::from(elements)
}

/// Numbers of 32 bits.
pub(crate) fn words(count: usize, seed: u32) -> Array {
    copied(&(0..count).map(|i| word(i, seed)).collect::<Vec<u32>>())
}

/// Between -1 and 1.
pub(crate) fn floats(shape: impl Into<Shape>, seed: u32) -> Array {
    scaled(shape, seed, 1.0)
}

/// Between -scale and scale.
pub(crate) fn scaled(shape: impl Into<Shape>, seed: u32, scale: f64) -> Array {
    let shape = shape.into();
    let float = |i| (scale * (f64::from(word(i, seed)) / 2_147_483_648.0 - 1.0)) as f32;
    copied(&(0..shape.len()).map(float).collect::<Vec<f32>>()).reshape(shape)
}

/// Between 0 and the size.
pub(crate) fn places(count: usize, size: usize, seed: u32) -> Array {
    copied(&(0..count).map(|i| (word(i, seed) as usize % size) as i32).collect::<Vec<i32>>())
}
