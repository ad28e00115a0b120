//! `cargo xtask bench`: hands its arguments to the program of that name in the package `tests`.

use crate::Verb;
use crate::cargo::run_program;

pub(crate) const VERB: Verb = Verb {
    name: "bench",
    usage: "[NAME…] [--against jax,numpy] [--json FILE] [ARGUMENTS]",
    about: "Measure compiled programs, as ratios of two things in one run",
    details: "\
Figures are of this machine, now; nothing is stored.
`--filter loops --against jax --json FILE` measures loops beside JAX and writes a list of objects;
`--filter heavy --against jax,numpy` sorting, indexing, scans, draws and convolutions.
Arguments are handed on to the program; after `--` also `--help`, which shows those it takes.
",
    run: |args| run_program("bench", args),
};
