//! Scratch memory for the temporaries of a program: on the stack of a run if it is little, else kept from one run to the
//! next.
//!
//! Invariant: an arena belongs to one run at a time. Runs that overlap get arenas of their own.
#![allow(unsafe_code, reason = "scratch is memory that nobody has written yet")]

use std::mem::MaybeUninit;
use std::sync::Mutex;

use tracewell_array::{DType, Tensor};
use tracewell_kernel::Program;

/// More arenas than this are not kept: as many runs rarely overlap.
const KEPT: usize = 4;

/// Bytes of scratch that a run has on its stack: room for the partial sums of an array.
const NEAR: usize = 8 << 10;

/// Bytes of scratch that a run of a program allocates: little is on its stack.
pub fn allocated_scratch(program: &Program) -> usize {
    if program.arena <= NEAR { 0 } else { program.arena }
}

/// Scratch on the stack: threads that run the same program share nothing by it.
#[repr(align(64))]
pub(crate) struct Near(MaybeUninit<[u8; NEAR]>);

impl Near {
    pub(crate) fn new() -> Near {
        Near(MaybeUninit::uninit())
    }

    /// The address of its first byte.
    pub(crate) fn address(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

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
