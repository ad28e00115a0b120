//! What the processor can do at most beside what a program does: the multiplications and additions of the program alone, in
//! registers, by the same threads of the same process, in turn with its calls.
//!
//! Others who use the same cores take more from a product of matrices, which needs the caches, than from a loop that stays in
//! registers, for milliseconds or for minutes. What a program does when nobody disturbs it is seen where both were fastest.
#![allow(unsafe_code, reason = "vectors that the processor has or has not")]

use std::hint::black_box;
use std::time::Instant;

use tracewell_library::pool;

use super::Work;
use crate::measure::sample;

/// How long the calls or the loop of a pair take at least, in seconds: long beside what it takes to share them.
const LENGTH: f64 = 200e-6;
/// How long one answer takes at least, and of how many pairs it is.
const SECONDS: f64 = 0.3;
const PAIRS: usize = 4;
/// The part of the pairs that counts.
const FASTEST: usize = 10;

/// Bytes of a vector, and how many of them are added up at the same time: enough to hide how long one takes.
const BYTES: f64 = 64.0;
const SUMS: usize = 12;

/// Pairs of seconds: of a call, and of its operations alone. They are no numbers if the processor has no such vectors.
pub(super) fn pairs(work: &mut Work, flops: f64, doubles: bool) -> Vec<f64> {
    if !multiplied(1) {
        return vec![f64::NAN; 2];
    }
    let lanes = BYTES / if doubles { 8.0 } else { 4.0 };
    let threads = pool::threads();
    // Of each thread, for one call.
    let turns = flops / 2.0 / lanes / SUMS as f64 / threads as f64;
    let run = |turns: usize| {
        let start = Instant::now();
        pool::share(threads, |_| _ = multiplied(turns));
        start.elapsed().as_secs_f64() / turns as f64
    };
    // Twice: the first may begin with threads asleep.
    let once = (0..2).map(|_| sample(&mut || work.calls(1), 1)).fold(f64::INFINITY, f64::min);
    let calls = (LENGTH / once).ceil().max(1.0) as usize;
    let stretch = (LENGTH / run(1000)).ceil().max(1.0) as usize;
    let (start, mut pairs) = (Instant::now(), Vec::new());
    while pairs.len() < 2 * PAIRS || start.elapsed().as_secs_f64() < SECONDS {
        pairs.push(sample(&mut || work.calls(calls), 1) / calls as f64);
        pairs.push(turns * run(stretch));
    }
    pairs
}

/// The pairs in which both were fastest: seconds of calls, and of their operations alone.
pub(super) fn fastest(pairs: &[f64]) -> [Vec<f64>; 2] {
    let mut pairs: Vec<&[f64]> = pairs.chunks_exact(2).collect();
    let slowness = |pair: &[f64]| pair[0] * pair[1];
    pairs.sort_unstable_by(|a, b| slowness(a).total_cmp(&slowness(b)));
    pairs.truncate(pairs.len().div_ceil(FASTEST));
    [0, 1].map(|side| pairs.iter().map(|pair| pair[side]).collect())
}

/// Goes round the loop so many times, if the processor has its vectors.
fn multiplied(turns: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has these vectors.
        black_box(unsafe { multiply_add(turns) });
        return true;
    }
    black_box(turns);
    false
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn multiply_add(turns: usize) -> f32 {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_reduce_add_ps, _mm512_set1_ps};
    let (factor, term) = (_mm512_set1_ps(black_box(0.5)), _mm512_set1_ps(black_box(1.0)));
    let mut sums = [factor; SUMS];
    for _ in 0..turns {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, factor, term);
        }
    }
    sums.iter().map(|sum| _mm512_reduce_add_ps(*sum)).sum()
}
