"""Makes complex.txt: values and derivatives of functions of complex numbers and Fourier transforms, by JAX.

    pip install jax==0.10.2 numpy && python tests/oracle/complex.py

A function takes one array; the same stands in Rust, in complex.rs beside this file. Inputs are made by `wave`, so that
no data is stored. A row is `function/kind: dtype[shape] numbers`, a complex number as two.
"""

import math
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)


def wave(shape, phase):
    """sin(0.7 i + phase) for the i-th element."""
    i = np.arange(math.prod(shape), dtype=np.float64)
    return np.sin(0.7 * i + phase).reshape(shape)


def waves(shape, phase):
    """A complex number of two waves for each element."""
    return wave(shape, phase) + 1j * wave(shape, phase + 1.4)


def like(y, phase):
    return waves(y.shape, phase) if jnp.iscomplexobj(y) else wave(y.shape, phase)


def probed(f):
    """One real number: the sum of a result weighted by waves, and of that the real part."""
    return lambda x: jnp.sum(f(x) * like(jax.eval_shape(f, x), 0.9)).real


KINDS = {
    "value": lambda f: f,
    "grad": lambda f: jax.grad(probed(f)),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (jnp.array(like(x, 1.1)),))[1],
    "vjp": lambda f: lambda x: (lambda y, pull: pull(jnp.array(like(y, 0.5)))[0])(*jax.vjp(f, x)),
    "each": jax.vmap,
    "hvp": lambda f: lambda x: jax.jvp(jax.grad(probed(f)), (x,), (jnp.array(like(x, 1.1)),))[1],
}

COMPLEX = "value grad jvp vjp"
W = waves((3, 4), 2.2)
M = waves((4, 3), 0.4)

# Names, inputs, functions, kinds.
FUNCTIONS = [
    ("exp", waves((3, 4), 0.3), jnp.exp, COMPLEX + " hvp"),
    ("log", waves((3, 4), 0.3), jnp.log, COMPLEX),
    ("sqrt", waves((3, 4), 0.3), jnp.sqrt, COMPLEX),
    ("rsqrt", waves((3, 4), 0.3), lax.rsqrt, COMPLEX),
    ("sin", waves((3, 4), 0.3), jnp.sin, COMPLEX),
    ("cos", waves((3, 4), 0.3), jnp.cos, COMPLEX),
    ("tan", waves((3, 4), 0.3), jnp.tan, COMPLEX),
    ("sinh", waves((3, 4), 0.3), jnp.sinh, COMPLEX),
    ("cosh", waves((3, 4), 0.3), jnp.cosh, COMPLEX),
    ("tanh", waves((3, 4), 0.3), jnp.tanh, COMPLEX + " hvp"),
    ("tanh_of_large", 40 * waves((3, 4), 0.3), jnp.tanh, "value"),
    ("log2", waves((3, 4), 0.3), jnp.log2, "value grad"),
    ("log10", waves((3, 4), 0.3), jnp.log10, "value grad"),
    ("logistic", waves((3, 4), 0.3), lambda z: 1 / (1 + jnp.exp(-z)), COMPLEX),
    ("abs", waves((3, 4), 0.3), jnp.abs, COMPLEX + " hvp"),
    ("abs_of_zero", 0 * waves((3,), 0.3), jnp.abs, "value grad"),
    ("abs_of_large", 1e300 * waves((3, 4), 0.3), jnp.abs, "value"),
    ("angle", waves((3, 4), 0.3), jnp.angle, COMPLEX),
    ("re", waves((3, 4), 0.3), jnp.real, COMPLEX),
    ("im", waves((3, 4), 0.3), jnp.imag, COMPLEX),
    ("conj", waves((3, 4), 0.3), jnp.conj, COMPLEX),
    ("sign", waves((3, 4), 0.3), lambda z: z / jnp.abs(z), COMPLEX),
    ("square", waves((3, 4), 0.3), lambda z: z * z, COMPLEX),
    ("cube", waves((3, 4), 0.3), lambda z: lax.integer_pow(z, 3), COMPLEX),
    ("inverse_square", waves((3, 4), 0.3), lambda z: lax.integer_pow(z, -2), COMPLEX),
    ("add", waves((3, 4), 0.3), lambda z: z + W, COMPLEX),
    ("mul", waves((3, 4), 0.3), lambda z: z * W, COMPLEX),
    ("div", waves((3, 4), 0.3), lambda z: z / W, COMPLEX),
    ("over", waves((3, 4), 0.3), lambda z: W / z, COMPLEX),
    ("div_of_large", 1e200 * waves((3, 4), 0.3), lambda z: z / (1e250 * W), "value"),
    ("pow", waves((3, 4), 0.3), lambda z: z**W, COMPLEX),
    ("power_of", waves((3, 4), 0.3), lambda z: W**z, COMPLEX),
    ("sum", waves((3, 4), 0.3), lambda z: z.sum(axis=1), COMPLEX),
    ("prod", waves((3, 4), 0.3), lambda z: z.prod(axis=0), COMPLEX),
    ("mean", waves((3, 4), 0.3), jnp.mean, COMPLEX),
    ("dot", waves((3, 4), 0.3), lambda z: z @ M, COMPLEX),
    ("gram", waves((3, 4), 0.3), lambda z: jnp.conj(z).T @ z, COMPLEX + " hvp"),
    ("norm", waves((3, 4), 0.3), lambda z: jnp.sqrt((z * jnp.conj(z)).real.sum()), COMPLEX + " hvp"),
    ("real_to_complex", wave((3, 4), 0.3), lambda x: jnp.exp(1j * x), COMPLEX),
    ("choice", waves((3, 4), 0.3), lambda z: jnp.where(z.real > 0, z * z, jnp.conj(z)), COMPLEX),
    ("shapes", waves((3, 4), 0.3), lambda z: jnp.concatenate([z.T[::-1], jnp.pad(z, ((0, 1), (0, 0)))[:, :3]]), COMPLEX),
    ("loop", waves((3,), 0.3), lambda z: lax.fori_loop(0, 4, lambda _, w: w * w * 0.5 + z, z), "value jvp"),
    ("scan", waves((3, 4), 0.3), lambda z: lax.scan(lambda c, x: (c * x + 1, c), 1 + 0j * z[0], z)[1], COMPLEX),
    ("fft", waves((3, 8), 0.3), jnp.fft.fft, COMPLEX + " each"),
    ("fft_of_real", wave((3, 7), 0.3), jnp.fft.fft, COMPLEX),
    ("fft_of_length", waves((3, 8), 0.3), lambda z: jnp.fft.fft(z, n=5), COMPLEX),
    ("fft_filled", waves((3, 8), 0.3), lambda z: jnp.fft.fft(z, n=11, axis=0, norm="ortho"), COMPLEX),
    ("ifft", waves((3, 6), 0.3), jnp.fft.ifft, COMPLEX),
    ("ifft_forward", waves((3, 6), 0.3), lambda z: jnp.fft.ifft(z, norm="forward"), "value grad"),
    ("rfft", wave((3, 8), 0.3), jnp.fft.rfft, COMPLEX + " each"),
    ("rfft_odd", wave((3, 7), 0.3), jnp.fft.rfft, COMPLEX),
    ("irfft", waves((3, 5), 0.3), jnp.fft.irfft, COMPLEX),
    ("irfft_odd", waves((3, 5), 0.3), lambda z: jnp.fft.irfft(z, n=9, norm="ortho"), COMPLEX),
    ("fft2", waves((2, 3, 4), 0.3), jnp.fft.fft2, COMPLEX),
    ("ifft2", waves((2, 3, 4), 0.3), jnp.fft.ifft2, COMPLEX),
    ("fftn", waves((2, 3, 4), 0.3), lambda z: jnp.fft.fftn(z, axes=(0, 2)), COMPLEX),
    ("rfftn", wave((2, 3, 4), 0.3), jnp.fft.rfftn, COMPLEX),
    ("irfftn", waves((2, 3, 3), 0.3), jnp.fft.irfftn, COMPLEX),
    ("spectrum", wave((16,), 0.3), lambda x: jnp.abs(jnp.fft.rfft(x)) ** 2, COMPLEX + " hvp"),
    ("filtered", wave((16,), 0.3), lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * waves((9,), 0.7)), COMPLEX + " hvp"),
    ("shifted", waves((3, 5), 0.3), lambda z: jnp.fft.fftshift(z), COMPLEX),
    ("unshifted", waves((3, 5), 0.3), lambda z: jnp.fft.ifftshift(z), "value"),
    ("fftfreq", wave((1,), 0.3), lambda x: x * jnp.fft.fftfreq(7, 0.25), "value"),
    ("rfftfreq", wave((1,), 0.3), lambda x: x * jnp.fft.rfftfreq(7, 0.25), "value"),
]


def row(name, x, f, kind):
    y = np.asarray(jax.jit(KINDS[kind](f))(jnp.array(x)))
    assert y.dtype in (np.float64, np.complex128), (name, kind, y.dtype)
    complex_ = y.dtype == np.complex128
    parts = np.stack([y.real, y.imag], -1) if complex_ else y
    shape = ",".join(map(str, y.shape))
    numbers = " ".join(repr(float(v)) for v in parts.ravel())
    return f"{name}/{kind}: {'c128' if complex_ else 'f64'}[{shape}] {numbers}"


lines = ["# Made by tests/oracle/complex.py with JAX 0.10.2; do not edit."]
for name, x, f, kinds in FUNCTIONS:
    lines += [row(name, x, f, kind) for kind in kinds.split()]
path = pathlib.Path(__file__).with_name("complex.txt")
path.write_text("\n".join(lines) + "\n")
print(len(lines) - 1, "rows")
