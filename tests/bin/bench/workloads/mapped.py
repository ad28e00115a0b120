"""A function of one thing, mapped over a hundred thousand."""

import jax
import jax.numpy as jnp
import numpy as np
from inputs import floats
from programs import row

MANY = 100_000


def rotated(q, v):
    """A vector turned by a quaternion, which is made one of length 1 first."""
    q = q * jax.lax.rsqrt(jnp.sum(q * q) + 1e-6)
    u, w = q[:3], q[3]
    t = 2 * jnp.cross(u, v)
    return v + w * t + jnp.cross(u, t)


def all_rotated(q, v):
    q = q / np.sqrt((q * q).sum(1, keepdims=True) + np.float32(1e-6))
    u, w = q[:, :3], q[:, 3:]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def small(x):
    a, b, c, d = (x[i] for i in range(4))
    return jnp.sin(a) * jnp.exp(b) + c * c * jnp.tanh(d) + jnp.log1p(jnp.sum(x * x)) * jnp.cos(a)


row(
    "quat_rotate_1e5",
    lambda: (floats((MANY, 4), 1), floats((MANY, 3), 2)),
    jax=jax.vmap(rotated),
    numpy=all_rotated,
)
row("vmap_grad_1e5", lambda: (floats((MANY, 4), 3),), jax=jax.vmap(jax.grad(small)))
