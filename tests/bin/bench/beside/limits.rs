//! What the machine can do at most, measured in the same run by limits.c beside this: how fast memory is copied and
//! read at each level, how fast numbers are multiplied and added.

use std::fmt;
use std::fs;

use super::memory::Bytes;
use super::peers::{Crew, Peer, Side};
use super::program::Program;
use super::turns;
use crate::Result;

const LEVELS: [&str; 4] = ["l1", "l2", "l3", "dram"];
/// How often each is measured, in turn with the program; more often while that says different things.
const ROUNDS: usize = 5;

/// What was measured: the best of each, and the shares of programs.
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
            self.note(&name, ours.threads, measured.as_ref().ok().map(|(_, best)| *best));
            measured.ok().map(|(turns, _)| amount / turns)
        });
        let share = shares.collect::<Option<Vec<f64>>>()?.into_iter().fold(0.0, f64::max);
        Some(share).filter(|share| share.is_finite())
    }

    /// Keeps the best.
    fn note(&mut self, name: &str, threads: usize, rate: Option<f64>) {
        match self.rates.iter_mut().find(|known| known.name == name && known.threads == threads) {
            Some(known) => known.rate = known.rate.into_iter().chain(rate).reduce(f64::max),
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

/// How much of a limit a call of ours has time for, and the best rate a second, both when they were fastest: what others do
/// on the same core takes more from a product of matrices than from a loop that stays in registers. The first result of
/// a limit is the amount of work of a call, in billions; it is begun anew, for others may have used its memory since.
fn beside_limit(crew: &mut Crew, ours: Side, program: &str, calls: usize, name: &str) -> Result<(f64, f64)> {
    let side = Side { who: Peer::C, threads: ours.threads };
    let amount = 1e9 * crew.member(side)?.first_again(name)?.result.first().copied().unwrap_or(f64::NAN);
    let calls_of_limit = crew.member(side)?.calls(name)?;
    let rounds = turns::in_turn(crew, ROUNDS, |crew| {
        let limit = crew.member(side)?.least(name, calls_of_limit)?;
        Ok(vec![limit, crew.member(ours)?.least(program, calls)?])
    })?;
    let (limits, times): (Vec<f64>, Vec<f64>) = rounds.iter().map(|round| (round[0], round[1])).unzip();
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    Ok((amount * least(&times) / least(&limits), amount / least(&limits)))
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
