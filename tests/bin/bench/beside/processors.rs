//! Where sides on one thread run. Others may be busy on one processor of a virtual machine and not on the next, and a
//! process stays where it is: both sides of a round are on the same one, and the next round is on the next.

use std::fs;
use std::process::{Command, Stdio};

use crate::Result;

/// The processors that we may use, in turn.
pub(super) struct Processors {
    all: Vec<usize>,
    /// As the system lists them.
    list: String,
    rounds: usize,
}

impl Processors {
    pub(super) fn new() -> Processors {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let list =
            status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
        let list = list.trim().to_string();
        Processors { all: numbers(&list).unwrap_or_default(), list, rounds: 0 }
    }

    /// The processor of the next round; none where the system does not say which there are.
    pub(super) fn next(&mut self) -> Option<String> {
        let next = self.all.get(self.rounds % self.all.len().max(1))?;
        self.rounds += 1;
        Some(next.to_string())
    }

    /// Moves nobody any more.
    pub(super) fn forget(&mut self) {
        self.all.clear();
    }

    /// All of them, where the system says which there are.
    pub(super) fn all(&self) -> Option<String> {
        (!self.all.is_empty()).then(|| self.list.clone())
    }
}

/// Moves a process with all its threads to some processors.
pub(super) fn move_to(processors: &str, process: u32) -> Result {
    let mut command = Command::new("taskset");
    command.args(["--all-tasks", "--cpu-list", "--pid", processors, &process.to_string()]);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`taskset` ended with {status}")),
        Err(error) => Err(format!("`taskset` cannot be started: {error}")),
    }
}

/// The numbers of `0-3,6`.
fn numbers(list: &str) -> Option<Vec<usize>> {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse().ok()?)
    };
    let parts = list.split(',').map(part).collect::<Option<Vec<_>>>()?;
    Some(parts.into_iter().flatten().collect())
}
