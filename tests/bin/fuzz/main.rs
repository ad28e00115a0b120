//! `cargo xtask fuzz`: damaged inputs for every reader, and random graphs compiled beside their evaluation.
//!
//! The work is done in a second process, which writes each input to a file before it tries it: whatever ends that
//! process (a fault in machine code, a full stack, too much memory), the input that did it is known. What is found is
//! written to the corpus, which the tests replay.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]

#[path = "../../allocator.rs"]
mod allocator;
mod arguments;
mod findings;
mod supervise;
mod work;

use std::process::ExitCode;

use self::arguments::{Arguments, USAGE};

/// Names the file for the input at hand; set where the process is the one that works.
const WORKER: &str = "TRACEWELL_FUZZ_WORKER";

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprint!("error: {why}\n\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    let clean = match std::env::var_os(WORKER) {
        Some(path) => work::run(&arguments, path.as_ref()),
        None => supervise::run(&arguments),
    };
    match clean {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
