"""Logistic regression by Newton's method: 8 steps, the equations of each solved by 20 conjugate gradients."""

import jax
import jax.numpy as jnp
import numpy as np
from inputs import floats
from jax import lax
from programs import row

ROWS, COLUMNS = 4096, 256


def inputs():
    """Rows and their labels, 0 or 1, which no plane separates."""
    return floats((ROWS, COLUMNS), 1), (floats((ROWS,), 2) > 0).astype(np.float32)


def conjugate_gradients(product, b, loop):
    """Solves `product(x) = b` for x."""

    def step(_, state):
        x, r, p, square = state
        along = product(p)
        far = square / (p @ along + 1e-30)
        x, r = x + far * p, r - far * along
        following = r @ r
        return x, r, r + following / (square + 1e-30) * p, following

    return loop(0, 20, step, (0 * b, b, b, b @ b))[0]


def solve(x, y):
    def loss(w):
        # Without |z|, which has a kink at the start, where z is 0: what it makes of second derivatives there is a
        # matter of convention, and JAX's is not ours.
        z = x @ w
        return jnp.mean(jnp.log1p(jnp.exp(z)) - y * z) + 1e-3 * jnp.sum(w * w)

    def step(_, w):
        slope = jax.grad(loss)
        product = lambda v: jax.jvp(slope, (w,), (v,))[1]  # noqa: E731
        return w - conjugate_gradients(product, slope(w), lax.fori_loop)

    return lax.fori_loop(0, 8, step, jnp.zeros(COLUMNS, x.dtype))


def repeated(start, end, step, state):
    for i in range(start, end):
        state = step(i, state)
    return state


def solve_by_hand(x, y):
    """The derivatives written out."""
    one = np.float32(1)

    def step(_, w):
        chance = one / (one + np.exp(-(x @ w)))
        slope = x.T @ (chance - y) / np.float32(ROWS) + np.float32(2e-3) * w
        weight = chance * (one - chance) / np.float32(ROWS)
        product = lambda v: x.T @ (weight * (x @ v)) + np.float32(2e-3) * v  # noqa: E731
        return w - conjugate_gradients(product, slope, repeated)

    return repeated(0, 8, step, np.zeros(COLUMNS, np.float32))


row("newton_cg", inputs, jax=solve, numpy=solve_by_hand)
