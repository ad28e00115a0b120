//! What the machine can do at most, measured in the same run by limits.c beside this: how fast memory is copied and
//! read at each level, how fast numbers are multiplied and added.

use std::fmt;
use std::fs;

use super::memory::Bytes;
use super::peers::{Crew, Peer, Side};
use super::program::Program;
use crate::Result;

const LEVELS: [&str; 4] = ["l1", "l2", "l3", "dram"];
/// How often each is measured; the best counts.
const ROUNDS: usize = 5;

/// What was measured, each when it is first asked for.
#[derive(Default)]
pub(super) struct Limits {
    rates: Vec<Rate>,
}

struct Rate {
    name: String,
    threads: usize,
    /// Bytes or operations a second; unknown where there is no `gcc`.
    rate: Option<f64>,
}

impl Limits {
    /// The part of a call's time that the machine could not do without, if that is known.
    pub(super) fn share(
        &mut self,
        crew: &mut Crew,
        program: &Program,
        threads: usize,
        bytes: &Bytes,
        seconds: f64,
    ) -> Option<f64> {
        let (read, written) = bytes.moved();
        let level = LEVELS[level(read + written, threads)];
        // What writes little is as fast as memory is read.
        let kind = if written < read / 8.0 { "read" } else { "copy" };
        let mut least = (read + written) / self.rate(crew, &format!("{kind}_{level}"), threads)?;
        if program.flops > 0.0 {
            let fma = if program.doubles { "fma_f64" } else { "fma_f32" };
            least = least.max(program.flops / self.rate(crew, fma, threads)?);
        }
        Some(least / seconds).filter(|share| share.is_finite())
    }

    fn rate(&mut self, crew: &mut Crew, name: &str, threads: usize) -> Option<f64> {
        let known = self.rates.iter().find(|known| known.name == name && known.threads == threads);
        if let Some(known) = known {
            return known.rate;
        }
        let rate = best(crew, Side { who: Peer::C, threads }, name);
        if let Err(error) = &rate {
            eprintln!("{name} was not measured: {error}");
        }
        let rate = rate.ok();
        self.rates.push(Rate { name: name.to_string(), threads, rate });
        rate
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

/// The first result of a limit is the amount of work of a call, in billions.
fn best(crew: &mut Crew, side: Side, name: &str) -> Result<f64> {
    let member = crew.member(side)?;
    let first = member.first(name)?;
    let amount = 1e9 * first.result.first().copied().unwrap_or(f64::NAN);
    let calls = member.calls(name)?;
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        least = least.min(member.time(name, calls)?);
    }
    Ok(amount / least)
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
