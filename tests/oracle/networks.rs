//! Networks: losses over flat parameters, and layers.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use tracewell::prelude::*;

use super::{Composition, at, numbers, of, wave};

pub(super) const ALL: &[Composition] = &[
    of("mlp_tanh", || at([13], 0.2), |p| mlp(Array::tanh, p)),
    of("mlp_relu", || at([13], 0.2), |p| mlp(|h| h.maximum(0.0), p)),
    of("mlp_softplus", || at([13], 0.2), |p| mlp(softplus, p)),
    of("mlp_gelu", || at([13], 0.2), |p| mlp(|h| 0.5 * h * (1.0 + (h * FRAC_1_SQRT_2).erf()), p)),
    of("mlp_swish", || at([13], 0.2), |p| mlp(|h| h * h.logistic(), p)),
    of("softmax_cross_entropy", || at([4, 3], 0.4), softmax_cross_entropy),
    of("softmax", || at([2, 4], 0.4), softmax),
    of("log_softmax", || 3.0 * at([3, 4], 0.8), log_softmax),
    of("attention", || at([5, 4], 0.7), |tokens| attend(tokens, |scores| scores)),
    of("masked_attention", || at([5, 4], 0.7), masked_attention),
    of("layer_norm", || at([3, 5], 0.1), layer_norm),
    of("rms_norm", || at([3, 5], 0.1), |x| x * (x.square().mean_axes(&[-1]).expand(-1) + 1e-6).rsqrt()),
    of("batch_norm", || at([4, 3], 0.1), batch_norm),
    of("cosine_similarity", || at([2, 4], 0.6), cosine_similarity),
    of("logistic_regression", || at([3], 0.6), logistic_regression),
    of("contrastive", || at([4, 3], 0.5), contrastive),
    of("recurrent", || at([3, 3], 0.3), recurrent),
    of("tied_autoencoder", || at([4, 2], 0.3), tied_autoencoder),
    of("gated_linear_unit", || at([2, 6], 0.3), gated_linear_unit),
];

fn mlp(activation: fn(&Array) -> Array, p: &Array) -> Array {
    let w1 = p.slice(s![..6]).reshape([2, 3]);
    let w2 = p.slice(s![9..12]).reshape([3, 1]);
    let h = activation(&(wave([4, 2], 0.1, p).dot(&w1) + p.slice(s![6..9])));
    (h.dot(&w2) + p.slice(s![12..]) - wave([4, 1], 0.5, p)).square().mean()
}

/// `log(1 + exp x)` without overflow.
pub(super) fn softplus(x: &Array) -> Array {
    (-x.abs()).exp().log1p() + x.maximum(0.0)
}

/// Along the last axis; the largest is taken out, so that nothing overflows.
pub(super) fn log_sum_exp(x: &Array) -> Array {
    let largest = x.max_axes(&[-1]).stop_gradient();
    (x - largest.expand(-1)).exp().sum_axes(&[-1]).log() + largest
}

pub(super) fn log_softmax(x: &Array) -> Array {
    x - log_sum_exp(x).expand(-1)
}

fn softmax(x: &Array) -> Array {
    let e = (x - x.max_axes(&[-1]).expand(-1)).exp();
    &e / e.sum_axes(&[-1]).expand(-1)
}

fn softmax_cross_entropy(logits: &Array) -> Array {
    let labels = Array::from([0, 2, 1, 2]).expand(1).eq(Array::iota([4, 3], 1, I32));
    -select(&labels, log_softmax(logits), 0.0).sum_axes(&[-1]).mean()
}

fn attend(tokens: &Array, mask: fn(Array) -> Array) -> Array {
    let [q, k, v] = [0.3, 0.6, 1.2].map(|phase| tokens.dot(&wave([4, 3], phase, tokens)));
    let scores = q.dot(&k.t()) / 3.0f64.sqrt();
    softmax(&mask(scores)).dot(&v)
}

fn masked_attention(tokens: &Array) -> Array {
    attend(tokens, |scores| {
        let past = Array::iota([5, 5], 0, I32).ge(Array::iota([5, 5], 1, I32));
        select(&past, scores, f64::NEG_INFINITY)
    })
}

fn layer_norm(x: &Array) -> Array {
    let centred = x - x.mean_axes(&[-1]).expand(-1);
    let variance = centred.square().mean_axes(&[-1]).expand(-1);
    centred / (variance + 1e-5).sqrt() * wave([5], 0.2, x) + wave([5], 0.4, x)
}

fn batch_norm(x: &Array) -> Array {
    let centred = x - x.mean_axes(&[0]);
    let variance = centred.square().mean_axes(&[0]);
    centred * (variance + 1e-3).rsqrt()
}

fn cosine_similarity(x: &Array) -> Array {
    let (a, b) = (x.slice(s![0]), x.slice(s![1]));
    a.dot(&b) / (a.square().sum().sqrt() * b.square().sum().sqrt())
}

fn logistic_regression(w: &Array) -> Array {
    let z = wave([6, 3], 0.2, w).dot(w);
    let labels = numbers([0.0, 1.0, 1.0, 0.0, 1.0, 0.0], w);
    (softplus(&z) - labels * &z).mean() + 0.1 * w.square().sum()
}

fn contrastive(x: &Array) -> Array {
    let unit = x / x.square().sum_axes(&[1]).sqrt().expand(1);
    let similar = unit.dot(&unit.t()) / 0.5;
    let same = (&similar * Array::eye(4, x.dtype())).sum_axes(&[1]);
    (log_sum_exp(&similar) - same).mean()
}

fn recurrent(w: &Array) -> Array {
    let start = Array::zeros([3], w.dtype());
    (0..4).fold(start, |h, t| (h.dot(w) + wave([3], 0.5 + f64::from(t), w)).tanh())
}

fn tied_autoencoder(w: &Array) -> Array {
    let data = wave([5, 4], 0.9, w);
    (data.dot(w).tanh().dot(&w.t()) - data).square().mean()
}

fn gated_linear_unit(x: &Array) -> Array {
    let half = x.shape().size(x.rank() - 1) / 2;
    let whole = vec![Cut::from(..); x.rank() - 1];
    let part = |cut: Cut| x.slice([whole.clone(), vec![cut]].concat());
    part(Cut::from(..half)) * part(Cut::from(half..)).logistic()
}

/// `log(½ erfc(-x/√2))`
pub(super) fn log_normal_cdf(x: &Array) -> Array {
    (0.5 * (-x / SQRT_2).erfc()).log().sum()
}
