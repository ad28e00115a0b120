//! `tracewell repro reduce`: candidates in processes of their own, the best so far and all answers on the disk.
//!
//! Whatever ends the command, what was found stays: the next one goes on from there.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tracewell::repro::{CallTree, Failure, Repro};
use tracewell_repro::Replay;
use tracewell_repro::reduce::{Progress, Reducer, reduce};

use crate::child::{InChild, Limits};

/// The answers of earlier runs.
const MEMO: &str = "memo.txt";

pub(crate) fn command(folder: &Path, limits: Limits, jobs: usize) -> Result<ExitCode, String> {
    let original = load(folder)?;
    if original.failure().is_none() {
        return Err(format!("`{}` does not fail: there is nothing to reduce", folder.display()));
    }
    let work = beside(folder);
    fs::create_dir_all(&work).map_err(|error| format!("cannot make `{}`: {error}", work.display()))?;
    let (start, mut best) = match newest(&work) {
        Some((repro, path)) => {
            eprintln!("going on from `{}`", path.display());
            (repro, Some(path))
        }
        None => (original.clone(), None),
    };
    let replay = InChild { limits, folder: work.join("candidates") };
    check_first(&replay, &start)?;
    let memo = read_memo(&work.join(MEMO));
    let log = OpenOptions::new().create(true).append(true).open(work.join(MEMO));
    let mut log = log.map_err(|error| format!("cannot write `{MEMO}`: {error}"))?;
    let mut failed_to_save = None;
    let reduced = {
        let mut better = |tree: &CallTree| match keep(tree, &work, best.take()) {
            Ok(path) => best = Some(path),
            Err(message) => failed_to_save = Some(message),
        };
        let mut progress = |progress: &Progress| {
            show(progress);
            true
        };
        let mut answered = |key: u64, answer: bool| {
            let line = format!("{key:016x} {}\n", if answer { "same" } else { "other" });
            // What is not remembered is run again.
            let _ = log.write_all(line.as_bytes());
        };
        let mut reducer = Reducer {
            replay: &replay,
            jobs,
            memo,
            answered: &mut answered,
            better: &mut better,
            progress: &mut progress,
        };
        reduce(start.tree(), &mut reducer)
    };
    eprintln!();
    if let Some(message) = failed_to_save {
        return Err(message);
    }
    let path = match best {
        Some(path) => path,
        None => keep(&reduced, &work, None)?,
    };
    // Nothing is in there but candidates that were run.
    let _ = fs::remove_dir_all(&replay.folder);
    let (before, after) = (original.tree(), &reduced);
    println!(
        "{} statements became {}, {} operations became {}",
        before.size(),
        after.size(),
        before.leaves(),
        after.leaves()
    );
    print!("{}", tracewell_repro::show(after, usize::MAX));
    println!("{}", path.display());
    Ok(ExitCode::SUCCESS)
}

fn load(folder: &Path) -> Result<Repro, String> {
    Repro::load(folder).map_err(|error| error.message().to_string())
}

/// `<folder>.reduced`
fn beside(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().map_or_else(|| "repro".into(), std::ffi::OsStr::to_os_string);
    name.push(".reduced");
    folder.with_file_name(name)
}

/// What fails must fail at the beginning too.
fn check_first(replay: &InChild, start: &Repro) -> Result<(), String> {
    let wanted = start.failure().map(Failure::signature);
    match replay.run(start.tree()) {
        Some(failure) if Some(failure.signature()) == wanted => Ok(()),
        Some(failure) => Err(format!("it fails in another way: {}", failure.message)),
        None => Err("it does not fail when it is replayed".to_string()),
    }
}

/// The repro that an earlier run came to.
fn newest(work: &Path) -> Option<(Repro, PathBuf)> {
    let mut found: Vec<(Repro, PathBuf)> = fs::read_dir(work)
        .ok()?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if hidden || !path.is_dir() {
                return None;
            }
            Some((Repro::load(&path).ok()?, path))
        })
        .collect();
    found.sort_by_key(|(repro, _)| std::cmp::Reverse(repro.tree().size()));
    found.pop()
}

/// Puts a tree on the disk, and only then removes the one before.
fn keep(tree: &CallTree, work: &Path, before: Option<PathBuf>) -> Result<PathBuf, String> {
    let saved = Repro::new(tree.clone()).save(work).map_err(|error| error.message().to_string())?;
    if let Some(before) = before {
        // That an older one stays does no harm.
        let _ = tracewell_repro::remove(&before);
    }
    Ok(saved)
}

fn read_memo(path: &Path) -> BTreeMap<u64, bool> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = |line: &str| {
        let (key, answer) = line.split_once(' ')?;
        // The last line of a command that was killed may be a part of one.
        let answer = match answer {
            "same" => true,
            "other" => false,
            _ => return None,
        };
        Some((u64::from_str_radix(key, 16).ok()?, answer))
    };
    text.lines().filter_map(line).collect()
}

fn show(progress: &Progress) {
    let Progress { strategy, tried, known, size, before } = progress;
    let done = (before - size) * 20 / before.max(&1);
    let bar: String = (0..20).map(|i| if i < done { '#' } else { '.' }).collect();
    eprint!("\r[{bar}] {size} of {before} statements, {tried} tried, {known} known: {strategy:24}");
}
