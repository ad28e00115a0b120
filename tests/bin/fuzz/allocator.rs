//! An allocator that counts: readers must not take more memory than their input is worth.
#![allow(unsafe_code, reason = "an allocator hands out raw memory")]

use std::alloc::{GlobalAlloc, Layout, System};
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

/// The most bytes that were in use since the last call.
pub(crate) fn take_peak() -> usize {
    PEAK.swap(NOW.load(Relaxed), Relaxed)
}

fn count(bytes: usize) {
    let now = NOW.fetch_add(bytes, Relaxed).saturating_add(bytes);
    PEAK.fetch_max(now, Relaxed);
    if now > LIMIT {
        // Nothing here may allocate; the other process knows what was being read.
        let _ = std::io::stderr().write_all(b"fuzz: more than 1 GiB of memory in use\n");
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
