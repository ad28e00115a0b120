//! Library calls: what a program and a kernel call instead of generating it.
//!
//! Invariant: nothing unwinds out of a call. An error or panic of a user's function is a value here.
#![allow(unsafe_code, reason = "functions work on buffers that are addresses in a program")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::atomic::AtomicU8;

use tracewell_codegen::CallHandler;
use tracewell_kernel::{BufferMut, BufferRef, Custom, Library, LibraryCall};

use crate::error::{RunError, StepResult};

/// Calls a function on buffers: inputs, then outputs.
///
/// # Safety
///
/// That of [`tracewell_library::call`].
pub(crate) unsafe fn call(call: &LibraryCall, buffers: &[*mut u8]) -> StepResult {
    let Library::Custom(custom) = &call.library else {
        let work = || {
            // SAFETY: the caller's promise.
            unsafe { tracewell_library::call(call, buffers) }
        };
        let name = || match &call.library {
            Library::Linalg(linalg) => linalg.to_string(),
            other => format!("{other:?}"),
        };
        return catch_unwind(AssertUnwindSafe(work))
            .map_err(|payload| Box::new(RunError::Panicked { name: name(), payload }));
    };
    assert_eq!(buffers.len(), call.inputs.len() + call.outputs.len(), "one buffer for each type of a call");
    // SAFETY: the caller's promise.
    let (inputs, mut outputs) = unsafe { tracewell_library::slices(call, buffers) };
    call_custom(custom, &inputs, &mut outputs)
}

fn call_custom(custom: &Custom, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> StepResult {
    let function = custom.function();
    let name = || function.name().to_owned();
    // A function that panicked is not called again by this run, and what it filled is thrown away.
    match catch_unwind(AssertUnwindSafe(|| function.call(inputs, outputs))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(Box::new(RunError::Library { name: name(), error })),
        Err(payload) => return Err(Box::new(RunError::Panicked { name: name(), payload })),
    }
    for output in outputs.iter_mut().filter(|output| output.dtype.is_bool()) {
        // Bytes are what was filled; a bool is 0 or 1.
        for byte in output.bytes.iter_mut() {
            *byte = u8::from(*byte != 0);
        }
    }
    Ok(())
}

/// What a kernel hands back to [`handle`] when it calls.
#[repr(C)]
pub(crate) struct Context<'a> {
    /// Generated code reads the handler's address from the first word.
    handler: CallHandler,
    /// And looks at this flag, whose address is the second word, in long loops: not 0 stops the kernel.
    stop: &'a AtomicU8,
    calls: &'a [LibraryCall],
    /// What the call that stopped the kernel failed with.
    pub(crate) error: Option<Box<RunError>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(calls: &'a [LibraryCall], stop: &'a AtomicU8) -> Context<'a> {
        Context { handler: handle, stop, calls, error: None }
    }
}

/// Makes call number `number` of the kernel that runs with this context.
///
/// # Safety
///
/// `context` is the [`Context`] that the kernel was started with, and `buffers` are the addresses of as many
/// buffers as the call has, with the promise of [`call`].
unsafe extern "C" fn handle(context: *mut u8, number: i64, buffers: *const *mut u8) -> i64 {
    // SAFETY: by the promise this is the context, and the thread that runs the kernel is the only one to have it.
    let context = unsafe { &mut *context.cast::<Context<'_>>() };
    let library_call = &context.calls[number as usize];
    let count = library_call.inputs.len() + library_call.outputs.len();
    // SAFETY: by the promise there are that many addresses.
    let buffers = unsafe { slice::from_raw_parts(buffers, count) };
    // SAFETY: by the promise of this function.
    match unsafe { call(library_call, buffers) } {
        Ok(()) => 0,
        Err(error) => {
            context.error = Some(error);
            1
        }
    }
}
