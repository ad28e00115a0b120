//! One launch in parts: on several threads, and on the way back.
//!
//! Invariant: every iteration of the outermost `each` runs exactly once, whatever the number of threads, so a
//! result never depends on how a launch was split.

/// Below this estimate a launch runs on the calling thread.
const WORTH: u64 = 12_000;
/// No part is estimated to take less than this.
const PART: u64 = 6_000;
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

/// Bytes of one go on the way back, few beside caches, and the nanoseconds that it takes at least: many beside the way
/// into a kernel.
const STAGE: usize = 1 << 17;
const SHORTEST: i64 = 5_000;

/// How many iterations are done in one go on the way back over so many bytes, at so many nanoseconds each.
pub(crate) fn stage(bytes: usize, extent: i64, cost: u32) -> i64 {
    let even = extent / i64::try_from(bytes / STAGE).unwrap_or(i64::MAX).max(1);
    // A launch may touch a small part of its arrays only.
    let least = SHORTEST / i64::from(cost.max(1));
    even.max(least).max(1).saturating_add(ALIGN - 1) / ALIGN * ALIGN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_whole_vectors_and_worth_the_way_into_a_kernel() {
        assert_eq!(stage(8_000_000, 1_000_000, 1), 16448);
        // Rows, a few elements of a large array, and what is dear.
        assert_eq!([stage(64 << 20, 4096, 1000), stage(1 << 30, 1000, 1), stage(0, 10, 0)], [64, 5056, 5056]);
        assert_eq!(stage(usize::MAX, i64::MAX, u32::MAX), i64::MAX / (1 << 47) / ALIGN * ALIGN + ALIGN);
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
