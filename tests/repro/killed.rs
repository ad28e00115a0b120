//! Processes that are killed at any moment leave nothing that looks whole and is not, and what they found is not lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tracewell::prelude::*;
use tracewell::repro::Repro;

use crate::command::{failing, folder, said, tracewell};

/// In this folder a child of the test dumps.
const INTO: &str = "TRACEWELL_TEST_DUMPS_INTO";

/// How often something is killed; 200 times with `TRACEWELL_SEEDS=200`.
fn times() -> u64 {
    std::env::var("TRACEWELL_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(3)
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The repros in a folder, each of which must be whole.
fn repros(root: &Path) -> Vec<(PathBuf, Repro)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "candidates" {
            let repro = Repro::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            all.push((path, repro));
        }
    }
    all
}

/// A failure with data of some size, so that writing it takes its time.
fn fails(into: &Path) {
    let x = Array::iota([200, 300], 0, F32);
    let y = Array::iota([300, 100], 1, F32);
    let f = jit(|(x, y): &(Array, Array)| -> Result<Array> { Ok(x.dot(y).sin().reshape([7])) });
    repro::writing_to(into, || f.call(&(x, y)).unwrap_err());
}

#[test]
fn a_dump_that_is_killed_is_whole_or_not_there() {
    if let Some(root) = std::env::var_os(INTO) {
        // The child: fails until it is killed.
        for n in 0.. {
            fails(&Path::new(&root).join(n.to_string()));
        }
    }
    let root = folder("dumps");
    let (mut whole, mut halves) = (0, 0);
    for turn in 0..times() {
        let into = root.join(turn.to_string());
        fs::create_dir_all(&into).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::a_dump_that_is_killed_is_whole_or_not_there", "--nocapture"])
            .env(INTO, &into)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        // A folder begins when the one before is whole.
        let before = turn as usize % 3;
        while fs::read_dir(&into).unwrap().count() <= before {
            assert!(start.elapsed() < Duration::from_secs(60), "the child writes nothing");
            std::thread::sleep(Duration::from_millis(1));
        }
        // Moments spread over the time that one takes.
        std::thread::sleep(Duration::from_micros(turn.wrapping_mul(7919) % 30_000));
        kill(child);
        for entry in fs::read_dir(&into).unwrap() {
            let dumps = entry.unwrap().path();
            let found = repros(&dumps);
            halves += fs::read_dir(&dumps).unwrap().count() - found.len();
            for (path, repro) in found {
                whole += 1;
                assert_eq!(repro.failure().unwrap().primitive.as_deref(), Some("reshape"));
                for file in ["repro.rs", "Cargo.toml", "signature.txt"] {
                    assert!(!fs::read(path.join(file)).unwrap().is_empty(), "{}: {file}", path.display());
                }
            }
        }
        fs::remove_dir_all(&into).unwrap();
    }
    println!("{whole} repros were whole, {halves} were not finished and are hidden");
    assert!(whole as u64 >= times() / 3, "what was whole before is so after");
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_reduction_that_is_killed_goes_on() {
    let root = folder("killed");
    let saved = failing().save(&root).unwrap();
    let work = PathBuf::from(format!("{}.reduced", saved.display()));
    let mut smallest = usize::MAX;
    for turn in 0..times() {
        // A reduction is killed a few times before it has come to its end; then another one begins.
        if turn % 8 == 0 && work.exists() {
            fs::remove_dir_all(&work).unwrap();
            smallest = usize::MAX;
        }
        let child = Command::new(env!("CARGO_BIN_EXE_tracewell"))
            .args(["repro", "reduce"])
            .arg(&saved)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Moments spread over the time that it takes.
        std::thread::sleep(Duration::from_millis(20 + turn.wrapping_mul(7919) % 600));
        kill(child);
        // What was found is there, and never becomes worse.
        if let Some(now) = repros(&work).iter().map(|(_, repro)| repro.tree().size()).min() {
            assert!(now <= smallest, "{now} statements are left, and {smallest} were before");
            smallest = now;
        }
    }
    let reduced = tracewell(&["reduce"], &saved);
    assert_eq!(reduced.status.code(), Some(0), "{}", said(&reduced));
    if smallest < usize::MAX {
        assert!(said(&reduced).contains("going on from"), "{}", said(&reduced));
    }
    let best = repros(&work).into_iter().map(|(_, repro)| repro).min_by_key(|repro| repro.tree().size());
    assert_eq!(best.expect("a reduced repro").tree().leaves(), 1);
    fs::remove_dir_all(root).unwrap();
}
