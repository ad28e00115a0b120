"""What the scripts of this directory share: inputs, kinds of derivatives, and the file of rows.

A composition is a function of one float64 array; the same stands in Rust, in the file of its group beside this one.
Inputs are made by `wave`, so that no data is stored. A row is `group/composition/kind: [shape] elements`.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

ROWS = []


def wave(shape, phase):
    """sin(0.7 i + phase) for the i-th element."""
    i = np.arange(math.prod(shape), dtype=np.float64)
    return np.sin(0.7 * i + phase).reshape(shape)


def probed(f):
    """One number: the result itself, or its sum weighted by a wave."""

    def g(x):
        y = f(x)
        return y if y.ndim == 0 else jnp.sum(y * wave(y.shape, 0.9))

    return g


def summed_grad(f):
    return lambda x: jnp.sum(jax.grad(f)(x))


KINDS = {
    "value": lambda f: f,
    "grad": lambda f: jax.grad(probed(f)),
    "hessian": lambda f: jax.hessian(probed(f)),
    "hvp": lambda f: lambda x: jax.jvp(jax.grad(probed(f)), (x,), (wave(x.shape, 1.1),))[1],
    "third": lambda f: jax.grad(summed_grad(summed_grad(probed(f)))),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (wave(x.shape, 1.1),))[1],
    "push": lambda f: lambda x: jax.linearize(f, x)[1](jnp.array(wave(x.shape, 1.1))),
    "jacfwd": jax.jacfwd,
    "jacrev": jax.jacrev,
    "each": jax.vmap,
    "each_grad": lambda f: jax.vmap(jax.grad(probed(f))),
    "each_hessian": lambda f: jax.vmap(jax.hessian(probed(f))),
}


def rows(group, name, f, x, kinds):
    """What JAX makes of a composition, for each kind a row."""
    for kind in kinds.split():
        y = np.asarray(jax.jit(KINDS[kind](f))(jnp.array(x)))
        assert y.dtype == np.float64, (name, kind, y.dtype)
        shape = ",".join(map(str, y.shape))
        numbers = " ".join(repr(float(v)) for v in y.ravel())
        yield f"{group}/{name}/{kind}: [{shape}] {numbers}"


def composition(group, x, kinds):
    def register(f):
        ROWS.extend(rows(group, f.__name__, f, x, kinds))
        return f

    return register


def group(name):
    return functools.partial(composition, name)


def write(path, script):
    """Stores all rows, with the name of the script that made them."""
    head = f"# Made by tests/oracle/{script} with JAX {jax.__version__}; do not edit.\n"
    path.write_text(head + "\n".join(ROWS) + "\n")
    print(len(ROWS), "rows of", len({row.rsplit("/", 1)[0] for row in ROWS}), "compositions")
