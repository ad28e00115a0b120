//! The Lorenz system by the classical method of Runge and Kutta, a hundred thousand steps, and its gradient.

use tracewell::prelude::*;

use super::Work;

/// Three scalars.
type Three = [Array; 3];

const STEPS: i32 = 100_000;
const STEP: f64 = 1e-4;

fn derivative([x, y, z]: &Three, [sigma, rho, beta]: &Three) -> Three {
    [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]
}

/// The state at the end, as one vector.
fn end(state: &Array, parameters: &Three) -> Array {
    let slope = |state: &Array| {
        let [x, y, z] = [0, 1, 2].map(|i| state.slice(s![i]));
        stack(&derivative(&[x, y, z], parameters), 0)
    };
    fori_loop(0..STEPS, state.clone(), |_, state| {
        let k1 = slope(state);
        let k2 = slope(&(state + STEP / 2.0 * &k1));
        let k3 = slope(&(state + STEP / 2.0 * &k2));
        let k4 = slope(&(state + STEP * &k3));
        state + STEP / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    })
}

/// The same as three numbers.
fn end_of_scalars(state: &Three, parameters: &Three) -> Three {
    let along = |state: &Three, k: &Three, by: f64| std::array::from_fn(|i| &state[i] + by * &k[i]);
    fori_loop(0..STEPS, state.clone(), |_, state| {
        let k1 = derivative(state, parameters);
        let k2 = derivative(&along(state, &k1, STEP / 2.0), parameters);
        let k3 = derivative(&along(state, &k2, STEP / 2.0), parameters);
        let k4 = derivative(&along(state, &k3, STEP), parameters);
        let mean = std::array::from_fn(|i| &k1[i] + 2 * &k2[i] + 2 * &k3[i] + &k4[i]);
        along(state, &mean, STEP / 6.0)
    })
}

jit! {
    fn solve(state: &Array, parameters: &Three) -> Array {
        end(state, parameters)
    }
    fn solve_scalars(state: &Three, parameters: &Three) -> Three {
        end_of_scalars(state, parameters)
    }
    fn slope(state: &Array, parameters: &Three) -> (Array, Three) {
        let sum = |(state, parameters): &(Array, Three)| end(state, parameters).sum();
        grad(sum)(&(state.clone(), parameters.clone()))
    }
}

const START: [f64; 3] = [1.0, 0.5, 20.0];

fn parameters() -> Three {
    [10.0, 28.0, 8.0 / 3.0].map(Array::from)
}

/// The state at the end.
pub(super) fn forward() -> Work {
    let (state, parameters) = (Array::from(START), parameters());
    Box::new(move || solve(&state, &parameters))
}

/// The same of three numbers.
pub(super) fn scalars() -> Work {
    let (state, parameters) = (START.map(Array::from), parameters());
    Box::new(move || solve_scalars(&state, &parameters))
}

/// The gradient of its sum by the state at the start and by the parameters.
pub(super) fn gradient() -> Work {
    let (state, parameters) = (Array::from(START), parameters());
    Box::new(move || slope(&state, &parameters))
}
