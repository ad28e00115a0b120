//! `cargo xtask repro-yield`: how many failures leave a program that fails in the same way.
//!
//! All programs are compiled at once, each as a module of one program that runs the one it is told: there is one thing
//! to compile and to link, against the library that the tests are linked with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::args::Args;
use crate::cargo::{cargo, run};
use crate::{Result, Verb, workspace};

pub(crate) const VERB: Verb = Verb {
    name: "repro-yield",
    usage: "[--build] [--only NAMES]",
    about: "Replay the repro of every failing program of the tests; build and run the programs too",
    details: "\
Without options every repro is written, read and replayed from its text: what the tests do, with the table shown.
`--build` builds the programs too, runs each, and compares what it says. `--only` takes those whose names hold one of
the texts, which have commas between.
",
    run: repro_yield,
};

/// Those that are built wherever all are replayed: a failure inside functions of functions, one that needs data, one
/// found by a check.
const FEW: &str = "broadcast_in_grad_of_scan,struct_parameters_in_value_and_grad,index_type";

/// The test that writes, reads and replays, from the same build as all tests.
const TEST: &[&str] = &["test", "--workspace", "--test", "repro"];

fn repro_yield(mut args: Args) -> Result {
    let build = args.flag("--build");
    let only = args.value("--only")?;
    args.finish()?;
    measure(build, only.as_deref())
}

/// What every change must pass, beside the tests: a few programs are built and run.
pub(crate) fn build_few() -> Result {
    measure(true, Some(FEW))
}

fn measure(build: bool, only: Option<&str>) -> Result {
    let folder = workspace::root().join("target").join("repro-yield");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("cannot clear `{}`: {error}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    let mut test = cargo(TEST);
    test.args(["--", "every_failure", "--nocapture"]).env("RUST_BACKTRACE", "0").stderr(Stdio::null());
    if build {
        test.env("TRACEWELL_KEEP", &folder);
    }
    if let Some(only) = only {
        test.env("TRACEWELL_ONLY", only);
    }
    run(&mut test)?;
    if build { programs(&folder) } else { Ok(()) }
}

/// One failing program of the tests.
struct Program {
    name: String,
    file: PathBuf,
    /// What it must say.
    message: String,
}

/// Builds and runs all programs.
fn programs(folder: &Path) -> Result {
    let all = collect(folder)?;
    let (built, program) = build(folder, &all)?;
    let mut good = 0;
    for Program { name, message, .. } in &all {
        let verdict = match built.contains(&name.as_str()) {
            true => verdict(&program, name, message),
            false => "does not build".to_string(),
        };
        good += usize::from(verdict == "reproduced");
        println!("{name:45} {verdict}");
    }
    println!("{good} of {} programs reproduced", all.len());
    if good == all.len() { Ok(()) } else { Err("some programs do not fail as they should".to_string()) }
}

/// The programs that the tests have left, ready to be modules.
fn collect(folder: &Path) -> Result<Vec<Program>> {
    let wrong = |what: &str, error: std::io::Error| format!("cannot {what}: {error}");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| wrong("list the programs", error))? {
        let path = entry.map_err(|error| wrong("list the programs", error))?.path();
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        let Some(repro) = inner(&path) else { continue };
        let text =
            fs::read_to_string(repro.join("repro.rs")).map_err(|error| wrong("read a program", error))?;
        // Data is beside each program, and its `main` is called by that of all.
        let text = text
            .replace("env!(\"CARGO_MANIFEST_DIR\")", &format!("{:?}", repro.to_string_lossy()))
            .replace("\nfn main() {", "\npub fn main() {");
        let file = path.join("main.rs");
        fs::write(&file, text).map_err(|error| wrong("write a program", error))?;
        let message = fs::read_to_string(path.join("message.txt")).map_err(|error| wrong("read", error))?;
        all.push(Program { name, file, message });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// The one folder inside.
fn inner(path: &Path) -> Option<PathBuf> {
    fs::read_dir(path).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(|path| path.is_dir())
}

/// Compiles programs as one. Those that do not compile are shown, and left out.
fn build<'p>(folder: &Path, all: &'p [Program]) -> Result<(Vec<&'p str>, PathBuf)> {
    let library = library()?;
    let (source, made) = (folder.join("programs.rs"), folder.join("programs"));
    let mut left: Vec<&Program> = all.iter().collect();
    while !left.is_empty() {
        fs::write(&source, program_of(&left)).map_err(|error| format!("cannot write a program: {error}"))?;
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args(["--edition", "2024", "--allow", "warnings"]).arg(&source).arg("-o").arg(&made);
        rustc.arg("--extern").arg(format!("tracewell={}", library.display()));
        rustc.arg("-L").arg(format!("dependency={}", library.with_file_name("").display()));
        let output = rustc.output().map_err(|error| format!("cannot start rustc: {error}"))?;
        if output.status.success() {
            return Ok((left.iter().map(|program| program.name.as_str()).collect(), made));
        }
        let said = String::from_utf8_lossy(&output.stderr);
        eprintln!("{said}");
        let before = left.len();
        left.retain(|program| !said.contains(&*program.file.to_string_lossy()));
        if left.len() == before {
            return Err("the programs cannot be compiled together".to_string());
        }
    }
    Ok((Vec::new(), made))
}

/// A program that runs the one it is told.
fn program_of(all: &[&Program]) -> String {
    let mut text = String::new();
    for Program { name, file, .. } in all {
        text.push_str(&format!("#[path = {file:?}]\nmod {name};\n"));
    }
    text.push_str("\nfn main() {\n    match std::env::args().nth(1).as_deref() {\n");
    for Program { name, .. } in all {
        text.push_str(&format!("        Some({name:?}) => {name}::main(),\n"));
    }
    text + "        other => panic!(\"no program {other:?}\"),\n    }\n}\n"
}

/// The library as the tests are linked with it.
fn library() -> Result<PathBuf> {
    let mut command = cargo(TEST);
    command.args(["--no-run", "--message-format", "json"]).stderr(Stdio::null());
    let output = command.output().map_err(|error| format!("cannot start cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let named = said.split('"').find(|word| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name.starts_with("libtracewell-") && name.ends_with(".rlib")
    });
    named.map(PathBuf::from).ok_or_else(|| "cargo does not say where the library is".to_string())
}

/// Runs a program, at most a minute, and looks at what it says.
fn verdict(program: &Path, name: &str, message: &str) -> String {
    let child = Command::new(program)
        .arg(name)
        .env("TRACEWELL_REPRO", "off")
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { return "does not start".to_string() };
    let start = Instant::now();
    while matches!(child.try_wait(), Ok(None)) && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    // It may have ended meanwhile, which is as good.
    let _ = child.kill();
    let Ok(output) = child.wait_with_output() else { return "was not heard".to_string() };
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return "no failure".to_string();
    }
    let plain = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect::<String>().replace("##", "#")
    };
    if plain(&said).contains(plain(message).trim()) {
        "reproduced".to_string()
    } else {
        format!("says something else: {}", said.lines().take(3).collect::<Vec<_>>().join(" / "))
    }
}
