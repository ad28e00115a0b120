"""Makes windows.txt: values and derivatives of convolutions and of reductions over windows, by JAX.

    python tests/oracle/windows.py

What a row is, rows.py says.
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from rows import group, wave, write

windows = group("windows")
ALL = "value grad jvp hvp"

NHWC = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}


def conv(x, w, strides=1, padding="VALID", dilation=1, input_dilation=1, groups=1, numbers=None):
    d = x.ndim - 2
    each = lambda n: (n,) * d if isinstance(n, int) else n
    return lax.conv_general_dilated(
        x, w, each(strides), padding, each(input_dilation), each(dilation),
        numbers or NHWC[d], groups,
    )


def both(name, x, w, kinds=ALL, **how):
    """The same convolution as a function of the image and as one of the kernel."""

    def of_image(image):
        return conv(image, wave(w, 0.3), **how) ** 2

    def of_kernel(kernel):
        return conv(wave(x, 0.5), kernel, **how) ** 2

    of_image.__name__, of_kernel.__name__ = name, name + "_kernel"
    windows(wave(x, 0.5), kinds)(of_image)
    windows(wave(w, 0.3), kinds)(of_kernel)


both("conv1d", (2, 7, 3), (3, 3, 4))
both("conv2d_same", (1, 5, 6, 2), (3, 3, 2, 3), strides=2, padding="SAME")
both("conv2d_dilated", (1, 6, 5, 2), (2, 3, 2, 2), padding=((1, 2), (0, 1)), dilation=(2, 1))
both("conv2d_input_dilated", (1, 3, 3, 2), (2, 2, 2, 2), strides=(1, 2), padding=((2, 1), (1, 1)), input_dilation=(2, 3))
both("conv2d_cropped", (1, 6, 5, 1), (2, 2, 1, 2), padding=((-1, 0), (2, -2)))
both("conv2d_groups", (1, 4, 4, 4), (2, 2, 2, 6), groups=2)
both("depthwise", (1, 4, 5, 3), (3, 2, 1, 3), padding="SAME", groups=3)
both("depthwise_twice", (1, 4, 4, 2), (2, 2, 1, 4), strides=2, groups=2)
both("channels_first", (2, 2, 5, 4), (3, 2, 3, 2), strides=(1, 2), numbers=("NCHW", "OIHW", "NCHW"))
both("conv3d", (1, 3, 4, 3, 2), (2, 2, 2, 2, 2), strides=(1, 2, 1))
both("one_by_one", (2, 3, 2, 3), (1, 1, 3, 4))
both("one_by_one_strided", (1, 4, 5, 2), (1, 1, 2, 3), strides=(2, 3))


def transposed(name, x, w, **how):
    d = len(x) - 2

    def of_image(image):
        return lax.conv_transpose(image, wave(w, 0.3), dimension_numbers=NHWC[d], **how) ** 2

    def of_kernel(kernel):
        return lax.conv_transpose(wave(x, 0.5), kernel, dimension_numbers=NHWC[d], **how) ** 2

    of_image.__name__, of_kernel.__name__ = name, name + "_kernel"
    windows(wave(x, 0.5), "value grad jvp")(of_image)
    windows(wave(w, 0.3), "value grad")(of_kernel)


transposed("transpose_same", (1, 3, 4, 2), (3, 3, 2, 2), strides=(2, 2), padding="SAME")
transposed("transpose_valid", (1, 3, 3, 2), (3, 2, 2, 1), strides=(2, 3), padding="VALID")
transposed("transpose_dilated", (1, 4, 2), (2, 2, 3), strides=(3,), padding="SAME", rhs_dilation=(2,))


@windows(wave((3, 5, 2), 0.5), "each each_grad")
def each_image(x):
    return conv(x[None], wave((3, 2, 2), 0.3), padding="SAME")[0] ** 2


@windows(wave((3, 4, 4, 1), 0.5), "each each_grad")
def each_batch_of_images(x):
    return conv(x[None], wave((2, 2, 1, 2), 0.3))[0] ** 2


@windows(wave((3, 2, 2, 4), 0.3), "each each_grad")
def each_kernel(w):
    return conv(wave((2, 5, 4), 0.5), w, strides=2, groups=2) ** 2


@windows(wave((3, 22), 0.3), "each each_grad each_hessian")
def each_both(p):
    return jnp.sum(conv(p[:10].reshape(1, 5, 2), p[10:].reshape(2, 2, 3)) ** 2)


@windows(wave((22,), 0.3), "value grad hessian hvp jacfwd jacrev")
def of_both(p):
    return conv(p[:10].reshape(1, 5, 2), p[10:].reshape(2, 2, 3), padding="SAME")[0, ::2, :2]


# Pooling and reductions over windows. JAX's padding is the identity.

def reduced(x, init, op, window, strides=None, padding="VALID", dilation=None, input_dilation=None):
    strides = strides or (1,) * x.ndim
    return lax.reduce_window(x, init, op, window, strides, padding, input_dilation, dilation)


def largest(x, *args, **how):
    return reduced(x, -jnp.inf, lax.max, *args, **how)


def smallest(x, *args, **how):
    return reduced(x, jnp.inf, lax.min, *args, **how)


def total(x, *args, **how):
    return reduced(x, 0.0, lax.add, *args, **how)


@windows(wave((1, 4, 6, 2), 0.5), ALL)
def max_pool(x):
    return largest(x, (1, 2, 2, 1), (1, 2, 2, 1)) ** 2


@windows(wave((1, 5, 6, 2), 0.5), ALL)
def max_pool_overlapping(x):
    return largest(x, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2


@windows(wave((2, 2, 5, 4), 0.5), ALL)
def max_pool_channels_first(x):
    return largest(x, (1, 1, 2, 3), (1, 1, 1, 2), ((0, 0), (0, 0), (1, 0), (0, 2))) ** 2


@windows(wave((1, 8, 2), 0.5), ALL)
def min_pool(x):
    return smallest(x, (1, 3, 1), (1, 2, 1), ((0, 0), (1, 1), (0, 0))) ** 2


# JAX has no reverse mode of it.
@windows(wave((1, 7, 7, 1), 0.5), "value jvp")
def max_pool_dilated(x):
    return largest(x, (1, 2, 3, 1), dilation=(1, 3, 2, 1)) ** 2


@windows(wave((30,), 0.5), "value grad jvp")
def max_of_many(x):
    return largest(x, (19,), (2,)) ** 2


@windows(np.round(2 * wave((1, 6, 6, 1), 0.5)), "value grad jvp")
def ties_of_max(x):
    return largest(x, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


@windows(np.round(2 * wave((12,), 0.5)), "value grad jvp")
def ties_of_min(x):
    return smallest(x, (3,))


@windows(wave((1, 4, 6, 2), 0.5), ALL)
def avg_pool(x):
    return (total(x, (1, 2, 3, 1), (1, 2, 3, 1)) / 6) ** 2


@windows(wave((1, 5, 5, 1), 0.5), ALL)
def avg_pool_same(x):
    how = ((1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    return (total(x, *how) / total(jnp.ones_like(x), *how)) ** 2


@windows(wave((4, 5), 0.5), ALL)
def sums(x):
    how = dict(strides=(2, 1), padding=((1, 2), (-1, 1)), dilation=(1, 2), input_dilation=(2, 1))
    return total(x, (3, 2), **how) ** 2


@windows(wave((40,), 0.5), "value grad")
def sums_of_many(x):
    return total(x, (21,), (3,), ((4, 2),)) ** 2


@windows(wave((7,), 0.5), ALL)
def products(x):
    return jnp.stack([x[i] * x[i + 1] * x[i + 2] for i in range(5)])


@windows(np.array([1.5, 0.0, -2.0, 0.0, 0.0, 3.0]), "value grad hessian")
def products_of_zeros(x):
    return jnp.stack([x[i] * x[i + 1] * x[i + 2] for i in range(4)])


@windows(wave((3, 6, 2), 0.5), "each each_grad")
def each_pool(x):
    return largest(x, (3, 1), (2, 1)) ** 2


@windows(wave((2, 5, 5, 2), 0.5), "value grad")
def global_pools(x):
    return jnp.mean(x, axis=(1, 2)) * jnp.max(x, axis=(1, 2))


def network(w1, w2, w3, x):
    h = jnp.tanh(conv(x, w1, padding="SAME"))
    h = largest(h, (1, 2, 2, 1), (1, 2, 2, 1))
    h = jnp.tanh(conv(h, w2))
    return jnp.mean(h, axis=(1, 2)) @ w3


@windows(wave((66,), 0.4), "value grad hvp")
def network_of_parameters(p):
    w1, w2, w3 = p[:18].reshape(3, 3, 1, 2), p[18:42].reshape(2, 2, 2, 3), p[42:66].reshape(3, 8)
    return network(w1, w2, w3, wave((2, 6, 6, 1), 0.1))


@windows(wave((3, 6, 6, 1), 0.4), "value grad each each_grad")
def network_of_images(x):
    x = x if x.ndim == 4 else x[None]
    return network(wave((3, 3, 1, 2), 0.1), wave((2, 2, 2, 3), 0.2), wave((3, 2), 0.3), x)


write(pathlib.Path(__file__).with_name("windows.txt"), "windows.py")
