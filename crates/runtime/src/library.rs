//! Library calls: what a program and a kernel call instead of generating it.
//!
//! Invariant: nothing unwinds out of a call. An error or panic of a user's function is a value here.
#![allow(unsafe_code, reason = "functions work on buffers that are addresses in a program")]

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::atomic::AtomicU8;

use tracewell_array::{DType, Shape};
use tracewell_codegen::CallHandler;
use tracewell_kernel::{BufferMut, BufferRef, Custom, Library, LibraryCall, SortRows};

use crate::conv::convolve;
use crate::error::RunError;
use crate::fft::fft;
use crate::linalg;
use crate::matmul::matmul;
use crate::sort::{self, Column, Place};

/// Calls a function on buffers: inputs, then outputs.
///
/// # Safety
///
/// Each address is that of as many elements as the call says for it, aligned for the dtype. Inputs are
/// initialised. While this runs nobody else writes to any of them or reads the outputs, and outputs overlap
/// nothing else.
pub(crate) unsafe fn call(call: &LibraryCall, buffers: &[*mut u8]) -> Result<(), RunError> {
    assert_eq!(buffers.len(), call.inputs.len() + call.outputs.len(), "one buffer for each type of a call");
    match &call.library {
        Library::Gemm(gemm) => {
            // SAFETY: the caller's promise; that strides stay inside the buffers is a rule of the verifier.
            unsafe { matmul(gemm, buffers[0], buffers[1], buffers[2]) }
            Ok(())
        }
        Library::Sort(rows) => {
            // SAFETY: the caller's promise.
            unsafe { call_sort(rows, call, buffers) }
            Ok(())
        }
        Library::Fft(transform) => {
            // SAFETY: the caller's promise; that types and shapes fit the transform is a rule of the verifier.
            unsafe { fft(transform, &call.inputs[0], buffers[0], buffers[1]) }
            Ok(())
        }
        Library::Conv(conv) => {
            // SAFETY: the caller's promise; that the sizes fit is a rule of the verifier.
            unsafe { convolve(conv, buffers[0], buffers[1], buffers[2]) }
            Ok(())
        }
        Library::Linalg(linalg) => {
            // SAFETY: the caller's promise.
            let (inputs, mut outputs) = unsafe { slices(call, buffers) };
            let name = || linalg.to_string();
            catch_unwind(AssertUnwindSafe(|| linalg::call(*linalg, &inputs, &mut outputs)))
                .map_err(|payload| RunError::Panicked { name: name(), payload })
        }
        Library::Custom(custom) => {
            // SAFETY: the caller's promise.
            let (inputs, mut outputs) = unsafe { slices(call, buffers) };
            call_custom(custom, &inputs, &mut outputs)
        }
    }
}

/// # Safety
///
/// As for [`call`].
unsafe fn call_sort(rows: &SortRows, call: &LibraryCall, buffers: &[*mut u8]) {
    let (inputs, outputs) = buffers.split_at(call.inputs.len());
    let columns: Vec<Column<'_>> = inputs
        .iter()
        .zip(&call.inputs)
        .map(|(&address, (dtype, shape))| match dtype.size() {
            1 => {
                // SAFETY: the caller's promise: initialised, and nobody writes to it now.
                Column::One(unsafe { slice::from_raw_parts(address, shape.len()) })
            }
            4 => {
                // SAFETY: as above, and aligned; all bits are an integer.
                Column::Four(unsafe { slice::from_raw_parts(address.cast::<u32>(), shape.len()) })
            }
            _ => {
                // SAFETY: as above.
                Column::Eight(unsafe { slice::from_raw_parts(address.cast::<u64>(), shape.len()) })
            }
        })
        .collect();
    let places = outputs
        .iter()
        .zip(&call.outputs)
        .map(|(&address, (dtype, shape))| match dtype.size() {
            1 => {
                let address = address.cast::<MaybeUninit<u8>>();
                // SAFETY: the caller's promise: ours to write, and nobody else has access now.
                Place::One(unsafe { slice::from_raw_parts_mut(address, shape.len()) })
            }
            4 => {
                let address = address.cast::<MaybeUninit<u32>>();
                // SAFETY: as above, and aligned.
                Place::Four(unsafe { slice::from_raw_parts_mut(address, shape.len()) })
            }
            _ => {
                let address = address.cast::<MaybeUninit<u64>>();
                // SAFETY: as above.
                Place::Eight(unsafe { slice::from_raw_parts_mut(address, shape.len()) })
            }
        })
        .collect();
    let types: Vec<DType> = call.inputs.iter().map(|(dtype, _)| *dtype).collect();
    sort::sort(rows, &types, &columns, places);
}

/// The buffers of a call as slices: inputs, and outputs filled with zeros.
///
/// # Safety
///
/// As for [`call`], for as long as the slices live.
unsafe fn slices<'c>(call: &'c LibraryCall, buffers: &[*mut u8]) -> (Vec<BufferRef<'c>>, Vec<BufferMut<'c>>) {
    let bytes = |(dtype, shape): &(DType, Shape)| dtype.size() * shape.len();
    let (inputs, outputs) = buffers.split_at(call.inputs.len());
    let inputs = inputs
        .iter()
        .zip(&call.inputs)
        .map(|(&address, ty)| {
            // SAFETY: the caller's promise: initialised, and nobody writes to it now.
            let bytes = unsafe { slice::from_raw_parts(address.cast_const(), bytes(ty)) };
            BufferRef { dtype: ty.0, shape: &ty.1, bytes }
        })
        .collect();
    let outputs = outputs
        .iter()
        .zip(&call.outputs)
        .map(|(&address, ty)| {
            // A safe function may read what it is about to fill, so it is filled once before.
            // SAFETY: the caller's promise: that many bytes are ours to write.
            unsafe { address.write_bytes(0, bytes(ty)) };
            // SAFETY: initialised above, and by the caller's promise nobody else has access now.
            let bytes = unsafe { slice::from_raw_parts_mut(address, bytes(ty)) };
            BufferMut { dtype: ty.0, shape: &ty.1, bytes }
        })
        .collect();
    (inputs, outputs)
}

fn call_custom(
    custom: &Custom,
    inputs: &[BufferRef<'_>],
    outputs: &mut [BufferMut<'_>],
) -> Result<(), RunError> {
    let function = custom.function();
    let name = || function.name().to_owned();
    // A function that panicked is not called again by this run, and what it filled is thrown away.
    match catch_unwind(AssertUnwindSafe(|| function.call(inputs, outputs))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(RunError::Library { name: name(), error }),
        Err(payload) => return Err(RunError::Panicked { name: name(), payload }),
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
    pub(crate) error: Option<RunError>,
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
