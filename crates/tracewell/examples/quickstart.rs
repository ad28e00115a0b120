//! The whole way of one function: results, graph, optimised graph, kernel program, times, gradient, error.
//!
//! `cargo run --release --example quickstart`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use tracewell::prelude::*;

#[derive(Clone, Tree)]
struct Layer {
    w: Array,
    b: Array,
}

jit! {
    /// A tanh network, traced once per combination of shapes.
    fn predict(layers: &[Layer], x: &Array) -> Array {
        let mut h = x.clone();
        for layer in layers {
            h = (h.dot(&layer.w) + &layer.b).tanh();
        }
        h
    }
}

jit! {
    /// The mean of a softened distance, scaled.
    fn loss(x: &Array, y: &Array, scale: Scalar) -> Array {
        let error = (x - y).square();
        (&scale * (error + 1.0).sqrt() - 1.0).mean()
    }
}

fn main() -> Result<()> {
    let x = Array::linspace(0.0, 1.0, 1_000_000, F32);
    let y = Array::full([1_000_000], 0.5, F32);

    println!("x            {x}");
    let start = Instant::now();
    let first = loss(&x, &y, 2.0);
    println!("loss(x, y)   {first}   first call {:.2?}", start.elapsed());
    println!("             later calls {:.2?}", median(|| drop(loss(&x, &y, 2.0))));
    let (a, b) = (Array::from(1.0f32), Array::from(2.0f32));
    drop(loss(&a, &b, 1.0));
    println!("             scalar call {:.2?}", median(|| drop(loss(&a, &b, 1.0))));

    let slope = grad(|x: &Array| loss(x, &y, 2.0))(&x);
    println!("gradient     {slope}");

    let layers = vec![
        Layer { w: Array::full([4, 8], 0.1, F32), b: Array::zeros([8], F32) },
        Layer { w: Array::full([8, 2], 0.2, F32), b: Array::ones([2], F32) },
    ];
    let batch = Array::ones([3, 4], F32);
    println!("predict      {}", predict(&layers, &batch).to_string().replace('\n', "\n            "));

    let stages = lower(|| loss(&x, &y, 2.0))?;
    println!("\n== graph ==\n{}", stages.graph());
    println!("== optimised ==\n{}", stages.optimized());
    println!("== program ==\n{}", stages.program());

    let wrong = jit(|x: &Array| -> Result<Array> { Ok(x + Array::zeros([4, 5], F32)) });
    if let Err(error) = wrong.call(&Array::zeros([4, 3], F32)) {
        println!("== a mistake ==\nerror: {error}");
    }
    Ok(())
}

/// The median time of 101 calls.
fn median(mut f: impl FnMut()) -> std::time::Duration {
    let mut times: Vec<_> = (0..101)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}
