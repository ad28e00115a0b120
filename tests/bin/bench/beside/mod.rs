//! Programs beside the same programs of others. Every side is a process of its own that measures itself when asked,
//! so that ours and the peer take turns and each has the threads it was given.

mod calm;
mod limits;
mod memory;
mod peak;
mod peers;
mod processors;
mod program;
mod python;
mod report;
mod summary;
mod talk;
mod turns;

use self::limits::Limits;
use self::peers::{Crew, Side};
use self::summary::Agreement;
use crate::Result;
use crate::options::Options;

pub(crate) use self::peers::Peer;
pub(crate) use self::program::{Calls, Program, Work, in_numpy, program};
pub(crate) use self::talk::serve;

/// The groups whose programs others have as well.
const GROUPS: [Group; 5] = [
    Group { name: "loops", programs: &[crate::loops::PROGRAMS] },
    Group { name: "heavy", programs: &[crate::heavy::PROGRAMS] },
    Group { name: "workloads", programs: crate::workloads::PROGRAMS },
    Group { name: "first", programs: &[crate::first::PROGRAMS] },
    Group { name: "vectors", programs: &[crate::vectors::PROGRAMS] },
];

struct Group {
    name: &'static str,
    /// By the files they are in.
    programs: &'static [&'static [Program]],
}

impl Group {
    fn programs(&self) -> impl Iterator<Item = &'static Program> {
        self.programs.iter().copied().flatten()
    }
}

/// A comparison that is to be made.
struct Plan {
    program: &'static Program,
    ours: Side,
    peer: Option<Side>,
    agreement: Agreement,
}

/// Whether anything was asked for.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let mut crew = Crew::new(options);
    let mut limits = Limits::default();
    let mut objects = Vec::new();
    let (mut count, mut wrong) = (0, 0);
    for group in &GROUPS {
        let plans: Vec<Plan> = group.programs().flat_map(|program| plans(group, program, options)).collect();
        if plans.is_empty() {
            continue;
        }
        println!(
            "\n{}: {} threads, {} rounds; ratio = peer / ours",
            group.name, options.threads, options.rounds
        );
        println!("{}", report::header());
        for plan in &plans {
            let row = turns::compare(plan, &mut crew, &mut limits, options)?;
            println!("{row}");
            objects.push(row.json(group.name));
            count += 1;
            // A run is long, and may be ended.
            save(options, objects.iter().cloned().chain(limits.json()))?;
            wrong += usize::from(row.agrees == Some(false));
        }
    }
    print!("{limits}");
    if wrong > 0 {
        return Err(format!("{wrong} of {count} results do not agree with the peer's"));
    }
    Ok(count > 0)
}

/// Writes what was measured until now, if there is a file for it.
fn save(options: &Options, objects: impl Iterator<Item = String>) -> Result {
    let Some(file) = &options.json else { return Ok(()) };
    let text = format!("[\n{}\n]\n", objects.collect::<Vec<_>>().join(",\n"));
    std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

/// One for each peer that was asked for and has the program; one alone, if nobody was asked for or nobody has it.
fn plans(group: &Group, program: &'static Program, options: &Options) -> Vec<Plan> {
    if !options.wants_one(group.name, program.name) {
        return Vec::new();
    }
    let ours = Side { who: Peer::Ours, threads: program.threads.unwrap_or(options.threads) };
    let plan = |peer: Option<Peer>| Plan {
        program,
        ours,
        peer: peer.map(|who| Side { who, threads: who.threads(options.threads) }),
        agreement: match peer {
            Some(Peer::Numpy) if program.draws => Agreement::Alike,
            Some(Peer::OneThread) => Agreement::Within(0.0),
            _ => Agreement::Within(program.tolerance),
        },
    };
    let peers = options.peers(program.peers, program.flops > 0.0);
    let mut plans: Vec<Plan> = peers.into_iter().map(|peer| plan(Some(peer))).collect();
    if plans.is_empty() && (options.against.is_empty() || program.peers.is_empty()) {
        plans.push(plan(None));
    }
    plans
}

/// The program of a name, in any group.
fn find(name: &str) -> Option<&'static Program> {
    GROUPS.iter().flat_map(Group::programs).find(|program| program.name == name)
}
