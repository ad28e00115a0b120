//! The project's own verbs. `cargo xtask` lists them, `cargo xtask VERB --help` explains one.
//!
//! Each verb is one file or folder that exports a [`Verb`]. Nothing outside the standard library is used, so
//! that the tool is compiled in seconds on a machine that has only Rust.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]

mod args;
mod bench;
mod bless;
mod cargo;
mod ci;
mod exhaustive;
mod fuzz;
mod laws;
mod lowering;
mod mutate;
mod new_primitive;
mod performance;
mod repro_yield;
mod tidy;
mod view_check;
mod workspace;

use std::process::ExitCode;

use crate::args::Args;

/// What a verb says when it fails: complete sentences for the person who called it.
type Result<T = ()> = std::result::Result<T, String>;

/// Something `cargo xtask` does.
struct Verb {
    /// How it is called.
    name: &'static str,
    /// Its arguments, as help shows them.
    usage: &'static str,
    /// What it does, in one line.
    about: &'static str,
    /// The rest of its help.
    details: &'static str,
    run: fn(Args) -> Result,
}

/// In the order in which a newcomer needs them.
const VERBS: &[&Verb] = &[
    &ci::VERB,
    &tidy::VERB,
    &bless::VERB,
    &new_primitive::VERB,
    &laws::VERB,
    &lowering::VERB,
    &exhaustive::VERB,
    &mutate::VERB,
    &fuzz::VERB,
    &repro_yield::VERB,
    &view_check::VERB,
    &bench::VERB,
    &performance::VERB,
];

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() || is_help(&words[0]) {
        print!("{}", overview());
        return ExitCode::SUCCESS;
    }
    let name = words.remove(0);
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        eprintln!("error: there is no verb `{name}`\n\n{}", overview());
        return ExitCode::FAILURE;
    };
    if words.iter().take_while(|word| *word != "--").any(|word| is_help(word)) {
        print!("{}", help(verb));
        return ExitCode::SUCCESS;
    }
    match (verb.run)(Args::new(words)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn is_help(word: &str) -> bool {
    matches!(word, "-h" | "--help" | "help")
}

fn overview() -> String {
    let mut text = String::from("cargo xtask VERB [ARGUMENTS]\n\n");
    for verb in VERBS {
        text += &format!("  {:<14} {}\n", verb.name, verb.about);
    }
    text + "\n`cargo xtask VERB --help` says more.\n"
}

fn help(verb: &Verb) -> String {
    let Verb { name, usage, about, details, .. } = verb;
    let line = format!("cargo xtask {name} {usage}");
    format!("{}\n\n{about}.\n{details}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overview_has_one_line_for_each_verb() {
        let text = overview();
        for verb in VERBS {
            let lines = text.lines().filter(|line| line.trim_start().starts_with(&format!("{} ", verb.name)));
            assert_eq!(lines.count(), 1, "{}", verb.name);
            assert!(!verb.about.ends_with('.'), "{}: help adds the stop", verb.name);
            assert!(verb.details.is_empty() || verb.details.ends_with('\n'), "{}", verb.name);
        }
    }
}
