"""A network of three layers, 784 to 512 to 256 to 10, on a batch of 128."""

import jax
import jax.numpy as jnp
import numpy as np
from inputs import floats, scaled
from programs import row


def inputs():
    """Weights, images and the classes they belong to."""
    weights = (
        scaled((784, 512), 1, 0.06),
        scaled((512,), 2, 0.06),
        scaled((512, 256), 3, 0.08),
        scaled((256,), 4, 0.08),
        scaled((256, 10), 5, 0.1),
        scaled((10,), 6, 0.1),
    )
    return weights, floats((128, 784), 7), np.eye(10, dtype=np.float32)[np.arange(128) % 10]


def predict(xp):
    def f(weights, x, _=None):
        w1, b1, w2, b2, w3, b3 = weights
        h = xp.maximum(x @ w1 + b1, 0)
        h = xp.maximum(h @ w2 + b2, 0)
        return h @ w3 + b3

    return f


def cross_entropy(logits, classes):
    """The mean over the batch of what the classes are surprised by."""
    return -jnp.mean(jnp.sum(classes * jax.nn.log_softmax(logits), axis=1))


def stepping(predict):
    """The loss, and the weights after one step down its slope."""

    def step(weights, x, classes):
        loss, slope = jax.value_and_grad(lambda w: cross_entropy(predict(w, x), classes))(weights)
        return loss, jax.tree.map(lambda w, g: w - 0.1 * g, weights, slope)

    return step


row("mlp_forward", inputs, jax=predict(jnp), numpy=predict(np))
row("mlp_step", inputs, jax=stepping(predict(jnp)))
