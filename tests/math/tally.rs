//! What is remembered of many errors. The order in which they come, or are merged, does not matter.

use std::cmp::Ordering;

/// How many of the worst are kept: about a thousand of all functions.
pub const KEPT: usize = 36;

/// Smaller errors are not worth a place: every function has larger ones, by rounding alone.
const LEAST: f64 = 0.4;

/// Errors by size, and the largest with their arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// How many are at most ½, at most 1, at most 2, larger, and how many results are special where they should
    /// not be or the other way round.
    pub counts: [u64; 5],
    /// The largest errors and the bits of their arguments, in falling order; equal errors by bits.
    pub worst: Vec<(f64, u64)>,
    /// Errors up to this are not among the worst.
    border: f64,
}

impl Tally {
    /// Takes note of errors at arguments with these bits.
    #[inline(always)]
    pub fn see_all(&mut self, errors: &[f64], bits: &[u64]) {
        let above = |limit: f64| errors.iter().map(|error| u64::from(*error > limit)).sum::<u64>();
        let [half, one, two] = [0.5, 1.0, 2.0].map(above);
        let wrong = errors.iter().map(|error| u64::from(*error == f64::INFINITY)).sum::<u64>();
        let seen = [errors.len() as u64 - half, half - one, one - two, two - wrong, wrong];
        self.counts.iter_mut().zip(seen).for_each(|(count, seen)| *count += seen);
        // Most stretches have none of the worst.
        let border = self.border.max(LEAST);
        if errors.iter().fold(false, |any, error| any | (*error >= border)) {
            for (&error, &bits) in errors.iter().zip(bits) {
                if error >= self.border.max(LEAST) {
                    self.keep(error, bits);
                }
            }
        }
    }

    fn keep(&mut self, error: f64, bits: u64) {
        self.worst.push((error, bits));
        // Sorting now and then is cheaper than each time.
        if self.worst.len() >= 4 * KEPT {
            self.settle();
        }
    }

    /// Puts the worst in order and forgets the others.
    fn settle(&mut self) {
        let order = |a: &(f64, u64), b: &(f64, u64)| {
            b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1))
        };
        self.worst.sort_unstable_by(order);
        self.worst.dedup();
        self.worst.truncate(KEPT);
        self.border = if self.worst.len() == KEPT { self.worst[KEPT - 1].0 } else { 0.0 };
    }

    /// Adds what another tally saw.
    pub fn merge(&mut self, other: &Tally) {
        for (count, other) in self.counts.iter_mut().zip(other.counts) {
            *count += other;
        }
        self.worst.extend_from_slice(&other.worst);
        self.settle();
    }

    /// The largest error and its argument.
    pub fn largest(&self) -> Option<(f64, u64)> {
        let larger =
            |a: (f64, u64), b: &(f64, u64)| if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { *b } else { a };
        let first = *self.worst.first()?;
        Some(self.worst.iter().fold(first, larger))
    }

    /// How many errors were seen.
    pub fn seen(&self) -> u64 {
        self.counts.iter().sum()
    }
}
