"""Every point with every other: forces and distances."""

import jax.numpy as jnp
import numpy as np
from inputs import floats
from jax import lax
from programs import row


def bodies():
    return floats((2048, 3), 1), np.abs(floats((2048,), 2)) + np.float32(0.1)


def planar():
    at, mass = bodies()
    return *(np.ascontiguousarray(at[:, i]) for i in range(3)), mass


def pull(fall):
    """What pulls at each body, the places as rows of three."""

    def f(at, mass):
        apart = at[None, :, :] - at[:, None, :]
        weight = fall((apart * apart).sum(2) + np.float32(1e-3)) * mass
        return (apart * weight[:, :, None]).sum(1)

    return f


def forces(x, y, z, mass):
    """The same, one array for each direction."""
    x, y, z = (v[None, :] - v[:, None] for v in (x, y, z))
    weight = lax.rsqrt(x * x + y * y + z * z + 1e-3) ** 3 * mass
    return tuple((v * weight).sum(1) for v in (x, y, z))


def nearest(a, b):
    apart = a[:, None, :] - b[None, :, :]
    return (apart * apart).sum(2).min(1)


row(
    "nbody_2048",
    bodies,
    jax=pull(lambda square: 1 / (square * jnp.sqrt(square))),
    numpy=pull(lambda square: 1 / (square * np.sqrt(square))),
)
row("nbody_2048_rsqrt", bodies, jax=pull(lambda square: lax.rsqrt(square) ** 3))
row("nbody_2048_planar", planar, jax=forces)
row("pairwise_1024x16", lambda: (floats((1024, 16), 3), floats((1024, 16), 4)), jax=nearest, numpy=nearest)
