"""Graphs of 10 to 5,000 equations, deep and wide, in JAX: the same as in mod.rs beside this."""

import jax.numpy as jnp
from inputs import floats, scaled
from programs import row


def vector():
    return (floats((1024,), 1),)


def matrices():
    return floats((64, 64), 1), scaled((64, 64), 2, 0.1)


def sines(n):
    """A chain of products and sums, a tenth of the steps sines."""

    def f(x):
        for i in range(n):
            x = jnp.sin(x) if i % 10 == 9 else x * 0.99 if i % 2 == 0 else x + 0.01
        return x

    return f


def products(n):
    """A chain of products and sums."""

    def f(x):
        for i in range(n):
            x = x * 0.99 if i % 2 == 0 else x + 0.01
        return x

    return f


def wide(n):
    """As many results as half of the equations, each of two."""
    return lambda x: [x * (1.0 + i) + 0.5 for i in range(n // 2)]


def layers(n):
    """Products with one matrix and tanh."""

    def f(x, w):
        for _ in range(n // 2):
            x = jnp.tanh(x @ w)
        return x

    return f


for n in 10, 100, 1000, 5000:
    row(f"sines_{n}", vector, jax=sines(n))
    row(f"products_{n}", vector, jax=products(n))
    row(f"wide_{n}", vector, jax=wide(n))
    row(f"layers_{n}", matrices, jax=layers(n))
