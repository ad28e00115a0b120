//! Times, as ratios of two things in one run: alternating, medians, with the spread. Never a test.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints tables")]

mod beside;
mod first;
mod groups;
mod heavy;
mod inputs;
mod loops;
mod measure;
mod options;
mod vectors;
mod workloads;

use std::process::ExitCode;

use crate::options::Options;

/// What went wrong, for the person who called.
type Result<T = ()> = std::result::Result<T, String>;

/// The groups that have no peers outside.
const GROUPS: [(&str, fn()); 6] = [
    ("dispatch", groups::dispatch),
    ("eager", groups::eager),
    ("kernels", groups::kernels),
    ("compile", groups::compile),
    ("staging", groups::staging),
    ("repro", groups::repro),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match Options::parse(&words).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result {
    if options.help {
        print!("{}", options::HELP);
        return Ok(());
    }
    if options.serve {
        return beside::serve();
    }
    let mut found = false;
    // The other groups are not compared with others, and write nothing.
    if options.against.is_empty() && options.json.is_none() {
        for (name, group) in GROUPS.iter().filter(|(name, _)| options.wants(name)) {
            found = true;
            println!("\n{name}");
            if *name != "staging" {
                println!("{:34} {:>12} {:>12} {:>8}  against", "", "median", "spread", "ratio");
            }
            group();
        }
    }
    found |= beside::run(options)?;
    if found {
        Ok(())
    } else {
        Err(format!("nothing is called {}; `--help` shows the groups", options.wanted()))
    }
}
