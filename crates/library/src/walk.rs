//! In which direction large arrays are walked.
//!
//! What was walked last is in the caches of a processor; what was walked first is not any more, if that was more than
//! they hold. Often the next walk is over the same memory, be it what a kernel has made for the next one or the matrix
//! of a solver. So every other long walk goes back, and begins with what is near.

use std::cell::Cell;
use std::ops::Range;

/// Bytes of a walk from which on it counts: the smaller caches of some processors.
const LONG: usize = 1 << 18;

thread_local! {
    /// Whether the last long walk that this thread began went back.
    static WAS_BACK: Cell<bool> = const { Cell::new(false) };
}

/// Whether a walk over so many bytes is long.
pub fn is_long(bytes: usize) -> bool {
    bytes >= LONG
}

/// Whether the long walk that begins now goes from the end to the start.
pub fn goes_back() -> bool {
    WAS_BACK.set(!WAS_BACK.get());
    WAS_BACK.get()
}

/// Does each of some parts of a walk in its direction.
pub(crate) fn walk(parts: Range<usize>, back: bool, part: impl FnMut(usize)) {
    if back { parts.rev().for_each(part) } else { parts.for_each(part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_long_walk_goes_back() {
        let first = goes_back();
        assert_eq!(goes_back(), !first);
        assert_eq!(goes_back(), first);
    }

    #[test]
    fn a_walk_back_misses_nothing() {
        for (back, expected) in [(false, [3, 4, 5]), (true, [5, 4, 3])] {
            let mut walked = Vec::new();
            walk(3..6, back, |part| walked.push(part));
            assert_eq!(walked, expected);
        }
    }
}
