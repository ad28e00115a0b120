//! Scratch memory for the temporaries of a program, kept from one run to the next.
//!
//! Invariant: an arena belongs to one run at a time. Runs that overlap get arenas of their own.
#![allow(unsafe_code, reason = "scratch is memory that nobody has written yet")]

use std::sync::Mutex;

use tracewell_array::{DType, Tensor};

/// More arenas than this are not kept: as many runs rarely overlap.
const KEPT: usize = 4;

/// The arenas of one program that no run is using.
#[derive(Debug, Default)]
pub(crate) struct Arenas {
    free: Mutex<Vec<Tensor>>,
}

impl Arenas {
    /// An arena of so many bytes, with the address of its first.
    pub(crate) fn take(&self, bytes: usize) -> (Tensor, *mut u8) {
        // Rather a new arena than waiting for the lock.
        let kept = self.free.try_lock().ok().and_then(|mut free| free.pop());
        if let Some(mut arena) = kept
            && let Some(address) = arena.unique_ptr()
        {
            return (arena, address);
        }
        scratch(DType::U8, bytes)
    }

    /// Keeps an arena for the next run.
    pub(crate) fn give(&self, arena: Tensor) {
        if let Ok(mut free) = self.free.try_lock()
            && free.len() < KEPT
        {
            free.push(arena);
        }
    }
}

/// Memory that is about to be written, with its address.
pub(crate) fn scratch(dtype: DType, len: usize) -> (Tensor, *mut u8) {
    // SAFETY: the tensor stays inside the runtime, which reads it only through kernels, and a program that
    // verifies reads nothing before it is written.
    unsafe { Tensor::uninit(dtype, [len]) }
}
