//! Where sides on one thread run. Others may be busy on one processor of a virtual machine and not on the next, and a
//! process stays where it is: both sides of a round are on the same one, and the next round is on the next.

use std::fs;
use std::process::{Command, Stdio};

/// The processors that we may use, in turn.
pub(super) struct Processors {
    all: Vec<usize>,
    rounds: usize,
}

impl Processors {
    pub(super) fn new() -> Processors {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        Processors { all: list.and_then(numbers).unwrap_or_default(), rounds: 0 }
    }

    /// The processor of the next round; none where the system does not say which there are.
    pub(super) fn next(&mut self) -> Option<usize> {
        let next = self.all.get(self.rounds % self.all.len().max(1)).copied();
        self.rounds += 1;
        next
    }
}

/// Moves a process with all its threads. Where that cannot be, it stays where it likes to.
pub(super) fn move_to(processor: usize, process: u32) {
    let mut command = Command::new("taskset");
    command.args(["--all-tasks", "--cpu-list", "--pid", &processor.to_string(), &process.to_string()]);
    // Without the program a round is as good as it was, only less alike.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
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
