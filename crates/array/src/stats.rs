//! Counters of the memory that tensors hold, for tests and for the curious.
//!
//! Invariant: every buffer adds what it holds once when it is made and takes it back once when it is dropped.
//! The counters are relaxed: exact when nothing else runs, never a synchronisation.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static LIVE_BYTES: AtomicU64 = AtomicU64::new(0);

/// How many buffers this process has allocated so far; memory taken over from a `Vec` is not one.
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Relaxed)
}

/// How many bytes the living buffers hold, memory taken over from a `Vec` included.
pub fn live_bytes() -> u64 {
    LIVE_BYTES.load(Relaxed)
}

#[inline]
pub(crate) fn allocated() {
    ALLOCATIONS.fetch_add(1, Relaxed);
}

#[inline]
pub(crate) fn held(bytes: usize) {
    LIVE_BYTES.fetch_add(bytes as u64, Relaxed);
}

#[inline]
pub(crate) fn released(bytes: usize) {
    LIVE_BYTES.fetch_sub(bytes as u64, Relaxed);
}
