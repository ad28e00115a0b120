//! `predict` and `loss`, the program by which JAX was introduced ("Compiling machine learning programs via high-level
//! tracing", 2018): plain functions; `grad`, `jit` and `vmap` are applied from outside.
//!
//! `cargo run --release --example predict_loss`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use tracewell::prelude::*;

/// Weights and biases of each layer.
type Params = Vec<(Array, Array)>;

fn predict(params: &Params, inputs: &Array) -> Array {
    let (mut inputs, mut outputs) = (inputs.clone(), inputs.clone());
    for (w, b) in params {
        outputs = inputs.dot(w) + b;
        inputs = outputs.tanh();
    }
    outputs
}

fn loss(params: &Params, inputs: &Array, targets: &Array) -> Array {
    (predict(params, inputs) - targets).square().sum()
}

fn main() -> Result<()> {
    let inputs = Array::linspace(-1.0, 1.0, 24, F32).reshape([8, 3]);
    let targets = ((2.0 * &inputs).sin().sum_axes(&[1]) / 2.0).expand(1);
    let weights = |shape: [usize; 2]| Array::linspace(-0.5, 0.6, shape[0] * shape[1], F32).reshape(shape);
    let mut params: Params =
        vec![(weights([3, 5]), Array::zeros([5], F32)), (weights([5, 1]), Array::zeros([1], F32))];

    // The gradient by the parameters, compiled; it has their structure.
    let gradient = jit(|(params, inputs, targets): &(Params, Array, Array)| {
        grad(|params: &Params| loss(params, inputs, targets))(params)
    });
    let mut all = (params.clone(), inputs.clone(), targets.clone());
    println!("loss at first       {}", loss(&params, &inputs, &targets));
    for _ in 0..100 {
        params = tree::map2(&params, &gradient.call(&all), |p, g| p - 0.05 * g);
        all.0 = params.clone();
    }
    println!("after 100 steps     {}", loss(&params, &inputs, &targets));

    // One gradient for each example: `vmap` of `grad`, compiled.
    let per_example = jit(|(params, inputs, targets): &(Params, Array, Array)| {
        let of_one = |(x, y): &(Array, Array)| grad(|params: &Params| loss(params, x, y))(params);
        vmap(of_one)(&(inputs.clone(), targets.clone()))
    });
    let slopes = per_example.call(&all);
    let shapes: Vec<String> = tree::leaves(&slopes).iter().map(|slope| slope.ty().to_string()).collect();
    println!("gradients of each   {}", shapes.join(" "));
    let sums = tree::map(&slopes, |slope| slope.sum_axes(&[0]));
    println!("their sum           {}", sums[1].1);
    println!("gradient            {}", gradient.call(&all)[1].1);

    println!("\n{}", trace(|params: &Params| loss(params, &inputs, &targets), &params)?);
    Ok(())
}
