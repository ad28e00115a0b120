//! Sorting a few vectors in registers: the same comparisons whatever the elements are.
//!
//! Elements are sorted in columns, each a lane of all vectors: that takes no moving between lanes. Columns are merged
//! two by two, and at last the columns become rows.

use std::arch::x86_64::__m512i;

use crate::lanes::Lane;
use crate::lanes::x86::{Mask, at, load, max, min, min_or_max, or_at, splat, store};

/// Repeats something for every number below 16 as a constant: registers have no numbers that could be computed.
macro_rules! sixteen {
    ($I:ident => $work:expr) => {
        sixteen!($I => $work; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($I:ident => $work:expr; $($number:literal)*) => {
        $({
            const $I: usize = $number;
            $work
        })*
    };
}

/// Vectors that are sorted at most: half of the registers.
pub(super) const VECTORS: usize = 16;

/// How many are sorted at most.
pub(super) const fn most<T: Lane>() -> usize {
    VECTORS * T::COUNT
}

/// Sorts at most so many.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
pub(super) fn sort<T: Lane>(data: &mut [T]) {
    assert!(data.len() <= most::<T>(), "as many as there are registers for");
    if data.len() <= most::<T>() / 2 {
        sort_vectors::<T, { VECTORS / 2 }>(data);
    } else {
        sort_vectors::<T, VECTORS>(data);
    }
}

/// One vector.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
pub(super) fn sort_one<T: Lane>(x: __m512i) -> __m512i {
    merged::<T, 16>(merged::<T, 8>(merged::<T, 4>(merged::<T, 2>(x))))
}

/// Lanes in runs of some, of which the halves are sorted, to sorted runs.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn merged<T: Lane, const RUN: usize>(x: __m512i) -> __m512i {
    if RUN > T::COUNT {
        return x;
    }
    let mirrored = at::<T>(flipped::<T>(RUN - 1), x);
    cleaned::<T>(RUN / 2, min_or_max::<T>(upper(RUN / 2), x, mirrored))
}

/// Sorts runs of as many lanes, each of which rises and then falls, or the other way round.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn cleaned<T: Lane>(run: usize, mut x: __m512i) -> __m512i {
    macro_rules! between {
        ($($apart:literal)*) => {$(
            if $apart < run {
                x = min_or_max::<T>(upper($apart), x, at::<T>(flipped::<T>($apart), x));
            }
        )*};
    }
    between!(8 4 2 1);
    x
}

/// Lanes whose number has a bit.
const fn upper(bit: usize) -> Mask {
    match bit {
        1 => 0xaaaa,
        2 => 0xcccc,
        4 => 0xf0f0,
        _ => 0xff00,
    }
}

/// The numbers of lanes, with some bits flipped.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn flipped<T: Lane>(bits: usize) -> __m512i {
    lanes::<T>(|lane| lane ^ bits)
}

/// A vector of numbers of lanes.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn lanes<T: Lane>(of: impl Fn(usize) -> usize) -> __m512i {
    if T::IS_WIDE {
        load(&std::array::from_fn::<u64, 8, _>(|lane| of(lane) as u64))
    } else {
        load(&std::array::from_fn::<u32, 16, _>(|lane| of(lane) as u32))
    }
}

/// Whether Batcher's network for runs of `2 × run` elements compares `i` with the one `apart` from it.
const fn is_compared(run: usize, apart: usize, i: usize, count: usize) -> bool {
    let first = apart % run;
    i >= first
        && (i - first) % (2 * apart) < apart
        && i + apart < count
        && i / (2 * run) == (i + apart) / (2 * run)
}

/// Sorts `N` vectors: 8 or 16.
#[target_feature(enable = "avx512f,bmi2,popcnt")]
fn sort_vectors<T: Lane, const N: usize>(data: &mut [T]) {
    let mut x = [splat(T::default()); N];
    sixteen!(I => if I < N {
        x[I] = load(&data[(I * T::COUNT).min(data.len())..]);
    });

    macro_rules! compare {
        ($i:expr, $j:expr) => {
            (x[$i], x[$j]) = (min::<T>(x[$i], x[$j]), max::<T>(x[$i], x[$j]))
        };
    }
    macro_rules! columns {
        ($($run:literal $apart:literal,)*) => {$(
            sixteen!(I => if const { is_compared($run, $apart, I, N) } {
                compare!(I, I + $apart);
            });
        )*};
    }
    columns!(1 1, 2 2, 2 1, 4 4, 4 2, 4 1, 8 8, 8 4, 8 2, 8 1,);

    macro_rules! merge {
        ($($run:literal)*) => {$(
            if $run <= T::COUNT {
                let mirror = flipped::<T>($run - 1);
                sixteen!(I => if I < N / 2 {
                    let (a, b) = (x[I], x[N - 1 - I]);
                    let half = const { upper($run / 2) };
                    x[I] = min_or_max::<T>(half, a, at::<T>(mirror, b));
                    x[N - 1 - I] = min_or_max::<T>(half, b, at::<T>(mirror, a));
                });
                sixteen!(I => if I < N {
                    x[I] = cleaned::<T>($run / 2, x[I]);
                });
                clean!(8 4 2 1);
            }
        )*};
    }
    macro_rules! clean {
        ($($apart:literal)*) => {$(
            sixteen!(I => if I & $apart == 0 && I + $apart < N {
                compare!(I, I + $apart);
            });
        )*};
    }
    merge!(2 4 8 16);

    // The number of an element has the bits of its column, which is a lane, and then those of its vector. The lower
    // ones shall be those of its lane: bits of both change places.
    macro_rules! transpose {
        ($($bit:literal)*) => {$(
            let lane_bit = $bit * (T::COUNT / N).max(1);
            if lane_bit < T::COUNT {
                let flip = flipped::<T>(lane_bit);
                sixteen!(I => if I & $bit == 0 && I + $bit < N {
                    let (a, b) = (x[I], x[I + $bit]);
                    x[I] = or_at::<T>(a, upper(lane_bit), flip, b);
                    x[I + $bit] = or_at::<T>(b, !upper(lane_bit), flip, a);
                });
            }
        )*};
    }
    transpose!(8 4 2 1);
    // Where there are more of one kind, one bit kept its place and the others must make room for it.
    let rotated = lanes::<T>(|lane| rotate_up(lane, T::COUNT));
    sixteen!(I => if I < N {
        let row = if N > T::COUNT { x[rotate_down(I, N)] } else { x[I] };
        let row = if N < T::COUNT { at::<T>(rotated, row) } else { row };
        let start = (I * T::COUNT).min(data.len());
        store(&mut data[start..], row);
    });
}

/// The bits of a number below `count` one up, the highest one last.
const fn rotate_up(number: usize, count: usize) -> usize {
    number * 2 % count + number * 2 / count
}

/// The bits of a number below `count` one down, the lowest one first.
const fn rotate_down(number: usize, count: usize) -> usize {
    number / 2 + number % 2 * (count / 2)
}
