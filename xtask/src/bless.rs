//! Accepting new output: inline expectations, compile-fail messages and golden files, all by one verb.

use crate::args::Args;
use crate::cargo::{cargo, run};
use crate::{Result, Verb};

pub(crate) const VERB: Verb = Verb {
    name: "bless",
    usage: "[CARGO TEST ARGUMENTS]",
    about: "Run the tests and accept what they print as what is expected",
    details: "\
Sets UPDATE_EXPECT, TRYBUILD and TRACEWELL_BLESS, then runs `cargo test` with the arguments, or
`cargo test --workspace` without any. Read the diff before you commit it.
",
    run: bless,
};

fn bless(args: Args) -> Result {
    let args = args.rest();
    let mut command = cargo(&["test"]);
    if args.is_empty() {
        command.arg("--workspace")
    } else {
        command.args(args)
    };
    run(command.env("UPDATE_EXPECT", "1").env("TRYBUILD", "overwrite").env("TRACEWELL_BLESS", "1"))
}
