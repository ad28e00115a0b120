//! Multi-head attention written with `einsum`: its value beside plain loops, its gradient beside a difference, and the
//! time of both.
//!
//! `cargo run --release --example attention`

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::Instant;

use tracewell::prelude::*;

const HEADS: usize = 4;
const SIZE: usize = 16;

#[derive(Clone, Tree)]
struct Attention {
    query: Array,
    key: Array,
    value: Array,
    out: Array,
}

jit! {
    /// `x` is `[batch, time, channel]`; every time sees itself and what was before.
    fn attend(p: &Attention, x: &Array) -> Array {
        let heads = |w: &Array| einsum("btc,chd->bhtd", &[x, w]);
        let (q, k, v) = (heads(&p.query), heads(&p.key), heads(&p.value));
        let scores = einsum("bhtd,bhsd->bhts", &[&q, &k]) / (SIZE as f64).sqrt();
        let time = x.shape().size(1);
        let before = Array::iota([time, time], 0, I32).ge(Array::iota([time, time], 1, I32));
        let scores = select(&before, scores, -1e30);
        let weights = (&scores - scores.max_axes(&[-1]).expand(-1)).exp();
        let weights = &weights / weights.sum_axes(&[-1]).expand(-1);
        einsum("bhts,bhsd,hdc->btc", &[&weights, &v, &p.out])
    }
}

jit! {
    fn loss(p: &Attention, x: &Array) -> Array {
        attend(p, x).square().mean()
    }
}

jit! {
    fn slope(p: &Attention, x: &Array) -> (Array, Attention) {
        value_and_grad(|p: &Attention| loss(p, x))(p)
    }
}

fn main() {
    let channels = HEADS * SIZE;
    let (batch, time) = (4, 64);
    let weights = |phase: f64, shape: [usize; 3]| {
        let n: usize = shape.iter().product();
        ((Array::arange(n, F32) * 0.37 + phase).sin() * 0.2).reshape(shape)
    };
    let p = Attention {
        query: weights(0.1, [channels, HEADS, SIZE]),
        key: weights(0.2, [channels, HEADS, SIZE]),
        value: weights(0.3, [channels, HEADS, SIZE]),
        out: weights(0.4, [HEADS, SIZE, channels]),
    };
    let x = weights(0.5, [batch, time, channels]) * 5.0;

    let found = elements(&attend(&p, &x));
    let expected = by_loops(&p, &x);
    let worst = found.iter().zip(&expected).fold(0.0f32, |worst, (a, b)| worst.max((a - b).abs()));
    println!("{} results, at most {worst:.1e} from plain loops", found.len());
    assert!(worst < 1e-3, "einsum and loops disagree");

    let (value, gradient) = slope(&p, &x);
    let h = 1e-2;
    let moved = |by: f64| {
        let query = &p.query + by * &gradient.query;
        loss(&Attention { query, ..p.clone() }, &x).item::<f32>()
    };
    let difference = f64::from(moved(h) - moved(-h)) / (2.0 * h);
    let along = f64::from(gradient.query.square().sum().item::<f32>());
    println!(
        "loss {:.6}; its slope along the gradient is {along:.3e}, by difference {difference:.3e}",
        value.item::<f32>()
    );

    let timed = |name: &str, work: &dyn Fn()| {
        work();
        let start = Instant::now();
        (0..20).for_each(|_| work());
        println!("{name}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3 / 20.0);
    };
    timed("value", &|| drop(loss(&p, &x)));
    timed("value and gradient", &|| drop(slope(&p, &x)));
}

fn elements(x: &Array) -> Vec<f32> {
    x.to_vec().expect("these are f32")
}

/// The same by loops over numbers.
fn by_loops(p: &Attention, x: &Array) -> Vec<f32> {
    let (batch, time, channels) = (x.shape().size(0), x.shape().size(1), x.shape().size(2));
    let [wq, wk, wv, wo, x] = [&p.query, &p.key, &p.value, &p.out, x].map(elements);
    let mut out = vec![0.0; x.len()];
    let project = |w: &[f32], b: usize, h: usize, t: usize, d: usize| -> f32 {
        (0..channels).map(|c| x[(b * time + t) * channels + c] * w[(c * HEADS + h) * SIZE + d]).sum()
    };
    for b in 0..batch {
        for h in 0..HEADS {
            let all = |w: &[f32]| -> Vec<[f32; SIZE]> {
                (0..time).map(|t| std::array::from_fn(|d| project(w, b, h, t, d))).collect()
            };
            let (q, k, v) = (all(&wq), all(&wk), all(&wv));
            for t in 0..time {
                let score =
                    |s: usize| (0..SIZE).map(|d| q[t][d] * k[s][d]).sum::<f32>() / (SIZE as f32).sqrt();
                let scores: Vec<f32> = (0..=t).map(score).collect();
                let largest = scores.iter().copied().fold(f32::MIN, f32::max);
                let weights: Vec<f32> = scores.iter().map(|s| (s - largest).exp()).collect();
                let total: f32 = weights.iter().sum();
                for d in 0..SIZE {
                    let mean: f32 = weights.iter().zip(&v).map(|(w, v)| w * v[d]).sum::<f32>() / total;
                    for c in 0..channels {
                        out[(b * time + t) * channels + c] += mean * wo[(h * SIZE + d) * channels + c];
                    }
                }
            }
        }
    }
    out
}
