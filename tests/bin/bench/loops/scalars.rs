//! Loops that carry scalars: one, and sixty.

use tracewell::prelude::*;

use super::Work;

jit! {
    fn logistic(x: &Array, r: &Array) -> Array {
        fori_loop(0..1_000_000, x.clone(), |_, x| r * x * (1 - x))
    }
}

/// A million times `r x (1 - x)`.
pub(super) fn fori_scalar() -> Work {
    let (x, r) = (Array::from(0.3f32), Array::from(3.7f32));
    Box::new(move || logistic(&x, &r))
}

jit! {
    fn spread(xs: &[Array]) -> Vec<Array> {
        let start = (Array::from(0i32), xs.to_vec());
        let (_, xs) = while_loop(start, |(i, _)| i.lt(10_000), |(i, xs)| {
            let n = xs.len();
            let next = |k: usize| &xs[k] + 0.2 * (&xs[(k + n - 1) % n] - 2 * &xs[k] + &xs[(k + 1) % n]);
            (i + 1, (0..n).map(next).collect())
        });
        xs
    }
}

/// Sixty scalars, each of which takes from its neighbours ten thousand times.
pub(super) fn while_60() -> Work {
    let xs: Vec<Array> = (0..60).map(|k| Array::from(if k == 7 { 61.0f32 } else { 1.0 })).collect();
    Box::new(move || spread(&xs))
}
