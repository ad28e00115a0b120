//! `cargo xtask fuzz`: hands its arguments to the program of that name in the package `tests`.

use crate::Verb;
use crate::cargo::run_program;

pub(crate) const VERB: Verb = Verb {
    name: "fuzz",
    usage: "[ARGUMENTS]",
    about: "Try damaged inputs on every reader, and random graphs compiled beside their evaluation",
    details: "\
What is found is written to tests/corpus, which the tests replay.
Arguments are handed on to the program; after `--` also `--help`, which shows those it takes.
",
    run: |args| run_program("fuzz", args),
};
