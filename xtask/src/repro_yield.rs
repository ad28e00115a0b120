//! `cargo xtask repro-yield`: how many failures leave a program that fails in the same way.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::args::Args;
use crate::cargo::{cargo, run};
use crate::{Result, Verb, workspace};

pub(crate) const VERB: Verb = Verb {
    name: "repro-yield",
    usage: "[--build] [--only NAME]",
    about: "Replay the repro of every failing program of the tests; build and run the programs too",
    details: "\
Without options every repro is written, read and replayed from its text: what the tests do, with the table shown.
`--build` builds all programs as those of one package, runs each, and compares what it says. `--only` takes those
whose name holds a text.
",
    run: repro_yield,
};

fn repro_yield(mut args: Args) -> Result {
    let build = args.flag("--build");
    let only = args.value("--only")?;
    args.finish()?;
    let folder = workspace::root().join("target").join("repro-yield");
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("cannot clear `{}`: {error}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make `{}`: {error}", folder.display()))?;
    let mut test = cargo(&[
        "test",
        "--package",
        "tracewell-cli",
        "--test",
        "repro",
        "--",
        "every_failure",
        "--nocapture",
    ]);
    test.env("RUST_BACKTRACE", "0").stderr(Stdio::null());
    if build {
        test.env("TRACEWELL_KEEP", &folder);
    }
    if let Some(only) = &only {
        test.env("TRACEWELL_ONLY", only);
    }
    run(&mut test)?;
    if build { programs(&folder) } else { Ok(()) }
}

/// One failing program of the tests.
struct Program {
    name: String,
    /// What it must say.
    message: String,
}

/// Builds and runs all programs.
fn programs(folder: &Path) -> Result {
    let wrong = |what: &str, error: std::io::Error| format!("cannot {what}: {error}");
    let mut all = Vec::new();
    let mut manifest = format!(
        "[package]\nname = \"repro-yield\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ntracewell = {{ path = {:?} }}\n\n[profile.dev]\nopt-level = 0\ndebug = false\n",
        workspace::root().join("crates/tracewell")
    );
    for entry in fs::read_dir(folder).map_err(|error| wrong("list the programs", error))? {
        let path = entry.map_err(|error| wrong("list the programs", error))?.path();
        let (Some(name), true) =
            (path.file_name().map(|name| name.to_string_lossy().into_owned()), path.is_dir())
        else {
            continue;
        };
        let Some(repro) = inner(&path) else { continue };
        let program =
            fs::read_to_string(repro.join("repro.rs")).map_err(|error| wrong("read a program", error))?;
        // Data is beside each program, and not beside the manifest of all.
        let program =
            program.replace("env!(\"CARGO_MANIFEST_DIR\")", &format!("{:?}", repro.to_string_lossy()));
        let file = path.join("main.rs");
        fs::write(&file, program).map_err(|error| wrong("write a program", error))?;
        let message = fs::read_to_string(path.join("message.txt")).map_err(|error| wrong("read", error))?;
        manifest.push_str(&format!("\n[[bin]]\nname = {name:?}\npath = {:?}\n", file));
        all.push(Program { name, message });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    fs::write(folder.join("Cargo.toml"), manifest).map_err(|error| wrong("write the manifest", error))?;
    let lock = workspace::root().join("Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).map_err(|error| wrong("copy the lock file", error))?;
    let manifest = folder.join("Cargo.toml");
    let mut build = cargo(&["build", "--quiet", "--offline", "--keep-going", "--manifest-path"]);
    build.arg(&manifest).env("CARGO_TARGET_DIR", folder.join("target"));
    // What does not build is told below, one by one.
    let _ = run(&mut build);
    let mut good = 0;
    for program in &all {
        let verdict = verdict(&folder.join("target/debug").join(&program.name), &program.message);
        good += usize::from(verdict == "reproduced");
        println!("{:45} {verdict}", program.name);
    }
    println!("{good} of {} programs reproduced", all.len());
    if good == all.len() { Ok(()) } else { Err("some programs do not fail as they should".to_string()) }
}

/// The one folder inside.
fn inner(path: &Path) -> Option<PathBuf> {
    fs::read_dir(path).ok()?.filter_map(|entry| Some(entry.ok()?.path())).find(|path| path.is_dir())
}

/// Runs a program, at most a minute, and looks at what it says.
fn verdict(program: &Path, message: &str) -> String {
    let child = Command::new(program)
        .env("TRACEWELL_REPRO", "off")
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { return "does not build".to_string() };
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
