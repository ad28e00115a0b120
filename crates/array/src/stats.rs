//! Counters of the memory that tensors hold, for tests and for the curious.
//!
//! Invariant: every buffer adds what it holds once when it is made and takes it back once when it is dropped.
//! Each thread counts for itself, because whoever counts with others waits for them, and calls on numbers are so short
//! that it shows. The sums are exact when nothing else runs; they are never a synchronisation.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What was counted. One thread may take back what another has added: the numbers wrap, and their sum is right. Those of
/// two threads are not near each other.
#[repr(align(128))]
struct Counts {
    allocations: AtomicU64,
    live_bytes: AtomicU64,
}

impl Counts {
    const fn new() -> Counts {
        Counts { allocations: AtomicU64::new(0), live_bytes: AtomicU64::new(0) }
    }
}

/// Of threads that are about to end, and have none of their own any more.
static LATE: Counts = Counts::new();
/// Those of all threads that ever were, and those that no thread has now.
static ALL: Mutex<Vec<&'static Counts>> = Mutex::new(Vec::new());
static FREE: Mutex<Vec<&'static Counts>> = Mutex::new(Vec::new());

fn lock(counts: &'static Mutex<Vec<&'static Counts>>) -> MutexGuard<'static, Vec<&'static Counts>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The counts of one thread, which go on to another when it ends.
struct Own(&'static Counts);

impl Own {
    fn new() -> Own {
        let free = lock(&FREE).pop();
        Own(free.unwrap_or_else(|| {
            let counts: &Counts = Box::leak(Box::new(Counts::new()));
            lock(&ALL).push(counts);
            counts
        }))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        lock(&FREE).push(self.0);
    }
}

thread_local! {
    static OWN: Own = Own::new();
}

#[inline]
fn count(allocations: u64, bytes: u64) {
    let own = OWN.try_with(|own| {
        // Nobody else writes here.
        let add = |to: &AtomicU64, number: u64| to.store(to.load(Relaxed).wrapping_add(number), Relaxed);
        add(&own.0.allocations, allocations);
        add(&own.0.live_bytes, bytes);
    });
    if own.is_err() {
        LATE.allocations.fetch_add(allocations, Relaxed);
        LATE.live_bytes.fetch_add(bytes, Relaxed);
    }
}

fn sum(which: impl Fn(&Counts) -> &AtomicU64) -> u64 {
    let all = lock(&ALL);
    let all = all.iter().copied().chain([&LATE]).map(|counts| which(counts).load(Relaxed));
    all.fold(0, u64::wrapping_add)
}

/// How many buffers this process has allocated so far; memory taken over from a `Vec` is not one.
pub fn allocations() -> u64 {
    sum(|counts| &counts.allocations)
}

/// How many bytes the living buffers hold, memory taken over from a `Vec` included. While other threads make and drop
/// some, it is about that many.
pub fn live_bytes() -> u64 {
    let sum = sum(|counts| &counts.live_bytes);
    // What is taken back may have been seen, and not what was added.
    u64::try_from(sum.cast_signed()).unwrap_or(0)
}

/// A buffer holds so many bytes, which were allocated for it or taken over.
#[inline]
pub(crate) fn held(bytes: usize, is_allocated: bool) {
    count(u64::from(is_allocated), bytes as u64);
}

#[inline]
pub(crate) fn released(bytes: usize) {
    count(0, (bytes as u64).wrapping_neg());
}
