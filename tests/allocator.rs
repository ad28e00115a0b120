//! An allocator that counts: readers must not take more memory than their input is worth, and a call that is armed
//! for repros must not allocate more than one that is not.
#![allow(unsafe_code, reason = "an allocator hands out raw memory")]
#![allow(dead_code, reason = "each program asks for one of the counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Above this the process ends: without a limit, a reader that believes a number would take the machine with it.
const LIMIT: usize = 1 << 30;

/// The system's allocator, with its bytes counted.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MADE: Cell<usize> = const { Cell::new(0) };
}

/// How often this thread has asked for memory.
pub(crate) fn allocations() -> usize {
    MADE.get()
}

/// The most bytes that were in use since the last call.
pub(crate) fn take_peak() -> usize {
    PEAK.swap(NOW.load(Relaxed), Relaxed)
}

fn count(bytes: usize) {
    // A thread that ends has no count any more.
    let _ = MADE.try_with(|made| made.set(made.get() + 1));
    let now = NOW.fetch_add(bytes, Relaxed).saturating_add(bytes);
    PEAK.fetch_max(now, Relaxed);
    if now > LIMIT {
        // Nothing here may allocate; the other process knows what was being read.
        let _ = std::io::stderr().write_all(b"more than 1 GiB of memory in use\n");
        std::process::abort();
    }
}

// SAFETY: every request is handed to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: what the caller promises us, we promise the system.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: what the caller promises us, we promise the system.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the memory came from the system's allocator with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the memory came from the system's allocator with this layout.
        unsafe { System.realloc(ptr, layout, size) }
    }
}
