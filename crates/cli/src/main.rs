//! The command `tracewell`: replays, shows and reduces the repros that failures leave, and makes pages of graphs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command speaks")]

mod args;
mod child;
mod commands;
mod reduce;
mod view;

use std::process::ExitCode;

use args::Args;

const USAGE: &str = "\
usage: tracewell repro <verb> <folder> [options]
       tracewell view <file> [options]

  run      replays the folder's text in a process of its own, and says whether it fails in the same way
             --timeout S      seconds it may take (60)
             --memory MIB     memory it may take (4096)
             --build          builds and runs the folder's program instead, which is foreign code
             --tracewell DIR  with --build: the library's sources, in the place of its version
  rust     prints the program of the folder's text
  show     prints the call tree
             --levels N       functions deep (all)
  reduce   makes the tree smaller while it fails in the same way, into <folder>.reduced
             --jobs N         candidates that run at once (1)
             --timeout S      seconds a candidate may take (10)
  bisect   names the step of the compiler after which compiled and evaluated results differ

  view     writes a page of HTML that needs nothing else: the graph of a file before and after the passes, its kernels,
           their cost and their memory. The file is the text of a graph, as `TRACEWELL_DUMP=traced` writes it, or an op
           trace that was saved
             --output PAGE    where it is written (the file's name with `.html`)
             --profile        runs it once to warm up and once for times; a graph runs on zeros, a trace on its own arrays

exit codes of `run`: 0 reproduced, 1 another failure, 2 no failure, 3 the folder or the command is wrong
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] | ["help"] => usage(),
        // Wherever it stands: no folder is called like that.
        words if words.iter().any(|word| matches!(*word, "--help" | "-h")) => usage(),
        ["repro", verb, folder, rest @ ..] => {
            let args = match Args::parse(rest) {
                Ok(args) => args,
                Err(message) => return wrong(&message),
            };
            match commands::run(verb, folder.as_ref(), &args) {
                Ok(code) => code,
                Err(message) => wrong(&message),
            }
        }
        ["view", file, rest @ ..] => {
            let viewed = Args::parse(rest).and_then(|args| view::view(file.as_ref(), &args));
            match viewed {
                Ok(page) => {
                    println!("{}", page.display());
                    ExitCode::SUCCESS
                }
                Err(message) => wrong(&message),
            }
        }
        ["--version"] => {
            println!("tracewell {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
        _ => wrong(USAGE),
    }
}

fn usage() -> ExitCode {
    print!("{USAGE}");
    ExitCode::SUCCESS
}

fn wrong(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(3)
}
