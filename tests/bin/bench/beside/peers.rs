//! Who can be asked: ourselves, JAX, NumPy and C, each started when it is first needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::talk::Member;
use crate::Result;

/// Who is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    Ours,
    /// Ours on one thread, beside ours on several.
    OneThread,
    Jax,
    Numpy,
    C,
}

/// One side of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Side {
    pub(super) who: Peer,
    pub(super) threads: usize,
}

impl Peer {
    /// As it is named in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Peer::Ours => "ours",
            Peer::OneThread => "one thread",
            Peer::Jax => "jax",
            Peer::Numpy => "numpy",
            Peer::C => "c",
        }
    }

    /// How many threads it is given where so many are asked for.
    pub(super) fn threads(self, asked: usize) -> usize {
        match self {
            Peer::OneThread | Peer::C => 1,
            _ => asked,
        }
    }
}

/// Everybody who was started.
pub(super) struct Crew {
    python: PathBuf,
    members: Vec<(Side, Member)>,
}

impl Crew {
    pub(super) fn new(python: &Path) -> Crew {
        Crew { python: python.to_owned(), members: Vec::new() }
    }

    pub(super) fn member(&mut self, side: Side) -> Result<&mut Member> {
        let at = match self.members.iter().position(|(other, _)| *other == side) {
            Some(at) => at,
            None => {
                let member = self.start(side)?;
                self.members.push((side, member));
                self.members.len() - 1
            }
        };
        Ok(&mut self.members[at].1)
    }

    fn start(&self, side: Side) -> Result<Member> {
        let threads = side.threads.to_string();
        match side.who {
            Peer::Ours | Peer::OneThread => {
                let program = std::env::current_exe().map_err(|error| error.to_string())?;
                let mut command = Command::new(program);
                Member::start("Tracewell", command.arg("--serve").env("TRACEWELL_THREADS", threads))
            }
            Peer::Jax | Peer::Numpy => {
                let mut command = Command::new(&self.python);
                command.arg(file("peer.py")).arg(side.who.name()).arg(threads);
                Member::start(side.who.name(), &mut command)
                    .map_err(|error| format!("{error}\n{}", self.how_to_install()))
            }
            Peer::C => start_c(),
        }
    }

    fn how_to_install(&self) -> String {
        let python = self.python.display();
        let folder = std::env::temp_dir().join("venv-jax");
        let (folder, list) = (folder.display(), file("requirements.txt"));
        format!(
            "`{python}` has to be a Python with the packages of {list}:\n  \
             python3 -m venv {folder} && {folder}/bin/pip install -r {list}\n  \
             cargo xtask bench --filter heavy --against jax,numpy --python {folder}/bin/python",
            list = list.display(),
        )
    }
}

/// A file of the benchmarks.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bin/bench").join(name)
}

/// Compiles the peer in C and starts it. The program may be removed once it runs.
fn start_c() -> Result<Member> {
    let program = std::env::temp_dir().join(format!("tracewell-bench-{}", std::process::id()));
    let mut gcc = Command::new("gcc");
    gcc.args(["-O3", "-march=native", "-o"]).arg(&program).arg(file("loops/peer.c"));
    let status = gcc.status().map_err(|error| format!("the peer in C needs `gcc`: {error}"))?;
    if !status.success() {
        return Err("`gcc` cannot compile the peer in C".to_string());
    }
    let member = Member::start("C", &mut Command::new(&program));
    // What is left in the folder for temporary files does no harm.
    let _ = std::fs::remove_file(&program);
    member
}
