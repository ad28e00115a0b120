//! Damage: small changes to bytes and tokens, so that most of a text stays good and readers get far into it.

use super::{Kind, files, fresh};
use crate::generate::Rng;

/// Longer inputs are cut: they only take time.
const LONGEST: usize = 1 << 16;

/// So many fresh texts are kept.
const POOL: usize = 50;

/// Numbers at which something may overflow, be empty or be too much.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "64",
    "65",
    "255",
    "256",
    "4294967295",
    "4294967296",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e308",
    "1e-400",
    "1e999999999",
    "0x7fc00001",
    "00",
];

/// A source of damaged inputs for one reader.
#[derive(Debug)]
pub struct Mutator {
    kind: Kind,
    corpus: Vec<Vec<u8>>,
    /// Fresh texts. Making them takes longer than reading them, so one serves many times.
    fresh: Vec<Vec<u8>>,
    /// Pieces of the corpus, to be put where they do not belong.
    tokens: Vec<Vec<u8>>,
    rng: Rng,
}

impl Mutator {
    /// Damages the corpus and fresh texts, in an order that the seed gives.
    pub fn new(kind: Kind, seed: u64) -> Mutator {
        let corpus: Vec<Vec<u8>> = files(kind.folder()).into_iter().map(|(_, bytes)| bytes).collect();
        let mut tokens: Vec<Vec<u8>> =
            corpus.iter().flat_map(|bytes| split(bytes)).map(<[u8]>::to_vec).collect();
        tokens.sort();
        tokens.dedup();
        Mutator { kind, corpus, fresh: Vec::new(), tokens, rng: Rng::new(seed) }
    }

    /// The next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut bytes = self.start();
        // Often little, seldom much: what is thoroughly broken is refused at the first token.
        for _ in 0..1 + self.rng.below(4) * self.rng.below(3) {
            bytes = if self.rng.percent(65) { self.damage_tokens(&bytes) } else { self.damage_bytes(bytes) };
            bytes.truncate(LONGEST);
        }
        bytes
    }

    fn start(&mut self) -> Vec<u8> {
        if self.fresh.len() < POOL || self.rng.below(500) == 0 {
            self.fresh.truncate(POOL - 1);
            self.fresh.insert(0, fresh(self.kind, self.rng.bits()));
        }
        let from = if self.rng.percent(50) { &self.fresh } else { &self.corpus };
        self.rng.pick(from).cloned().unwrap_or_default()
    }

    fn damage_bytes(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        let (from, to) = self.range(bytes.len(), 24);
        match self.rng.below(6) {
            0 => bytes.iter_mut().skip(from).take(1).for_each(|byte| *byte ^= 1 << self.rng.below(8)),
            1 => bytes.iter_mut().skip(from).take(1).for_each(|byte| *byte = self.rng.bits() as u8),
            2 => drop(bytes.drain(from..to)),
            3 => bytes.truncate(from),
            4 => {
                let noise: Vec<u8> = (0..1 + self.rng.below(6)).map(|_| self.rng.bits() as u8).collect();
                bytes.splice(from..from, noise);
            }
            _ => {
                let other = self.start();
                let (start, end) = self.range(other.len(), 200);
                bytes.splice(from..to, other[start..end].iter().copied());
            }
        }
        bytes
    }

    fn damage_tokens(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut tokens: Vec<Vec<u8>> = split(bytes).map(<[u8]>::to_vec).collect();
        let (from, to) = self.range(tokens.len(), 12);
        match self.rng.below(12) {
            0 | 1 => {
                let number = NUMBERS[self.rng.below(NUMBERS.len())].as_bytes().to_vec();
                let places: Vec<usize> =
                    (0..tokens.len()).filter(|&i| tokens[i][0].is_ascii_digit()).collect();
                if let Some(&place) = self.rng.pick(&places) {
                    tokens[place] = number;
                }
            }
            2 | 3 => {
                let token = self.rng.pick(&self.tokens).cloned().unwrap_or_default();
                tokens.iter_mut().skip(from).take(1).for_each(|place| place.clone_from(&token));
            }
            4 => drop(tokens.drain(from..to)),
            5 => {
                let piece = tokens[from..to].to_vec();
                tokens.splice(from..from, piece);
            }
            6 => {
                // Nesting and repetition: the same piece again and again.
                let piece = tokens[from..to].to_vec();
                let times = [2, 10, 70, 300, 5000][self.rng.below(5)];
                let many = piece.iter().cycle().take(piece.len() * times).take(LONGEST).cloned();
                tokens.splice(from..from, many.collect::<Vec<_>>());
            }
            7 => {
                let other = self.rng.below(tokens.len());
                if from < tokens.len() && other < tokens.len() {
                    tokens.swap(from, other);
                }
            }
            8 => {
                let other = self.start();
                let pieces: Vec<Vec<u8>> = split(&other).map(<[u8]>::to_vec).collect();
                let (start, end) = self.range(pieces.len(), 40);
                tokens.splice(from..to, pieces[start..end].iter().cloned());
            }
            // One of its own kind: most likely to be read.
            _ => {
                let Some(&first) = tokens.get(from).and_then(|token| token.first()) else {
                    return Vec::new();
                };
                let alike = |token: &&Vec<u8>| class(token[0]) == class(first);
                let alike: Vec<&Vec<u8>> = tokens.iter().filter(alike).collect();
                let other = self.rng.pick(&alike).map(|token| (*token).clone());
                tokens[from] = other.unwrap_or_default();
            }
        }
        tokens.concat()
    }

    /// A short range of places below `len`.
    fn range(&mut self, len: usize, most: usize) -> (usize, usize) {
        let from = self.rng.below(len);
        (from, (from + 1 + self.rng.below(most)).min(len).max(from))
    }
}

/// Words, numbers, runs of spaces, and every other byte by itself.
fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunk_by(|&a, &b| match (class(a), class(b)) {
        (0, _) | (_, 0) => false,
        // Digits go on in a name, but a number has no letters.
        (2, 1) => true,
        (a, b) => a == b,
    })
}

/// Other bytes, digits, letters, white space.
fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 1,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'%' | b'$' | b'@' => 2,
        b' ' | b'\n' => 3,
        _ => 0,
    }
}
