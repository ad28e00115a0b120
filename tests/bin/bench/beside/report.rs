//! What was measured: a line of the table, an object of the JSON.

use std::fmt;

use super::memory::Bytes;
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
    /// Seconds of tracing and compiling, if they were asked for.
    pub(super) builds: Vec<f64>,
    /// What it takes, if it was asked for.
    pub(super) bytes: Option<Bytes>,
}

/// A comparison that was made.
pub(super) struct Row {
    name: &'static str,
    threads: usize,
    ours: Times,
    peer: Option<(Peer, Times)>,
    /// The peer's time in ours: how many times faster we are.
    ratio: Option<f64>,
    /// Whether the results do, where there are two.
    pub(super) agrees: Option<bool>,
    bytes: Option<Bytes>,
    /// The part of our time that the machine could not do without, if that is known.
    pub(super) share: Option<f64>,
}

struct Times {
    median: f64,
    /// The slowest round in those of the fastest, of many without a tenth at either end.
    spread: f64,
    first: f64,
    /// Tracing and compiling.
    building: Option<f64>,
    /// Bytes of results and of what lies between.
    taken: Option<f64>,
}

impl Times {
    fn new(sample: &mut Sample) -> Times {
        let median = median(&mut sample.times);
        let end = sample.times.len() / 10;
        let kept = &sample.times[end..sample.times.len() - end];
        let spread = kept.last().zip(kept.first()).map_or(1.0, |(slow, fast)| slow / fast);
        let taken = sample.bytes.and_then(|bytes| bytes.taken());
        let building = (!sample.builds.is_empty()).then(|| self::median(&mut sample.builds));
        Times { median, spread, first: sample.first.seconds, building, taken }
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
        let ratio = peer.as_ref().map(|(_, peer)| median(&mut ratios(&ours.times, &peer.times)));
        // What only multiplies and adds has no result.
        let agrees = peer
            .as_ref()
            .filter(|(side, _)| side.who != Peer::Peak)
            .map(|(_, peer)| agreement.holds(&ours.first.result, &peer.first.result));
        let peer = peer.map(|(side, mut sample)| (side.who, Times::new(&mut sample)));
        let bytes = ours.bytes;
        Row { name, threads, ours: Times::new(&mut ours), peer, ratio, agrees, bytes, share: None }
    }

    /// Of our program, if they were asked for.
    pub(super) fn bytes(&self) -> Option<Bytes> {
        self.bytes
    }

    /// Our time.
    pub(super) fn seconds(&self) -> f64 {
        self.ours.median
    }

    /// The peer's first call. C is compiled before it is called.
    fn peer_first(&self) -> Option<f64> {
        let is_compiled = |who: &Peer| !matches!(who, Peer::C | Peer::Peak);
        self.peer.as_ref().filter(|(who, _)| is_compiled(who)).map(|(_, peer)| peer.first)
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
            ("ratio", number(self.ratio)),
            ("first_call_s", number(Some(self.ours.first))),
            ("peer_first_call_s", number(self.peer_first())),
            ("building_s", number(self.ours.building)),
            ("peer_building_s", number(self.peer.as_ref().and_then(|(_, peer)| peer.building))),
            ("ours_spread", number(Some(self.ours.spread))),
            ("peer_spread", number(self.peer.as_ref().map(|(_, peer)| peer.spread))),
            ("ours_bytes", number(self.ours.taken)),
            ("peer_bytes", number(self.peer.as_ref().and_then(|(_, peer)| peer.taken))),
            ("share", number(self.share)),
            ("agrees", self.agrees.map_or("null".to_string(), |agrees| agrees.to_string())),
        ];
        let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
        format!("  {{{}}}", fields.join(", "))
    }
}

/// How many times faster we are, by round: what is beside each other in time has the same neighbours. Where one side has
/// more rounds than the other, the last ones are left out.
pub(super) fn ratios(ours: &[f64], peer: &[f64]) -> Vec<f64> {
    ours.iter().zip(peer).map(|(ours, peer)| peer / ours).collect()
}

/// The names of the columns.
pub(super) fn header() -> String {
    format!(
        "{:<24} {:>7} {:>10} {:>7}  {:<10} {:>11} {:>7} {:>7} {:>11} {:>11} {:>11} {:>11} {:>9} {:>9} {:>6}  agrees",
        "",
        "threads",
        "ours",
        "spread",
        "peer",
        "peer's",
        "spread",
        "ratio",
        "first call",
        "peer's",
        "building",
        "peer's",
        "memory",
        "peer's",
        "share"
    )
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { name, threads, ours, .. } = self;
        write!(f, "{name:<24} {threads:>7} {:>10} {:>7.2}  ", show(ours.median), ours.spread)?;
        match (&self.peer, self.ratio) {
            (Some((who, peer)), Some(ratio)) => write!(
                f,
                "{:<10} {:>11} {:>7.2} {ratio:>7.2} {:>11} {:>11} {:>11} {:>11} {:>9} {:>9} {:>6}  {}",
                who.name(),
                show(peer.median),
                peer.spread,
                show(ours.first),
                self.peer_first().map_or("-".to_string(), show),
                known(ours.building),
                known(peer.building),
                ours.taken.map_or("-".to_string(), size),
                peer.taken.map_or("-".to_string(), size),
                self.share.map_or("-".to_string(), |share| format!("{share:.2}")),
                self.agrees.map_or("-", |agrees| if agrees { "yes" } else { "NO" }),
            ),
            _ => write!(f, "{:<10} {:>11} {:>7} {:>7} {:>11}", "-", "", "", "", show(ours.first)),
        }
    }
}

/// Seconds that may not be known.
fn known(seconds: Option<f64>) -> String {
    seconds.filter(|seconds| !seconds.is_nan()).map_or("-".to_string(), show)
}

/// Bytes, as people read them.
fn size(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b} B"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b => format!("{:.1} MB", b / 1e6),
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
