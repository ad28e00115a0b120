//! The verbs of `tracewell repro`.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use tracewell::repro::{Repro, Verdict};
use tracewell_repro::text;

use crate::args::Args;
use crate::child::{self, Limits};

pub(crate) fn run(verb: &str, folder: &Path, args: &Args) -> Result<ExitCode, String> {
    match verb {
        "run" if args.has("build") => build(folder, args),
        "run" => replay(folder, args),
        "child" => replay_here(folder),
        "rust" => {
            print!("{}", load(folder)?.to_rust());
            Ok(ExitCode::SUCCESS)
        }
        "show" => {
            let levels = args.number("levels", usize::MAX)?;
            print!("{}", tracewell_repro::show(load(folder)?.tree(), levels));
            Ok(ExitCode::SUCCESS)
        }
        "bisect" => {
            match load(folder)?.bisect() {
                Some(blame) => print!("{blame}"),
                None => println!("compiled and evaluated results agree after every pass"),
            }
            Ok(ExitCode::SUCCESS)
        }
        "reduce" => crate::reduce::command(folder, limits(args, 10)?, args.number("jobs", 1)?.max(1)),
        other => Err(format!("there is no verb `{other}`: see `tracewell --help`")),
    }
}

fn load(folder: &Path) -> Result<Repro, String> {
    Repro::load(folder).map_err(|error| error.message().to_string())
}

fn limits(args: &Args, seconds: usize) -> Result<Limits, String> {
    Ok(Limits {
        time: Duration::from_secs(args.number("timeout", seconds)? as u64),
        memory: args.number("memory", 4096)? as u64 * (1 << 20),
    })
}

fn replay(folder: &Path, args: &Args) -> Result<ExitCode, String> {
    let repro = load(folder)?;
    let found = child::replay(folder, limits(args, 60)?)?;
    Ok(say(&repro, Verdict::of(repro.failure(), found)))
}

fn say(repro: &Repro, verdict: Verdict) -> ExitCode {
    let wanted = repro.failure().map_or("no failure", |failure| failure.message.as_str());
    match verdict {
        Verdict::Reproduced => {
            println!("reproduced: {wanted}");
            ExitCode::SUCCESS
        }
        Verdict::Different(found) => {
            println!("another failure: {} ({})\nexpected: {wanted}", found.message, found.kind);
            ExitCode::from(1)
        }
        Verdict::NoFailure => {
            println!("no failure\nexpected: {wanted}");
            ExitCode::from(2)
        }
    }
}

/// What a child does: replays in this process and says how it went, in one line.
fn replay_here(folder: &Path) -> Result<ExitCode, String> {
    let repro = load(folder)?;
    match repro.replay() {
        None => println!("none"),
        Some(failure) => println!("{}", text::write_failure(&failure)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds and runs the program of a folder.
fn build(folder: &Path, args: &Args) -> Result<ExitCode, String> {
    let repro = load(folder)?;
    eprintln!(
        "building and running the program of `{}`: foreign code runs with your rights",
        folder.display()
    );
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    if let Some(path) = args.value("tracewell") {
        command.args(["--config", &format!("patch.crates-io.tracewell.path={path:?}")]);
    }
    let output = command.env("TRACEWELL_REPRO", "off").output();
    let output = output.map_err(|error| format!("cannot run cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let wanted = repro.failure().map(|failure| tracewell_repro::skeleton(&failure.message));
    let found = tracewell_repro::skeleton(&said);
    match wanted {
        Some(wanted) if found.contains(&wanted) => {
            println!("reproduced: {}", repro.failure().map_or("", |failure| &failure.message));
            Ok(ExitCode::SUCCESS)
        }
        Some(_) if output.status.success() => {
            println!("no failure");
            Ok(ExitCode::from(2))
        }
        _ => {
            println!("another failure:\n{said}");
            Ok(ExitCode::from(1))
        }
    }
}
