"""Convolutions over a batch of 32 images of 28 by 28."""

import jax.numpy as jnp
import numpy as np
from inputs import floats, scaled
from jax import lax
from programs import row

from workloads.network import stepping


def same(x, w):
    """Channels last, as large as before."""
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def inputs():
    """Weights, images and the classes they belong to."""
    weights = (
        scaled((3, 3, 1, 32), 3, 0.5),
        scaled((3, 3, 32, 64), 4, 0.1),
        scaled((64, 10), 5, 0.2),
        scaled((10,), 6, 0.2),
    )
    return weights, floats((32, 28, 28, 1), 7), np.eye(10, dtype=np.float32)[np.arange(32) % 10]


def predict(weights, x, _=None):
    """Two convolutions, the mean of each channel, one layer."""
    w1, w2, w3, b3 = weights
    h = jnp.maximum(same(x, w1), 0)
    h = jnp.maximum(same(h, w2), 0)
    return h.mean((1, 2)) @ w3 + b3


row("conv3x3", lambda: (floats((32, 28, 28, 32), 1), scaled((3, 3, 32, 64), 2, 0.1)), jax=same)
row("cnn_forward", inputs, jax=predict)
row("cnn_step", inputs, jax=stepping(predict))
