//! How far the walk of a function has come, in a file that survives whatever stops the program.
//!
//! Invariant: the file describes whole chunks. It is replaced, never changed in place. A file about another
//! expansion than today's is not read.

use std::fs;
use std::path::PathBuf;

use tests::math::{Tally, Walk};

/// So many arguments are done or not done together.
pub(crate) const CHUNK: u64 = 1 << 24;

/// Counts changes of the references and of how errors are measured: older files are not read.
const METHOD: u64 = 1;

/// Which chunks of a function are done, and what was seen in them.
#[derive(Debug)]
pub(crate) struct State {
    path: PathBuf,
    /// Of the expansion.
    hash: u64,
    done: Vec<bool>,
    pub(crate) tally: Tally,
}

impl State {
    /// What an earlier run left of the walk, or a fresh start.
    pub(crate) fn open(walk: &Walk) -> Result<State, String> {
        let folder = folder()?;
        let chunks = walk.len().div_ceil(CHUNK) as usize;
        let path = folder.join(format!("{}.txt", walk.function().name));
        let fresh =
            State { path, hash: hash(&walk.text()), done: vec![false; chunks], tally: Tally::default() };
        let Ok(text) = fs::read_to_string(&fresh.path) else { return Ok(fresh) };
        Ok(fresh.read(&text).unwrap_or(fresh))
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.done.fill(false);
        self.tally = Tally::default();
    }

    /// Chunks that are not done, in order.
    pub(crate) fn open_chunks(&self) -> Vec<u64> {
        (0..).zip(&self.done).filter(|(_, done)| !**done).map(|(chunk, _)| chunk).collect()
    }

    /// The part that is done, from 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        self.done.iter().filter(|done| **done).count() as f64 / self.done.len() as f64
    }

    /// Whether the walk is over.
    pub(crate) fn complete(&self) -> bool {
        self.done.iter().all(|done| *done)
    }

    /// Adds a chunk and writes the file.
    pub(crate) fn finish(&mut self, chunk: u64, tally: &Tally) -> Result<(), String> {
        self.done[chunk as usize] = true;
        self.tally.merge(tally);
        let other = self.path.with_extension("new");
        let written = fs::write(&other, self.text()).and_then(|()| fs::rename(&other, &self.path));
        written.map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }

    fn text(&self) -> String {
        let done: String = self.done.iter().map(|done| if *done { '1' } else { '0' }).collect();
        let counts: Vec<String> = self.tally.counts.iter().map(u64::to_string).collect();
        let mut text = format!("method {METHOD} of {:016x}\n{done}\n{}\n", self.hash, counts.join(" "));
        for (error, bits) in &self.tally.worst {
            text += &format!("{:016x} {bits:x}\n", error.to_bits());
        }
        text
    }

    /// The state that a file describes, if it is about the same expansion and whole.
    fn read(&self, text: &str) -> Option<State> {
        let mut lines = text.lines();
        if lines.next()? != format!("method {METHOD} of {:016x}", self.hash) {
            return None;
        }
        let done: Vec<bool> = lines.next()?.chars().map(|c| c == '1').collect();
        if done.len() != self.done.len() {
            return None;
        }
        let mut seen = Tally::default();
        let mut counts = lines.next()?.split(' ');
        for count in &mut seen.counts {
            *count = counts.next()?.parse().ok()?;
        }
        for line in lines {
            let (error, bits) = line.split_once(' ')?;
            let bits_of = |word: &str| u64::from_str_radix(word, 16).ok();
            seen.worst.push((f64::from_bits(bits_of(error)?), bits_of(bits)?));
        }
        let mut tally = Tally::default();
        tally.merge(&seen);
        Some(State { path: self.path.clone(), hash: self.hash, done, tally })
    }
}

/// Where the files are: beside the folder of the program, which is cargo's.
fn folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = program.ancestors().nth(2).ok_or("the program is in no folder of cargo's")?;
    let folder = target.join("exhaustive");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}

/// FNV-1a: the same in every run.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
