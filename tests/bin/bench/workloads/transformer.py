"""One block of a transformer: 4 sequences of 128, 256 wide, 8 heads, 1024 in the middle."""

import jax
import jax.numpy as jnp
from inputs import floats, scaled
from programs import row

from workloads.reductions import layernorm

BATCH, LENGTH, WIDTH, HEADS = 4, 128, 256, 8
normalised = layernorm(jnp)


def inputs():
    weights = (
        scaled((WIDTH, 3 * WIDTH), 1, 0.1),
        scaled((WIDTH, WIDTH), 2, 0.1),
        scaled((WIDTH, 4 * WIDTH), 3, 0.1),
        scaled((4 * WIDTH, WIDTH), 4, 0.05),
    )
    return weights, floats((BATCH, LENGTH, WIDTH), 5)


def block(weights, x):
    """Attention and a layer, each after a normalisation and added to what went in."""
    qkv, out, up, down = weights
    each = WIDTH // HEADS
    q, k, v = (normalised(x) @ qkv).reshape(BATCH, LENGTH, 3, HEADS, each).transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2) * each**-0.5
    seen = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH)
    x = x + seen @ out
    return x + jax.nn.gelu(normalised(x) @ up, approximate=True) @ down


def slope(weights, x):
    return jax.value_and_grad(lambda weights, x: jnp.mean(block(weights, x) ** 2), argnums=(0, 1))(weights, x)


row("transformer_forward", inputs, jax=block)
row("transformer_grad", inputs, jax=slope)
