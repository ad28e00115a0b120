//! `cargo xtask laws`: hands its arguments to the program of that name in the package `tests`.

use crate::Verb;
use crate::cargo::run_program;

pub(crate) const VERB: Verb = Verb {
    name: "laws",
    usage: "[ARGUMENTS]",
    about: "Check every law on every example of every primitive and print the table",
    details: "\
A law says how the rules of a primitive must agree; docs/testing.md lists them.
Arguments are handed on to the program; after `--` also `--help`, which shows those it takes.
",
    run: |args| run_program("laws", args),
};
