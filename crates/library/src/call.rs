//! A call on the buffers of a program.
#![allow(unsafe_code, reason = "functions work on buffers that are addresses in a program")]

use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;

use tracewell_array::{DType, Shape};
use tracewell_kernel::{BufferMut, BufferRef, Gemm, Library, LibraryCall, SortRows};

use crate::matmul::Product;
use crate::sort::{Column, Place};
use crate::{add_at, conv, deep, fft, linalg, matmul, sort};

/// Whether a call divides its work as it goes, between threads of the pool: cheap on one of them only.
pub fn divides(call: &LibraryCall) -> bool {
    match &call.library {
        Library::Sort(rows) => sort::is_shared(rows),
        Library::Fft(_) => fft::is_shared(call),
        Library::Gemm(_) | Library::AddAt(_) | Library::Conv(_) | Library::Linalg(_) | Library::Custom(_) => {
            false
        }
    }
}

/// Calls a function of the library on buffers: inputs, then outputs.
///
/// # Safety
///
/// Each address is that of as many elements as the call says for it, aligned for the dtype. Inputs are
/// initialised. While this runs nobody else writes to any of them or reads the outputs, and outputs overlap
/// nothing else.
pub unsafe fn call(call: &LibraryCall, buffers: &[*mut u8]) {
    assert_eq!(buffers.len(), call.inputs.len() + call.outputs.len(), "one buffer for each type of a call");
    match &call.library {
        Library::Gemm(gemm) => {
            // SAFETY: the caller's promise; that strides stay inside the buffers is a rule of the verifier.
            unsafe { matmul::matmul(gemm, [buffers[0], buffers[1], buffers[2]]) }
        }
        Library::Sort(rows) => {
            // SAFETY: the caller's promise.
            unsafe { call_sort(rows, call, buffers) }
        }
        Library::AddAt(rule) => {
            // SAFETY: the caller's promise; that types fit is a rule of the verifier.
            unsafe { add_at::add_at(*rule, call, buffers) }
        }
        Library::Fft(transform) => {
            // SAFETY: the caller's promise; that types and shapes fit the transform is a rule of the verifier.
            unsafe { fft::fft(transform, &call.inputs[0], buffers[0], buffers[1]) }
        }
        Library::Conv(conv) => {
            // SAFETY: the caller's promise; that the sizes fit is a rule of the verifier.
            unsafe { conv::convolve(conv, buffers[0], buffers[1], buffers[2]) }
        }
        Library::Linalg(linalg) => {
            // SAFETY: the caller's promise.
            let (inputs, mut outputs) = unsafe { slices(call, buffers) };
            linalg::call(*linalg, &inputs, &mut outputs)
        }
        Library::Custom(custom) => unreachable!("`{}` is the user's", custom.function().name()),
    }
}

/// A product of a matrix with a vector, `between` on each element of that, and a product of the transposed matrix with
/// what that makes.
///
/// # Safety
///
/// As for [`call`] of the two, one after the other. The first [is one side](tracewell_kernel::Gemm::is_one_side_of) of the
/// second, of the same matrix. Each element is handed to `between` once, on any thread, in any order. It reads of the
/// result of the first that element only, writes of the vector of the second that element only, and nothing else that
/// the two read.
pub unsafe fn both_sides(
    [first, second]: [&Gemm; 2],
    buffers: [[*mut u8; 3]; 2],
    between: impl Fn(Range<usize>) + Sync,
) {
    if first.dtype == DType::F32 {
        let [a, b] = buffers.map(|buffers| buffers.map(<*mut u8>::cast::<f32>));
        // SAFETY: the caller's promise.
        unsafe { deep::both_sides(Product::new(first, a), Product::new(second, b), between) }
    } else {
        let [a, b] = buffers.map(|buffers| buffers.map(<*mut u8>::cast::<f64>));
        // SAFETY: the caller's promise.
        unsafe { deep::both_sides(Product::new(first, a), Product::new(second, b), between) }
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
pub unsafe fn slices<'c>(
    call: &'c LibraryCall,
    buffers: &[*mut u8],
) -> (Vec<BufferRef<'c>>, Vec<BufferMut<'c>>) {
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
