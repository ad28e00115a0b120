"""Loops in JAX: the same programs as in mod.rs beside this, on the same inputs."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import program


def noise(shape, seed, scale, dtype=np.float32):
    """Numbers between -scale / 2 and scale / 2, the same to the bit as `noise` of mod.rs."""
    i = np.arange(int(np.prod(shape)), dtype=np.uint64)
    hashed = (i + np.uint64(seed * 7919)) * np.uint64(2654435761) % np.uint64(1 << 32)
    return jnp.asarray((scale * (hashed / 4294967296.0 - 0.5)).reshape(shape).astype(dtype))


def f32(x):
    return jnp.asarray(x, jnp.float32)


def f64(x):
    return jnp.asarray(x, jnp.float64)


@program()
def fori_scalar_1e6():
    def f(x, r):
        return lax.fori_loop(0, 1_000_000, lambda i, x: r * x * (1 - x), x)

    return f, (f32(0.3), f32(3.7))


@program()
def while_60_scalars():
    def body(state):
        i, xs = state
        return i + 1, [x + 0.2 * (xs[k - 1] - 2 * x + xs[(k + 1) % 60]) for k, x in enumerate(xs)]

    def f(xs):
        return lax.while_loop(lambda state: state[0] < 10_000, body, (jnp.int32(0), xs))[1]

    # One of them differs, so that there is something to spread.
    return f, ([f32(1.0 + 60.0 * (k == 7)) for k in range(60)],)


STEPS = 100


def plane():
    re = -2.0 + (2.5 / 512) * np.arange(512, dtype=np.float32)
    im = -1.25 + (2.5 / 512) * np.arange(512, dtype=np.float32)
    return jnp.asarray(np.tile(re, (512, 1))), jnp.asarray(np.tile(im[:, None], (1, 512)))


@program()
def mandelbrot_array():
    def f(c_re, c_im):
        def body(state):
            re, im, count, i = state
            inside = re * re + im * im <= 4
            new_re, new_im = re * re - im * im + c_re, 2 * re * im + c_im
            re, im = jnp.where(inside, new_re, re), jnp.where(inside, new_im, im)
            return re, im, count + inside.astype(jnp.int32), i + 1

        zero, count = jnp.zeros((512, 512), jnp.float32), jnp.zeros((512, 512), jnp.int32)
        return lax.while_loop(lambda state: state[3] < STEPS, body, (zero, zero, count, jnp.int32(0)))[2]

    return f, plane()


@program()
def mandelbrot_vmap():
    def point(c_re, c_im):
        def body(state):
            re, im, i = state
            return re * re - im * im + c_re, 2 * re * im + c_im, i + 1

        def alive(state):
            re, im, i = state
            return (re * re + im * im <= 4) & (i < STEPS)

        return lax.while_loop(alive, body, (jnp.float32(0), jnp.float32(0), jnp.int32(0)))[2]

    return jax.vmap(jax.vmap(point)), plane()


def rnn(batch):
    weights = (noise((128, 128), 1, 0.2), noise((128, 128), 2, 0.2), noise((128,), 3, 0.2))
    xs, h = noise((1000, batch, 128), 4, 2.0), jnp.zeros((batch, 128), jnp.float32)

    def f(weights, xs, h):
        w, u, b = weights
        h, _ = lax.scan(lambda h, x: (jnp.tanh(h @ w + x @ u + b), None), h, xs)
        return jnp.mean(h * h), h

    return f, (weights, xs, h)


@program()
def rnn_b1():
    return rnn(1)


@program()
def rnn_b32():
    return rnn(32)


def rnn_grad(batch):
    f, args = rnn(batch)
    return jax.grad(lambda *args: f(*args)[0]), args


@program()
def rnn_b1_grad():
    return rnn_grad(1)


@program()
def rnn_b32_grad():
    return rnn_grad(32)


def lorenz():
    """The state as one vector."""

    def f(state, parameters):
        sigma, rho, beta = parameters
        dt = 1e-4

        def slope(state):
            x, y, z = state[0], state[1], state[2]
            return jnp.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

        def step(state, _):
            k1 = slope(state)
            k2 = slope(state + dt / 2 * k1)
            k3 = slope(state + dt / 2 * k2)
            k4 = slope(state + dt * k3)
            return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return lax.scan(step, state, length=100_000)[0]

    return f, (f64([1.0, 0.5, 20.0]), (f64(10.0), f64(28.0), f64(8.0 / 3.0)))


@program(x64=True)
def ode_lorenz():
    return lorenz()


@program(x64=True)
def ode_lorenz_grad():
    f, args = lorenz()
    return jax.grad(lambda state, parameters: jnp.sum(f(state, parameters)), argnums=(0, 1)), args


def species():
    """Three species that live of each other."""

    def f(species, nature):
        growth, effects = nature
        dt = 1e-3

        def slope(species):
            return species * (growth + effects @ species)

        def step(species, _):
            k1 = slope(species)
            k2 = slope(species + dt / 2 * k1)
            k3 = slope(species + dt / 2 * k2)
            k4 = slope(species + dt * k3)
            species = species + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return species, species

        return lax.scan(step, species, length=100_000)[1]

    effects = f64([[-1.0, -0.5, -0.9], [-0.3, -0.8, -0.4], [0.6, 0.5, -0.2]])
    return f, (f64([0.5, 0.3, 0.2]), (f64([1.0, 0.6, -0.4]), effects))


@program(x64=True)
def ode_rk4():
    return species()


@program(x64=True)
def ode_rk4_grad():
    f, args = species()
    return jax.grad(lambda species, nature: jnp.sum(f(species, nature) ** 2), argnums=(0, 1)), args


def compartments():
    """How a substance spreads between three compartments: a matrix of rates times the amounts."""

    def f(state, rates):
        dt = 1e-4

        def step(state, _):
            k1 = rates @ state
            k2 = rates @ (state + dt / 2 * k1)
            k3 = rates @ (state + dt / 2 * k2)
            k4 = rates @ (state + dt * k3)
            return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return lax.scan(step, state, length=100_000)[0]

    rates = f64([[-0.9, 0.3, 0.1], [0.5, -0.4, 0.0], [0.2, 0.0, -0.1]])
    return f, (f64([1.0, 0.0, 0.0]), rates)


@program(x64=True)
def ode_compartments():
    return compartments()


@program(x64=True)
def ode_compartments_grad():
    f, args = compartments()
    return jax.grad(lambda state, rates: jnp.sum(f(state, rates)), argnums=(0, 1)), args


def lorenz_scalars():
    """The state as three numbers."""

    def f(state, parameters):
        sigma, rho, beta = parameters
        dt = 1e-4

        def slope(state):
            x, y, z = state
            return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

        def along(state, k, by):
            return tuple(s + by * d for s, d in zip(state, k))

        def step(state, _):
            k1 = slope(state)
            k2 = slope(along(state, k1, dt / 2))
            k3 = slope(along(state, k2, dt / 2))
            k4 = slope(along(state, k3, dt))
            mean = tuple(a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4))
            return along(state, mean, dt / 6), None

        return lax.scan(step, state, length=100_000)[0]

    return f, ((f64(1.0), f64(0.5), f64(20.0)), (f64(10.0), f64(28.0), f64(8.0 / 3.0)))


@program(x64=True)
def ode_lorenz_scalars():
    return lorenz_scalars()


def filtered():
    """Two places with speeds, each drawn back to zero; of each step one number is measured."""
    transition = np.diag([0.98, 0.9, 0.95, 0.85])
    transition[0, 2] = transition[1, 3] = 0.1
    sight = np.array([1.0, 0.5, 0.25, 0.0])

    def f(noises, ys):
        place, speed, error = noises
        q = place * np.diag([1.0, 1.0, 0.0, 0.0]) + speed * np.diag([0.0, 0.0, 1.0, 1.0])

        def step(state, y):
            mean, cov, likelihood = state
            mean, cov = transition @ mean, transition @ cov @ transition.T + q
            seen = cov @ sight
            variance, surprise = sight @ seen + error, y - sight @ mean
            gain = seen / variance
            likelihood = likelihood - 0.5 * (jnp.log(2 * jnp.pi * variance) + surprise * surprise / variance)
            return (mean + gain * surprise, cov - gain[:, None] * seen[None, :], likelihood), None

        start = (jnp.zeros(4, jnp.float64), jnp.eye(4, dtype=jnp.float64), f64(0.0))
        return lax.scan(step, start, ys)[0][2]

    return f, ((f64(0.01), f64(0.02), f64(0.3)), noise((10_000,), 5, 2.0, np.float64))


@program(x64=True)
def kalman():
    return filtered()


@program(x64=True)
def kalman_grad():
    f, args = filtered()
    return jax.grad(f), args
