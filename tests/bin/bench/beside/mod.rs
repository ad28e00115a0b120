//! Programs beside the same programs of others. Every side is a process of its own that measures itself when asked,
//! so that ours and the peer take turns and each has the threads it was given.

mod peers;
mod report;
mod summary;
mod talk;

use tracewell::prelude::Array;

use self::peers::{Crew, Side};
use self::report::{Row, Sample};
use self::summary::Agreement;
use crate::Result;
use crate::options::Options;

pub(crate) use self::peers::Peer;
pub(crate) use self::talk::serve;

/// The groups whose programs others have as well.
const GROUPS: [Group; 2] = [
    Group { name: "loops", programs: crate::loops::PROGRAMS },
    Group { name: "heavy", programs: crate::heavy::PROGRAMS },
];

struct Group {
    name: &'static str,
    programs: &'static [Program],
}

/// A program with its inputs: one call.
pub(crate) type Work = Box<dyn FnMut() -> Vec<Array>>;

/// Our side of a comparison; the others' have its name.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// How far results may be apart, in parts of the largest.
    pub(crate) tolerance: f64,
    /// Whether it draws numbers: NumPy draws others, which are alike as a whole only.
    pub(crate) draws: bool,
    /// Who has it too.
    pub(crate) peers: &'static [Peer],
    /// Ours, where it is not for the caller to say.
    pub(crate) threads: Option<usize>,
    /// Makes the inputs.
    pub(crate) make: fn() -> Work,
}

/// A program that JAX has too.
pub(crate) const fn program(name: &'static str, tolerance: f64, make: fn() -> Work) -> Program {
    Program { name, tolerance, draws: false, peers: &[Peer::Jax], threads: None, make }
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
    let mut crew = Crew::new(&options.python);
    let mut objects = Vec::new();
    let (mut count, mut wrong) = (0, 0);
    for group in &GROUPS {
        let plans: Vec<Plan> =
            group.programs.iter().flat_map(|program| plans(group, program, options)).collect();
        if plans.is_empty() {
            continue;
        }
        println!(
            "\n{}: {} threads, {} rounds; ratio = peer / ours",
            group.name, options.threads, options.rounds
        );
        println!("{}", report::header());
        for plan in &plans {
            let row = compare(plan, &mut crew, options.rounds)?;
            println!("{row}");
            objects.push(row.json(group.name));
            count += 1;
            wrong += usize::from(row.agrees == Some(false));
        }
    }
    if let Some(file) = options.json.as_ref().filter(|_| count > 0) {
        let text = format!("[\n{}\n]\n", objects.join(",\n"));
        std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    if wrong > 0 {
        return Err(format!("{wrong} of {count} results do not agree with the peer's"));
    }
    Ok(count > 0)
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
            _ => Agreement::Within(program.tolerance),
        },
    };
    let mut plans: Vec<Plan> = program
        .peers
        .iter()
        .filter(|peer| options.is_against(**peer))
        .map(|&peer| plan(Some(peer)))
        .collect();
    if plans.is_empty() && (options.against.is_empty() || program.peers.is_empty()) {
        plans.push(plan(None));
    }
    plans
}

/// Both sides in turn.
fn compare(plan: &Plan, crew: &mut Crew, rounds: usize) -> Result<Row> {
    let mut sides = vec![(plan.ours, Sample::default())];
    sides.extend(plan.peer.map(|peer| (peer, Sample::default())));
    let mut calls = Vec::new();
    let name = plan.program.name;
    for (side, sample) in &mut sides {
        let member = crew.member(*side)?;
        sample.first = member.first(name)?;
        calls.push(member.calls(name)?);
    }
    for _ in 0..rounds {
        for ((side, sample), &calls) in sides.iter_mut().zip(&calls) {
            sample.times.push(crew.member(*side)?.time(name, calls)?);
        }
    }
    let mut samples = sides.into_iter();
    let ours = samples.next().map(|(_, sample)| sample).unwrap_or_default();
    Ok(Row::new(name, plan.ours.threads, ours, samples.next(), plan.agreement))
}

/// The program of a name, in any group.
fn find(name: &str) -> Option<&'static Program> {
    GROUPS.iter().flat_map(|group| group.programs).find(|program| program.name == name)
}
