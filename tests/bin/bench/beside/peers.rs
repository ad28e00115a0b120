//! Who can be asked: ourselves, JAX, NumPy and C, each started when it is first needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::calm::Patience;
use super::processors::{Processors, move_to};
use super::python;
use super::talk::Member;
use crate::Result;
use crate::options::Options;

/// Who is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    Ours,
    /// Ours on one thread, beside ours on several.
    OneThread,
    /// What the processor can do at most, in our own process.
    Peak,
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
            Peer::OneThread => "one",
            Peer::Peak => "peak",
            Peer::Jax => "jax",
            Peer::Numpy => "numpy",
            Peer::C => "c",
        }
    }

    /// How many threads it is given where so many are asked for.
    pub(super) fn threads(self, asked: usize) -> usize {
        match self {
            Peer::OneThread => 1,
            _ => asked,
        }
    }
}

/// Everybody who was started.
pub(super) struct Crew {
    /// Ours, unless told.
    python: Option<PathBuf>,
    members: Vec<(Side, Member)>,
    processors: Processors,
    pub(super) patience: Patience,
}

impl Crew {
    pub(super) fn new(options: &Options) -> Crew {
        let patience = Patience(options.patience as f64);
        let processors = Processors::new();
        Crew { python: options.python.clone(), members: Vec::new(), processors, patience }
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

    /// Moves everybody on one thread to the next processor.
    pub(super) fn move_on(&mut self) {
        let next = self.processors.next();
        self.move_to(next);
    }

    /// Lets everybody run where they like.
    pub(super) fn let_go(&mut self) {
        self.move_to(self.processors.all());
    }

    /// Where somebody cannot be moved a round is as good as it was, only less alike, which is said once.
    fn move_to(&mut self, processors: Option<String>) {
        let Some(processors) = processors else { return };
        let mut alone = self.members.iter().filter(|(side, _)| side.threads == 1);
        if let Err(error) = alone.try_for_each(|(_, member)| move_to(&processors, member.process())) {
            eprintln!("{error}: sides on one thread run where they like, not on the same processor");
            let alone = self.members.iter().filter(|(side, _)| side.threads == 1);
            for (all, (_, member)) in self.processors.all().iter().cycle().zip(alone) {
                // Whoever was moved before may be moved back; more cannot be done.
                let _ = move_to(all, member.process());
            }
            self.processors.forget();
        }
    }

    fn start(&self, side: Side) -> Result<Member> {
        let threads = side.threads.to_string();
        match side.who {
            Peer::Ours | Peer::OneThread | Peer::Peak => {
                let program = std::env::current_exe().map_err(|error| error.to_string())?;
                let mut command = Command::new(program);
                Member::start("Tracewell", command.arg("--serve").env("TRACEWELL_THREADS", threads))
            }
            Peer::Jax | Peer::Numpy => {
                let python = self.python.clone().map_or_else(python::installed, Ok)?;
                let mut command = Command::new(python);
                command.arg(file("peer.py")).arg(side.who.name()).arg(threads);
                // Nothing is left in the source tree.
                command.env("PYTHONDONTWRITEBYTECODE", "1");
                Member::start(side.who.name(), &mut command)
            }
            Peer::C => start_c(&threads),
        }
    }
}

/// A file of the benchmarks.
pub(super) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bin/bench").join(name)
}

/// Files in C, and what they are compiled with beside `-O3 -march=native`. The scalar loop has to round as ours does.
const IN_C: [(&str, &[&str]); 4] = [
    ("peer.c", &[]),
    ("loops/peer.c", &[]),
    ("vectors/peer.c", &["-ffast-math", "-fopenmp"]),
    ("beside/limits.c", &["-fopenmp"]),
];

/// How often a thread in C looks for work before it sleeps: some hundred microseconds.
const SPINS: &str = "10000";

/// Compiles the peer in C and starts it. Its files may be removed once it runs.
fn start_c(threads: &str) -> Result<Member> {
    let folder = std::env::temp_dir().join(format!("tracewell-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let program = folder.join("peer");
    let mut link = Command::new("gcc");
    link.args(["-fopenmp", "-o"]).arg(&program);
    for (number, (source, flags)) in IN_C.iter().enumerate() {
        let object = folder.join(format!("{number}.o"));
        let mut compile = Command::new("gcc");
        compile.args(["-O3", "-march=native", "-c"]).args(*flags).arg(file(source)).arg("-o").arg(&object);
        gcc(&mut compile)?;
        link.arg(object);
    }
    gcc(link.arg("-lm"))?;
    let mut command = Command::new(&program);
    // Its threads stay awake about as long as ours: between calls, but not in our turn.
    let member = Member::start("C", command.env("OMP_NUM_THREADS", threads).env("GOMP_SPINCOUNT", SPINS));
    // What is left in the folder for temporary files does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    member
}

fn gcc(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| format!("the peer in C needs `gcc`: {error}"))?;
    if status.success() { Ok(()) } else { Err("`gcc` cannot compile the peer in C".to_string()) }
}
