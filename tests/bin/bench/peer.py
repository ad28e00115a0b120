"""The programs of others beside ours: JAX, with XLA, and NumPy.

Started by `cargo xtask bench --against jax,numpy` as `peer.py PEER THREADS`, and asked line by line
(beside/talk.rs):

    first NAME          ->  SECONDS NUMBERS…    the first call, tracing and compilation included, and its result
    time NAME CALLS     ->  SECONDS             of one call: the median of parts of so many
    build NAME          ->  SECONDS             of tracing and compiling it anew, or NaN
    memory NAME         ->  BYTES BYTES BYTES   of its arguments, of its results and of what lies between, or NaN
"""

import ctypes
import os
import pathlib
import statistics
import sys
import time

PEER, THREADS = sys.argv[1:]
# The parts of a batch of calls that are timed.
SLICES = 64
# XLA takes the size of its pools from NPROC; with one thread its matrix products must be told as well.
os.environ["NPROC"] = os.environ["OPENBLAS_NUM_THREADS"] = THREADS
os.environ["JAX_PLATFORMS"] = "cpu"
# How long threads of OpenBLAS spin after a product, as a power of two of cycles: a millisecond or two, not the tenth of
# a second that takes a core from the side that is asked next.
os.environ["OPENBLAS_THREAD_TIMEOUT"] = "22"
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

import first.peer  # noqa: E402
import heavy.peer  # noqa: E402
import loops.peer  # noqa: E402
import workloads.peer  # noqa: E402
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


def waited(result):
    """The result, when it is there. NumPy's is at once; the method of an array of JAX costs least."""
    if PEER == "jax":
        if isinstance(result, jax.Array):
            result.block_until_ready()
        else:
            jax.block_until_ready(result)
    return result


def prepare(program):
    """A function, compiled where the peer compiles, and its arguments."""
    function, args = program.make()
    if PEER == "jax" and program.jitted:
        # JAX remembers what it compiled by the function: this one is new, whether it was prepared before or not.
        return jax.jit(lambda *args: function(*args)), jax.block_until_ready(jax.tree.map(jnp.asarray, args))
    return function, args


def run_first(program):
    """What was prepared, and the seconds and the numbers of its first call."""
    function, args = prepare(program)
    start = time.perf_counter()
    result = waited(function(*args))
    return (function, args), (time.perf_counter() - start, *summary(result))


def timed(function, args, calls):
    """After a call that fills the caches and wakes the threads, unless one call is all."""
    if calls > 1:
        waited(function(*args))
    each = -(-calls // SLICES)
    times = []
    for _ in range(calls // each):
        start = time.perf_counter()
        for _ in range(each):
            waited(function(*args))
        times.append((time.perf_counter() - start) / each)
    return (statistics.median(times),)


def build(program):
    """Another function, since JAX remembers what it compiled."""
    if PEER != "jax" or not program.jitted:
        return (float("nan"),)
    function, args = prepare(program)
    start = time.perf_counter()
    function.lower(*args).compile()
    return (time.perf_counter() - start,)


def memory(program, function, args):
    """As it was planned; nothing is known of what is not compiled."""
    if PEER != "jax" or not program.jitted:
        return (float("nan"),) * 3
    compiled = function.lower(*args).compile()
    sizes = compiled.memory_analysis()
    results = sizes.output_size_in_bytes - sizes.alias_size_in_bytes
    between = sizes.temp_size_in_bytes
    # What is handed to a library is not in the plan.
    if "kind=kCustom" in compiled.as_text():
        between = max(between, rise(function, args) - results)
    return sizes.argument_size_in_bytes, results, between


def rise(function, args):
    """How much memory a call takes at its peak that the process had not before; 0 where the system does not say."""
    rises = []
    for _ in range(3):
        try:
            # What earlier calls gave back to the allocator goes back to the system.
            ctypes.CDLL(None).malloc_trim(0)
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
            before = status("VmRSS")
            jax.block_until_ready(function(*args))
            rises.append(status("VmHWM") - before)
        except (OSError, AttributeError):
            return 0
    return sorted(rises)[1]


def status(name):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))


def main():
    # One program is kept: the others' arrays would only be in the way.
    ready = None
    print("ready", flush=True)
    for line in sys.stdin:
        question, name, *rest = line.split()
        program = PROGRAMS[PEER, name]
        with jax.enable_x64(program.x64):
            if question == "first":
                ready = None
                ready, numbers = run_first(program)
            elif question == "time":
                numbers = timed(*ready, int(rest[0]))
            elif question == "build":
                numbers = build(program)
            else:
                numbers = memory(program, *ready)
        print(*map(repr, numbers), flush=True)


if __name__ == "__main__":
    main()
