//! Dividing around pivots until parts fit registers.

use super::network;
use super::partition::{Aside, partition};
use crate::lanes::Lane;
use crate::lanes::x86::{load, store};
use crate::pool;
use crate::sort::merge::PARALLEL;

/// From so many elements on a pivot is the median of more of them: it is worth its time.
const MANY: usize = 1 << 14;

/// Sorts on several threads, where that is worth it; divides at most so often one after the other.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
pub(super) fn divide_shared<T: Lane>(data: &mut [T], depth: u32) {
    let mut aside = [T::default(); _];
    if data.len() < PARALLEL || depth == 0 || pool::threads() == 1 {
        return divide(data, depth, &mut aside);
    }
    let (low, high) = halves(data, &mut aside);
    rayon::join(|| divide_shared(low, depth - 1), || divide_shared(high, depth - 1));
}

/// Sorts; divides at most so often one after the other.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn divide<T: Lane>(mut data: &mut [T], mut depth: u32, aside: &mut Aside<T>) {
    while data.len() > network::most::<T>() {
        if depth == 0 {
            // Pivots were bad again and again: this is the bound on the time.
            return data.sort_unstable();
        }
        depth -= 1;
        let (low, high) = halves(data, aside);
        divide(low, depth, aside);
        data = high;
    }
    network::sort(data);
}

/// Two parts, both smaller than the whole, that need only be sorted.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn halves<'d, T: Lane>(data: &'d mut [T], aside: &mut Aside<T>) -> (&'d mut [T], &'d mut [T]) {
    let pivot = pivot(data, aside);
    let lows = partition::<T, false>(data, pivot, aside);
    if lows > 0 {
        return data.split_at_mut(lows);
    }
    // The pivot is the smallest: those that are equal to it are in their place.
    let equal = partition::<T, true>(data, pivot, aside);
    (&mut [], &mut data[equal..])
}

/// The median of some elements.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn pivot<T: Lane>(data: &[T], some: &mut Aside<T>) -> T {
    let count = if data.len() < MANY { T::COUNT } else { network::most::<T>() };
    let some = &mut some[..count];
    let apart = data.len() / count;
    for (to, from) in some.iter_mut().zip(data[apart / 2..].iter().step_by(apart)) {
        *to = *from;
    }
    if count == T::COUNT {
        let sorted = network::sort_one::<T>(load(some));
        store(some, sorted);
    } else {
        network::sort(some);
    }
    some[count / 2]
}
