"""Makes values.txt: values and derivatives of compositions, by JAX.

    pip install jax==0.10.2 numpy && python tests/oracle/make.py

What a row is, rows.py says.
"""

import math
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import digamma, erf, erfc, gammaln, logsumexp

from rows import group, wave, write

# Networks: losses over flat parameters, and layers.

networks = group("networks")


def mlp(activation, p):
    w1, b1, w2, b2 = p[:6].reshape(2, 3), p[6:9], p[9:12].reshape(3, 1), p[12:]
    h = activation(wave((4, 2), 0.1) @ w1 + b1)
    return jnp.mean((h @ w2 + b2 - wave((4, 1), 0.5)) ** 2)


@networks(wave((13,), 0.2), "value grad hessian hvp jvp push")
def mlp_tanh(p):
    return mlp(jnp.tanh, p)


@networks(wave((13,), 0.2), "value grad hvp")
def mlp_relu(p):
    return mlp(lambda h: jnp.maximum(h, 0), p)


@networks(wave((13,), 0.2), "value grad hvp")
def mlp_softplus(p):
    return mlp(jax.nn.softplus, p)


@networks(wave((13,), 0.2), "value grad hvp")
def mlp_gelu(p):
    return mlp(lambda h: jax.nn.gelu(h, approximate=False), p)


@networks(wave((13,), 0.2), "value grad hvp")
def mlp_swish(p):
    return mlp(jax.nn.swish, p)


@networks(wave((4, 3), 0.4), "value grad hvp")
def softmax_cross_entropy(logits):
    labels = jax.nn.one_hot(np.array([0, 2, 1, 2]), 3)
    return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1))


@networks(wave((2, 4), 0.4), "value grad jvp jacfwd jacrev each_grad")
def softmax(x):
    return jax.nn.softmax(x, axis=-1)


@networks(3 * wave((3, 4), 0.8), "value grad push")
def log_softmax(x):
    return jax.nn.log_softmax(x, axis=-1)


def attend(tokens, mask):
    q, k, v = (tokens @ wave((4, 3), phase) for phase in (0.3, 0.6, 1.2))
    scores = q @ k.T / math.sqrt(3)
    return jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1) @ v


@networks(wave((5, 4), 0.7), "value grad hvp jvp")
def attention(tokens):
    return attend(tokens, np.ones((5, 5), bool))


@networks(wave((5, 4), 0.7), "value grad hvp")
def masked_attention(tokens):
    return attend(tokens, np.tri(5, dtype=bool))


@networks(wave((3, 5), 0.1), "value grad hvp jvp each_grad")
def layer_norm(x):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * wave((5,), 0.2) + wave((5,), 0.4)


@networks(wave((3, 5), 0.1), "value grad push")
def rms_norm(x):
    return x * lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-6)


@networks(wave((4, 3), 0.1), "value grad")
def batch_norm(x):
    return jax.nn.standardize(x, axis=0, epsilon=1e-3)


@networks(wave((2, 4), 0.6), "value grad hessian")
def cosine_similarity(x):
    return jnp.dot(x[0], x[1]) / (jnp.linalg.norm(x[0]) * jnp.linalg.norm(x[1]))


@networks(wave((3,), 0.6), "value grad hessian hvp")
def logistic_regression(w):
    z = wave((6, 3), 0.2) @ w
    labels = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    return jnp.mean(jax.nn.softplus(z) - labels * z) + 0.1 * jnp.sum(w**2)


@networks(wave((4, 3), 0.5), "value grad hvp")
def contrastive(x):
    unit = x / jnp.linalg.norm(x, axis=1, keepdims=True)
    similar = unit @ unit.T / 0.5
    return jnp.mean(logsumexp(similar, axis=1) - jnp.diag(similar))


@networks(wave((3, 3), 0.3), "value grad hvp")
def recurrent(w):
    h = jnp.zeros(3)
    for t in range(4):
        h = jnp.tanh(h @ w + wave((3,), 0.5 + t))
    return h


@networks(wave((4, 2), 0.3), "value grad hvp")
def tied_autoencoder(w):
    data = wave((5, 4), 0.9)
    return jnp.mean((jnp.tanh(data @ w) @ w.T - data) ** 2)


@networks(wave((2, 6), 0.3), "value grad each")
def gated_linear_unit(x):
    return jax.nn.glu(x, axis=-1)


# Densities.

densities = group("densities")
DATA = wave((6,), 0.4)


@densities(np.array([0.3, -0.2]), "value grad hessian hvp")
def gaussian(p):
    return jnp.sum(jax.scipy.stats.norm.logpdf(DATA, p[0], jnp.exp(p[1])))


@densities(0.5 * wave((2, 3), 0.1), "value grad hvp")
def diagonal_gaussian(p):
    return jnp.sum(jax.scipy.stats.norm.logpdf(wave((4, 3), 0.4), p[0], jnp.exp(p[1])))


@densities(np.array([0.3, -0.2, 1.1]), "value grad hessian")
def student_t(p):
    return jnp.sum(jax.scipy.stats.t.logpdf(DATA, jnp.exp(p[2]), p[0], jnp.exp(p[1])))


@densities(wave((4,), 0.2), "value grad hvp")
def poisson(p):
    return jnp.sum(jax.scipy.stats.poisson.logpmf(np.array([0, 3, 1, 7]), jnp.exp(p)))


@densities(np.array([0.4, -0.3]), "value grad hessian")
def gamma(p):
    return jnp.sum(jax.scipy.stats.gamma.logpdf(1.5 + DATA, jnp.exp(p[0]), scale=jnp.exp(-p[1])))


@densities(np.array([0.4, 0.9]), "value grad hessian")
def beta(p):
    return jnp.sum(jax.scipy.stats.beta.logpdf(0.5 + 0.4 * DATA, jnp.exp(p[0]), jnp.exp(p[1])))


@densities(wave((3,), 0.2), "value grad hessian")
def dirichlet(p):
    return jax.scipy.stats.dirichlet.logpdf(np.array([0.2, 0.5, 0.3]), jnp.exp(p))


@densities(np.array([0.7, 0.2]), "value grad")
def negative_binomial(p):
    counts = np.array([0.0, 2.0, 5.0])
    return jnp.sum(jax.scipy.stats.nbinom.logpmf(counts, jnp.exp(p[0]), jax.nn.sigmoid(p[1])))


@densities(wave((5,), 0.1), "value grad hessian hvp")
def log_sum_exp(x):
    return logsumexp(x)


@densities(np.array([0.5, -np.inf, -1.0, -np.inf, 0.25]), "value grad")
def log_sum_exp_of_minus_infinities(x):
    return logsumexp(x)


@densities(1000 * wave((3, 4), 0.1), "value grad")
def log_sum_exp_of_large(x):
    return logsumexp(x, axis=1)


@densities(wave((3, 3), 0.2), "value grad hvp")
def gaussian_mixture(p):
    weights = jax.nn.log_softmax(p[0])
    terms = weights + jax.scipy.stats.norm.logpdf(DATA[:, None], p[1], jnp.exp(p[2]))
    return jnp.sum(logsumexp(terms, axis=1))


@densities(wave((4,), 0.8), "value grad hessian")
def divergence_of_gaussians(p):
    ratio = p[1] - p[3]
    return -ratio + 0.5 * (jnp.exp(2 * ratio) + ((p[0] - p[2]) / jnp.exp(p[3])) ** 2 - 1)


@densities(wave((5,), 0.8), "value grad third")
def bernoulli_entropy(x):
    p = jax.nn.sigmoid(x)
    return jnp.sum(-p * jnp.log(p) - (1 - p) * jnp.log1p(-p))


@densities(np.array([0.3, -0.2]), "value grad")
def laplace(p):
    return jnp.sum(jax.scipy.stats.laplace.logpdf(DATA, p[0], jnp.exp(p[1])))


@densities(np.array([0.3, -0.2]), "value grad hessian")
def cauchy(p):
    return jnp.sum(jax.scipy.stats.cauchy.logpdf(DATA, p[0], jnp.exp(p[1])))


@densities(2 * wave((4,), 0.3), "value grad third")
def log_normal_cdf(x):
    return jnp.sum(jnp.log(0.5 * erfc(-x / math.sqrt(2))))


@densities(0.5 + 0.4 * wave((4,), 0.3), "value grad third")
def normal_quantile(u):
    return jax.scipy.stats.norm.ppf(u)


@densities(np.array([0.3, 0.2]), "value grad hessian")
def weibull(p):
    scale, k = jnp.exp(p[0]), jnp.exp(p[1])
    z = (1.5 + DATA) / scale
    return jnp.sum(jnp.log(k / scale) + (k - 1) * jnp.log(z) - z**k)


@densities(0.5 * wave((2, 3), 0.6), "value grad hvp")
def evidence_lower_bound(p):
    z = p[0] + jnp.exp(p[1]) * wave((4, 3), 0.2)
    fit = jnp.mean(jnp.sum(-jnp.cosh(z), axis=1))
    return fit + jnp.sum(p[1])


# Calculus: elementwise functions and their higher derivatives.

calculus = group("calculus")


@calculus(wave((4,), 0.3), "value grad third")
def x_tanh(x):
    return x * jnp.tanh(x)


@calculus(wave((4,), 0.3), "value grad third")
def sine_times_exponential(x):
    return jnp.sum(jnp.sin(3 * x) * jnp.exp(-x))


@calculus(np.array([-1.2, 1.0]), "value grad hessian hvp")
def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


@calculus(wave((5,), 0.3), "value grad hessian hvp")
def rosenbrock_chain(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@calculus(wave((4,), 0.5), "value grad third each_grad")
def polynomial(x):
    return jnp.polyval(np.array([2.0, -1.0, 0.5, 3.0, -2.0]), x)


@calculus(wave((4,), 0.5), "value grad third")
def rational(x):
    return (1 + x**2) / (2 + x**4)


@calculus(wave((4,), 0.5), "value grad hessian")
def norm(x):
    return jnp.linalg.norm(x)


@calculus(wave((6,), 0.5), "value grad hessian")
def variance(x):
    return jnp.var(x)


@calculus(wave((6,), 0.5), "value grad jvp jacfwd")
def standard_score(x):
    return (x - jnp.mean(x)) / jnp.std(x)


@calculus(1.5 + wave((4,), 0.5), "value grad third")
def powers(x):
    return x**2.5 + x**-1.5 + x**0.5 - jnp.power(x, 3.0)


@calculus(wave((4,), 0.5), "value grad third")
def power_by_itself(x):
    return (jnp.abs(x) + 0.5) ** jnp.sin(x)


@calculus(1.5 + wave((4,), 0.5), "value grad third")
def integer_powers(x):
    return lax.integer_pow(x, 3) - lax.integer_pow(x, -2) + 0.01 * lax.integer_pow(x, 7)


@calculus(wave((2, 4), 0.5), "value grad hessian jvp")
def angles(x):
    return jnp.arctan2(x[0], x[1])


@calculus(wave((5,), 0.5), "value grad third")
def trigonometry(x):
    return jnp.sin(2 * x) * jnp.cos(x) + jnp.tan(x) - jnp.cos(x) ** 2


@calculus(0.9 * wave((5,), 0.5), "value grad third")
def inverse_trigonometry(x):
    return jnp.arcsin(0.9 * x) + jnp.arccos(0.5 * x) * jnp.arctan(x)


@calculus(wave((5,), 0.5), "value grad third")
def hyperbolic(x):
    return jnp.sinh(x) * jnp.arcsinh(x) + jnp.cosh(x) * jnp.arctanh(0.5 * x) - jnp.arccosh(2 + x**2)


@calculus(wave((5,), 0.5), "value grad third")
def exponentials_and_logarithms(x):
    return jnp.exp2(x) * jnp.expm1(x) + jnp.log1p(x**2) - jnp.log2(2 + x) * jnp.log10(3 + x)


@calculus(1.5 + wave((5,), 0.5), "value grad third")
def roots(x):
    return jnp.sqrt(x) * lax.rsqrt(1 + x) + jnp.cbrt(x)


@calculus(wave((5,), 0.5), "value grad")
def gamma_functions(x):
    return gammaln(x + 2) * digamma(x + 2.5) + gammaln(x - 1.5)


@calculus(wave((5,), 0.5), "value grad third")
def error_functions(x):
    return erf(x) * erfc(2 * x) + lax.erf_inv(0.9 * jnp.tanh(x))


@calculus(3 * wave((8,), 0.5), "value grad jvp")
def pieces(x):
    inside = lax.clamp(-1.0, x, 2.0)
    return jnp.abs(x) * jnp.sign(x + 1) + jnp.floor(x) * x + jnp.ceil(x) - jnp.round(x) * inside + lax.rem(x, 0.7)


@calculus(wave((8,), 0.5), "value grad hvp")
def extremes(x):
    return jnp.maximum(x, x[::-1] ** 2) * jnp.minimum(x, 0.25) + jnp.max(x) * jnp.min(x)


@calculus(wave((4,), 0.5), "value grad hessian hvp")
def quadratic_form(x):
    return x @ wave((4, 4), 0.2) @ x


@calculus(np.eye(3) + wave((3, 3), 0.5), "value grad hessian")
def determinant(m):
    return jnp.dot(m[0], jnp.cross(m[1], m[2]))


@calculus(wave((3, 2), 0.5), "value grad hessian")
def pairwise_potential(x):
    energy = 0.0
    for i in range(3):
        for j in range(i):
            energy += 1 / jnp.linalg.norm(x[i] - x[j])
    return energy


@calculus(1.5 + 0.4 * wave((3,), 0.5), "value grad third")
def lennard_jones(r):
    return jnp.sum(4 * (r**-12 - r**-6))


@calculus(wave((4,), 0.5), "value grad third")
def weak_numbers(x):
    return 2 * x + 1 / (x + 3) - 7 * (1.5 - x) / 2 * x


@calculus(wave((6,), 0.5), "value grad")
def double_where(x):
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


# Shapes: parts, products and reductions of arrays.

shapes = group("shapes")


@shapes(wave((8,), 0.5), "value grad jacrev")
def convolution(x):
    return jnp.convolve(x, wave((3,), 0.3)[::-1], mode="valid")


@shapes(wave((5, 6), 0.5), "value grad hvp")
def convolution_of_planes(x):
    kernel = wave((3, 3), 0.3)
    y = lax.conv(x[None, None], jnp.array(kernel)[None, None], (1, 1), "VALID")[0, 0]
    return y**2


@shapes(wave((7,), 0.5), "value grad jacfwd")
def heat(u):
    for _ in range(3):
        u = u + 0.1 * jnp.pad(u[2:] - 2 * u[1:-1] + u[:-2], 1)
    return u


@shapes(wave((6,), 0.5), "value grad jvp")
def advection(u):
    for _ in range(3):
        u = u - 0.2 * u * (u - jnp.roll(u, 1))
    return u


@shapes(wave((2, 3), 0.5), "value grad jvp jacrev")
def joined_padded_reversed(x):
    y = jnp.concatenate([x, x[::-1] ** 2, jnp.sin(x)], axis=0)
    y = jnp.pad(y, ((1, 0), (2, 1)), constant_values=1.5)
    return y[:, ::-1] * y


@shapes(np.array([[2.0, 0.0, 3.0], [0.5, -1.0, 0.0], [4.0, 2.0, 0.0]]), "value grad hvp")
def products_with_zeros(x):
    return jnp.prod(x, axis=0)


@shapes(1 + 0.5 * wave((5,), 0.5), "value grad hessian third")
def product_of_all(x):
    return jnp.prod(x)


@shapes(wave((4, 6), 0.5), "value grad")
def max_pooling(x):
    return jnp.max(x.reshape(2, 2, 3, 2), axis=(1, 3))


@shapes(wave((4, 6), 0.5), "value grad hvp")
def mean_pooling(x):
    return jnp.mean(x.reshape(2, 2, 3, 2), axis=(1, 3)) ** 3


@shapes(wave((5,), 0.5), "value grad jacfwd")
def upsampled(x):
    y = lax.pad(x, 0.25, ((1, -1, 2),))
    return y[:-1:2] * y[1::2]


@shapes(wave((2, 3, 4), 0.5), "value grad hvp")
def batched_product(x):
    return jnp.einsum("bij,bjk->bik", jnp.sin(x), wave((2, 4, 2), 0.1))


@shapes(wave((2, 3), 0.5), "value grad hessian")
def product_chain(x):
    return x @ wave((3, 3), 0.1) @ x.T


@shapes(wave((3,), 0.5), "value grad jacrev")
def outer_product(x):
    return jnp.outer(x, jnp.exp(x))


@shapes(wave((2, 3, 4), 0.5), "value grad jvp")
def contraction(x):
    return jnp.tensordot(x, wave((4, 2), 0.1), axes=1) ** 2


@shapes(wave((2, 3, 4), 0.5), "value grad push")
def permuted(x):
    return jnp.transpose(x, (2, 0, 1)).reshape(4, 6).T * wave((6, 4), 0.1)


@shapes(wave((5,), 0.5), "value grad hvp")
def running_sum(x):
    return jnp.exp(jnp.cumsum(x))


@shapes(wave((3,), 0.5), "value grad hessian")
def broadcast_table(x):
    return x[:, None] * jnp.cos(x)[None, :] + wave((4, 1, 3), 0.1)


@shapes(wave((4,), 0.5), "value grad")
def stacked(x):
    return jnp.stack([x, x**2, jnp.sin(x)], axis=1)


@shapes(wave((3, 4), 0.5), "value grad")
def largest_by_index(x):
    chosen = jax.nn.one_hot(jnp.argmax(x, axis=1), 4)
    return jnp.sum(chosen * jnp.exp(x), axis=1)


@shapes(wave((4, 2), 0.5), "value grad hvp")
def distances(x):
    square = jnp.sum((x[:, None] - x[None, :]) ** 2, axis=-1)
    return jnp.sqrt(square + jnp.eye(4))


@shapes(wave((6,), 0.5), "value grad hessian")
def power_spectrum(x):
    return jnp.abs(jnp.fft.fft(x)) ** 2


@shapes(wave((4, 4), 0.5), "value grad hvp")
def total_variation(x):
    down, right = x[1:, :-1] - x[:-1, :-1], x[:-1, 1:] - x[:-1, :-1]
    return jnp.sum(jnp.sqrt(down**2 + right**2 + 1e-3))


@shapes(wave((2, 3, 4), 0.5), "value grad")
def moments(x):
    return jnp.mean(x, axis=(0, 2)) * jnp.var(x, axis=(0, 2)) + jnp.sum(x**3, axis=1).max()


@shapes(wave((3, 4), 0.5), "value grad")
def ranges(x):
    return jnp.max(x, axis=1) - jnp.min(x, axis=1) * jnp.max(x)


# Nested: transforms inside of what is transformed.

nested = group("nested")


def bowl(x):
    return jnp.sum(jnp.sin(x) * x**2)


@nested(wave((3,), 0.5), "value grad hessian")
def perturbations(x):
    """The outer tangent must not be taken for the inner one."""
    inner = jax.grad(lambda y: jnp.sum(x * y + x * jnp.sin(y)))(jnp.ones(3))
    return x * inner


@nested(np.array(1.5), "value grad third")
def perturbation_of_a_number(x):
    return x * jax.grad(lambda y: x + y)(2.0) + jax.grad(lambda y: x * y**3)(x)


@nested(wave((3,), 0.5), "value grad hvp")
def gradient_penalty(x):
    return jnp.sum(jax.grad(bowl)(x) ** 2)


@nested(wave((3,), 0.5), "value grad third")
def jvp_along_itself(x):
    return jax.jvp(lambda x: jnp.tanh(x) * x, (x,), (x**2,))[1]


@nested(wave((3,), 0.5), "value grad jvp")
def pullback_of_itself(x):
    y, pull = jax.vjp(lambda x: jnp.exp(jnp.sin(x)), x)
    return pull(y * x)[0]


@nested(wave((3,), 0.5), "value grad")
def pushforward_of_itself(x):
    y, push = jax.linearize(lambda x: x**3, x)
    return push(y) + push(x)


@nested(wave((4, 2), 0.5), "value grad hvp")
def kernel_matrix(x):
    kernel = lambda a, b: jnp.exp(-jnp.sum((a - b) ** 2))
    return jax.vmap(lambda a: jax.vmap(lambda b: kernel(a, b))(x))(x)


@nested(wave((7,), 0.2), "value grad")
def per_example_gradients(p):
    def loss(p, x, y):
        return (jnp.tanh(x @ p[:6].reshape(2, 3)).sum() * p[6] - y) ** 2

    return jax.vmap(jax.grad(loss), (None, 0, 0))(p, wave((5, 2), 0.1), wave((5,), 0.3))


@nested(wave((4, 3), 0.2), "value grad each each_grad")
def clipped_gradients(x):
    g = jax.grad(lambda x: jnp.sum(jnp.sin(2 * x) * x))(x)
    return g / jnp.maximum(1.0, jnp.sqrt(jnp.sum(g**2)))


@nested(wave((4, 3), 0.2), "each each_grad each_hessian")
def examples(x):
    return jnp.sum(x**4) / (1 + jnp.sum(x**2)) * x[0]


@nested(wave((3,), 0.5), "value grad")
def laplacian(x):
    return jnp.trace(jax.hessian(lambda x: jnp.prod(jnp.sin(x)) + jnp.sum(x**4))(x))


@nested(np.array([-1.2, 1.0]), "value jvp")
def newton_step(x):
    g, h = jax.grad(rosenbrock)(x), jax.hessian(rosenbrock)(x)
    return x - jnp.linalg.solve(h, g)


@nested(wave((4,), 0.5), "value grad jvp")
def held_constant(x):
    return x * lax.stop_gradient(x**2) + lax.stop_gradient(jnp.sin(x))


@nested(3 * wave((4,), 0.5), "value grad")
def straight_through(x):
    return (x + lax.stop_gradient(jnp.round(x) - x)) ** 2


@nested(1.5 + wave((3,), 0.5), "value grad third")
def square_root_by_iteration(x):
    y = jnp.ones(3)
    for _ in range(6):
        y = 0.5 * (y + x / y)
    return y


@nested(wave((3,), 0.5), "value grad hvp")
def learning_to_learn(p):
    inner = lambda p: jnp.mean((jnp.tanh(wave((4, 3), 0.1) @ p) - wave((4,), 0.3)) ** 2)
    outer = lambda p: jnp.mean((jnp.tanh(wave((4, 3), 0.6) @ p) - wave((4,), 0.8)) ** 2)
    for _ in range(2):
        p = p - 0.3 * jax.grad(inner)(p)
    return outer(p)


@nested(wave((3,), 0.5), "value grad")
def hessian_by_columns(x):
    return jax.vmap(lambda v: jax.jvp(jax.grad(bowl), (x,), (v,))[1])(jnp.eye(3))


@nested(wave((2,), 0.5), "value grad")
def jacobian_of_jacobian(x):
    return jax.jacfwd(jax.jacrev(lambda x: jnp.stack([jnp.sin(x[0] * x[1]), x[0] ** 2 * x[1]])))(x)


@nested(wave((3, 4), 0.5), "value grad jvp")
def columns(x):
    return jax.vmap(lambda c, w: jnp.exp(c) * w, in_axes=(1, None), out_axes=1)(x, wave((3,), 0.2))


@nested(wave((3, 4), 0.5), "value grad hvp")
def jit_inside(x):
    f = jax.jit(lambda row: jnp.sin(row) * jnp.sum(row**2))
    return jax.vmap(f)(x) * f(x)


@nested(np.array([1.0, 0.3]), "value grad hessian jacrev")
def pendulum(state):
    angle, speed = state[0], state[1]
    for _ in range(6):
        speed = speed - 0.1 * jnp.sin(angle)
        angle = angle + 0.1 * speed
    return jnp.stack([angle, speed])


if __name__ == "__main__":
    write(pathlib.Path(__file__).with_name("values.txt"), "make.py")
