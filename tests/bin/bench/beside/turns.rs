//! Both sides of a comparison, in turn.

use std::time::Instant;

use super::calm::Watch;
use super::limits::Limits;
use super::peers::{Crew, Peer, Side};
use super::report::{Row, Sample};
use super::{Plan, Program, peak};
use crate::Result;
use crate::options::Options;

/// Rounds go on for so many times as many, and for so many seconds, while the middle half of what they say is further
/// apart than this: a machine that others use too is now fast, now slow.
const MORE: usize = 5;
const LONG: f64 = 2.5;
const APART: f64 = 1.05;
/// No more first calls of a side that has spent so many seconds on them.
const FIRST_CALLS: f64 = 20.0;
/// How often a program that is called is built.
const BUILDS: usize = 3;

pub(super) fn compare(plan: &Plan, crew: &mut Crew, limits: &mut Limits, options: &Options) -> Result<Row> {
    if plan.peer.is_some_and(|peer| peer.who == Peer::Peak) {
        return beside_peak(plan, crew, options);
    }
    let mut sides = vec![(plan.ours, Sample::default())];
    sides.extend(plan.peer.map(|peer| (peer, Sample::default())));
    let program = plan.program;
    for (side, sample) in &mut sides {
        sample.first = crew.member(*side)?.first(program.name)?;
    }
    if program.first_calls {
        first_calls(program, &mut sides, crew, options.rounds)?;
    } else {
        calls(program, &mut sides, crew, options.rounds)?;
    }
    let mut samples = sides.into_iter();
    let ours = samples.next().map(|(_, sample)| sample).unwrap_or_default();
    let mut row = Row::new(program.name, plan.ours.threads, ours, samples.next(), plan.agreement);
    if let (Some(bytes), Some(_)) = (row.bytes(), plan.peer) {
        row.share = limits.share(crew, program, plan.ours, &bytes, row.seconds());
    }
    Ok(row)
}

/// In rounds of pairs, of which few count.
fn beside_peak(plan: &Plan, crew: &mut Crew, options: &Options) -> Result<Row> {
    let first = crew.member(plan.ours)?.first(plan.program.name)?;
    let mut pairs = Vec::new();
    for _ in 0..options.rounds {
        crew.move_on();
        pairs.extend(crew.member(plan.ours)?.peak(plan.program.name)?);
    }
    crew.let_go();
    let [ours, alone] = peak::fastest(&pairs);
    let ours = Sample { times: ours, first, ..Sample::default() };
    let alone = plan.peer.map(|peer| (peer, Sample { times: alone, ..Sample::default() }));
    Ok(Row::new(plan.program.name, plan.ours.threads, ours, alone, plan.agreement))
}

/// Batches of calls.
fn calls(program: &Program, sides: &mut [(Side, Sample)], crew: &mut Crew, rounds: usize) -> Result {
    let mut calls = Vec::new();
    for (side, _) in &*sides {
        calls.push(crew.member(*side)?.calls(program.name)?);
    }
    let rounds = in_turn(crew, rounds, |crew| {
        let timed =
            |((side, _), calls): (&(Side, Sample), &usize)| crew.member(*side)?.time(program.name, *calls);
        sides.iter().zip(&calls).map(timed).collect()
    })?;
    for (number, (_, sample)) in sides.iter_mut().enumerate() {
        sample.times = rounds.iter().map(|round| round[number]).collect();
    }
    for _ in 0..BUILDS {
        for (side, sample) in &mut *sides {
            sample.builds.push(crew.member(*side)?.build(program.name)?);
        }
    }
    for (side, sample) in sides {
        sample.bytes = Some(crew.member(*side)?.memory(program.name)?);
    }
    Ok(())
}

/// Rounds of one or two times each: at least so many that count, more while they differ.
pub(super) fn in_turn(
    crew: &mut Crew,
    least: usize,
    mut round: impl FnMut(&mut Crew) -> Result<Vec<f64>>,
) -> Result<Vec<Vec<f64>>> {
    let mut spent = 0.0;
    let mut rounds: Vec<Vec<f64>> = Vec::new();
    while rounds.len() < MORE * least && !(rounds.len() >= least && is_enough(&rounds, spent)) {
        crew.move_on();
        let (watch, start) = (Watch::start(), Instant::now());
        let times = round(crew)?;
        if crew.patience.counts(&watch) {
            spent += start.elapsed().as_secs_f64();
            rounds.push(times);
        }
    }
    crew.let_go();
    Ok(rounds)
}

/// Whether rounds say the same, or have taken so many seconds.
fn is_enough(rounds: &[Vec<f64>], spent: f64) -> bool {
    // The ratio of two sides, or the time of one.
    let said = |times: &Vec<f64>| times.iter().copied().reduce(|first, second| first / second);
    let mut said: Vec<f64> = rounds.iter().filter_map(said).collect();
    said.sort_unstable_by(f64::total_cmp);
    said[said.len() * 3 / 4] / said[said.len() / 4] < APART || spent > LONG
}

/// First calls, each of a program that was forgotten.
fn first_calls(program: &Program, sides: &mut [(Side, Sample)], crew: &mut Crew, rounds: usize) -> Result {
    for round in 0..rounds {
        for (side, sample) in &mut *sides {
            let spent: f64 = sample.times.iter().sum();
            if round == 0 {
                sample.times.push(sample.first.seconds);
            } else if spent < FIRST_CALLS {
                sample.times.push(crew.member(*side)?.first_again(program.name)?.seconds);
            }
        }
    }
    Ok(())
}
