//! What the compiler says about mistakes in jitted functions and trees: programs of `ui` that must not compile, each
//! with the errors beside it.
//!
//! By default the first line of each error and its place are compared, with the compiler run on the library that the
//! tests use. `RUN_SLOW=1` compares whole texts by `trybuild`, which checks all dependencies once more: the code
//! generator among them takes minutes where nothing is cached. `TRYBUILD=overwrite` goes with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

#[test]
fn mistakes_are_explained() {
    if std::env::var_os("RUN_SLOW").is_some_and(|value| value == "1") {
        return trybuild::TestCases::new().compile_fail("ui/*.rs");
    }
    let library = library();
    let programs = files("rs");
    assert_eq!(
        programs.len(),
        files("stderr").len(),
        "every program has its errors, and the other way round"
    );
    let mut wrong = Vec::new();
    for program in programs {
        let expected = fs::read_to_string(program.with_extension("stderr"));
        let expected = expected.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let (found, expected) = (errors(&program, &library), written(&expected));
        // The short form goes on with the text under the place.
        let same = |(found, expected): (&String, &String)| found.starts_with(expected.as_str());
        if expected.is_empty() || found.len() != expected.len() || !found.iter().zip(&expected).all(same) {
            let (found, expected) = (found.join("\n"), expected.join("\n"));
            wrong.push(format!("{}: expected\n{expected}\nfound\n{found}\n", program.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nRUN_SLOW=1 TRYBUILD=overwrite accepts what is found", wrong.join("\n"));
}

/// The programs or what is expected of them, from the folder of this package.
fn files(end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir("ui").expect("a folder of programs");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|e| e == end)).collect();
    paths.sort();
    paths
}

/// The library as it was built for this test. Others may lie beside it, from earlier builds: the newest that can be
/// used is it.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let entries = fs::read_dir(test.parent().expect("in a folder")).expect("a folder of libraries");
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libtracewell-") && name.ends_with(".rlib")
    };
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.expect("readable").path()).filter(is_library).collect();
    found.sort_by_key(|path| {
        let age = fs::metadata(path).and_then(|data| data.modified()).ok();
        std::cmp::Reverse(age.unwrap_or(SystemTime::UNIX_EPOCH))
    });
    let good = std::env::temp_dir().join(format!("tracewell-ui-{}.rs", std::process::id()));
    fs::write(&good, "use tracewell::prelude::*; pub fn f(x: &Array) -> Array { x.clone() } fn main() {}")
        .expect("a writable place");
    let usable = found.into_iter().find(|library| errors(&good, library).is_empty());
    fs::remove_file(&good).expect("our own file");
    usable.expect("the library was built for this test")
}

/// The errors of a program in their short form, in order of their text.
fn errors(program: &Path, library: &Path) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let folder = library.parent().expect("in a folder");
    let output = Command::new(cargo.with_file_name("rustc"))
        .args(["--edition=2024", "--error-format=short", "--emit=metadata=-", "--cap-lints=allow"])
        .arg(format!("--extern=tracewell={}", library.display()))
        .arg(format!("-Ldependency={}", folder.display()))
        .arg(program)
        .output()
        .expect("a compiler beside cargo");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.success(), text.is_empty(), "{}: {text}", program.display());
    let mut errors: Vec<String> =
        text.lines().filter(|line| line.contains(": error")).map(str::to_owned).collect();
    errors.sort();
    errors
}

/// The errors of a whole text: the first line of each after its place, in order of their text.
fn written(text: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("error") {
            let place = lines.next().and_then(|next| next.trim().strip_prefix("--> "));
            errors.push(format!("{}: {line}", place.unwrap_or("nowhere")));
        }
    }
    errors.sort();
    errors
}
