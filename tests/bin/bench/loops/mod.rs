//! Loops beside the same loops of others. Every side is a process of its own that measures itself when asked, so
//! that ours and the peer take turns and each has the threads it was given.

mod peers;
mod programs;
mod report;
mod summary;
mod talk;

use self::peers::{Crew, Side};
use self::report::{Row, Sample};
use crate::Result;
use crate::options::{Against, Options};

pub(crate) use self::talk::serve;

const GROUP: &str = "loops";

/// A comparison that is to be made.
struct Plan {
    name: &'static str,
    program: &'static str,
    ours: Side,
    peer: Option<Side>,
    /// How far results may be apart, in parts of the largest.
    tolerance: f64,
}

/// Whether anything was asked for.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let plans: Vec<Plan> = plans(options);
    if plans.is_empty() {
        return Ok(false);
    }
    println!("\n{GROUP}: {} threads, {} rounds; ratio = peer / ours", options.threads, options.rounds);
    println!("{}", report::header());
    let mut crew = Crew::new(&options.python);
    let mut rows = Vec::new();
    for plan in &plans {
        let row = compare(plan, &mut crew, options.rounds)?;
        println!("{row}");
        rows.push(row);
    }
    if let Some(file) = &options.json {
        let text = report::json(GROUP, &rows);
        std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    }
    match rows.iter().filter(|row| row.agrees == Some(false)).count() {
        0 => Ok(true),
        count => Err(format!("{count} of {} results do not agree with the peer's", rows.len())),
    }
}

fn plans(options: &Options) -> Vec<Plan> {
    let ours = Side::Ours { threads: options.threads };
    let mut plans = Vec::new();
    for program in programs::PROGRAMS.iter().filter(|program| options.wants_one(GROUP, program.name)) {
        let mut plan = |peer| {
            let tolerance = program.tolerance;
            plans.push(Plan { name: program.name, program: program.name, ours, peer, tolerance });
        };
        match options.against {
            None => plan(None),
            Some(Against::Jax) => plan(Some(Side::Jax { threads: options.threads })),
            Some(Against::C) => {}
        }
        if program.in_c && options.against.is_some() {
            plan(Some(Side::C));
        }
    }
    if options.against != Some(Against::C) && options.wants_one(GROUP, "map_reduce") {
        let one = Side::Ours { threads: 1 };
        let plan = |name, ours, peer| Plan { name, program: "map_reduce", ours, peer, tolerance: 0.0 };
        plans.push(plan("map_reduce_1", one, None));
        plans.push(plan("map_reduce_2", Side::Ours { threads: 2 }, Some(one)));
    }
    plans
}

/// Both sides in turn.
fn compare(plan: &Plan, crew: &mut Crew, rounds: usize) -> Result<Row> {
    let mut sides = vec![(plan.ours, Sample::default())];
    sides.extend(plan.peer.map(|peer| (peer, Sample::default())));
    let mut calls = Vec::new();
    for (side, sample) in &mut sides {
        let member = crew.member(*side)?;
        sample.first = member.first(plan.program)?;
        calls.push(member.calls(plan.program)?);
    }
    for _ in 0..rounds {
        for ((side, sample), &calls) in sides.iter_mut().zip(&calls) {
            sample.times.push(crew.member(*side)?.time(plan.program, calls)?);
        }
    }
    let mut samples = sides.into_iter();
    let ours = samples.next().map(|(_, sample)| sample).unwrap_or_default();
    Ok(Row::new(plan.name, plan.ours.threads(), ours, samples.next(), plan.tolerance))
}
