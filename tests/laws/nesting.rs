//! Derivatives nest: reverse over reverse agrees with forward over forward, batching a gradient is a loop of
//! gradients, the gradient of a batch is a batch of gradients, and machine code computes each of them.

use tracewell_array::{DType, Tensor};
use tracewell_graph::{Atom, Example, Graph, GraphBuilder, RuleError, eval};
use tracewell_transform::{batch, jvp, linearize, transpose};

use super::Outcome;
use super::inputs::direction;
use super::rng::Rng;
use super::same::inner;
use super::single::{REFUSED, floats, gentle_point, refuses_derivative, single};
use crate::differential::{Compiled, WAYS};

/// How large a batch is.
const BATCH: usize = 3;

/// How far results may be from each other, relative to their size: many roundings of `f64`, and the error of
/// expansions against the evaluator.
const TOLERANCE: f64 = 1e-10;

/// Checks all of it where every float is an `f64`; machine code only on the first of several draws.
pub(super) fn check(example: &Example, seed: u64) -> Result<Outcome, String> {
    let graph = single(example)?;
    let active = floats(example);
    if !active.contains(&true) {
        return Ok(Outcome::NotApplicable("its operands are not floats"));
    }
    if graph.types.iter().any(|ty| ty.dtype.real() == DType::F32) {
        return Ok(Outcome::NotApplicable("it is checked in f64"));
    }
    if refuses_derivative(&graph, &active) {
        return Ok(REFUSED);
    }
    let mut rng = Rng::new(seed);
    let Some((x, _)) = gentle_point(&mut rng, &graph)? else {
        return Ok(Outcome::NotApplicable("its value is not finite"));
    };
    let Some(gradient) = gradient(&graph, &active, graph.inputs.len()).map_err(|e| e.to_string())? else {
        return Ok(Outcome::NotApplicable("no result has a tangent"));
    };
    let cotangents = directions(&mut rng, &gradient, x.len());
    second(&mut rng, &graph, &gradient, &active, &x, &cotangents)
        .map_err(|e| format!("second order: {e}"))?;
    batches(&mut rng, &graph, &gradient, &active).map_err(|e| format!("batches: {e}"))?;
    if seed.is_multiple_of(4) {
        let point: Vec<Tensor> = x.iter().chain(&cotangents).cloned().collect();
        compiled(&gradient, &point).map_err(|e| format!("the compiled gradient: {e}"))?;
        let (forward, _) = jvp(&graph, &active).map_err(|e| e.to_string())?;
        let tangents = directions(&mut rng, &forward, x.len());
        let point: Vec<Tensor> = x.into_iter().chain(tangents).collect();
        compiled(&forward, &point).map_err(|e| format!("the compiled derivative: {e}"))?;
    }
    Ok(Outcome::Checked)
}

/// Random arrays for all inputs of a graph but the first ones.
fn directions(rng: &mut Rng, graph: &Graph, after: usize) -> Vec<Tensor> {
    graph.input_types()[after..].iter().map(|ty| direction(rng, ty)).collect()
}

/// From inputs and then cotangents of results that vary, to cotangents of the active ones among the first `own`
/// inputs; `None` if no result varies.
fn gradient(graph: &Graph, active: &[bool], own: usize) -> Result<Option<Graph>, RuleError> {
    let split = linearize(graph, active)?;
    let given: Vec<bool> = vec![true; split.linear.outputs.len()];
    if given.is_empty() {
        return Ok(None);
    }
    let residuals = split.primal.outputs.len() - graph.outputs.len();
    let linear: Vec<bool> = (0..split.linear.inputs.len()).map(|i| i >= residuals).collect();
    let (adjoint, nonzero) = transpose(&split.linear, &linear, &given)?;
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = graph.input_types().into_iter().map(|ty| b.input(ty).into()).collect();
    let mut operands = b.inline(&split.primal, &inputs).split_off(graph.outputs.len());
    operands.extend(split.linear.output_types().into_iter().map(|ty| Atom::from(b.input(ty))));
    let mut found = b.inline(&adjoint, &operands).into_iter();
    let varying = graph.input_types().into_iter().zip(active).take(own).filter(|(_, active)| **active);
    let outputs = varying.zip(nonzero).map(|((ty, _), nonzero)| {
        let own = if nonzero { found.next() } else { None };
        own.unwrap_or_else(|| Atom::fill(&ty, 0.0))
    });
    let outputs = outputs.collect();
    Ok(Some(b.finish("gradient", outputs)))
}

/// `⟨v, ∇⟨u, ∇f⟩⟩` by two reverse passes is the second derivative along `u` and `v` by two forward passes.
fn second(
    rng: &mut Rng,
    graph: &Graph,
    first: &Graph,
    active: &[bool],
    x: &[Tensor],
    cotangents: &[Tensor],
) -> Result<(), String> {
    let varying = || graph.input_types().into_iter().zip(active).filter(|(_, active)| **active);
    let u: Vec<Tensor> = varying().map(|(ty, _)| direction(rng, &ty)).collect();
    let v: Vec<Tensor> = varying().map(|(ty, _)| direction(rng, &ty)).collect();

    let by_inputs: Vec<bool> = (0..first.inputs.len()).map(|i| active.get(i) == Some(&true)).collect();
    let reverse = match gradient(first, &by_inputs, x.len()) {
        Ok(Some(twice)) => {
            // Only results that vary have a cotangent: the others are linear in the inputs.
            let has = linearize(first, &by_inputs).map_err(|e| e.to_string())?.tangents;
            let seeds = u.iter().zip(has).filter(|(_, has)| *has).map(|(u, _)| u);
            let point: Vec<Tensor> = x.iter().chain(cotangents).chain(seeds).cloned().collect();
            inner(&eval(&twice, &point)?, &v)
        }
        Ok(None) => (0.0, 0.0),
        // The one end of docs/limits.md: no derivative of the smallest exponent.
        Err(RuleError::NotDifferentiable { primitive, .. }) if primitive == "integer_pow" => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };

    let (mut once, has) = jvp(graph, active).map_err(|e| e.to_string())?;
    once.outputs.drain(..graph.outputs.len());
    let by_inputs: Vec<bool> = (0..once.inputs.len()).map(|i| active.get(i) == Some(&true)).collect();
    let (twice, varies) = jvp(&once, &by_inputs).map_err(|e| e.to_string())?;
    let point: Vec<Tensor> = x.iter().chain(&u).chain(&v).cloned().collect();
    let along = eval(&twice, &point)?.split_off(once.outputs.len());
    if has.iter().filter(|has| **has).count() != cotangents.len() {
        return Err("jvp and linearize disagree on which results vary".to_owned());
    }
    let weights: Vec<Tensor> =
        cotangents.iter().zip(varies).filter(|(_, varies)| *varies).map(|(ct, _)| ct.clone()).collect();
    let forward = inner(&along, &weights);
    close(reverse.0, forward.0, 1.0 + reverse.1 + forward.1)
}

/// Both orders of batching and differentiating give a loop of gradients.
fn batches(rng: &mut Rng, graph: &Graph, gradient_graph: &Graph, active: &[bool]) -> Result<(), String> {
    let all = vec![true; gradient_graph.inputs.len()];
    let (of_gradient, has_axis) = batch(gradient_graph, BATCH, &all).map_err(|e| e.to_string())?;
    let (of_graph, _) = batch(graph, BATCH, &all[..graph.inputs.len()]).map_err(|e| e.to_string())?;
    let batch_gradient = gradient(&of_graph, active, graph.inputs.len()).map_err(|e| e.to_string())?;
    let (mut point, _) = gentle_point(rng, &of_graph)?.ok_or("no point at which the batch is finite")?;
    point.extend(directions(rng, &of_gradient, graph.inputs.len()));
    let first = eval(&of_gradient, &point)?;
    let second = batch_gradient.map(|graph| eval(&graph, &point)).transpose()?;
    for row in 0..BATCH {
        let rows: Vec<Tensor> = point.iter().filter_map(|t| t.rows().nth(row)).collect();
        for (k, expected) in eval(gradient_graph, &rows)?.iter().enumerate() {
            let of_row = |t: &Tensor| t.rows().nth(row).ok_or("a result has no rows");
            let found = if has_axis[k] { of_row(&first[k])? } else { first[k].clone() };
            near(&found, expected).map_err(|e| format!("of the gradient, row {row}, result {k}: {e}"))?;
            if let Some(second) = &second {
                let found = of_row(&second[k])?;
                near(&found, expected)
                    .map_err(|e| format!("inside the gradient, row {row}, result {k}: {e}"))?;
            }
        }
    }
    Ok(())
}

fn compiled(graph: &Graph, point: &[Tensor]) -> Result<(), String> {
    let expected = eval(graph, point)?;
    let found = Compiled::new(graph, WAYS[0])?.run(point)?;
    found.iter().zip(&expected).try_for_each(|(found, expected)| near(found, expected))
}

/// Whether two arrays agree relative to the size of the whole array; NaN agrees with NaN.
fn near(found: &Tensor, expected: &Tensor) -> Result<(), String> {
    if found.shape() != expected.shape() {
        return Err(format!("found shape {}, expected {}", found.shape(), expected.shape()));
    }
    let finite = expected.literals().map(|x| x.as_complex().norm()).filter(|x| x.is_finite());
    let size = finite.fold(1.0, f64::max);
    for (x, y) in found.literals().zip(expected.literals()) {
        for (x, y) in [(x.re(), y.re()), (x.im(), y.im())].map(|(x, y)| (x.as_f64(), y.as_f64())) {
            if !(x == y || (x.is_nan() && y.is_nan())) {
                close(x, y, size)?;
            }
        }
    }
    Ok(())
}

/// A NaN is not close to anything.
fn close(found: f64, expected: f64, size: f64) -> Result<(), String> {
    let is_close = (found - expected).abs() <= TOLERANCE * size;
    if is_close { Ok(()) } else { Err(format!("found {found}, expected {expected}")) }
}
