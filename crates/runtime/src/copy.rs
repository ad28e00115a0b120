//! Copying arrays, large ones on all threads.
#![allow(unsafe_code, reason = "a program works on addresses")]

use std::mem::MaybeUninit;
use std::slice;

use tracewell_library::pool;

/// Bytes from which on threads share the work: where memory is slower than starting them.
const SHARED: usize = 2 << 20;
/// Bytes that a thread takes at a time.
const PART: usize = 512 << 10;

/// Copies so many bytes.
///
/// # Safety
///
/// Both addresses are of so many bytes, those of the first are initialised, and nobody else uses those of the second.
/// They are the same memory or do not overlap.
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    if std::ptr::eq(from, to) {
        return;
    }
    // SAFETY: the caller's promise.
    let from = unsafe { slice::from_raw_parts(from.cast::<MaybeUninit<u8>>(), bytes) };
    // SAFETY: the caller's promise, and it is not the memory above.
    let to = unsafe { slice::from_raw_parts_mut(to.cast::<MaybeUninit<u8>>(), bytes) };
    if bytes < SHARED || pool::threads() == 1 {
        to.copy_from_slice(from);
    } else {
        let parts = to.chunks_mut(PART).zip(from.chunks(PART)).collect();
        pool::share_out(parts, |(to, from): (&mut [_], &[_])| to.copy_from_slice(from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_copied() {
        for bytes in [0, 1, SHARED - 1, SHARED, SHARED + PART + 1] {
            let from: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
            let mut to = vec![0; bytes];
            // SAFETY: both are so long, and not the same.
            unsafe { copy(from.as_ptr(), to.as_mut_ptr(), bytes) };
            assert!(to == from, "{bytes}");
        }
    }
}
