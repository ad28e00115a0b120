//! One launch on several threads.
//!
//! Invariant: every iteration of the outermost `each` runs exactly once, whatever the number of threads, so a
//! result never depends on how a launch was split.

/// Below this estimate a launch runs on the calling thread.
const WORTH: u64 = 20_000;
/// No part is estimated to take less than this.
const PART: u64 = 10_000;
/// Beyond this estimate there are several parts for each thread, so that one that is held up leaves them to others.
const LONG: u64 = 100_000;
/// That many.
const SEVERAL: u64 = 4;
/// Where a part may start: whole vectors, and whole cache lines of every dtype.
const ALIGN: i64 = 64;

/// Into how many parts a launch is split that takes so many nanoseconds on one thread.
pub(crate) fn parts(nanoseconds: u64, extent: i64, threads: usize) -> usize {
    if nanoseconds < WORTH || threads == 1 {
        return 1;
    }
    let several = if nanoseconds >= LONG { SEVERAL } else { 1 };
    let useful = (nanoseconds / PART).min(threads as u64 * several) as usize;
    useful.min(usize::try_from(extent).unwrap_or(1)).max(1)
}

/// The iterations of each part.
pub(crate) fn ranges(extent: i64, parts: usize) -> impl Iterator<Item = (i64, i64)> {
    let count = parts as i64;
    let edge = move |k: i64| {
        // The product may exceed 64 bits.
        let even = (i128::from(extent) * i128::from(k) / i128::from(count)) as i64;
        if k == count || extent < count * ALIGN { even } else { even - even % ALIGN }
    };
    (0..count).map(move |k| (edge(k), edge(k + 1)))
}

/// How many iterations of so many one of `stages` has, where all of them are about as long.
pub(crate) fn stage(extent: i64, stages: usize) -> i64 {
    let even = extent / i64::try_from(stages.max(1)).unwrap_or(i64::MAX);
    if even >= ALIGN { even - even % ALIGN } else { even.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_whole_vectors_where_there_are_some() {
        assert_eq!(stage(1_000_000, 61), 16384);
        assert_eq!((stage(4096, 500), stage(10, 100), stage(10, 0)), (8, 1, 10));
    }

    #[test]
    fn ranges_cover_everything_once() {
        for extent in [1, 2, 3, 5, 63, 64, 65, 127, 128, 1000, 4097, i64::MAX] {
            for parts in 1..9usize.min(extent as usize) {
                let ranges: Vec<_> = ranges(extent, parts).collect();
                assert_eq!(ranges.len(), parts);
                assert_eq!(ranges[0].0, 0);
                assert_eq!(ranges[parts - 1].1, extent);
                assert!(ranges.windows(2).all(|w| w[0].1 == w[1].0), "{extent} {parts}");
                assert!(ranges.iter().all(|(start, end)| start < end), "{extent} {parts}");
            }
        }
    }

    #[test]
    fn small_launches_stay_whole() {
        assert_eq!(parts(WORTH - 1, 1 << 20, 8), 1);
        assert_eq!(parts(WORTH, 1 << 20, 8), 2);
        assert_eq!(parts(LONG - 1, 1 << 20, 8), 8);
        assert_eq!(parts(1 << 40, 1 << 20, 8), 32);
        assert_eq!(parts(1 << 40, 3, 8), 3);
        assert_eq!(parts(1 << 40, 1 << 20, 1), 1);
        assert_eq!(parts(1 << 40, 0, 8), 1);
    }
}
