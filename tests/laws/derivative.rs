//! `jvp` is the limit of differences: with `Δ(h) = (f(x + h d) − f(x − h d)) / 2h`, `f'(x)·d ≈ (4 Δ(h) − Δ(2h)) / 3`.

use tracewell_array::{Complex64, Literal, Tensor};
use tracewell_graph::{Example, Graph, eval};
use tracewell_transform::jvp;

use super::Outcome;
use super::inputs::direction;
use super::rng::Rng;
use super::single::{REFUSED, choices, epsilon, floats, gentle_point, refuses_derivative, single, sound};

/// Checks the derivative along random directions, each choice of operands varying.
pub(super) fn check(example: &Example, seed: u64) -> Result<Outcome, String> {
    let graph = single(example)?;
    if !graph.output_types().iter().any(|ty| ty.dtype.is_inexact()) {
        return Ok(Outcome::NotApplicable("its results do not vary"));
    }
    // That differences do not vanish although the derivative does is what this primitive is for.
    if example.prim.name() == "stop_gradient" {
        return Ok(Outcome::NotApplicable("its derivative is zero by definition"));
    }
    let choices = choices(&floats(example));
    if choices.is_empty() {
        return Ok(Outcome::NotApplicable("its operands are not floats"));
    }
    if choices.iter().any(|active| refuses_derivative(&graph, active)) {
        return Ok(REFUSED);
    }
    let mut rng = Rng::new(seed);
    let Some((x, y)) = gentle_point(&mut rng, &graph)? else {
        return Ok(Outcome::NotApplicable("its value is not finite"));
    };
    for active in choices {
        let (derivative, has_tangent) = sound(jvp(&graph, &active), |(g, _)| vec![g])?;
        let d: Vec<Option<Tensor>> = (graph.input_types().iter().zip(&active))
            .map(|(ty, active)| active.then(|| direction(&mut rng, ty)))
            .collect();
        let operands: Vec<Tensor> = x.iter().chain(d.iter().flatten()).cloned().collect();
        let mut tangents = eval(&derivative, &operands)?.split_off(y.len()).into_iter();

        let tolerance = Tolerance::of(&graph, &derivative);
        let steps = [1.0, -1.0, 2.0, -2.0].map(|steps| step(&graph, &x, &d, steps * tolerance.h));
        let [above, below, far_above, far_below] = steps;
        let (near, far) = ([above?, below?], [far_above?, far_below?]);
        for (k, has) in has_tangent.iter().enumerate() {
            let tangent = if *has { tangents.next() } else { None };
            if y[k].dtype().is_inexact() {
                tolerance
                    .compare(
                        &y[k],
                        tangent.as_ref(),
                        near.each_ref().map(|r| &r[k]),
                        far.each_ref().map(|r| &r[k]),
                    )
                    .map_err(|e| format!("varying {active:?}, result {k}: {e}"))?;
            }
        }
    }
    Ok(Outcome::Checked)
}

/// The results at `x + h d`.
fn step(graph: &Graph, x: &[Tensor], d: &[Option<Tensor>], h: f64) -> Result<Vec<Tensor>, String> {
    let moved = |(x, d): (&Tensor, &Option<Tensor>)| -> Tensor {
        let Some(d) = d else { return x.clone() };
        let literals: Vec<Literal> = (x.literals().zip(d.literals()))
            .map(|(x, d)| match x.dtype().is_complex() {
                true => Literal::from_complex(x.dtype(), x.as_complex() + d.as_complex() * h),
                false => Literal::from_f64(x.dtype(), x.as_f64() + h * d.as_f64()),
            })
            .collect();
        Tensor::from_literals(x.dtype(), x.shape().clone(), &literals).expect("one literal for each element")
    };
    eval(graph, &x.iter().zip(d).map(moved).collect::<Vec<_>>())
}

/// The step, and how far differences may then be from the derivative.
struct Tolerance {
    h: f64,
    relative: f64,
}

impl Tolerance {
    /// Rounding errs by `ε/h`: with `h = ε^⅓` that is about `ε^⅔`, and truncation, by `h⁴`, less except near poles.
    /// The more numbers there are the nearer they are to each other, and no step should reach the next; but it must not
    /// be lost in the rounding of what is moved.
    fn of(graph: &Graph, derivative: &Graph) -> Tolerance {
        let epsilon = epsilon(&[graph, derivative]);
        let floats: usize = graph.input_types().iter().map(|ty| ty.shape.len()).sum();
        let apart = (0.05 / floats.max(1) as f64).max(0.6 * epsilon.sqrt());
        Tolerance { h: epsilon.cbrt().min(1e-3).min(apart), relative: 400.0 * epsilon.powf(2.0 / 3.0) }
    }

    fn compare(
        &self,
        y: &Tensor,
        dy: Option<&Tensor>,
        near: [&Tensor; 2],
        far: [&Tensor; 2],
    ) -> Result<(), String> {
        for i in 0..y.len() {
            let between =
                |[above, below]: [&Tensor; 2]| above.literal(i).as_complex() - below.literal(i).as_complex();
            let difference = (between(near) * 8.0 - between(far)) / (12.0 * self.h);
            let tangent = dy.map_or(Complex64::ZERO, |dy| dy.literal(i).as_complex());
            let allowed = self.relative * (1.0 + y.literal(i).as_complex().norm() + difference.norm());
            let near = (difference - tangent).norm() <= allowed;
            // A NaN is not near anything.
            if !near {
                return Err(format!("element {i}: the tangent is {tangent}, differences give {difference}"));
            }
        }
        Ok(())
    }
}
