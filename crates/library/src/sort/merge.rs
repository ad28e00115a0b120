//! Sorting on several threads: each sorts a part, and then makes a part of the merged result.
//!
//! Invariant: equal keys stay in order, so that there is one result, however many parts there were.

use std::ops::Range;

use rayon::join;

use super::radix::{self, Keyed};
use crate::pool;

/// From so many elements on they are shared between threads.
pub(super) const PARALLEL: usize = 1 << 16;

/// Sorts by keys; equal ones stay in order. Many elements are shared between threads. Says whether the result is in
/// the spare memory, which is as long.
pub(super) fn sort<T: Keyed>(data: &mut [T], spare: &mut [T]) -> bool {
    part(data, spare, pool::threads())
}

/// The `count` smallest of `len` elements, sorted; of equal ones those that come first.
pub(super) fn smallest<T: Keyed>(of: &(impl Fn(u32) -> T + Sync), len: u32, count: usize) -> Vec<T> {
    smallest_part(of, 0..len, count, pool::threads())
}

fn smallest_part<T: Keyed>(
    of: &(impl Fn(u32) -> T + Sync),
    range: Range<u32>,
    count: usize,
    threads: usize,
) -> Vec<T> {
    if threads == 1 || range.len() < PARALLEL {
        return radix::smallest(range.map(of), count);
    }
    let middle = range.start.midpoint(range.end);
    let (low, high) = join(
        || smallest_part(of, range.start..middle, count, threads / 2),
        || smallest_part(of, middle..range.end, count, threads.div_ceil(2)),
    );
    radix::smallest(low.into_iter().chain(high), count)
}

/// As [`sort`], on some threads.
fn part<T: Keyed>(data: &mut [T], spare: &mut [T], threads: usize) -> bool {
    if threads == 1 || data.len() < PARALLEL {
        return radix::sort(data, spare);
    }
    let half = data.len() / 2;
    let moved = {
        let ((low, high), (low_spare, high_spare)) = (data.split_at_mut(half), spare.split_at_mut(half));
        let (is_low_moved, is_high_moved) =
            join(|| part(low, low_spare, threads / 2), || part(high, high_spare, threads.div_ceil(2)));
        match (is_low_moved, is_high_moved) {
            (true, false) => low.copy_from_slice(low_spare),
            (false, true) => high.copy_from_slice(high_spare),
            _ => {}
        }
        is_low_moved && is_high_moved
    };
    let (from, to) = if moved { (spare, data) } else { (data, spare) };
    let (low, high) = from.split_at(half);
    merge_shared(low, high, to, threads);
    !moved
}

/// Merges two sorted parts on some threads.
fn merge_shared<T: Keyed>(low: &[T], high: &[T], to: &mut [T], threads: usize) {
    if threads == 1 || to.len() < PARALLEL / 2 {
        return merge(low, high, to);
    }
    let half = to.len() / 2;
    let from_low = share(low, high, half);
    let ((low_first, low_rest), (high_first, high_rest)) =
        (low.split_at(from_low), high.split_at(half - from_low));
    let (first, rest) = to.split_at_mut(half);
    join(
        || merge_shared(low_first, high_first, first, threads / 2),
        || merge_shared(low_rest, high_rest, rest, threads.div_ceil(2)),
    );
}

/// How many of the first `count` elements of both parts together are of the lower one.
fn share<T: Keyed>(low: &[T], high: &[T], count: usize) -> usize {
    let (mut least, mut most) = (count.saturating_sub(high.len()), count.min(low.len()));
    while least < most {
        let middle = least.midpoint(most);
        // Of equal elements those of the lower part come first.
        if low[middle].key() <= high[count - middle - 1].key() {
            least = middle + 1;
        } else {
            most = middle;
        }
    }
    least
}

/// Merges two sorted parts: both halves of the result at a time, because the next element of one is not known before
/// the last one was compared.
fn merge<T: Keyed>(low: &[T], high: &[T], to: &mut [T]) {
    let half = to.len() / 2;
    let from_low = share(low, high, half);
    let ((low_first, low_rest), (high_first, high_rest)) =
        (low.split_at(from_low), high.split_at(half - from_low));
    let (first, rest) = to.split_at_mut(half);
    let (mut first, mut rest) =
        (Merge::new(low_first, high_first, first), Merge::new(low_rest, high_rest, rest));
    while first.has_both() && rest.has_both() {
        first.step();
        rest.step();
    }
    first.finish();
    rest.finish();
}

/// Two sorted parts on their way to one.
struct Merge<'a, T> {
    low: &'a [T],
    high: &'a [T],
    to: &'a mut [T],
    /// How many elements of each part are in their place.
    done: (usize, usize),
}

impl<'a, T: Keyed> Merge<'a, T> {
    fn new(low: &'a [T], high: &'a [T], to: &'a mut [T]) -> Merge<'a, T> {
        Merge { low, high, to, done: (0, 0) }
    }

    fn has_both(&self) -> bool {
        self.done.0 < self.low.len() && self.done.1 < self.high.len()
    }

    /// Puts one element. Which one is a number and not a branch, which could not be foretold.
    fn step(&mut self) {
        let (i, j) = self.done;
        let (a, b) = (self.low[i], self.high[j]);
        let is_high = b.key() < a.key();
        self.to[i + j] = if is_high { b } else { a };
        self.done = (i + usize::from(!is_high), j + usize::from(is_high));
    }

    fn finish(mut self) {
        while self.has_both() {
            self.step();
        }
        let (i, j) = self.done;
        self.to[i + j..].copy_from_slice(if i < self.low.len() { &self.low[i..] } else { &self.high[j..] });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::radix::Placed;
    use crate::sort::radix::testing::numbers;

    /// With any number of threads, few and many elements, of few and many keys.
    #[test]
    fn parts_are_merged_in_order() {
        for n in [PARALLEL - 1, PARALLEL, 3 * PARALLEL + 1] {
            for below in [1, 3, 1 << 12, 1 << 40] {
                let placed = |(place, key)| Placed { key, place };
                let all: Vec<Placed<u64>> = (0u32..).zip(numbers(n, below)).map(placed).collect();
                for threads in 1..6 {
                    let (mut found, mut spare) = (all.clone(), all.clone());
                    if part(&mut found, &mut spare, threads) {
                        std::mem::swap(&mut found, &mut spare);
                    }
                    assert!(found.is_sorted_by_key(|x| x.full()), "{n} below {below} on {threads}");
                    let sum = |all: &[Placed<u64>]| all.iter().map(|x| x.key).fold(0, u64::wrapping_add);
                    assert_eq!(sum(&found), sum(&all), "{n} below {below} on {threads}");
                }
            }
        }
    }

    /// Of equal elements the first, whichever part they are in.
    #[test]
    fn the_smallest_of_parts_are_the_smallest_of_all() {
        for below in [1, 3, 1 << 40] {
            let all = numbers(2 * PARALLEL + 7, below);
            let of = |place: u32| Placed { key: all[place as usize], place };
            let mut expected: Vec<(u64, u32)> = (0..all.len() as u32).map(|place| of(place).full()).collect();
            expected.sort_unstable();
            for (count, threads) in [(1, 1), (1, 2), (5, 3), (5000, 1), (5000, 4)] {
                let found = smallest_part(&of, 0..all.len() as u32, count, threads);
                let found: Vec<(u64, u32)> = found.into_iter().map(|x| x.full()).collect();
                assert!(found == expected[..count], "{count} below {below} on {threads}");
            }
        }
    }

    #[test]
    fn the_share_of_equal_elements_is_the_lower_part() {
        let low = [1u32, 5, 5, 5];
        let high = [0u32, 5, 9];
        let shares: Vec<usize> = (0..=7).map(|count| share(&low, &high, count)).collect();
        assert_eq!(shares, [0, 0, 1, 2, 3, 4, 4, 4]);
    }
}
