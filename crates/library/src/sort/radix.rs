//! Sorting by digits, stably. Many elements are first dealt out by the most important bits that differ, so that
//! parts fit a cache; a part is then sorted digit by digit, the least important first.

/// Bits of a digit of a part: its counts stay in the fastest cache.
const BITS: u32 = 8;
/// Bits by which many elements are dealt out, at most.
const DEAL: u32 = 11;
/// And so few that parts have about this many, as a power of two: counts of less cost more than they save.
const PART: u32 = 8;
/// From so many elements on they are dealt out: fewer fit a cache as they are.
const MANY: usize = 1 << 16;
/// Up to so many elements are put in order one by one.
const FEW: usize = 40;

/// So many more than are wanted are gathered, at least, before the smallest of them are selected.
const ROOM: usize = 1 << 10;

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

/// Sorts by keys; equal ones stay in order. Says whether the result is in the spare memory, which is as long.
pub(super) fn sort<T: Keyed>(data: &mut [T], spare: &mut [T]) -> bool {
    let (mut low, mut high, mut before, mut sorted) = (u64::MAX, 0, 0, true);
    for x in data.iter() {
        let key = x.key();
        sorted &= before <= key;
        (low, high, before) = (low.min(key), high.max(key), key);
    }
    if sorted {
        return false;
    }
    // Bits above the highest one that differs are the same in all keys.
    let width = u64::BITS - (low ^ high).leading_zeros();
    if is_dealt(data.len(), width) {
        deal(data, spare, width);
        return false;
    }
    digits(data, spare, width)
}

/// The `count` smallest, sorted; of equal ones those that come first.
pub(super) fn smallest<T: Keyed>(mut data: impl Iterator<Item = T>, count: usize) -> Vec<T> {
    if count == 0 {
        return Vec::new();
    }
    let room = count + count.max(ROOM);
    let mut kept: Vec<T> = data.by_ref().take(room).collect();
    if kept.len() == room {
        let mut bound = select(&mut kept, count);
        for x in data {
            // An equal one comes later than those that are kept.
            if x.key() < bound {
                kept.push(x);
                if kept.len() == room {
                    bound = select(&mut kept, count);
                }
            }
        }
    }
    kept.sort_unstable_by_key(|x| x.full());
    kept.truncate(count);
    kept
}

/// Keeps the `count` smallest of more, and says the key of the largest of them.
fn select<T: Keyed>(data: &mut Vec<T>, count: usize) -> u64 {
    data.select_nth_unstable_by_key(count - 1, |x| x.full());
    data.truncate(count);
    data[count - 1].key()
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
    let mut start = 0;
    for &end in &ends[..1 << bits] {
        let part = start..end as usize;
        let (from, to) = (&mut spare[part.clone()], &mut data[part.clone()]);
        if is_dealt(part.len(), rest) {
            deal(from, to, rest);
            to.copy_from_slice(from);
        } else if !digits(from, to, rest) {
            to.copy_from_slice(from);
        }
        start = part.end;
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
pub(super) mod testing {
    /// Numbers that look random.
    pub(crate) fn numbers(n: usize, below: u64) -> Vec<u64> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) % below
        };
        (0..n).map(|_| next()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::numbers;
    use super::*;

    fn sorted<T: Keyed>(mut data: Vec<T>) -> Vec<T> {
        let mut spare = data.clone();
        if sort(&mut data, &mut spare) { spare } else { data }
    }

    /// Every size and way: one by one, digit by digit, dealt out once and twice.
    #[test]
    fn sorts_as_the_standard_library_does() {
        for n in [0, 1, 2, 3, FEW + 1, 400, MANY - 1, MANY, 3 * MANY / 2] {
            for below in [1, 3, 300, 1 << 20, 1 << 40] {
                let numbers = numbers(n, below);
                let mut expected = numbers.clone();
                expected.sort_unstable();
                assert!(sorted(numbers.clone()) == expected, "{n} below {below}");

                let placed = |(place, &key)| Placed { key, place };
                let all: Vec<Placed<u64>> = (0u32..).zip(&numbers).map(placed).collect();
                let pairs = sorted(all.clone());
                let is_stable = pairs.is_sorted_by_key(|x| x.full());
                assert!(is_stable && pairs.iter().map(|x| x.key).eq(expected), "{n} below {below}");
                let few = smallest(all.iter().copied(), n / 3);
                assert!(few.iter().map(|x| x.full()).eq(pairs[..n / 3].iter().map(|x| x.full())));
            }
        }
    }
}
