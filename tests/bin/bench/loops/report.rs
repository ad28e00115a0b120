//! What was measured: a line of the table, an object of the JSON.

use std::fmt;

use super::peers::Side;
use super::summary::agree;
use super::talk::First;
use crate::measure::{median, show};

/// What one side measured.
#[derive(Default)]
pub(super) struct Sample {
    /// Seconds of one call, by round.
    pub(super) times: Vec<f64>,
    pub(super) first: First,
}

/// A comparison that was made.
pub(super) struct Row {
    name: &'static str,
    threads: usize,
    ours: Times,
    peer: Option<(Side, Times)>,
    /// Whether the results do, where there are two.
    pub(super) agrees: Option<bool>,
}

struct Times {
    median: f64,
    /// The slowest round in those of the fastest.
    spread: f64,
    first: f64,
}

impl Times {
    fn new(sample: &mut Sample) -> Times {
        let median = median(&mut sample.times);
        let spread = sample.times.last().zip(sample.times.first()).map_or(1.0, |(slow, fast)| slow / fast);
        Times { median, spread, first: sample.first.seconds }
    }
}

impl Row {
    pub(super) fn new(
        name: &'static str,
        threads: usize,
        mut ours: Sample,
        peer: Option<(Side, Sample)>,
        tolerance: f64,
    ) -> Row {
        let agrees = peer.as_ref().map(|(_, peer)| agree(&ours.first.result, &peer.first.result, tolerance));
        let peer = peer.map(|(side, mut sample)| (side, Times::new(&mut sample)));
        Row { name, threads, ours: Times::new(&mut ours), peer, agrees }
    }

    /// The peer's time in ours: how many times faster we are.
    fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|(_, peer)| peer.median / self.ours.median)
    }

    /// The peer's first call. C is compiled before it is called.
    fn peer_first(&self) -> Option<f64> {
        self.peer.as_ref().filter(|(side, _)| *side != Side::C).map(|(_, peer)| peer.first)
    }
}

/// The names of the columns.
pub(super) fn header() -> String {
    format!(
        "{:<18} {:>7} {:>10} {:>7}  {:<10} {:>11} {:>7} {:>7} {:>11} {:>11}  agrees",
        "", "threads", "ours", "spread", "peer", "peer's", "spread", "ratio", "first call", "peer's"
    )
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { name, threads, ours, .. } = self;
        write!(f, "{name:<18} {threads:>7} {:>10} {:>7.2}  ", show(ours.median), ours.spread)?;
        match (&self.peer, self.ratio()) {
            (Some((side, peer)), Some(ratio)) => write!(
                f,
                "{:<10} {:>11} {:>7.2} {ratio:>7.2} {:>11} {:>11}  {}",
                side.name(),
                show(peer.median),
                peer.spread,
                show(ours.first),
                self.peer_first().map_or("-".to_string(), show),
                if self.agrees == Some(true) { "yes" } else { "NO" },
            ),
            _ => write!(f, "{:<10} {:>11} {:>7} {:>7} {:>11}", "-", "", "", "", show(ours.first)),
        }
    }
}

/// The rows as a list of objects; the fields are those that `--help` names.
pub(super) fn json(group: &str, rows: &[Row]) -> String {
    let objects: Vec<String> = rows
        .iter()
        .map(|row| {
            let fields = [
                ("name", quoted(row.name)),
                ("group", quoted(group)),
                ("threads", row.threads.to_string()),
                ("ours_s", number(Some(row.ours.median))),
                ("peer", row.peer.as_ref().map_or("null".to_string(), |(side, _)| quoted(side.name()))),
                ("peer_s", number(row.peer.as_ref().map(|(_, peer)| peer.median))),
                ("ratio", number(row.ratio())),
                ("first_call_s", number(Some(row.ours.first))),
                ("peer_first_call_s", number(row.peer_first())),
                ("agrees", row.agrees.map_or("null".to_string(), |agrees| agrees.to_string())),
            ];
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
            format!("  {{{}}}", fields.join(", "))
        })
        .collect();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

/// Names are plain words: nothing has to be escaped.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// JSON has neither infinities nor NaN.
fn number(x: Option<f64>) -> String {
    x.filter(|x| x.is_finite()).map_or("null".to_string(), |x| format!("{x:e}"))
}
