//! `cargo xtask bench`: hands its arguments to the program of that name in the package `tests`.

use crate::Verb;
use crate::cargo::run_program;

pub(crate) const VERB: Verb = Verb {
    name: "bench",
    usage: "[NAME…] [--filter NAME] [--against jax,numpy,c,one] [--threads N] [--json FILE] [ARGUMENTS]",
    about: "Measure compiled programs, as ratios of two things in one run",
    details: "\
Figures are of this machine, now; `cargo xtask performance` makes a page of them.
`--filter workloads --against jax,numpy --json FILE` measures what users do all day beside others and writes a list of
objects; `loops`, `heavy` and `first` are groups too; `--filter vectors --against c` measures kernels beside C.
Arguments are handed on to the program; after `--` also `--help`, which shows those it takes.
",
    run: |args| run_program("bench", args),
};
