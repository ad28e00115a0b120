//! How a substance spreads between three compartments, by the classical method of Runge and Kutta, a hundred thousand
//! steps, and its gradient: a matrix of rates times the amounts.

use tracewell::prelude::*;

use super::Work;

const STEPS: i32 = 100_000;
const STEP: f64 = 1e-4;

fn end(state: &Array, rates: &Array) -> Array {
    fori_loop(0..STEPS, state.clone(), |_, state| {
        let k1 = rates.dot(state);
        let k2 = rates.dot(&(state + STEP / 2.0 * &k1));
        let k3 = rates.dot(&(state + STEP / 2.0 * &k2));
        let k4 = rates.dot(&(state + STEP * &k3));
        state + STEP / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    })
}

jit! {
    fn solve(state: &Array, rates: &Array) -> Array {
        end(state, rates)
    }
    fn slope(state: &Array, rates: &Array) -> (Array, Array) {
        let sum = |(state, rates): &(Array, Array)| end(state, rates).sum();
        grad(sum)(&(state.clone(), rates.clone()))
    }
}

fn inputs() -> (Array, Array) {
    let rates = Array::from([-0.9, 0.3, 0.1, 0.5, -0.4, 0.0, 0.2, 0.0, -0.1]).reshape([3, 3]);
    (Array::from([1.0, 0.0, 0.0]), rates)
}

/// The amounts at the end.
pub(super) fn forward() -> Work {
    let (state, rates) = inputs();
    Box::new(move || solve(&state, &rates))
}

/// The gradient of their sum by the amounts at the start and by the rates.
pub(super) fn gradient() -> Work {
    let (state, rates) = inputs();
    Box::new(move || slope(&state, &rates))
}
