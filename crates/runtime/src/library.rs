//! Library calls: what a program and a kernel call instead of generating it.
//!
//! Invariant: nothing unwinds out of a call. An error or panic of a user's function is a value here.
#![allow(unsafe_code, reason = "functions work on buffers that are addresses in a program")]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::atomic::AtomicU8;

use tracewell_codegen::{BothSidesHandler, CallHandler, WideEach};
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

/// What a kernel hands back to [`handle`] and [`both_sides`] when it calls.
#[repr(C)]
pub(crate) struct Context<'a> {
    /// Generated code reads the handler's address from the first word.
    handler: CallHandler,
    /// And looks at this flag, whose address is the second word, in long loops: not 0 stops the kernel.
    stop: &'a AtomicU8,
    /// And the address of what does two products at once from the third word.
    both_sides: BothSidesHandler,
    calls: &'a [LibraryCall],
    /// What the call that stopped the kernel failed with.
    pub(crate) error: Option<Box<RunError>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(calls: &'a [LibraryCall], stop: &'a AtomicU8) -> Context<'a> {
        Context { handler: handle, stop, both_sides, calls, error: None }
    }

    /// What the kernel is told of how a call went.
    fn status(&mut self, outcome: StepResult) -> i64 {
        match outcome {
            Ok(()) => 0,
            Err(error) => {
                self.error = Some(error);
                1
            }
        }
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
    let outcome = unsafe { call(library_call, buffers) };
    context.status(outcome)
}

/// Makes calls number `number` and the next one, two products, with the `each` between them.
///
/// # Safety
///
/// As for [`handle`] of both, one after the other. The products are both sides of one matrix, and `each` does with the
/// block what [`tracewell_library::both_sides`] asks for.
unsafe extern "C" fn both_sides(
    context: *mut u8,
    number: i64,
    first: *const *mut u8,
    second: *const *mut u8,
    each: WideEach,
    block: *const u8,
) -> i64 {
    // SAFETY: by the promise this is the context, and the thread that runs the kernel is the only one to have it.
    let context = unsafe { &mut *context.cast::<Context<'_>>() };
    let gemm = |number: usize| match &context.calls[number].library {
        Library::Gemm(gemm) => gemm,
        other => unreachable!("{other:?} is no side of a matrix"),
    };
    let gemms = [gemm(number as usize), gemm(number as usize + 1)];
    // SAFETY: by the promise there are the addresses of two operands and a result.
    let buffers = [first, second].map(|buffers| unsafe { buffers.cast::<[*mut u8; 3]>().read() });
    let between = Between { each, block };
    let work = || {
        // SAFETY: the caller's promise.
        unsafe { tracewell_library::both_sides(gemms, buffers, |range| between.run(range)) }
    };
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let name = || format!("{:?}", context.calls[number as usize].library);
    let outcome = outcome.map_err(|payload| Box::new(RunError::Panicked { name: name(), payload }));
    context.status(outcome)
}

/// An `each` that threads share. Made by [`both_sides`] only, under its promise.
struct Between {
    each: WideEach,
    block: *const u8,
}

// SAFETY: the block is only read, and iterations of an `each` touch no common element that one of them writes: a rule of
// the verifier.
unsafe impl Sync for Between {}

impl Between {
    fn run(&self, range: Range<usize>) {
        // SAFETY: the function and its block belong together, and are there as long as the kernel that called runs.
        unsafe { (self.each)(self.block, range.start as i64, range.end as i64) };
    }
}
