//! Calling cargo in the workspace.

use std::process::Command;

use crate::workspace;
use crate::{Result, args::Args};

/// The cargo that runs us, to be started at the root of the workspace.
pub(crate) fn cargo<S: AsRef<str>>(words: &[S]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words.iter().map(AsRef::as_ref)).current_dir(workspace::root());
    command
}

/// Shows a command, runs it with our output, and fails if it does.
pub(crate) fn run(command: &mut Command) -> Result {
    let line = describe(command);
    println!("$ {line}");
    let status = command.status().map_err(|error| format!("cannot start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed")) }
}

/// The command as one would type it.
fn describe(command: &Command) -> String {
    let args = command.get_args().map(|word| word.to_string_lossy().into_owned());
    std::iter::once("cargo".to_string()).chain(args).collect::<Vec<_>>().join(" ")
}

/// Runs a program of the package `tests`, optimised, with all arguments handed on but a `--` in front, which
/// keeps them from us.
pub(crate) fn run_program(name: &str, args: Args) -> Result {
    let mut words = args.rest();
    if words.first().is_some_and(|word| word == "--") {
        words.remove(0);
    }
    run(cargo(&["run", "--release", "--package", "tests", "--bin", name, "--"]).args(words))
}
