"""Products of matrices and vectors."""

import jax.numpy as jnp
import numpy as np
from inputs import floats
from programs import row


def squares(size, dtype):
    return tuple(floats((size, size), seed).astype(dtype) for seed in (1, 2))


for name, dtype in ("f32", np.float32), ("f64", np.float64):
    for size in 64, 128, 256, 512, 1024, 2048:
        args = lambda size=size, dtype=dtype: squares(size, dtype)  # noqa: E731
        row(f"matmul_{name}_{size}", args, x64=dtype == np.float64, jax=jnp.matmul, numpy=np.matmul)

row(
    "batched_matmul_64",
    lambda: (floats((64, 64, 64), 1), floats((64, 64, 64), 2)),
    jax=jnp.matmul,
    numpy=np.matmul,
)
row("matvec_4096", lambda: (floats((4096, 4096), 1), floats((4096,), 2)), jax=jnp.matmul, numpy=np.matmul)
