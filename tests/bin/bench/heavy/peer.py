"""The heavy primitives in JAX and NumPy: the same rows as in mod.rs beside this, on the same inputs."""

import jax
import jax.numpy as jnp
import numpy as np
from inputs import floats, places, words
from jax import lax
from programs import row

MILLION = 1_000_000


def long():
    return (floats((MILLION,), 1),)


def very_long():
    return (floats((10 * MILLION,), 2),)


row("sort_f32_1e6", long, jax=jnp.sort, numpy=np.sort)
row("sort_i32_1e6", lambda: (words((MILLION,), 1).astype(np.int32),), jax=jnp.sort, numpy=np.sort)
row("argsort_f32_1e6", long, jax=jnp.argsort, numpy=np.argsort)
row("top_k_100_of_1e6", long, jax=lambda x: lax.top_k(x, 100))
row(
    "searchsorted_1e6",
    lambda: (np.sort(floats((100_000,), 3)), *long()),
    jax=jnp.searchsorted,
    numpy=np.searchsorted,
)

row("cumsum_f32_1e7", very_long, jax=jnp.cumsum, numpy=np.cumsum)
row(
    "cumsum_rows",
    lambda: (floats((1000, 10_000), 4),),
    jax=lambda x: jnp.cumsum(x, 1),
    numpy=lambda x: np.cumsum(x, 1),
)


def rows_and_places():
    return floats((100_000, 64), 5), places(100_000, 100_000, 6)


def scalars_and_places():
    return floats((MILLION,), 7), places(MILLION, MILLION, 8)


def add_at(x, at, y):
    x = x.copy()
    np.add.at(x, at, y)
    return x


def jax_add_at(x, at, y):
    return x.at[at].add(y)


def jax_take(x, at):
    return jnp.take(x, at, 0)


row("gather_rows", rows_and_places, jax=jax_take, numpy=lambda x, at: np.take(x, at, 0))
row("gather_scalars", scalars_and_places, jax=jax_take, numpy=np.take)
row("gather_scalars_clip", scalars_and_places, jax=lambda x, at: jnp.take(x, at, 0, mode="clip"))
row("scatter_add_rows", lambda: (*rows_and_places(), floats((100_000, 64), 9)), jax=jax_add_at, numpy=add_at)
row("scatter_add_scalars", lambda: (*scalars_and_places(), floats((MILLION,), 9)), jax=jax_add_at, numpy=add_at)


def seed():
    return (np.array([0, 42], np.uint32),)


def draws(draw):
    return lambda words: draw(jax.random.wrap_key_data(words), (10 * MILLION,))


def numpy_draws(draw):
    return lambda words: draw(np.random.default_rng(words), 10 * MILLION, np.float32)


row("uniform_1e7", seed, jax=draws(jax.random.uniform), numpy=numpy_draws(np.random.Generator.random))
row("normal_1e7", seed, jax=draws(jax.random.normal), numpy=numpy_draws(np.random.Generator.standard_normal))


def conv(x, w):
    """Channels last, as large as before."""
    axes = "HW"[: x.ndim - 2]
    numbers = f"N{axes}C", f"{axes}IO", f"N{axes}C"
    return lax.conv_general_dilated(x, w, (1,) * len(axes), "SAME", dimension_numbers=numbers)


def conv_grad(x, w):
    return jax.grad(lambda x, w: jnp.sum(conv(x, w) ** 2), argnums=(0, 1))(x, w)


def planes():
    return floats((32, 28, 28, 16), 10), floats((3, 3, 16, 32), 11)


def lines():
    return floats((32, 1024, 16), 12), floats((5, 16, 32), 13)


row("conv_2d", planes, jax=conv)
row("conv_2d_grad", planes, jax=conv_grad)
row("conv_1d", lines, jax=conv)
row("conv_1d_grad", lines, jax=conv_grad)


def positive():
    """A matrix that is positive definite: small beside its diagonal."""
    a = floats((512, 512), 15)
    return a + a.T + 64.0 * np.eye(512, dtype=np.float32)


row("cholesky_512", lambda: (positive(),), jax=jnp.linalg.cholesky, numpy=np.linalg.cholesky)
row("solve_512", lambda: (positive(), floats((512, 16), 16)), jax=jnp.linalg.solve, numpy=np.linalg.solve)


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def images():
    return (floats((32, 28, 28, 32), 14),)


row("max_pool", images, jax=max_pool)
row("max_pool_grad", images, jax=jax.grad(lambda x: jnp.sum(max_pool(x) ** 2)))
