//! A Kalman filter of four states and one measurement a step: the log-likelihood of ten thousand, its gradient.

use tracewell::prelude::*;

use super::{Work, noise};

/// Variances: how places and speeds wander, and how wrong measurements are.
type Noises = [Array; 3];

/// Two places with speeds, each drawn back to zero, so that what is not measured is known all the same.
fn likelihood([place, speed, error]: &Noises, ys: &Array) -> Array {
    let ft = Array::from([
        [0.98, 0.0, 0.0, 0.0],
        [0.0, 0.9, 0.0, 0.0],
        [0.1, 0.0, 0.95, 0.0],
        [0.0, 0.1, 0.0, 0.85],
    ]);
    let f = ft.t();
    let sight = Array::from([1.0, 0.5, 0.25, 0.0]);
    let diagonal = |values: [f64; 4]| Array::eye(4, F64) * Array::from(values);
    let q = place * diagonal([1.0, 1.0, 0.0, 0.0]) + speed * diagonal([0.0, 0.0, 1.0, 1.0]);
    let start = (Array::zeros([4], F64), Array::eye(4, F64), Array::from(0.0));
    let (end, ()) = scan(start, ys, |(mean, cov, total): &(Array, Array, Array), y: &Array| {
        let (mean, cov) = (f.dot(mean), f.dot(cov).dot(&ft) + &q);
        let seen = cov.dot(&sight);
        let (variance, surprise) = (sight.dot(&seen) + error, y - sight.dot(&mean));
        let gain = &seen / &variance;
        let cost = (2.0 * std::f64::consts::PI * &variance).log() + surprise.square() / &variance;
        let cov = cov - gain.expand(1) * seen.expand(0);
        ((mean + gain * surprise, cov, total - 0.5 * cost), ())
    });
    end.2
}

jit! {
    fn value(noises: &Noises, ys: &Array) -> Array {
        likelihood(noises, ys)
    }
    fn slope(noises: &Noises, ys: &Array) -> Noises {
        grad(|noises: &Noises| likelihood(noises, ys))(noises)
    }
}

fn inputs() -> (Noises, Array) {
    ([0.01, 0.02, 0.3].map(Array::from), noise([10_000], 5, 2.0, F64))
}

/// The log-likelihood.
pub(super) fn forward() -> Work {
    let (noises, ys) = inputs();
    Box::new(move || value(&noises, &ys))
}

/// Its gradient by the variances.
pub(super) fn gradient() -> Work {
    let (noises, ys) = inputs();
    Box::new(move || slope(&noises, &ys))
}
