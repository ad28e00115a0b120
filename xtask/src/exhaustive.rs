//! `cargo xtask exhaustive`: hands its arguments to the program of that name in the package `tests`.

use crate::Verb;
use crate::cargo::run_program;

pub(crate) const VERB: Verb = Verb {
    name: "exhaustive",
    usage: "[--function F] [--threads N]",
    about: "Measure the math functions on every f32 and write docs/math.md",
    details: "\
Takes up where the last run stopped; about a minute for each function on one core.
Arguments are handed on to the program; after `--` also `--help`, which shows all it takes.
",
    run: |args| run_program("exhaustive", args),
};
