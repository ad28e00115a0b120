"""Elements at places that arrays name, and random numbers. Sorting and scans are in the group `heavy`."""

import jax
import jax.numpy as jnp
import numpy as np
from inputs import floats, places, words
from programs import row

MILLION, TABLE = 1_000_000, 100_000


def gathered():
    return floats((TABLE,), 1), places(MILLION, TABLE, 2)


def scattered():
    return np.zeros(TABLE, np.float32), places(MILLION, TABLE, 2), floats((MILLION,), 5)


def add_at(x, at, y):
    x = x.copy()
    np.add.at(x, at, y)
    return x


def taken(x, at):
    return jnp.take(x, at, 0)


def taken_in_bounds(x, at):
    return x.at[at].get(mode="promise_in_bounds")


row("gather_1e6", gathered, jax=taken, numpy=np.take)
row("gather_1e6_in_bounds", gathered, jax=taken_in_bounds)
row(
    "gather_rows_1e6x16",
    lambda: (floats((TABLE, 16), 3), places(MILLION, TABLE, 4)),
    jax=taken,
    numpy=lambda x, at: np.take(x, at, 0),
)
row("scatter_add_1e6", scattered, jax=lambda x, at, y: x.at[at].add(y), numpy=add_at)


def key():
    return (words((2,), 6),)


def drawn(draw):
    return lambda words: draw(jax.random.wrap_key_data(words), (MILLION,))


def drawn_by_numpy(draw):
    return lambda words: draw(np.random.default_rng(words), MILLION, np.float32)


row(
    "random_normal_1e6",
    key,
    jax=drawn(jax.random.normal),
    numpy=drawn_by_numpy(np.random.Generator.standard_normal),
)
row(
    "random_uniform_1e6",
    key,
    jax=drawn(jax.random.uniform),
    numpy=drawn_by_numpy(np.random.Generator.random),
)
