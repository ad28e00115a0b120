"""Makes sorting.txt and random.txt: sorting, scans along an axis and random numbers, by JAX.

    pip install jax==0.10.2 numpy && python tests/oracle/sorting.py

Rows of sorting.txt are like those of make.py; the same functions stand in sorting.rs. A row of random.txt is
`name: dtype [shape] elements`, floats by their bits; the same calls stand in draws.rs.
"""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random

from rows import rows, wave

group = "sorting"
VALUES = []
ALL = "value grad hvp jvp push jacfwd jacrev each"


def of(name, x, kinds, f):
    VALUES.extend(rows(group, name, f, x, kinds))


M, V = wave((3, 5), 0.5), wave((7,), 0.5)
of("sort_last", M, "value grad hvp jvp push jacfwd jacrev each_grad", lambda x: jnp.sort(x * x * x, axis=-1))
of("sort_first", M, ALL, lambda x: jnp.sort(jnp.sin(x), axis=0) ** 2)
of("sort_descending", V, "value grad hessian jvp push", lambda x: jnp.sort(x, descending=True) * wave((7,), 0.3))
of("sort_ties", np.array([2.0, 1.0, 2.0, 1.0, 1.0]), "value grad jvp", lambda x: jnp.sort(x) ** 2)
of("argsort", V, "value grad", lambda x: x * jnp.argsort(x))
of("argsort_descending", np.array([2.0, 1.0, 2.0, 1.0]), "value", lambda x: x * jnp.argsort(x, descending=True))
of("top_k", V, "value grad hvp jvp push jacrev", lambda x: lax.top_k(x, 3)[0] ** 2)
of("top_k_places", M, "value grad", lambda x: lax.top_k(x, 2)[0] * lax.top_k(x, 2)[1])
of("sort_by_two", np.floor(3 * wave((8,), 0.5)), "value grad jvp",
   lambda x: lax.sort((x, jnp.cos(x * 0 + wave((8,), 0.1)), x + wave((8,), 0.2)), num_keys=2)[2])
of("median_odd", V, "value grad hessian", lambda x: jnp.median(x) ** 2)
of("median_even", wave((4, 6), 0.5), "value grad each", lambda x: jnp.median(x, axis=-1))
of("quantile", M, "value grad jvp", lambda x: jnp.quantile(x, 0.3, axis=1))
of("percentile", V, "value grad", lambda x: jnp.percentile(jnp.exp(x), 90.0))
of("searchsorted", V, "value grad", lambda x: x * jnp.searchsorted(jnp.linspace(-1.0, 1.0, 9), x))
of("searchsorted_right", np.array([0.0, 0.25, 0.3, 1.0, 2.0]), "value",
   lambda x: x + jnp.searchsorted(jnp.linspace(-1.0, 1.0, 9), x, side="right"))
of("unique", np.array([3.0, 1.0, 3.0, 2.0, 1.0]), "value", lambda x: jnp.unique(x, size=4))
of("spacings", V, "value grad hessian", lambda x: jnp.diff(jnp.sort(x)) ** 3)

SCANS = "value grad hessian hvp jvp push jacfwd jacrev"
P = 1 + 0.5 * wave((6,), 0.5)
of("cumsum", V, SCANS, lambda x: jnp.cumsum(x * x))
of("cumsum_first", M, ALL, lambda x: jnp.cumsum(jnp.sin(x), axis=0) ** 2)
of("cumsum_reverse", M, ALL, lambda x: lax.cumsum(x ** 2, axis=x.ndim - 1, reverse=True))
of("cumprod", P, SCANS + " third", lambda x: jnp.cumprod(x))
of("cumprod_first", M, ALL, lambda x: jnp.cumprod(x, axis=0))
of("cumprod_reverse", P, "value grad jvp", lambda x: lax.cumprod(x, reverse=True))
of("cumprod_zeros", np.array([2.0, 0.0, 3.0, 0.0, 4.0]), "value grad jacrev", lambda x: jnp.cumprod(x))
of("cummax", V, "value grad hvp jvp push jacrev", lambda x: lax.cummax(x) ** 2)
of("cummax_first", M, ALL, lambda x: lax.cummax(x, axis=0) ** 2)
of("cummax_ties", np.array([1.0, 1.0, 0.5]), "value grad", lambda x: lax.cummax(x))
of("cummin_reverse", M, ALL, lambda x: lax.cummin(x, axis=x.ndim - 1, reverse=True) ** 2)
of("cumlogsumexp", 3 * V, SCANS, lambda x: lax.cumlogsumexp(x))
of("cumlogsumexp_reverse", 3 * M, ALL, lambda x: lax.cumlogsumexp(x, axis=0, reverse=True))
of("cumlogsumexp_of_large", np.array([900.0, 905.0, -800.0, 905.0]), "value grad", lambda x: lax.cumlogsumexp(x))


def recurrence(x):
    a, h, out = jnp.cos(x), 0.0, []
    for i in range(x.shape[0]):
        h = a[i] * h + x[i] ** 2
        out.append(h)
    return jnp.stack(out)


of("recurrence", V, SCANS, recurrence)

group = "random"
key = random.key(7)
of("normal", V, "value grad jvp each", lambda x: x ** 2 * random.normal(key, x.shape, x.dtype))
of("uniform", V, "value grad", lambda x: x * random.uniform(key, x.shape, x.dtype))
of("uniform_in", V, "value", lambda x: x * random.uniform(key, x.shape, x.dtype, -2.0, 5.0))
of("exponential", V, "value", lambda x: x * random.exponential(key, x.shape, x.dtype))
of("gumbel", V, "value", lambda x: x * random.gumbel(key, x.shape, x.dtype))
of("laplace", V, "value", lambda x: x * random.laplace(key, x.shape, x.dtype))
of("truncated_normal", V, "value", lambda x: x * random.truncated_normal(key, -0.5, 1.5, x.shape, x.dtype))
of("bernoulli", V, "value grad", lambda x: x * random.bernoulli(key, jnp.abs(x), x.shape))
of("categorical", M, "value", lambda x: x[:, 0] + random.categorical(key, x, axis=1))
of("choice_weighted", np.abs(V), "value", lambda x: jnp.sum(x) + random.choice(key, 7, (9,), p=x / jnp.sum(x)))
of("batched_keys", M, "value grad",
   lambda x: x * jax.vmap(lambda k: random.normal(k, (5,), x.dtype))(random.split(key, 3)))

NAMED = {"uint8": "u8", "uint32": "u32", "int32": "i32", "int64": "i64", "float32": "f32", "float64": "f64", "uint64": "i64",
         "bool": "bool"}
ROWS = []


def draw(name, x):
    x = np.asarray(x)
    bits = {"float32": np.int32, "float64": np.int64, "uint64": np.int64}.get(x.dtype.name)
    numbers = x.view(bits) if bits else x.astype(np.int64)
    shape = ",".join(map(str, x.shape))
    ROWS.append(f"{name}: {NAMED[x.dtype.name]} [{shape}] {' '.join(str(int(v)) for v in numbers.ravel())}")


words = random.key_data
for seed in [0, 1, 42, 2**32 - 1, 2**40 + 5]:
    k = random.key(seed)
    draw(f"key/{seed}", words(k))
    draw(f"split/{seed}", words(random.split(k)))
    draw(f"split_5/{seed}", words(random.split(k, 5)))
    for n in [0, 1, 77, 2**32 - 1]:
        draw(f"fold_in_{n}/{seed}", words(random.fold_in(k, n)))
    for dtype in ["uint8", "uint32", "uint64"]:
        draw(f"bits_{NAMED[dtype]}/{seed}", random.bits(k, (2, 3), dtype))
        draw(f"bits_scalar_{NAMED[dtype]}/{seed}", random.bits(k, (), dtype))
    for dtype in ["float32", "float64"]:
        draw(f"uniform_{NAMED[dtype]}/{seed}", random.uniform(k, (3, 5), dtype))
    draw(f"randint_small_i32/{seed}", random.randint(k, (9,), -3, 4, "int32"))
    draw(f"randint_odd_i32/{seed}", random.randint(k, (9,), 0, 1000003, "int32"))
    draw(f"randint_wide_i32/{seed}", random.randint(k, (4,), -(2**31), 2**31 - 1, "int32"))
    draw(f"randint_i64/{seed}", random.randint(k, (4,), -5, 10**12, "int64"))
    draw(f"randint_wide_i64/{seed}", random.randint(k, (4,), -(2**62), 2**62 + 2**61, "int64"))
    draw(f"randint_u32/{seed}", random.randint(k, (4,), 5, 4 * 10**9, "uint32"))
    draw(f"randint_u8/{seed}", random.randint(k, (9,), 5, 250, "uint8"))
    draw(f"permutation_10/{seed}", random.permutation(k, 10).astype("int32"))
    draw(f"permutation_2000/{seed}", random.permutation(k, 2000)[:20].astype("int32"))
    draw(f"shuffle_rows/{seed}", random.permutation(k, jnp.arange(12, dtype="int32").reshape(4, 3)))
    draw(f"categorical/{seed}", random.categorical(k, jnp.array(wave((4, 6), 0.5))).astype("int32"))
    draw(f"bernoulli/{seed}", random.bernoulli(k, jnp.float64(0.3), (10,)))
    # Places are 32 bits wide here, as in JAX without x64.
    with jax.enable_x64(False):
        draw(f"choice/{seed}", random.choice(k, 10, (6,)))

here = pathlib.Path(__file__).parent
title = f"# Made by tests/oracle/sorting.py with JAX {jax.__version__}; do not edit.\n"
(here / "sorting.txt").write_text(title + "\n".join(VALUES) + "\n")
(here / "random.txt").write_text(title + "\n".join(ROWS) + "\n")
