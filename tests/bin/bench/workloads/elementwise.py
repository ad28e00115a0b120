"""One element at a time: a product and a sum, functions, chains of them."""

import jax
import jax.numpy as jnp
import numpy as np
from inputs import floats, scaled
from jax.scipy.special import erf
from programs import called, row

MILLION = 1_000_000


def triple(n):
    return floats((n,), 1), floats((n,), 2), floats((n,), 3)


def multiply_add(a, b, c):
    return a * b + c


def donated(n):
    """The result takes the memory of the argument, and is the next argument."""

    def make():
        a, b, c = jax.block_until_ready([jnp.array(x) for x in triple(n)])
        function = jax.jit(multiply_add, donate_argnums=0)

        def call():
            nonlocal a
            a = function(a, b, c)
            return a

        return call

    return make


def overwritten(n):
    def make():
        a, b, c = triple(n)

        def call():
            np.multiply(a, b, out=a)
            return np.add(a, c, out=a)

        return call

    return make


for name, n in ("1e4", 10_000), ("1e6", MILLION), ("1e7", 10 * MILLION):
    row(f"multiply_add_{name}", lambda n=n: triple(n), jax=multiply_add, numpy=multiply_add)
    called(f"multiply_add_{name}_donate", jax=donated(n), numpy=overwritten(n))


def chain(xp):
    return lambda x: xp.tanh(xp.exp(x) * xp.sin(x) + xp.log1p(x))


def wide():
    """Between -4 and 4."""
    return (scaled((MILLION,), 4, 4.0),)


row("chain_1e6", lambda: (np.abs(floats((MILLION,), 1)),), jax=chain(jnp), numpy=chain(np))
row("exp_1e6", wide, jax=jnp.exp, numpy=np.exp)
row("log_1e6", lambda: (np.abs(wide()[0]) + np.float32(0.1),), jax=jnp.log, numpy=np.log)
row("tanh_1e6", wide, jax=jnp.tanh, numpy=np.tanh)
row("sin_1e6", wide, jax=jnp.sin, numpy=np.sin)
row("sigmoid_1e6", wide, jax=jax.nn.sigmoid, numpy=lambda x: 1 / (1 + np.exp(-x)))
row("erf_1e6", wide, jax=erf)
row("gelu_1e6", wide, jax=lambda x: 0.5 * x * (1 + erf(x * 0.5**0.5)))


def black_scholes(price, strike, time):
    """Calls and puts at a rate of 3 % and a volatility of 20 %."""

    def below(x):
        return 0.5 * (1 + erf(x * 0.5**0.5))

    spread = 0.2 * jnp.sqrt(time)
    d1 = (jnp.log(price / strike) + (0.03 + 0.02) * time) / spread
    d2 = d1 - spread
    paid = strike * jnp.exp(-0.03 * time)
    call = price * below(d1) - paid * below(d2)
    return call, call - price + paid


def options():
    return tuple(np.abs(floats((MILLION,), seed)) + np.float32(0.5) for seed in (5, 6, 7))


row("black_scholes_1e6", options, jax=black_scholes)
