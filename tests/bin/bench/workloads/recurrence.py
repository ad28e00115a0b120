"""A recurrent network of 128 units over a thousand steps, whose inputs are added as they are."""

import jax.numpy as jnp
import numpy as np
from inputs import floats, scaled
from jax import lax
from programs import row


def run(w, h, xs):
    return lax.scan(lambda h, x: (jnp.tanh(h @ w + x), None), h, xs)[0]


def loop(w, h, xs):
    for x in xs:
        h = np.tanh(h @ w + x)
    return h


for batch in 1, 32:
    args = lambda batch=batch: (  # noqa: E731
        scaled((128, 128), 1, 0.1),
        np.zeros((batch, 128), np.float32),
        floats((1000, batch, 128), 2),
    )
    row(f"scan_rnn_b{batch}", args, jax=run, numpy=loop)
