//! What was measured: a line of the table, an object of the JSON.

use std::fmt;

use super::peers::{Peer, Side};
use super::summary::Agreement;
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
    peer: Option<(Peer, Times)>,
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
        agreement: Agreement,
    ) -> Row {
        let agrees = peer.as_ref().map(|(_, peer)| agreement.holds(&ours.first.result, &peer.first.result));
        let peer = peer.map(|(side, mut sample)| (side.who, Times::new(&mut sample)));
        Row { name, threads, ours: Times::new(&mut ours), peer, agrees }
    }

    /// The peer's time in ours: how many times faster we are.
    fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|(_, peer)| peer.median / self.ours.median)
    }

    /// The peer's first call. C is compiled before it is called.
    fn peer_first(&self) -> Option<f64> {
        self.peer.as_ref().filter(|(who, _)| *who != Peer::C).map(|(_, peer)| peer.first)
    }

    /// An object; the fields are those that `--help` names.
    pub(super) fn json(&self, group: &str) -> String {
        let fields = [
            ("name", quoted(self.name)),
            ("group", quoted(group)),
            ("threads", self.threads.to_string()),
            ("ours_s", number(Some(self.ours.median))),
            ("peer", self.peer.as_ref().map_or("null".to_string(), |(who, _)| quoted(who.name()))),
            ("peer_s", number(self.peer.as_ref().map(|(_, peer)| peer.median))),
            ("ratio", number(self.ratio())),
            ("first_call_s", number(Some(self.ours.first))),
            ("peer_first_call_s", number(self.peer_first())),
            ("agrees", self.agrees.map_or("null".to_string(), |agrees| agrees.to_string())),
        ];
        let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
        format!("  {{{}}}", fields.join(", "))
    }
}

/// The names of the columns.
pub(super) fn header() -> String {
    format!(
        "{:<20} {:>7} {:>10} {:>7}  {:<10} {:>11} {:>7} {:>7} {:>11} {:>11}  agrees",
        "", "threads", "ours", "spread", "peer", "peer's", "spread", "ratio", "first call", "peer's"
    )
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { name, threads, ours, .. } = self;
        write!(f, "{name:<20} {threads:>7} {:>10} {:>7.2}  ", show(ours.median), ours.spread)?;
        match (&self.peer, self.ratio()) {
            (Some((who, peer)), Some(ratio)) => write!(
                f,
                "{:<10} {:>11} {:>7.2} {ratio:>7.2} {:>11} {:>11}  {}",
                who.name(),
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

/// Names are plain words: nothing has to be escaped.
fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// JSON has neither infinities nor NaN.
fn number(x: Option<f64>) -> String {
    x.filter(|x| x.is_finite()).map_or("null".to_string(), |x| format!("{x:e}"))
}
