//! Fourier transforms along the last axes of arrays.
//!
//! Invariant: rows are transformed one by one, whoever does it, so that a result does not depend on the number of
//! threads.
#![allow(unsafe_code, reason = "operands are addresses in a program")]

use std::collections::HashMap;
use std::slice;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rayon::prelude::*;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex;
use rustfft::{FftNum, FftPlanner};
use tracewell_array::{DType, Shape};
use tracewell_kernel::{Fft, FftKind, LibraryCall, half_length};

use crate::pool;

/// Elements from which a transform is worth several threads.
const PARALLEL: usize = 1 << 15;
/// Elements that one thread takes at a time, at least a row.
const SHARE: usize = 1 << 13;
/// Plans that are kept; more are made again.
const KEPT: usize = 256;

/// `y = transform x`, for an operand of this type.
///
/// # Safety
///
/// `x` and `y` are aligned for their types and have as many elements as the transform takes of, and makes of, the
/// shape, which fits it. `x` is initialised. While this runs nobody else writes to `x` or uses `y`, and they do not
/// overlap.
pub(crate) unsafe fn fft(transform: &Fft, (dtype, shape): &(DType, Shape), x: *const u8, y: *mut u8) {
    if dtype.real() == DType::F32 {
        // SAFETY: the caller's promise.
        unsafe { typed::<f32>(transform, shape, x.cast(), y.cast()) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { typed::<f64>(transform, shape, x.cast(), y.cast()) }
    }
}

/// Whether a call splits its work between threads.
pub(crate) fn is_shared(call: &LibraryCall) -> bool {
    call.inputs.iter().chain(&call.outputs).any(|(_, shape)| shape.len() >= PARALLEL)
}

/// # Safety
///
/// As for [`fft`].
unsafe fn typed<T: Real>(transform: &Fft, shape: &Shape, x: *const T, y: *mut T) {
    let made = transform.result(shape).expect("the verifier refuses other shapes").len();
    let parts = |len: usize, real: bool| if real { len } else { 2 * len };
    let (from, to) =
        (parts(shape.len(), transform.kind.takes_real()), parts(made, transform.kind.gives_real()));
    // SAFETY: the caller's promise: initialised, and nobody writes to it now. A complex number is two parts in a row.
    let x = unsafe { slice::from_raw_parts(x, from) };
    // What is only read after it was written is written once before, so that it may be seen as numbers.
    // SAFETY: the caller's promise: so many parts are ours to write.
    unsafe { y.write_bytes(0, to) };
    // SAFETY: initialised above, and by the caller's promise nobody else has access now.
    let y = unsafe { slice::from_raw_parts_mut(y, to) };
    if shape.is_empty() || made == 0 {
        return;
    }
    let Axes { last, outer } = Axes::new(transform, shape);
    match transform.kind {
        FftKind::Forward | FftKind::Inverse => {
            y.copy_from_slice(x);
            let y = as_complex_mut(y);
            let inverse = transform.kind.is_inverse();
            rows(y, last, inverse);
            outer.iter().for_each(|axis| columns(y, *axis, inverse));
            if inverse {
                let scale = scale::<T>(transform);
                y.iter_mut().for_each(|z: &mut Complex<T>| *z = *z * scale);
            }
        }
        FftKind::RealForward => {
            let y = as_complex_mut(y);
            real_rows(x, y, last);
            outer.iter().for_each(|axis| columns(y, *axis, false));
        }
        FftKind::RealInverse => {
            let mut halves = as_complex(x).to_vec();
            outer.iter().for_each(|axis| columns(&mut halves, *axis, true));
            let scale = scale::<T>(transform);
            real_rows_back(&mut halves, y, last);
            y.iter_mut().for_each(|x| *x = *x * scale);
        }
    }
}

/// One over the number of elements of one transform.
fn scale<T: Real>(transform: &Fft) -> T {
    let count: f64 = transform.lengths.iter().map(|&n| n as f64).product();
    T::from_f64(1.0 / count).expect("every number has a nearest float")
}

/// The transformed axes of an array of complex numbers.
struct Axes {
    /// The length of the last one.
    last: usize,
    outer: Vec<Axis>,
}

/// An axis with others after it.
#[derive(Clone, Copy)]
struct Axis {
    len: usize,
    /// How many elements one index of it has.
    inner: usize,
}

impl Axes {
    fn new(transform: &Fft, shape: &Shape) -> Axes {
        // Of real transforms the complex side is the one with other axes to go along.
        let complex = if transform.kind.takes_real() { transform.result(shape) } else { Some(shape.clone()) };
        let sizes: Vec<usize> = complex.expect("the verifier refuses other shapes").iter().collect();
        let front = sizes.len() - transform.lengths.len();
        let outer = (front..sizes.len() - 1)
            .map(|axis| Axis { len: sizes[axis], inner: sizes[axis + 1..].iter().product() })
            .collect();
        Axes { last: transform.lengths[transform.lengths.len() - 1], outer }
    }
}

/// Transforms every row of so many elements.
fn rows<T: Real>(values: &mut [Complex<T>], len: usize, inverse: bool) {
    if len <= 1 {
        return;
    }
    let plan = T::plans().complex(len, inverse);
    let work = |chunk: &mut [Complex<T>]| {
        let mut scratch = vec![Complex::default(); plan.get_inplace_scratch_len()];
        plan.process_with_scratch(chunk, &mut scratch);
    };
    let share = share(len);
    if is_parallel(values.len()) {
        pool::run(|| values.par_chunks_mut(share).for_each(work));
    } else {
        work(values);
    }
}

/// Transforms along an axis that is not the last: its columns as rows, and back.
fn columns<T: Real>(values: &mut [Complex<T>], Axis { len, inner }: Axis, inverse: bool) {
    if len <= 1 {
        return;
    }
    let mut turned = vec![Complex::default(); len * inner];
    for block in values.chunks_exact_mut(len * inner) {
        turn(block, &mut turned, inner);
        rows(&mut turned, len, inverse);
        turn(&turned, block, len);
    }
}

/// The rows of a matrix with so many columns as columns.
fn turn<T: Real>(from: &[Complex<T>], to: &mut [Complex<T>], width: usize) {
    let height = from.len() / width;
    // Some rows at a time: what is read is near what was read before.
    let work = |(chunk, rows): (usize, &mut [Complex<T>])| {
        let first = chunk * TURNED;
        let count = rows.len() / height;
        for i in 0..height {
            for j in 0..count {
                rows[j * height + i] = from[i * width + first + j];
            }
        }
    };
    if is_parallel(from.len()) {
        pool::run(|| to.par_chunks_mut(TURNED * height).enumerate().for_each(work));
    } else {
        to.chunks_mut(TURNED * height).enumerate().for_each(work);
    }
}

/// Rows that are turned at a time: a cache line of complex numbers.
const TURNED: usize = 8;

/// Transforms rows of real numbers.
fn real_rows<T: Real>(x: &[T], y: &mut [Complex<T>], len: usize) {
    let plan = T::plans().forward(len);
    let half = half_length(len);
    let count = (SHARE / len).max(1);
    let work = |(x, y): (&[T], &mut [Complex<T>])| {
        let (mut row, mut scratch) = (plan.make_input_vec(), plan.make_scratch_vec());
        for (x, y) in x.chunks_exact(len).zip(y.chunks_exact_mut(half)) {
            row.copy_from_slice(x);
            plan.process_with_scratch(&mut row, y, &mut scratch)
                .expect("rows have the lengths of their plan");
        }
    };
    if is_parallel(x.len()) {
        pool::run(|| x.par_chunks(count * len).zip(y.par_chunks_mut(count * half)).for_each(work));
    } else {
        work((x, y));
    }
}

/// Transforms rows back to real numbers. What must be real for that is taken as real.
fn real_rows_back<T: Real>(halves: &mut [Complex<T>], y: &mut [T], len: usize) {
    let plan = T::plans().inverse(len);
    let half = half_length(len);
    let count = (SHARE / len).max(1);
    let work = |(halves, y): (&mut [Complex<T>], &mut [T])| {
        let mut scratch = plan.make_scratch_vec();
        for (row, y) in halves.chunks_exact_mut(half).zip(y.chunks_exact_mut(len)) {
            row[0].im = T::zero();
            if len.is_multiple_of(2) {
                row[half - 1].im = T::zero();
            }
            plan.process_with_scratch(row, y, &mut scratch).expect("rows have the lengths of their plan");
        }
    };
    if is_parallel(y.len()) {
        pool::run(|| halves.par_chunks_mut(count * half).zip(y.par_chunks_mut(count * len)).for_each(work));
    } else {
        work((halves, y));
    }
}

/// Elements for one thread at a time: whole rows.
fn share(len: usize) -> usize {
    (SHARE / len).max(1) * len
}

fn is_parallel(elements: usize) -> bool {
    elements >= PARALLEL && pool::threads() > 1
}

fn as_complex<T: Real>(parts: &[T]) -> &[Complex<T>] {
    // SAFETY: a complex number is two parts in a row, aligned like one, and any bits are a number.
    let (before, whole, after) = unsafe { parts.align_to::<Complex<T>>() };
    debug_assert!(before.is_empty() && after.is_empty());
    whole
}

fn as_complex_mut<T: Real>(parts: &mut [T]) -> &mut [Complex<T>] {
    // SAFETY: a complex number is two parts in a row, aligned like one, and any bits are a number.
    let (before, whole, after) = unsafe { parts.align_to_mut::<Complex<T>>() };
    debug_assert!(before.is_empty() && after.is_empty());
    whole
}

/// A float that transforms are planned for.
trait Real: FftNum + Default {
    fn plans() -> &'static Plans<Self>;
}

impl Real for f32 {
    fn plans() -> &'static Plans<f32> {
        static PLANS: LazyLock<Plans<f32>> = LazyLock::new(Plans::default);
        &PLANS
    }
}

impl Real for f64 {
    fn plans() -> &'static Plans<f64> {
        static PLANS: LazyLock<Plans<f64>> = LazyLock::new(Plans::default);
        &PLANS
    }
}

/// Plans that were made before, by length and direction.
struct Plans<T> {
    complex: Kept<(usize, bool), dyn rustfft::Fft<T>>,
    forward: Kept<usize, dyn RealToComplex<T>>,
    inverse: Kept<usize, dyn ComplexToReal<T>>,
}

type Kept<K, P> = Mutex<HashMap<K, Arc<P>>>;

impl<T> Default for Plans<T> {
    fn default() -> Plans<T> {
        Plans { complex: Mutex::default(), forward: Mutex::default(), inverse: Mutex::default() }
    }
}

impl<T: FftNum> Plans<T> {
    fn complex(&self, len: usize, inverse: bool) -> Arc<dyn rustfft::Fft<T>> {
        kept(&self.complex, (len, inverse), || {
            let mut planner = FftPlanner::new();
            if inverse { planner.plan_fft_inverse(len) } else { planner.plan_fft_forward(len) }
        })
    }

    fn forward(&self, len: usize) -> Arc<dyn RealToComplex<T>> {
        kept(&self.forward, len, || RealFftPlanner::new().plan_fft_forward(len))
    }

    fn inverse(&self, len: usize) -> Arc<dyn ComplexToReal<T>> {
        kept(&self.inverse, len, || RealFftPlanner::new().plan_fft_inverse(len))
    }
}

fn kept<K: std::hash::Hash + Eq, P: ?Sized>(
    plans: &Kept<K, P>,
    key: K,
    make: impl FnOnce() -> Arc<P>,
) -> Arc<P> {
    let mut plans = plans.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = plans.get(&key) {
        return Arc::clone(plan);
    }
    if plans.len() >= KEPT {
        plans.clear();
    }
    let plan = make();
    plans.insert(key, Arc::clone(&plan));
    plan
}
