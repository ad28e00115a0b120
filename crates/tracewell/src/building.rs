//! How long was traced and compiled.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tracewell_trace::is_idle;

static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// Does something that counts, unless it is part of a trace that counts already.
pub(crate) fn counted<R>(work: impl FnOnce() -> R) -> (R, Duration) {
    let outermost = is_idle();
    let start = Instant::now();
    let made = work();
    let duration = start.elapsed();
    if outermost {
        NANOSECONDS.fetch_add(duration.as_nanos() as u64, Ordering::Relaxed);
    }
    (made, duration)
}

/// Since the program started, on all threads.
pub(crate) fn building() -> Duration {
    Duration::from_nanos(NANOSECONDS.load(Ordering::Relaxed))
}
