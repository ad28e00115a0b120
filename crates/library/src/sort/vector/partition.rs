//! Dividing elements in place: those below a pivot to the front, the others to the back.

use super::network;
use crate::lanes::Lane;
use crate::lanes::x86::{Mask, first, is_at_most, is_less, load, only, splat, store};

/// As many as are divided at least.
pub(super) const fn least<T: Lane>() -> usize {
    network::most::<T>()
}

/// How many vectors are read at a time, from the end that has less room.
const AT_ONCE: usize = network::VECTORS / 2;

/// Room for what is kept aside.
pub(super) type Aside<T> = [T; 384];

/// Divides by a pivot; equal ones are low if `EQUAL_IS_LOW`. Says how many are low.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
pub(super) fn partition<T: Lane, const EQUAL_IS_LOW: bool>(
    data: &mut [T],
    pivot: T,
    aside: &mut Aside<T>,
) -> usize {
    assert!(data.len() >= least::<T>(), "two blocks are read before anything is written");
    let pivots = splat(pivot);
    let is_low = |x| if EQUAL_IS_LOW { is_at_most::<T>(x, pivots) } else { is_less::<T>(x, pivots) };
    let block = AT_ONCE * T::COUNT;
    // Blocks of both ends are kept aside, and what makes others whole: that is the room into which elements go.
    let head = block + data.len() % block;
    let kept = &mut aside[..head + block];
    kept[..head].copy_from_slice(&data[..head]);
    kept[head..].copy_from_slice(&data[data.len() - block..]);

    let mut ends = Ends { low: 0, high: data.len() };
    let (mut start, mut end) = (head, data.len() - block);
    while start < end {
        // A number and not a branch, which could not be foretold.
        let is_front = start - ends.low <= ends.high - end;
        let from = if is_front { start } else { end - block };
        start += if is_front { block } else { 0 };
        end -= if is_front { 0 } else { block };
        let block = &data[from..from + block];
        let mut x = [pivots; AT_ONCE];
        for (x, part) in x.iter_mut().zip(block.chunks_exact(T::COUNT)) {
            *x = load(part);
        }
        for x in x {
            let low = is_low(x);
            let (to_low, to_high) = ends.take::<T>(data, low, T::COUNT);
            store(to_low, only::<T>(low, x));
            store(to_high, only::<T>(!low, x));
        }
    }
    for part in kept.chunks(T::COUNT) {
        let x = load(part);
        let low = is_low(x) & first::<T>(part.len());
        let (to_low, to_high) = ends.take(data, low, part.len());
        store(to_low, only::<T>(low, x));
        store(to_high, only::<T>(!low & first::<T>(part.len()), x));
    }
    ends.low
}

/// Up to where elements were put, and from where on.
struct Ends {
    low: usize,
    high: usize,
}

impl Ends {
    /// Where the next elements go, of which some are low.
    #[inline(always)]
    fn take<'d, T>(&mut self, data: &'d mut [T], low: Mask, count: usize) -> (&'d mut [T], &'d mut [T]) {
        let lows = low.count_ones() as usize;
        let highs = count - lows;
        let (front, back) = data[self.low..self.high].split_at_mut(lows);
        self.low += lows;
        self.high -= highs;
        let room = back.len() - highs;
        (front, &mut back[room..])
    }
}
