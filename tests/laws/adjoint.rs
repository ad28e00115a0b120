//! `⟨T u, v⟩ = ⟨u, Tᵀ v⟩`, where `T` is the linear part of `linearize` and `Tᵀ` its transpose.

use tracewell_array::Tensor;
use tracewell_graph::{Example, Linearized, eval};
use tracewell_transform::{linearize, transpose};

use super::Outcome;
use super::inputs::direction;
use super::rng::Rng;
use super::same::inner;
use super::single::{REFUSED, choices, epsilon, floats, gentle_point, refuses_derivative, single, sound};

/// Checks the adjoint on random vectors, each choice of operands varying, each choice of results given.
pub(super) fn check(example: &Example, seed: u64) -> Result<Outcome, String> {
    let graph = single(example)?;
    let choices = choices(&floats(example));
    if choices.is_empty() {
        return Ok(Outcome::NotApplicable("its operands are not floats"));
    }
    if choices.iter().any(|active| refuses_derivative(&graph, active)) {
        return Ok(REFUSED);
    }
    let mut rng = Rng::new(seed);
    let Some((x, _)) = gentle_point(&mut rng, &graph)? else {
        return Ok(Outcome::NotApplicable("its value is not finite"));
    };
    let mut outcome = Outcome::NotApplicable("no result has a tangent");
    for active in choices {
        let split = sound(linearize(&graph, &active), |s| vec![&s.primal, &s.linear])?;
        if split.tangents.iter().any(|&t| t) {
            check_split(&mut rng, &split, &x).map_err(|e| format!("varying {active:?}: {e}"))?;
            outcome = Outcome::Checked;
        }
    }
    Ok(outcome)
}

fn check_split(rng: &mut Rng, split: &Linearized, x: &[Tensor]) -> Result<(), String> {
    let residuals = eval(&split.primal, x)?.split_off(split.tangents.len());
    let (known, varying) = split.linear.inputs.split_at(residuals.len());
    let u: Vec<Tensor> = varying.iter().map(|&var| direction(rng, split.linear.ty(var))).collect();
    let image = eval(&split.linear, &residuals.iter().chain(&u).cloned().collect::<Vec<_>>())?;

    let linear: Vec<bool> = known.iter().map(|_| false).chain(varying.iter().map(|_| true)).collect();
    for given in choices(&vec![true; image.len()]) {
        let (adjoint, nonzero) = sound(transpose(&split.linear, &linear, &given), |(g, _)| vec![g])?;
        let (v, image): (Vec<Tensor>, Vec<Tensor>) =
            (split.linear.output_types().iter().zip(&image).zip(&given))
                .filter(|(_, given)| **given)
                .map(|((ty, image), _)| (direction(rng, ty), image.clone()))
                .unzip();
        let pulled = eval(&adjoint, &residuals.iter().chain(&v).cloned().collect::<Vec<_>>())?;
        let moved: Vec<Tensor> =
            u.iter().zip(&nonzero).filter(|(_, nonzero)| **nonzero).map(|(u, _)| u.clone()).collect();

        let ((left, left_size), (right, right_size)) = (inner(&image, &v), inner(&moved, &pulled));
        let allowed =
            64.0 * epsilon(&[&split.primal, &split.linear, &adjoint]) * (1.0 + left_size + right_size);
        let near = (left - right).abs() <= allowed;
        // A NaN is not near anything.
        if !near {
            return Err(format!("given {given:?}: ⟨T u, v⟩ is {left}, ⟨u, Tᵀ v⟩ is {right}"));
        }
    }
    Ok(())
}
