//! File tests: `files/<stage>/*.ir`, each a text, a command and what the command says about it.
//!
//! ```text
//! test parse
//!
//! func @f(%0: f32[2]) -> (f32[2]) {
//!   return %0
//! }
//! ----
//! what `parse` gives
//! ====
//! the next case of the same file, with a `test` line of its own if it is another command
//! ```
//!
//! `TRACEWELL_BLESS=1` writes what the commands say now into the files. Commands are in `commands.rs`.

mod commands;

use std::fs;
use std::path::{Path, PathBuf};

/// One case of a file.
#[derive(Clone, Debug)]
struct Case {
    /// The word after `test`.
    command: String,
    /// The rest of that line.
    args: String,
    /// Everything between the `test` line and the expectation.
    body: String,
    /// Everything before the expectation, as it stands in the file.
    head: String,
    /// What the command should say.
    expected: String,
}

/// The cases of a file. Comments before the `test` line say what the file is about.
fn cases(text: &str) -> Result<Vec<Case>, String> {
    let mut command = None;
    let mut cases = Vec::new();
    for part in split_lines(text, "====") {
        let pieces = split_lines(&part, "----");
        let (head, expected) = match pieces.as_slice() {
            [head] => (head.clone(), String::new()),
            [head, expected] => (head.clone(), expected.clone()),
            _ => return Err("a case has one `----` line".to_owned()),
        };
        let mut body = String::new();
        for line in head.lines() {
            match line.strip_prefix("test ") {
                Some(rest) if body.trim().is_empty() => {
                    let (name, args) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
                    command = Some((name.to_owned(), args.trim().to_owned()));
                    body.clear();
                }
                _ if command.is_none() && line.starts_with("//") => {}
                _ => body.extend([line, "\n"]),
            }
        }
        let Some((command, args)) = command.clone() else { return Err("there is no `test` line".to_owned()) };
        let body = body.trim_matches('\n').to_owned() + "\n";
        cases.push(Case { command, args, body, head, expected });
    }
    Ok(cases)
}

/// The parts of a text between lines that are this separator.
fn split_lines(text: &str, separator: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        match parts.last_mut() {
            Some(part) if line != separator => part.extend([line, "\n"]),
            _ => parts.push(String::new()),
        }
    }
    parts
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("files")
}

/// The paths in a folder, in order.
fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

/// Runs all cases of a file; gives what is wrong with each.
fn run_file(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut cases = match cases(&text) {
        Ok(cases) => cases,
        Err(error) => return vec![error],
    };
    let bless = std::env::var_os("TRACEWELL_BLESS").is_some();
    let mut failures = Vec::new();
    for (number, case) in cases.iter_mut().enumerate() {
        let found = match commands::run(&case.command, &case.args, &case.body) {
            Ok(found) => found.trim_end().to_owned() + "\n",
            Err(error) => {
                failures.push(format!("case {}: {error}", number + 1));
                continue;
            }
        };
        if found != case.expected && bless {
            case.expected = found;
        } else if found != case.expected {
            let expected = &case.expected;
            failures.push(format!("case {}: expected\n{expected}\nfound\n{found}", number + 1));
        }
    }
    if bless {
        let written: Vec<String> =
            cases.iter().map(|case| format!("{}----\n{}", case.head, case.expected)).collect();
        let written = written.join("====\n");
        if written != text {
            fs::write(path, written).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
    failures
}

/// Runs all files of a stage and reports all failures together.
fn run_stage(stage: &str) {
    let mut failures = Vec::new();
    let paths = list(&root().join(stage));
    assert!(!paths.is_empty(), "there are no files for `{stage}`");
    for path in paths {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        failures.extend(run_file(&path).into_iter().map(|failure| format!("{name}: {failure}")));
    }
    let hint = "TRACEWELL_BLESS=1 writes what is found into the files";
    assert!(failures.is_empty(), "{}\n\n{} failures; {hint}", failures.join("\n"), failures.len());
}

/// One test for each folder.
macro_rules! stages {
    ($($stage:ident),* $(,)?) => {
        $(
            #[test]
            fn $stage() {
                run_stage(stringify!($stage));
            }
        )*

        #[test]
        fn every_folder_is_run() {
            let folders: Vec<String> = list(&root())
                .iter()
                .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
                .collect();
            assert_eq!(folders, [$(stringify!($stage)),*]);
        }
    };
}

// In the order of the alphabet, as the folders are listed.
stages! { batch, eval, fuse, jvp, linearize, optimize, run, text, transpose, verify }
