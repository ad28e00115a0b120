//! Densities and what is made of them.

use std::f64::consts::{PI, SQRT_2};

use tracewell::prelude::*;

use super::networks::{log_normal_cdf, log_softmax, log_sum_exp};
use super::{Composition, at, numbers, of, wave};

pub(super) const ALL: &[Composition] = &[
    of("gaussian", || Array::from([0.3, -0.2]), |p| log_normal(&data(p), &part(p, 0), &part(p, 1)).sum()),
    of(
        "diagonal_gaussian",
        || 0.5 * at([2, 3], 0.1),
        |p| log_normal(&wave([4, 3], 0.4, p), &part(p, 0), &part(p, 1)).sum(),
    ),
    of("student_t", || Array::from([0.3, -0.2, 1.1]), student_t),
    of("poisson", || at([4], 0.2), poisson),
    of("gamma", || Array::from([0.4, -0.3]), gamma),
    of("beta", || Array::from([0.4, 0.9]), beta),
    of("dirichlet", || at([3], 0.2), dirichlet),
    of("negative_binomial", || Array::from([0.7, 0.2]), negative_binomial),
    of("log_sum_exp", || at([5], 0.1), log_sum_exp),
    of("log_sum_exp_of_minus_infinities", with_minus_infinities, log_sum_exp),
    of("log_sum_exp_of_large", || 1000.0 * at([3, 4], 0.1), log_sum_exp),
    of("gaussian_mixture", || at([3, 3], 0.2), gaussian_mixture),
    of("divergence_of_gaussians", || at([4], 0.8), divergence_of_gaussians),
    of("bernoulli_entropy", || at([5], 0.8), bernoulli_entropy),
    of("laplace", || Array::from([0.3, -0.2]), laplace),
    of("cauchy", || Array::from([0.3, -0.2]), cauchy),
    of("log_normal_cdf", || 2.0 * at([4], 0.3), log_normal_cdf),
    of("normal_quantile", || 0.5 + 0.4 * at([4], 0.3), |u| SQRT_2 * (2.0 * u - 1.0).erf_inv()),
    of("weibull", || Array::from([0.3, 0.2]), weibull),
    of("evidence_lower_bound", || 0.5 * at([2, 3], 0.6), evidence_lower_bound),
];

fn data(like: &Array) -> Array {
    wave([6], 0.4, like)
}

/// One number of the parameters, or one row.
fn part(p: &Array, i: usize) -> Array {
    p.slice(s![i])
}

fn log_normal(x: &Array, mean: &Array, log_sigma: &Array) -> Array {
    -0.5 * ((x - mean) / log_sigma.exp()).square() - log_sigma - 0.5 * (2.0 * PI).ln()
}

fn student_t(p: &Array) -> Array {
    let z = (data(p) - part(p, 0)) / part(p, 1).exp();
    let nu = part(p, 2).exp();
    let half = (&nu + 1.0) / 2.0;
    let scale = half.lgamma() - (&nu / 2.0).lgamma() - 0.5 * (&nu * PI).log() - part(p, 1);
    (scale - half * (z.square() / nu).log1p()).sum()
}

fn poisson(p: &Array) -> Array {
    let counts = numbers([0.0, 3.0, 1.0, 7.0], p);
    (&counts * p - p.exp() - (counts + 1.0).lgamma()).sum()
}

fn gamma(p: &Array) -> Array {
    let (x, a) = (1.5 + data(p), part(p, 0).exp());
    (&a * part(p, 1) - a.lgamma() + (&a - 1.0) * x.log() - part(p, 1).exp() * x).sum()
}

fn beta(p: &Array) -> Array {
    let (x, a, b) = (0.5 + 0.4 * data(p), part(p, 0).exp(), part(p, 1).exp());
    let scale = a.lgamma() + b.lgamma() - (&a + &b).lgamma();
    ((a - 1.0) * x.log() + (b - 1.0) * (-x).log1p() - scale).sum()
}

fn dirichlet(p: &Array) -> Array {
    let (x, a) = (numbers([0.2, 0.5, 0.3], p), p.exp());
    ((&a - 1.0) * x.log() - a.lgamma()).sum() + a.sum().lgamma()
}

fn negative_binomial(p: &Array) -> Array {
    let (k, n, p) = (numbers([0.0, 2.0, 5.0], p), part(p, 0).exp(), part(p, 1).logistic());
    let ways = (&k + &n).lgamma() - (&k + 1.0).lgamma() - n.lgamma();
    (ways + n * p.log() + k * (-p).log1p()).sum()
}

fn with_minus_infinities() -> Array {
    Array::from([0.5, f64::NEG_INFINITY, -1.0, f64::NEG_INFINITY, 0.25])
}

fn gaussian_mixture(p: &Array) -> Array {
    let weights = log_softmax(&part(p, 0));
    log_sum_exp(&(weights + log_normal(&data(p).expand(1), &part(p, 1), &part(p, 2)))).sum()
}

fn divergence_of_gaussians(p: &Array) -> Array {
    let ratio = part(p, 1) - part(p, 3);
    let distance = (part(p, 0) - part(p, 2)) / part(p, 3).exp();
    -&ratio + 0.5 * ((2.0 * ratio).exp() + distance.square() - 1.0)
}

fn bernoulli_entropy(x: &Array) -> Array {
    let p = x.logistic();
    (-&p * p.log() - (1.0 - &p) * (-p).log1p()).sum()
}

fn laplace(p: &Array) -> Array {
    (-(data(p) - part(p, 0)).abs() / part(p, 1).exp() - part(p, 1) - 2.0f64.ln()).sum()
}

fn cauchy(p: &Array) -> Array {
    let z = (data(p) - part(p, 0)) / part(p, 1).exp();
    (-z.square().log1p() - part(p, 1) - PI.ln()).sum()
}

fn weibull(p: &Array) -> Array {
    let (scale, k) = (part(p, 0).exp(), part(p, 1).exp());
    let z = (1.5 + data(p)) / &scale;
    ((&k / scale).log() + (&k - 1.0) * z.log() - z.pow(k)).sum()
}

fn evidence_lower_bound(p: &Array) -> Array {
    let z = part(p, 0) + part(p, 1).exp() * wave([4, 3], 0.2, p);
    (-z.cosh()).sum_axes(&[1]).mean() + part(p, 1).sum()
}
