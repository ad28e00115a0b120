//! `cargo xtask lowering`: hands its arguments to the program of that name in the package `tests`.

use crate::Verb;
use crate::cargo::run_program;

pub(crate) const VERB: Verb = Verb {
    name: "lowering",
    usage: "[ARGUMENTS]",
    about: "Compare every primitive compiled with its reference evaluation",
    details: "\
Runs the compiled form of each primitive's examples beside its reference evaluation.
Arguments are handed on to the program; after `--` also `--help`, which shows those it takes.
",
    run: |args| run_program("lowering", args),
};
