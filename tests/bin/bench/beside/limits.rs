//! What the machine can do at most, measured in the same run by limits.c beside this: how fast memory is copied and
//! read at each level, how fast numbers are multiplied and added.

use std::fmt;
use std::fs;
use std::time::Duration;

use super::memory::Bytes;
use super::peers::{Crew, Peer, Side};
use super::program::Program;
use super::turns;
use crate::Result;
use crate::measure::median;

const LEVELS: [&str; 4] = ["l1", "l2", "l3", "dram"];
/// How often each is measured, in turn with the program; more often while that says different things.
const ROUNDS: usize = 12;
/// The part of the rounds that counts: those in which program and limit were fastest.
const FASTEST: usize = 4;
/// How long a limit is measured right behind a program, in seconds, and how long after it: its threads sleep then, and
/// the processor's clock is still as the program left it.
const BEHIND: f64 = 0.002;
const AFTER: Duration = Duration::from_millis(1);

/// What was measured: each limit from rest and behind programs, and the shares of these.
#[derive(Default)]
pub(super) struct Limits {
    rates: Vec<Rate>,
    shares: Vec<(&'static str, usize, Option<f64>)>,
}

struct Rate {
    name: String,
    threads: usize,
    /// Bytes or operations a second; unknown where there is no `gcc`.
    rate: Option<f64>,
}

impl Limits {
    /// The part of a call's time that the machine could not do without, if that is known. Machines that others work on
    /// too are faster at one time than at another: both are measured in turn.
    pub(super) fn share(
        &mut self,
        crew: &mut Crew,
        program: &Program,
        ours: Side,
        bytes: &Bytes,
        seconds: f64,
    ) -> Option<f64> {
        let is_known =
            |(name, threads, _): &&(&str, usize, _)| (*name, *threads) == (program.name, ours.threads);
        if let Some((.., share)) = self.shares.iter().find(is_known) {
            return *share;
        }
        let share = self.measure(crew, program, ours, bytes, seconds);
        self.shares.push((program.name, ours.threads, share));
        share
    }

    fn measure(
        &mut self,
        crew: &mut Crew,
        program: &Program,
        ours: Side,
        bytes: &Bytes,
        seconds: f64,
    ) -> Option<f64> {
        let (read, written) = bytes.moved();
        let level = LEVELS[level(read + written, ours.threads)];
        // What writes little is as fast as memory is read.
        let kind = if written < read / 8.0 { "read" } else { "copy" };
        let memory = (format!("{kind}_{level}"), read + written);
        let fma = if program.doubles { "fma_f64" } else { "fma_f32" };
        let arithmetic = (program.flops > 0.0).then(|| (fma.to_string(), program.flops));
        let calls = (super::talk::BATCH / seconds).ceil().max(1.0) as usize;
        let shares = [memory].into_iter().chain(arithmetic).map(|(name, amount)| {
            let measured = beside_limit(crew, ours, program.name, calls, &name);
            if let Err(error) = &measured {
                eprintln!("{name} was not measured: {error}");
            }
            let measured = measured.ok();
            self.note(&name, ours.threads, measured.as_ref().map(|measured| measured.from_rest), f64::max);
            let behind = measured.as_ref().map(|measured| measured.behind);
            self.note(&format!("{name} behind programs"), ours.threads, behind, f64::min);
            measured.map(|measured| amount / measured.turns)
        });
        let share = shares.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
        Some(share).filter(|share| share.is_finite())
    }

    /// Keeps one of all.
    fn note(&mut self, name: &str, threads: usize, rate: Option<f64>, keep: fn(f64, f64) -> f64) {
        match self.rates.iter_mut().find(|known| known.name == name && known.threads == threads) {
            Some(known) => known.rate = known.rate.into_iter().chain(rate).reduce(keep),
            None => self.rates.push(Rate { name: name.to_string(), threads, rate }),
        }
    }

    fn known(&self) -> impl Iterator<Item = (&Rate, f64)> {
        self.rates.iter().filter_map(|known| Some((known, known.rate?)))
    }

    /// Objects of the JSON.
    pub(super) fn json(&self) -> Vec<String> {
        let object = |(Rate { name, threads, .. }, rate): (&Rate, f64)| {
            format!(
                r#"  {{"name": "{name}", "group": "limits", "threads": {threads}, "per_second": {rate:e}}}"#
            )
        };
        self.known().map(object).collect()
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.known().try_for_each(|(Rate { name, threads, .. }, rate)| {
            let unit = if name.starts_with("fma") { "GFLOP/s" } else { "GB/s" };
            writeln!(f, "limit of {threads} threads: {name} {:.0} {unit}", rate / 1e9)
        })
    }
}

/// A limit beside a program.
struct Beside {
    /// How much of it a call of ours has time for.
    turns: f64,
    /// The rates a second: the best after a pause, and that right behind calls of ours.
    from_rest: f64,
    behind: f64,
}

/// Measures a limit right behind calls of ours, time and again: a processor that multiplies and loads vectors all the
/// time turns its clock down, and up again after some milliseconds of something else. Only rounds in which both were
/// fast count, for what others do on the same core takes more from a product of matrices than from a loop that stays in
/// registers. The first result of a limit is the amount of work of a call, in billions; it is begun anew, for others may
/// have used its memory since.
fn beside_limit(crew: &mut Crew, ours: Side, program: &str, calls: usize, name: &str) -> Result<Beside> {
    let side = Side { who: Peer::C, threads: ours.threads };
    let amount = 1e9 * crew.member(side)?.first_again(name)?.result.first().copied().unwrap_or(f64::NAN);
    let many = crew.member(side)?.calls(name)?;
    let from_rest = amount / crew.member(side)?.least(name, many)?;
    let few = ((BEHIND / super::talk::BATCH * many as f64) as usize).max(2);
    let mut rounds = turns::in_turn(crew, ROUNDS, |crew| {
        let time = crew.member(ours)?.time_at_once(program, calls)?;
        std::thread::sleep(AFTER);
        Ok(vec![crew.member(side)?.least(name, few)?, time])
    })?;
    let slowness = |round: &[f64]| round[0] * round[1];
    rounds.sort_unstable_by(|a, b| slowness(a).total_cmp(&slowness(b)));
    rounds.truncate(rounds.len().div_ceil(FASTEST));
    let mut turns: Vec<f64> = rounds.iter().map(|round| amount * round[1] / round[0]).collect();
    let mut rates: Vec<f64> = rounds.iter().map(|round| amount / round[0]).collect();
    Ok(Beside { turns: median(&mut turns), from_rest, behind: median(&mut rates) })
}

/// The level at which so many bytes are found again, by the sizes that the system knows.
fn level(bytes: f64, threads: usize) -> usize {
    let own = |cache: Option<f64>| cache.map(|size| 0.75 * size * threads as f64);
    let shared = |cache: Option<f64>| cache.map(|size| 0.75 * size);
    let room = [own(cache(1)), own(cache(2)), shared(cache(3))];
    room.iter().position(|room| room.is_some_and(|room| bytes <= room)).unwrap_or(3)
}

/// The size of the cache of data at a level.
fn cache(level: usize) -> Option<f64> {
    let folders = (0..8).map(|i| format!("/sys/devices/system/cpu/cpu0/cache/index{i}"));
    let read = |folder: &str, file: &str| fs::read_to_string(format!("{folder}/{file}")).ok();
    let is_it = |folder: &String| {
        read(folder, "level").is_some_and(|text| text.trim() == level.to_string())
            && read(folder, "type").is_some_and(|text| text.trim() != "Instruction")
    };
    let size = read(&folders.into_iter().find(is_it)?, "size")?;
    let kibibytes: f64 = size.trim().strip_suffix('K')?.parse().ok()?;
    Some(1024.0 * kibibytes)
}
