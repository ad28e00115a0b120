//! What was found, and the input at hand: both in files.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Seek as _, Write as _};
use std::path::Path;

use tests::readers::corpus;

/// So many are enough: one mistake is usually found many times.
const ENOUGH: usize = 10;

/// The file in which the other process finds what was tried last.
pub(crate) struct Desk {
    file: File,
}

impl Desk {
    pub(crate) fn open(path: &Path) -> Result<Desk, String> {
        let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Desk { file })
    }

    /// Puts down the folder of the corpus that an input belongs to, and the input, before it is tried.
    pub(crate) fn put(&mut self, folder: &str, input: &[u8]) -> Result<(), String> {
        let mut bytes = format!("{} {folder}\n", input.len()).into_bytes();
        bytes.extend(input);
        // Not cut first: that is slow, and the length says where the input ends.
        let written = self.file.rewind().and_then(|()| self.file.write_all(&bytes));
        written.map_err(|error| format!("cannot write down the input: {error}"))
    }

    /// What was put down last, by the process that is gone.
    pub(crate) fn last(path: &Path) -> Option<(String, Vec<u8>)> {
        let bytes = fs::read(path).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (len, folder) = str::from_utf8(&bytes[..end]).ok()?.split_once(' ')?;
        let input = bytes[end + 1..].get(..len.parse().ok()?)?;
        Some((folder.to_owned(), input.to_vec()))
    }
}

/// All that was found so far.
#[derive(Default)]
pub(crate) struct Findings {
    /// Of what kind each is.
    said: Vec<String>,
}

impl Findings {
    /// Says what was found and keeps the input, unless something of the same kind was found before.
    pub(crate) fn add(&mut self, folder: &str, input: &[u8], kind: String, why: &str) {
        if self.said.contains(&kind) {
            return;
        }
        self.said.push(kind);
        println!("FOUND {why}\n  in {}", save(folder, input));
    }

    pub(crate) fn count(&self) -> usize {
        self.said.len()
    }

    pub(crate) fn enough(&self) -> bool {
        self.said.len() >= ENOUGH
    }
}

/// Writes an input to the corpus; gives its path, or why there is none.
pub(crate) fn save(folder: &str, input: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let end = if folder == "graphs" { "ir" } else { folder };
    let path = corpus().join(folder).join(format!("found-{:016x}.{end}", hasher.finish()));
    match fs::write(&path, input) {
        Ok(()) => path.display().to_string(),
        Err(error) => format!("no file, because {}: {error}", path.display()),
    }
}
