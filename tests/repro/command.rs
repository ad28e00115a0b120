//! The command on repros of real failures: verdicts, exit codes, folders that lie.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use tracewell::prelude::*;
use tracewell::repro::Repro;

/// A folder of its own for each test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// The repro of a failure deep inside a model.
pub(crate) fn failing() -> Repro {
    let xs = Array::iota([6, 3], 0, F32);
    let loss = |(w, b): &(Array, Array)| {
        let step = |h: &Array, x: &Array| ((h * 0.5 + x * w).tanh() + b, h.sum());
        let (last, sums) = scan(Array::zeros([3], F32), &xs, step);
        let y = last.exp() * sums.sum();
        (y + Array::ones([2], F32)).sum()
    };
    repro::assert_reproduces(|| {
        jit(|p: &(Array, Array)| grad(loss)(p)).call(&(Array::ones([3], F32), Array::zeros([3], F32)))
    })
}

pub(crate) fn tracewell(args: &[&str], folder: &Path) -> Output {
    let (verb, rest) = args.split_first().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.args(["repro", verb]).arg(folder).args(rest).output().unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_repro_is_run_shown_and_printed() {
    let saved = failing().save(folder("run")).unwrap();
    let run = tracewell(&["run"], &saved);
    assert_eq!(run.status.code(), Some(0), "{}", said(&run));
    assert!(said(&run).starts_with("reproduced: cannot add f32[3] and f32[2]"), "{}", said(&run));
    let show = tracewell(&["show", "--levels", "1"], &saved);
    assert!(said(&show).contains("jit closure("), "{}", said(&show));
    let rust = tracewell(&["rust"], &saved);
    assert!(said(&rust).contains("fn main()"), "{}", said(&rust));
    let wrong = tracewell(&["walk"], &saved);
    assert_eq!(wrong.status.code(), Some(3));
}

#[test]
fn another_failure_and_none_have_codes_of_their_own() {
    let saved = failing().save(folder("codes")).unwrap();
    let text = fs::read_to_string(saved.join("repro.txt")).unwrap();
    fs::write(saved.join("repro.txt"), text.replace("failure \"Type\"", "failure \"Index\"")).unwrap();
    assert_eq!(tracewell(&["run"], &saved).status.code(), Some(1));
    let (_, good) = repro::collect(|| jit(|x: &Array| x.sin()).call(&Array::ones([2], F32)));
    let saved = good.save(folder("none")).unwrap();
    let text = fs::read_to_string(saved.join("repro.txt")).unwrap();
    let line = "failure \"Type\" tracing \"something\"\nmain";
    fs::write(saved.join("repro.txt"), text.replacen("main", line, 1)).unwrap();
    assert_eq!(tracewell(&["run"], &saved).status.code(), Some(2));
}

#[test]
fn a_hang_is_ended_by_the_limit() {
    let forever = || while_loop(Array::ones([2], F32), |x| x.sum().gt(0.0), |x| x + 1.0);
    let (_, repro) = repro::collect(|| {
        with_time_limit(Duration::from_millis(50), || {
            std::panic::catch_unwind(|| jit(|_: &()| forever()).call(&()))
        })
        .is_err()
    });
    let saved = repro.save(folder("hang")).unwrap();
    let text = fs::read_to_string(saved.join("repro.txt")).unwrap();
    // Without its setting nothing ends it but the command.
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with("setting ")).collect();
    fs::write(saved.join("repro.txt"), text.join("\n")).unwrap();
    let run = tracewell(&["run", "--timeout", "2"], &saved);
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("time limit"), "{}", said(&run));
}

#[test]
fn a_repro_is_reduced_to_what_fails() {
    let root = folder("reduce");
    let saved = failing().save(&root).unwrap();
    let reduced = tracewell(&["reduce", "--jobs", "2"], &saved);
    assert_eq!(reduced.status.code(), Some(0), "{}", said(&reduced));
    let path = said(&reduced).lines().find(|line| line.contains(".reduced")).unwrap().to_string();
    let small = Repro::load(&path).unwrap();
    assert!(small.run().is_reproduced());
    assert_eq!(small.tree().leaves(), 1, "{}", small.to_text());
}

#[test]
fn folders_that_lie_are_errors() {
    let root = folder("hostile");
    let saved = failing().save(&root).unwrap();
    let text = fs::read_to_string(saved.join("repro.txt")).unwrap();
    let with = |change: &dyn Fn(&str) -> String| {
        fs::write(saved.join("repro.txt"), change(&text)).unwrap();
        tracewell(&["run"], &saved).status.code()
    };
    let file = text.split("file \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_string();
    assert_eq!(with(&|text| text.replace(&file, &format!("../{file}"))), Some(3));
    assert_eq!(with(&|text| text.replace(&file, "/etc/passwd")), Some(3));
    assert_eq!(with(&|text| text[..text.len() / 2].to_string()), Some(3));
    assert_eq!(with(&|text| text.replace("f32[", "f32[99999999999,")), Some(3));
    assert_eq!(with(&|_| "(".repeat(100_000)), Some(3));
    assert_eq!(with(&|_| format!("repro 1\nmain at \"\":0:0 {{ return {}", "(".repeat(100_000))), Some(3));
    fs::write(saved.join("repro.txt"), &text).unwrap();
    let data = saved.join(file);
    fs::rename(&data, root.join("outside.npy")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(root.join("outside.npy"), &data).unwrap();
    assert_eq!(tracewell(&["run"], &saved).status.code(), Some(3));
    assert_eq!(tracewell(&["run"], &root.join("nothing")).status.code(), Some(3));
}
