"""The programs of others beside ours: JAX, with XLA, and NumPy.

Started by `cargo xtask bench --against jax,numpy` as `peer.py PEER THREADS`, and asked line by line
(beside/talk.rs):

    first NAME          ->  SECONDS NUMBERS…    the first call, tracing and compilation included, and its result
    time NAME CALLS     ->  SECONDS             of one call, from so many
"""

import os
import pathlib
import sys
import time

PEER, THREADS = sys.argv[1:]
# XLA takes the size of its pools from NPROC; with one thread its matrix products must be told as well.
os.environ["NPROC"] = os.environ["OPENBLAS_NUM_THREADS"] = THREADS
os.environ["JAX_PLATFORMS"] = "cpu"
if THREADS == "1":
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

try:
    import jax
    import jax.numpy as jnp
    import numpy as np
except ImportError as error:
    sys.exit(f"missing {error.name}")

FOUND = {f"jax=={jax.__version__}", f"numpy=={np.__version__}"}
WANTED = set(pathlib.Path(__file__).with_name("requirements.txt").read_text().split())
if not FOUND <= WANTED:
    sys.exit(f"found {', '.join(sorted(FOUND - WANTED))}, wanted {', '.join(sorted(WANTED))}")

import heavy.peer  # noqa: E402
import loops.peer  # noqa: E402
from programs import PROGRAMS  # noqa: E402


def summary(result):
    """Each array as it is, or the sums of 64 pieces of it and its norm."""
    numbers = []
    for leaf in jax.tree.leaves(result):
        flat = np.asarray(leaf, np.float64).ravel()
        if flat.size > 64:
            piece = -(-flat.size // 64)
            sums = [flat[at : at + piece].sum() for at in range(0, flat.size, piece)]
            flat = np.array([*sums, np.sqrt((flat * flat).sum())])
        numbers.extend(flat.tolist())
    return numbers


def prepare(name):
    """A function, compiled where the peer compiles, and its arguments."""
    make, _ = PROGRAMS[PEER, name]
    function, args = make()
    if PEER == "jax":
        return jax.jit(function), jax.block_until_ready(jax.tree.map(jnp.asarray, args))
    return function, args


def main():
    ready = {}
    print("ready", flush=True)
    for line in sys.stdin:
        words = line.split()
        name = words[1]
        with jax.enable_x64(PROGRAMS[PEER, name][1]):
            if words[0] == "first":
                ready[name] = function, args = prepare(name)
                start = time.perf_counter()
                result = jax.block_until_ready(function(*args))
                print(time.perf_counter() - start, *map(repr, summary(result)), flush=True)
            else:
                function, args = ready[name]
                calls = int(words[2])
                start = time.perf_counter()
                for _ in range(calls):
                    jax.block_until_ready(function(*args))
                print((time.perf_counter() - start) / calls, flush=True)


if __name__ == "__main__":
    main()
