//! Replaying in a process of its own, which may hang, take all memory, or die.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tracewell::repro::{CallTree, Failure, Repro, Stage};
use tracewell_repro::{Replay, text};

/// How a child is watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    /// Resident memory, in bytes.
    pub(crate) memory: u64,
}

/// How often a child is looked at.
const GLANCE: Duration = Duration::from_millis(5);

/// How the tree in a folder fails in a process of its own; `None` if it does not.
pub(crate) fn replay(folder: &Path, limits: Limits) -> Result<Option<Failure>, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let mut command = Command::new(program);
    command.args(["repro", "child"]).arg(folder).env("TRACEWELL_REPRO", "off");
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("cannot start a process: {error}"))?;
    let status = match watch(&mut child, limits)? {
        Ok(status) => status,
        Err(why) => return Ok(Some(Failure { kind: "Limit".to_string(), ..ended(&why) })),
    };
    let mut said = String::new();
    if let Some(mut out) = child.stdout.take() {
        out.read_to_string(&mut said).map_err(|error| format!("cannot hear the process: {error}"))?;
    }
    match said.trim() {
        "none" => Ok(None),
        line if line.starts_with("failure ") => {
            text::read_failure(line).map(Some).map_err(|error| format!("the process said `{line}`: {error}"))
        }
        _ if status.success() => Err(format!("the process said nothing that is known: `{}`", said.trim())),
        _ if status.code() == Some(3) => Err(format!("the process cannot read `{}`", folder.display())),
        _ => Ok(Some(ended(&describe(status)))),
    }
}

/// The failure of a process that did not come to an end of its own.
fn ended(why: &str) -> Failure {
    Failure { kind: "Process".to_string(), stage: Stage::Running, primitive: None, message: why.to_string() }
}

#[cfg(unix)]
fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        // Signals are told apart by words: numbers are not compared.
        Some(6) => "the process aborted".to_string(),
        Some(11 | 7) => "the process touched memory that is not its own".to_string(),
        Some(4) => "the process ran an instruction that is none".to_string(),
        Some(8) => "the process divided by zero".to_string(),
        Some(other) => format!("the process was ended by signal {other}"),
        None => format!("the process {status}"),
    }
}

#[cfg(not(unix))]
fn describe(status: ExitStatus) -> String {
    format!("the process {status}")
}

/// Waits for a child; one that goes over a limit is ended.
fn watch(child: &mut Child, limits: Limits) -> Result<Result<ExitStatus, String>, String> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Ok(status)),
            Ok(None) => {}
            Err(error) => return Err(format!("cannot wait for the process: {error}")),
        }
        let why = if start.elapsed() > limits.time {
            Some("it took longer than the time limit")
        } else if resident(child.id()).is_some_and(|bytes| bytes > limits.memory) {
            Some("it took more than the memory limit")
        } else {
            None
        };
        if let Some(why) = why {
            // It may have ended meanwhile, which is as good.
            let _ = child.kill();
            let _ = child.wait();
            return Ok(Err(why.to_string()));
        }
        std::thread::sleep(GLANCE);
    }
}

/// The memory that a process takes, where the system says it.
fn resident(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Replays trees in processes of their own.
#[derive(Debug)]
pub(crate) struct InChild {
    pub(crate) limits: Limits,
    /// Where candidates are put for them.
    pub(crate) folder: PathBuf,
}

impl Replay for InChild {
    fn run(&self, tree: &CallTree) -> Option<Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(format!("candidate-{number}"));
        let failure = (|| {
            let saved = Repro::new(tree.clone()).save(&folder).ok()?;
            replay(&saved, self.limits).ok()?
        })();
        // What is left of a candidate is removed with the rest later on.
        let _ = std::fs::remove_dir_all(&folder);
        failure
    }
}
