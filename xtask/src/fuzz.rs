//! `cargo xtask fuzz`: hands its arguments to the program of that name in the package `tests`.

use crate::Verb;
use crate::cargo::run_program;

pub(crate) const VERB: Verb = Verb {
    name: "fuzz",
    usage: "[ARGUMENTS]",
    about: "Compare random graphs compiled with their reference evaluation",
    details: "\
A failure is printed with the seed that repeats it.
Arguments are handed on to the program; after `--` also `--help`, which shows those it takes.
",
    run: |args| run_program("fuzz", args),
};
