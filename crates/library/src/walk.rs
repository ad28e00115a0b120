//! In which direction large arrays are walked.
//!
//! What was walked last is in the caches of a processor; what was walked first is not any more, if that was more than
//! they hold. Often the next walk is over the same memory, be it what a kernel has made for the next one or the matrix
//! of a solver. So every other long walk goes back, and begins with what is near.

use std::cell::Cell;
use std::ops::Range;

/// Bytes of a walk from which on it counts: less stays in the caches of a core whichever way it is walked.
const LONG: usize = 1 << 20;
/// Beyond this hardly any of it stays, and what memory gains by one direction is more.
const LONGEST: usize = 1 << 24;

thread_local! {
    /// Whether the last long walk that this thread began went back, and over how many bytes it was.
    static LAST: Cell<(bool, usize)> = const { Cell::new((false, 0)) };
}

/// Whether a walk over so many bytes is long, and not so long that it does not matter.
pub fn is_long(bytes: usize) -> bool {
    (LONG..=LONGEST).contains(&bytes)
}

/// Takes note that a walk over so many bytes begins, and says whether it goes from the end to the start.
///
/// One that is much shorter than the last, such as over the vectors of a solver between two products with its matrix,
/// leaves most of the caches as they are, and does not count; unless there are many in a row.
pub fn turns_back(bytes: usize) -> bool {
    let (was_back, most) = LAST.get();
    if !is_long(bytes) {
        return false;
    }
    if bytes < most / 4 {
        LAST.set((was_back, most / 2));
        return false;
    }
    LAST.set((!was_back, bytes));
    !was_back
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
        let first = turns_back(8 * LONG);
        assert!(!turns_back(LONG - 1) && !turns_back(LONGEST + 1));
        assert_eq!(turns_back(8 * LONG), !first);
        // A walk that is much shorter goes from the start, and the next long one back again.
        assert!(!turns_back(LONG));
        assert_eq!(turns_back(8 * LONG), first);
        // After some short ones they count.
        let few = [(); 4].map(|()| turns_back(LONG));
        assert!(few.contains(&true), "{few:?}");
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
