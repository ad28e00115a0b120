//! `cargo xtask repro-yield`: how many failures leave a program that fails in the same way.
//!
//! Every program is compiled as it was written, as one of its own in one folder, against the library that the tests are
//! linked with: nothing but the programs is compiled for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    /// The repro's own.
    folder: PathBuf,
    /// What it must say.
    message: String,
    exact: bool,
}

/// Builds and runs all programs, as many at once as there are processors.
fn programs(folder: &Path) -> Result {
    let all = collect(folder)?;
    let library = library()?;
    let made = folder.join("programs");
    fs::create_dir_all(&made).map_err(|error| format!("cannot make `{}`: {error}", made.display()))?;
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(vec![String::new(); all.len()]));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(program) = all.get(at) else { break };
            let file = made.join(&program.name);
            let verdict = match build(program, &file, &library) {
                Ok(()) => verdict(&file, &program.message),
                Err(message) => format!("does not build: {message}"),
            };
            // A thread that panics has said why.
            if let Ok(mut verdicts) = verdicts.lock() {
                verdicts[at] = verdict;
            }
        }
    };
    std::thread::scope(|scope| {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        (0..jobs).for_each(|_| drop(scope.spawn(work)));
    });
    let verdicts = verdicts.into_inner().map_err(|_| "a program could not be looked at".to_string())?;
    let (mut good, mut exact) = (0, 0);
    for (program, verdict) in all.iter().zip(&verdicts) {
        let reproduced = verdict == "reproduced";
        good += usize::from(reproduced);
        exact += usize::from(reproduced && program.exact);
        let fidelity = if program.exact { "exact" } else { "stand-in" };
        println!("{:45} {fidelity:9} {verdict}", program.name);
    }
    println!("{good} of {} reproduced, {exact} exact", all.len());
    if good == all.len() { Ok(()) } else { Err("some programs do not fail as they should".to_string()) }
}

/// The programs that the tests have left.
fn collect(folder: &Path) -> Result<Vec<Program>> {
    let wrong = |what: &str, error: std::io::Error| format!("cannot {what}: {error}");
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| wrong("list the programs", error))? {
        let path = entry.map_err(|error| wrong("list the programs", error))?.path();
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        let Some(repro) = inner(&path) else { continue };
        let read = |path: PathBuf| fs::read_to_string(path).map_err(|error| wrong("read a repro", error));
        let message = read(path.join("message.txt"))?;
        let exact = read(repro.join("signature.txt"))?.lines().any(|line| line == "fidelity: exact");
        all.push(Program { name, folder: repro, message, exact });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// The one folder inside.
fn inner(path: &Path) -> Option<PathBuf> {
    fs::read_dir(path).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(|path| path.is_dir())
}

/// Compiles one program.
fn build(program: &Program, to: &Path, library: &Path) -> Result {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "-C", "strip=symbols"]).arg(program.folder.join("repro.rs"));
    rustc.arg("-o").arg(to);
    rustc.arg("--extern").arg(format!("tracewell={}", library.display()));
    rustc.arg("-L").arg(format!("dependency={}", library.with_file_name("").display()));
    // Beside its manifest it finds its data.
    rustc.env("CARGO_MANIFEST_DIR", &program.folder);
    let output = rustc.output().map_err(|error| format!("cannot start rustc: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
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
fn verdict(program: &Path, message: &str) -> String {
    let child = Command::new(program)
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
    // A function that has a name in one program may have none in another.
    let mut ways = vec![message.to_string()];
    let names = message.split('`').skip(1).step_by(2);
    ways.extend(names.map(|name| message.replace(&format!("`{name}`"), "a closure")));
    if ways.iter().any(|message| plain(&said).contains(plain(message).trim())) {
        "reproduced".to_string()
    } else {
        format!("says something else: {}", said.lines().take(3).collect::<Vec<_>>().join(" / "))
    }
}
