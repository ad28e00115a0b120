"""Makes edges.txt: values and derivatives by JAX where functions have kinks, poles and ties.

    pip install jax==0.10.2 numpy && python tests/oracle/edges.py

A row is `function @ point: value | derivative`; the functions stand in Rust in edges.rs. The derivative is `jax.grad`,
by every number of the point.
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import digamma, erf, erfc, gammaln, logsumexp

jax.config.update("jax_enable_x64", True)

inf, nan = np.inf, np.nan
ROWS = []


def edge(name, f, *points):
    """A point is a number, or a list of numbers that are one array."""
    for point in points:
        x = jnp.array(point, dtype=np.float64)
        value, slope = jax.value_and_grad(f)(x)
        text = lambda v: ", ".join(repr(float(v)) for v in np.ravel(v))
        ROWS.append(f"{name} @ {text(point)}: {text(value)} | {text(slope)}")


def two(f):
    return lambda p: f(p[0], p[1])


def second(f):
    return lambda x: jax.grad(f)(x)


def safe_norm(x):
    square = jnp.sum(x**2)
    positive = square > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)


def entropy(x):
    positive = x > 0
    return jnp.where(positive, x * jnp.log(jnp.where(positive, x, 1.0)), 0.0)


def sinc(x):
    zero = x == 0
    return jnp.where(zero, 1.0, jnp.sin(x) / jnp.where(zero, 1.0, x))


def safe_sqrt(x):
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


edge("abs(x)", jnp.abs, 0, -0.0, -2, nan)
edge("sign(x)", jnp.sign, 0, 3)
edge("floor(x)", jnp.floor, 1, 1.5)
edge("ceil(x)", jnp.ceil, 1)
edge("round(x)", jnp.round, 0.5, 1.2)
edge("sqrt(x)", jnp.sqrt, 0, -1, inf)
edge("rsqrt(x)", lax.rsqrt, 0, -1)
edge("cbrt(x)", jnp.cbrt, 0, -8)
edge("x * sqrt(x)", lambda x: x * jnp.sqrt(x), 0)
edge("sqrt(x * x)", lambda x: jnp.sqrt(x * x), 0)
edge("norm(x)", lambda x: jnp.sqrt(jnp.sum(x**2)), [0, 0], [3, 4], [inf, 1])
edge("norm(x), double where", safe_norm, [0, 0], [3, 4])
edge("max(x, y)", two(jnp.maximum), [1, 1], [2, 1], [nan, 1], [0.0, -0.0])
edge("min(x, y)", two(jnp.minimum), [1, 1], [2, 1], [1, nan])
edge("max(x, 0)", lambda x: jnp.maximum(x, 0), 0, -1)
edge("select(x > 0, x, 0)", jax.nn.relu, 0, 2)
edge("max of all", jnp.max, [1, 3, 3, 2], [2, 2], [1, nan], [-inf, -inf])
edge("min of all", jnp.min, [1, 1, 3], [nan, 1])
edge("clamp(x, -1, 1)", lambda x: lax.clamp(-1.0, x, 1.0), -1, 0.5, 1, 2, nan)
edge("min(max(x, -1), 1)", lambda x: jnp.clip(x, -1, 1), 1)
edge("prod of all", jnp.prod, [2, 0, 3], [0, 0, 3], [2, inf])
edge("sum of all", jnp.sum, [inf, -inf])
edge("mean of all", jnp.mean, [1, nan])
edge("pow(x, y)", two(lax.pow), [0, 0], [0, 1], [0, 2], [0, -1], [0, 0.5], [2, 0], [-2, 3], [-2, 0.5], [1, inf])
edge("pow(x, 2)", lambda x: x**2.0, 0, -3)
edge("pow(x, 0)", lambda x: lax.pow(x, 0.0), 0, 2, inf)
edge("powi(x, 0)", lambda x: lax.integer_pow(x, 0), 0)
edge("powi(x, 1)", lambda x: lax.integer_pow(x, 1), 0)
edge("powi(x, 2)", lambda x: lax.integer_pow(x, 2), 0)
edge("powi(x, -1)", lambda x: lax.integer_pow(x, -1), 0)
edge("1 / x", lambda x: 1 / x, 0, inf)
edge("x / y", two(jnp.divide), [0, 0], [1, 0], [1, inf])
edge("x * y", two(jnp.multiply), [0, inf])
edge("x % y", two(lax.rem), [5.5, 2], [-5.5, 2], [4, 2], [1, 0], [1, inf])
edge("exp(x)", jnp.exp, 1000, -1000, -inf)
edge("expm1(x)", jnp.expm1, -inf, 1e-20)
edge("log(x)", jnp.log, 0, -1, inf)
edge("log1p(x)", jnp.log1p, -1, -2)
edge("x * log(x)", lambda x: x * jnp.log(x), 0)
edge("x * log(x), double where", entropy, 0, 1)
edge("log(1 + exp(x))", lambda x: jnp.log(1 + jnp.exp(x)), 1000, -1000)
edge("softplus(x)", lambda x: jnp.log1p(jnp.exp(-jnp.abs(x))) + jnp.maximum(x, 0), 0, 1000, -1000)
edge("logsumexp", logsumexp, [1, 1], [0, -inf], [1000, 1000], [inf, 0], [-inf, -inf])
edge("tanh(x)", jnp.tanh, 0, 1000, -inf)
edge("logistic(x)", jax.nn.sigmoid, 1000, -1000)
edge("erf(x)", erf, 30)
edge("erfc(x)", erfc, 30)
edge("erf_inv(x)", lax.erf_inv, 1, 2)
edge("lgamma(x)", gammaln, 0, -1, 1)
edge("digamma(x)", digamma, 0, -1)
edge("sin(x)", jnp.sin, inf)
edge("tan(x)", jnp.tan, np.pi / 2)
edge("asin(x)", jnp.arcsin, 1, 2)
edge("acos(x)", jnp.arccos, 1, -1)
edge("acosh(x)", jnp.arccosh, 1)
edge("atanh(x)", jnp.arctanh, 1)
edge("atan(x)", jnp.arctan, inf)
edge("atan2(y, x)", two(jnp.arctan2), [0, 0], [0, -1], [inf, inf])
edge("sin(x) / x", lambda x: jnp.sin(x) / x, 0)
edge("sin(x) / x, double where", sinc, 0)
edge("select(x > 0, sqrt(x), 0)", lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), 0, -1)
edge("select(x > 0, log(x), x)", lambda x: jnp.where(x > 0, jnp.log(x), x), 0)
edge("sqrt(x), double where", safe_sqrt, 0, -1, 4)
edge("stop_gradient(x) * x", lambda x: lax.stop_gradient(x) * x, 3)
edge("derivative of abs(x)", second(jnp.abs), 0)
edge("derivative of max(x, 0)", second(lambda x: jnp.maximum(x, 0)), 0)
edge("derivative of x * abs(x)", second(lambda x: x * jnp.abs(x)), 0)
edge("derivative of sqrt(x)", second(jnp.sqrt), 0)
edge("derivative of pow(x, 2)", second(lambda x: x**2.0), 0)
edge("derivative of pow(x, 1)", second(lambda x: lax.pow(x, 1.0)), 0)
edge("derivative of powi(x, 2)", second(lambda x: lax.integer_pow(x, 2)), 0)
edge("derivative of tanh(x)", second(jnp.tanh), 1000)

if __name__ == "__main__":
    head = f"# Made by tests/oracle/edges.py with JAX {jax.__version__}; do not edit.\n"
    pathlib.Path(__file__).with_name("edges.txt").write_text(head + "\n".join(ROWS) + "\n")
    print(len(ROWS), "rows")
