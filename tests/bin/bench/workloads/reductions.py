"""Sums, means and maxima over all, rows and columns, and what normalises rows."""

import jax
import jax.numpy as jnp
import numpy as np
from inputs import floats, scaled
from programs import row


def large():
    """Around one half, so that sums do not cancel."""
    return (floats((4096, 4096), 1) + np.float32(0.5),)


def small():
    return (scaled((1024, 1024), 2, 4.0),)


def over(function, axis):
    return lambda x: function(x, axis)


for axes, axis in ("all", None), ("rows", 1), ("cols", 0):
    for name in "sum", "mean", "max":
        jax_function, numpy_function = over(getattr(jnp, name), axis), over(getattr(np, name), axis)
        row(f"{name}_{axes}_4096", large, jax=jax_function, numpy=numpy_function)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layernorm(xp):
    def f(x):
        centred = x - x.mean(-1, keepdims=True)
        variance = (centred * centred).mean(-1, keepdims=True)
        if xp is jnp:
            return centred * jax.lax.rsqrt(variance + 1e-5)
        return centred / np.sqrt(variance + np.float32(1e-5))

    return f


def logsumexp(x):
    largest = x.max(1)
    return np.log(np.exp(x - largest[:, None]).sum(1)) + largest


row("softmax_rows_1024", small, jax=lambda x: jax.nn.softmax(x, axis=1), numpy=softmax)
row("layernorm_rows_1024", small, jax=layernorm(jnp), numpy=layernorm(np))
row("logsumexp_rows_1024", small, jax=lambda x: jax.nn.logsumexp(x, axis=1), numpy=logsumexp)
