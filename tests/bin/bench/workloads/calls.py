"""Calls of which the work is nothing: what a call costs."""

import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
from inputs import floats
from programs import called, row

ONE, TWO = np.float32(1), np.float32(2)


def four():
    return np.array([1, 2, 3, 4], np.float32), np.ones(4, np.float32)


def twenty():
    return ([np.float32(i) for i in range(20)],)


row("dispatch_scalar_add", lambda: (ONE, TWO), jax=operator.add, numpy=operator.add)
row("dispatch_add_4", four, jax=operator.add, numpy=operator.add)
row("dispatch_20_to_1", twenty, jax=lambda xs: functools.reduce(operator.add, xs))
row("dispatch_20_to_20", twenty, jax=lambda xs: [x + 1 for x in xs])


def with_number():
    """A number of the host language is handed over in each call."""
    add, x = jax.jit(operator.add), jnp.float32(1)
    return lambda: add(x, 2.0)


def chained():
    """A hundred calls, each on what the one before returned."""
    add, zero, one = jax.jit(operator.add), jnp.float32(0), jnp.float32(1)

    def call():
        x = zero
        for _ in range(100):
            x = add(x, one)
        return x

    return call


def eager():
    x, y = jnp.float32(1), jnp.float32(2)
    return lambda: x + y


def copied():
    """A copy of numbers that the host language has."""
    x = floats((1_000_000,), 1)
    return lambda: jnp.array(x)


called("dispatch_number", jax=with_number)
called("dispatch_chained_100", jax=chained)
called("eager_add", jax=eager, numpy=lambda: lambda: ONE + TWO)
called("asarray_1e6", jax=copied)
