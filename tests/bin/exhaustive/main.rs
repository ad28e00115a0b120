//! `cargo xtask exhaustive`: every math function on every `f32`, against results of `f64`.
//!
//! What was measured is kept after each chunk of arguments in a file beside the program, so that a run that was
//! stopped goes on where it was. At the end docs/math.md and the worst arguments for the tests are written.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]

mod arguments;
mod report;
mod state;
mod work;

use std::process::ExitCode;

use self::arguments::{Arguments, USAGE};

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
    match work::run(&arguments).and_then(|()| report::write()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
