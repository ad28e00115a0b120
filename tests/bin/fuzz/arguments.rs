//! What the program is asked to do.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) const USAGE: &str = "\
fuzz [--seconds N | --graphs N] [--seed S]

Tries damaged texts and files on every reader, and random graphs compiled beside their evaluation,
for N seconds (60); or so many graphs, and nothing else. The seed, from the clock unless given, repeats a run. With
TRACEWELL_GUARD=1 an access beyond the end of a buffer ends the run.
";

/// How long, and where to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    pub(crate) time: Duration,
    /// So many graphs instead, however long they take.
    pub(crate) graphs: Option<u64>,
    pub(crate) seed: u64,
}

/// Long enough for any number of graphs that somebody waits for.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Arguments {
    /// Reads the command line; nothing if help is wanted.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut arguments = Arguments { time: Duration::from_secs(60), graphs: None, seed: now.as_secs() };
        while let Some(word) = words.next() {
            if matches!(word.as_str(), "-h" | "--help") {
                return Ok(None);
            }
            let number = words.next().and_then(|text| text.parse().ok());
            let number: u64 = number.ok_or_else(|| format!("a number follows `{word}`"))?;
            match word.as_str() {
                "--seconds" => arguments.time = Duration::from_secs(number),
                "--graphs" => (arguments.graphs, arguments.time) = (Some(number), DAY),
                "--seed" => arguments.seed = number,
                _ => return Err(format!("there is no `{word}`")),
            }
        }
        Ok(Some(arguments))
    }
}
