//! What the program is asked to do.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) const USAGE: &str = "\
fuzz [--seconds N] [--seed S]

Tries damaged texts and files on every reader, and random graphs compiled beside their evaluation,
for N seconds (60). The seed, from the clock unless given, repeats a run. With
TRACEWELL_GUARD=1 an access beyond the end of a buffer ends the run.
";

/// How long, and where to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    pub(crate) time: Duration,
    pub(crate) seed: u64,
}

impl Arguments {
    /// Reads the command line; nothing if help is wanted.
    pub(crate) fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut arguments = Arguments { time: Duration::from_secs(60), seed: now.as_secs() };
        while let Some(word) = words.next() {
            if matches!(word.as_str(), "-h" | "--help") {
                return Ok(None);
            }
            let number = words.next().and_then(|text| text.parse().ok());
            let number: u64 = number.ok_or_else(|| format!("a number follows `{word}`"))?;
            match word.as_str() {
                "--seconds" => arguments.time = Duration::from_secs(number),
                "--seed" => arguments.seed = number,
                _ => return Err(format!("there is no `{word}`")),
            }
        }
        Ok(Some(arguments))
    }
}
