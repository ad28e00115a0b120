//! Sorting by digits, stably. Many elements are first dealt out by the most important bits that differ, so that
//! parts fit a cache and threads share them; a part is then sorted digit by digit, the least important first.

use rayon::join;

/// Bits of a digit of a part: its counts stay in the fastest cache.
const BITS: u32 = 8;
/// Bits by which many elements are dealt out, at most.
const DEAL: u32 = 11;
/// And so few that parts have about this many, as a power of two: counts of less cost more than they save.
const PART: u32 = 9;
/// From so many elements on they are dealt out: fewer fit a cache as they are.
const MANY: usize = 1 << 16;
/// Up to so many elements are put in order one by one.
const FEW: usize = 40;
/// Parts together smaller than this stay on one thread.
const PARALLEL: usize = 1 << 15;

/// What is sorted: something with an unsigned key.
pub(super) trait Keyed: Copy + Default + Send + Sync {
    /// The key.
    fn key(self) -> u64;
    /// What decides between equal keys: the key itself where nothing does.
    fn full(self) -> (u64, u32);
}

impl Keyed for u8 {
    fn key(self) -> u64 {
        u64::from(self)
    }
    fn full(self) -> (u64, u32) {
        (u64::from(self), 0)
    }
}

impl Keyed for u32 {
    fn key(self) -> u64 {
        u64::from(self)
    }
    fn full(self) -> (u64, u32) {
        (u64::from(self), 0)
    }
}

impl Keyed for u64 {
    fn key(self) -> u64 {
        self
    }
    fn full(self) -> (u64, u32) {
        (self, 0)
    }
}

/// A key and where it came from.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Placed<K> {
    pub(super) key: K,
    pub(super) place: u32,
}

impl<K: Keyed> Keyed for Placed<K> {
    fn key(self) -> u64 {
        self.key.key()
    }
    fn full(self) -> (u64, u32) {
        (self.key.key(), self.place)
    }
}

/// Sorts by keys; equal ones stay in order. On several threads, if it runs on one of a pool.
pub(super) fn sort<T: Keyed>(data: &mut Vec<T>) {
    let (mut low, mut high, mut before, mut sorted) = (u64::MAX, 0, 0, true);
    for x in data.iter() {
        let key = x.key();
        sorted &= before <= key;
        (low, high, before) = (low.min(key), high.max(key), key);
    }
    if sorted {
        return;
    }
    // Bits above the highest one that differs are the same in all keys.
    let width = u64::BITS - (low ^ high).leading_zeros();
    let mut spare = vec![T::default(); data.len()];
    if is_dealt(data.len(), width) {
        deal(data, &mut spare, width);
    } else if digits(data, &mut spare, width) {
        std::mem::swap(data, &mut spare);
    }
}

/// The `count` smallest, sorted; of equal ones those that come first.
pub(super) fn smallest<T: Keyed>(mut data: Vec<T>, count: usize) -> Vec<T> {
    if count == 0 {
        return Vec::new();
    }
    if count < data.len() {
        data.select_nth_unstable_by_key(count - 1, |x| x.full());
        data.truncate(count);
    }
    data.sort_unstable_by_key(|x| x.full());
    data
}

/// Whether dealing out is worth it: there are many, or keys have many digits.
fn is_dealt(len: usize, width: u32) -> bool {
    let many = if width > 4 * BITS { MANY / 16 } else { MANY };
    len >= many && width > BITS
}

/// Sorts many by dealing them out to parts. The result is where the data was.
fn deal<T: Keyed>(data: &mut [T], spare: &mut [T], width: u32) {
    let bits = DEAL.min(width).min(data.len().ilog2() - PART);
    let rest = width - bits;
    let digit = |x: T| (x.key() >> rest) as usize & ((1 << bits) - 1);
    let mut ends = [0u32; 1 << DEAL];
    for &x in data.iter() {
        ends[digit(x)] += 1;
    }
    starts(&mut ends);
    // Where a part starts becomes where it ends.
    for &x in data.iter() {
        let end = &mut ends[digit(x)];
        spare[*end as usize] = x;
        *end += 1;
    }
    parts(spare, data, 0, &ends[..1 << bits], rest);
}

/// Sorts parts that end at these places, from one array to another.
fn parts<T: Keyed>(from: &mut [T], to: &mut [T], start: usize, ends: &[u32], width: u32) {
    if let &[end] = ends {
        if is_dealt(end as usize - start, width) {
            deal(from, to, width);
            to.copy_from_slice(from);
        } else if !digits(from, to, width) {
            to.copy_from_slice(from);
        }
        return;
    }
    let (low, high) = ends.split_at(ends.len() / 2);
    let middle = low[low.len() - 1] as usize;
    let (from_low, from_high) = from.split_at_mut(middle - start);
    let (to_low, to_high) = to.split_at_mut(middle - start);
    let is_large = from_low.len().min(from_high.len()) >= PARALLEL;
    let mut below = || parts(from_low, to_low, start, low, width);
    let mut above = || parts(from_high, to_high, middle, high, width);
    if is_large {
        join(below, above);
    } else {
        below();
        above();
    }
}

/// Sorts by the lowest bits of keys, a digit at a time. Says whether the result is in the spare memory.
fn digits<T: Keyed>(data: &mut [T], spare: &mut [T], width: u32) -> bool {
    if data.len() <= FEW {
        insert(data);
        return false;
    }
    let (mut from, mut to) = (data, spare);
    let mut moved = false;
    for shift in (0..width).step_by(BITS as usize) {
        let digit = |x: T| (x.key() >> shift) as usize % (1 << BITS);
        let mut places = [0u32; 1 << BITS];
        for &x in from.iter() {
            places[digit(x)] += 1;
        }
        if places[digit(from[0])] as usize == from.len() {
            continue;
        }
        starts(&mut places);
        for &x in from.iter() {
            let place = &mut places[digit(x)];
            to[*place as usize] = x;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
        moved = !moved;
    }
    moved
}

/// Counts to where each count starts.
fn starts(counts: &mut [u32]) {
    let mut start = 0;
    for count in counts {
        start += std::mem::replace(count, start);
    }
}

/// Puts each element in its place among those before it.
fn insert<T: Keyed>(data: &mut [T]) {
    for i in 1..data.len() {
        let x = data[i];
        let mut place = i;
        while place > 0 && data[place - 1].key() > x.key() {
            data[place] = data[place - 1];
            place -= 1;
        }
        data[place] = x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, below: u64) -> Vec<u64> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) % below
        };
        (0..n).map(|_| next()).collect()
    }

    /// Every size and way: one by one, digit by digit, dealt out once and twice.
    #[test]
    fn sorts_as_the_standard_library_does() {
        for n in [0, 1, 2, 3, FEW + 1, 400, MANY - 1, MANY, 3 * PARALLEL] {
            for below in [1, 3, 300, 1 << 20, 1 << 40] {
                let numbers = numbers(n, below);
                let mut expected = numbers.clone();
                expected.sort_unstable();
                let mut found = numbers.clone();
                sort(&mut found);
                assert!(found == expected, "{n} below {below}");

                let placed = |(place, &key)| Placed { key, place };
                let mut pairs: Vec<Placed<u64>> = (0u32..).zip(&numbers).map(placed).collect();
                let all = pairs.clone();
                sort(&mut pairs);
                let is_stable = pairs.is_sorted_by_key(|x| x.full());
                assert!(is_stable && pairs.iter().map(|x| x.key).eq(expected), "{n} below {below}");
                let few = smallest(all, n / 3);
                assert!(few.iter().map(|x| x.full()).eq(pairs[..n / 3].iter().map(|x| x.full())));
            }
        }
    }
}
