//! Twenty programs as users write them.

use tracewell::prelude::*;

use crate::allocator;
use crate::program::Counts;

/// Counts each.
pub(crate) fn each(show: &mut dyn FnMut(&str, Counts)) {
    let line = |n: usize| Array::linspace(-1.0, 1.0, n, F32);
    let square = |n: usize| line(n * n).reshape([n, n]);
    let m = square(64);
    show("multiply_add", count(|(a, b, c)| a * b + c, (line(4096), line(4096), line(4096))));
    show("transcendental_chain", count(|x| (x.exp() * x.sin() + x.abs().log1p()).tanh(), line(4096)));
    show("gelu", count(|x| x * 0.5 * ((x * 0.5f32.sqrt()).erf() + 1.0), line(4096)));
    show("black_scholes", count(black_scholes, (line(4096).abs() + 0.5, line(4096).abs() + 0.1)));
    show("sum", count(|x| x.sum(), m.clone()));
    show("column_means", count(|x| x.mean_axes(&[0]), m.clone()));
    show("softmax", count(softmax, m.clone()));
    show("layer_norm", count(layer_norm, m.clone()));
    show("logsumexp", count(logsumexp, m.clone()));
    show("variance", count(variance, m.clone()));
    show("matmul_transposed", count(|(a, b)| a.dot(&b.t()), (m.clone(), m.clone())));
    show("dense_layer", count(|(x, w, b)| (x.dot(w) + b).maximum(0.0), (m.clone(), m.clone(), line(64))));
    show(
        "dense_gradient",
        count(|(x, w)| grad(|w: &Array| x.dot(w).tanh().sum())(w), (m.clone(), m.clone())),
    );
    show("attention", count(attention, (m.clone(), m.clone(), m.clone())));
    show("n_body", count(n_body, line(3 * 128).reshape([128, 3])));
    show("pairwise_distances", count(distances, (line(512).reshape([128, 4]), line(512).reshape([128, 4]))));
    show("recurrence", count(recurrence, (m.clone(), line(64), line(64 * 32).reshape([32, 64]))));
    show("vmap_gradient", count(|x| vmap(grad(|x: &Array| (x.sin() * x).exp().sum()))(x), m.clone()));
    show("hessian_product", count(hessian_product, (m, line(64), line(64))));
    show("shifted_differences", count(differences, line(4096)));
}

/// Compiles a function and runs it until it is warm.
fn count<X: Tree + 'static, R: Tree + 'static>(f: fn(&X) -> R, x: X) -> Counts {
    let f = jit(f);
    let lowered = lower(|| f.call(&x)).expect("it compiles");
    let one = |_| {
        let before = allocator::allocations();
        drop(f.call(&x));
        allocator::allocations() - before
    };
    let allocations = (0..5).map(one).min().unwrap_or(0);
    Counts::of(&lowered, allocations)
}

fn normal_cdf(x: &Array) -> Array {
    0.5 * (1.0 + (x * 0.5f32.sqrt()).erf())
}

fn black_scholes((price, time): &(Array, Array)) -> (Array, Array) {
    let spread = 0.2 * time.sqrt();
    let d1 = (price.log() + 0.03 * time) / &spread;
    let d2 = &d1 - spread;
    let paid = (-0.01 * time).exp();
    let call = price * normal_cdf(&d1) - &paid * normal_cdf(&d2);
    let put = &call - price + paid;
    (call, put)
}

fn softmax(x: &Array) -> Array {
    let e = (x - x.max_axes(&[1]).expand(1)).exp();
    &e / e.sum_axes(&[1]).expand(1)
}

fn layer_norm(x: &Array) -> Array {
    let centred = x - x.mean_axes(&[1]).expand(1);
    let variance = centred.square().mean_axes(&[1]).expand(1);
    centred * (variance + 1e-5).rsqrt()
}

fn logsumexp(x: &Array) -> Array {
    let largest = x.max_axes(&[1]);
    (x - largest.expand(1)).exp().sum_axes(&[1]).log() + largest
}

fn variance(x: &Array) -> Array {
    (x - x.mean_axes(&[1]).expand(1)).square().mean_axes(&[1])
}

fn attention((q, k, v): &(Array, Array, Array)) -> Array {
    softmax(&(q.dot(&k.t()) * 0.125)).dot(v)
}

fn n_body(at: &Array) -> Array {
    let apart = at.expand(0) - at.expand(1);
    let far = apart.square().sum_axes(&[2]) + 1e-3;
    let pull = far.rsqrt() / &far;
    (apart * pull.expand(2)).sum_axes(&[1])
}

fn distances((a, b): &(Array, Array)) -> Array {
    (a.expand(1) - b.expand(0)).square().sum_axes(&[2]).min_axes(&[1])
}

fn recurrence((w, h, xs): &(Array, Array, Array)) -> Array {
    scan(h.clone(), xs, |h: &Array, x: &Array| ((h.dot(w) + x).tanh(), ())).0
}

fn hessian_product((a, x, v): &(Array, Array, Array)) -> Array {
    jvp(grad(|x: &Array| a.dot(x).square().sum()), x, v).1
}

fn differences(x: &Array) -> Array {
    x.slice(s![2..]) - 2.0 * x.slice(s![1..-1]) + x.slice(s![..-2])
}
