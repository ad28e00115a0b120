//! Our own threads.
//!
//! [`share`] is for what takes microseconds and is done in equal parts; [`run`] is for what divides itself as it goes.
//!
//! Invariant: a thread of ours never blocks on another one but by working for it, or on what it has handed out itself,
//! so that calls may come from anywhere: from outside, from a pool of the user's, or from one of our own threads.

mod helpers;

use std::sync::LazyLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

pub use helpers::{share, share_out, share_walk};

static POOL: LazyLock<ThreadPool> = LazyLock::new(|| {
    let builder = ThreadPoolBuilder::new().num_threads(threads());
    let pool = builder.thread_name(|k| format!("tracewell-{k}")).build();
    // Without threads nothing that was asked to run in parallel can be answered.
    pool.expect("the system starts threads")
});

/// How many threads run one program: `TRACEWELL_THREADS`, or as many as the machine has.
pub fn threads() -> usize {
    static THREADS: LazyLock<usize> = LazyLock::new(|| {
        let wanted = std::env::var("TRACEWELL_THREADS").ok().and_then(|text| text.parse().ok());
        let available = || std::thread::available_parallelism().map_or(1, usize::from);
        wanted.filter(|&threads| threads > 0).unwrap_or_else(available)
    });
    *THREADS
}

/// Whether the calling thread is one of ours.
pub fn in_pool() -> bool {
    threads() > 1 && (helpers::helps() || POOL.current_thread_index().is_some())
}

/// Runs `work` on the threads of a pool that divide it as they go, and waits for it. On one of them already, it just
/// runs.
pub fn run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    POOL.install(work)
}
