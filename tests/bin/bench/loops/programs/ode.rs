//! The Lorenz system by the classical method of Runge and Kutta, a hundred thousand steps, and its gradient.

use tracewell::prelude::*;

use super::Work;

/// Three scalars.
type Three = [Array; 3];

const STEP: f64 = 1e-4;

fn derivative([x, y, z]: &Three, [sigma, rho, beta]: &Three) -> Three {
    [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]
}

/// `state + by * k`
fn along(state: &Three, k: &Three, by: f64) -> Three {
    std::array::from_fn(|i| &state[i] + by * &k[i])
}

fn end(state: &Three, parameters: &Three) -> Three {
    fori_loop(0..100_000, state.clone(), |_, state| {
        let k1 = derivative(state, parameters);
        let k2 = derivative(&along(state, &k1, STEP / 2.0), parameters);
        let k3 = derivative(&along(state, &k2, STEP / 2.0), parameters);
        let k4 = derivative(&along(state, &k3, STEP), parameters);
        let mean = std::array::from_fn(|i| &k1[i] + 2 * &k2[i] + 2 * &k3[i] + &k4[i]);
        along(state, &mean, STEP / 6.0)
    })
}

jit! {
    fn solve(state: &Three, parameters: &Three) -> Three {
        end(state, parameters)
    }
    fn slope(state: &Three, parameters: &Three) -> (Three, Three) {
        let sum = |(state, parameters): &(Three, Three)| {
            let [x, y, z] = end(state, parameters);
            x + y + z
        };
        grad(sum)(&(state.clone(), parameters.clone()))
    }
}

fn inputs() -> (Three, Three) {
    ([1.0, 0.5, 20.0].map(Array::from), [10.0, 28.0, 8.0 / 3.0].map(Array::from))
}

/// The state at the end.
pub(super) fn forward() -> Work {
    let (state, parameters) = inputs();
    Box::new(move || tree::flatten(&solve(&state, &parameters)))
}

/// The gradient of its sum by the state at the start and by the parameters.
pub(super) fn gradient() -> Work {
    let (state, parameters) = inputs();
    Box::new(move || tree::flatten(&slope(&state, &parameters)))
}
