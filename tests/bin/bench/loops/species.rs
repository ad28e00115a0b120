//! Three species that live of each other (Lotka and Volterra), by the classical method of Runge and Kutta, a hundred
//! thousand steps, and its gradient: how many there are after each step, as one needs it to fit what was counted.

use tracewell::prelude::*;

use super::Work;

const STEPS: usize = 100_000;
const STEP: f64 = 1e-3;

#[derive(Clone, Tree)]
struct Nature {
    growth: Array,
    effects: Array,
}

fn path(species: &Array, Nature { growth, effects }: &Nature) -> Array {
    let slope = |species: &Array| species * (growth + effects.dot(species));
    let step = |species: &Array, (): &()| {
        let k1 = slope(species);
        let k2 = slope(&(species + STEP / 2.0 * &k1));
        let k3 = slope(&(species + STEP / 2.0 * &k2));
        let k4 = slope(&(species + STEP * &k3));
        let species = species + STEP / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4);
        (species.clone(), species)
    };
    let options = ScanOptions { length: Some(STEPS), ..ScanOptions::default() };
    scan_with(species.clone(), &(), options, step).1
}

jit! {
    fn solve(species: &Array, nature: &Nature) -> Array {
        path(species, nature)
    }
    fn slope(species: &Array, nature: &Nature) -> (Array, Nature) {
        let sum = |(species, nature): &(Array, Nature)| path(species, nature).square().sum();
        grad(sum)(&(species.clone(), nature.clone()))
    }
}

fn inputs() -> (Array, Nature) {
    let growth = Array::from([1.0, 0.6, -0.4]);
    let effects = Array::from([-1.0, -0.5, -0.9, -0.3, -0.8, -0.4, 0.6, 0.5, -0.2]).reshape([3, 3]);
    (Array::from([0.5, 0.3, 0.2]), Nature { growth, effects })
}

/// How many of each there are after each step.
pub(super) fn forward() -> Work {
    let (species, nature) = inputs();
    Box::new(move || solve(&species, &nature))
}

/// The gradient of the sum of their squares by how many there were at the start and by what they live of.
pub(super) fn gradient() -> Work {
    let (species, nature) = inputs();
    Box::new(move || slope(&species, &nature))
}
