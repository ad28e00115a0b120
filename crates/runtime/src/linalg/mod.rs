//! Linear algebra on buffers: plain loops where matrices are small, `faer` where they are not.
//!
//! Invariant: a matrix is factored by one thread, so that no result depends on how many there are; the matrices of
//! a batch are shared out between them.

mod factor;
mod plain;

use std::ops::{Add, Div, Mul, Neg, Range, Sub};

use faer::traits::RealField;
use tracewell_array::{DType, Element, Shape};
use tracewell_kernel::linalg::{batch_len, dims};
use tracewell_kernel::{BufferMut, BufferRef, Linalg};

use crate::pool;

/// Below this many rows and columns plain loops are done before the library has looked at the sizes.
const SMALL: usize = 16;
/// Multiply-adds, about, from which a batch is worth sharing out.
const PARALLEL: usize = 64 * 64 * 64;

/// What the loops need of a number.
pub(crate) trait Float:
    RealField
    + Element
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;
    const NAN: Self;
    const DECIDES: Self;
    fn root(self) -> Self;
    fn magnitude(self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl Float for $t {
            const ZERO: $t = 0.0;
            const ONE: $t = 1.0;
            const NAN: $t = $t::NAN;
            const DECIDES: $t = tracewell_kernel::linalg::DECIDES as $t;
            fn root(self) -> $t { self.sqrt() }
            fn magnitude(self) -> $t { self.abs() }
            fn is_finite(self) -> bool { $t::is_finite(self) }
        }
    )*};
}
floats!(f32 f64);

/// Fills the results of a call.
pub(crate) fn call(linalg: Linalg, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) {
    match inputs[0].dtype {
        DType::F32 => typed::<f32>(linalg, inputs, outputs),
        DType::F64 => typed::<f64>(linalg, inputs, outputs),
        other => unreachable!("the verifier refuses matrices of {other}"),
    }
}

/// Whether the matrices of a call are shared out between threads.
pub(crate) fn is_shared(inputs: &[(DType, Shape)]) -> bool {
    let (m, n) = dims(&inputs[0].1);
    let count = batch_len(&inputs[0].1);
    count > 1 && count.saturating_mul(m).saturating_mul(n).saturating_mul(m.min(n)) >= PARALLEL
}

/// One matrix of each operand and of each result.
struct Job<'a, T> {
    inputs: [&'a [T]; 2],
    floats: [&'a mut [T]; 3],
    ints: [&'a mut [i32]; 2],
}

fn typed<T: Float>(linalg: Linalg, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) {
    let shape = inputs[0].shape;
    let (count, (m, n)) = (batch_len(shape), dims(shape));
    if count == 0 {
        return;
    }
    let operand = |i: usize| -> &[T] {
        inputs.get(i).map_or(&[], |input| input.as_slice().expect("operands have one type"))
    };
    let all = [operand(0), operand(1)];
    // Sizes of the second operand, for right sides.
    let sides = inputs.get(1).map_or((0, 0), |b| dims(b.shape));
    let (mut floats, mut ints): ([&mut [T]; 3], [&mut [i32]; 2]) = Default::default();
    let (mut float, mut int) = (0, 0);
    for output in outputs {
        if output.dtype == DType::I32 {
            ints[int] = output.as_mut_slice().expect("the type it has");
            int += 1;
        } else {
            floats[float] = output.as_mut_slice().expect("results have the operands' type");
            float += 1;
        }
    }
    let sizes = (
        all.map(|x| x.len() / count),
        floats.each_ref().map(|x| x.len() / count),
        ints.each_ref().map(|x| x.len() / count),
    );
    let mut jobs = Vec::with_capacity(count);
    for number in 0..count {
        let part = |i: usize| &all[i][sizes.0[i] * number..sizes.0[i] * (number + 1)];
        jobs.push(Job {
            inputs: [part(0), part(1)],
            floats: split_off(&mut floats, sizes.1),
            ints: split_off(&mut ints, sizes.2),
        });
    }
    let work = |jobs: &mut [Job<'_, T>]| {
        for job in jobs {
            one(linalg, (m, n), sides, job);
        }
    };
    let shared = is_shared(&[(inputs[0].dtype, shape.clone())]);
    let parts = if shared { pool::threads().min(count) } else { 1 };
    if parts <= 1 {
        return work(&mut jobs);
    }
    let range = |part: usize| -> Range<usize> { count * part / parts..count * (part + 1) / parts };
    pool::scope(|scope| {
        let mut rest = jobs.as_mut_slice();
        for part in 0..parts {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(range(part).len());
            rest = others;
            let work = &work;
            if part + 1 == parts { work(own) } else { scope.spawn(move |_| work(own)) }
        }
    });
}

/// Takes so many elements off the front of each.
fn split_off<'a, E, const N: usize>(all: &mut [&'a mut [E]; N], sizes: [usize; N]) -> [&'a mut [E]; N] {
    std::array::from_fn(|i| {
        let (own, rest) = std::mem::take(&mut all[i]).split_at_mut(sizes[i]);
        all[i] = rest;
        own
    })
}

/// One matrix of `m` rows and `n` columns, and maybe right sides.
fn one<T: Float>(linalg: Linalg, (m, n): (usize, usize), sides: (usize, usize), job: &mut Job<'_, T>) {
    let Job { inputs: [a, b], floats: [x, y, z], ints: [pivots, order] } = job;
    let small = m.max(n) < SMALL;
    match linalg {
        Linalg::Cholesky if small => plain::cholesky(a, n, x),
        Linalg::Cholesky => factor::cholesky(a, n, x),
        Linalg::TriangularSolve(which) => {
            x.copy_from_slice(b);
            if small {
                plain::triangular_solve(which, a, n, x, sides)
            } else {
                factor::triangular_solve(which, a, n, x, sides)
            }
        }
        // No matrix that is not finite goes further.
        _ if a.iter().any(|x| !Float::is_finite(*x)) => {
            [x, y, z].into_iter().for_each(|out| out.fill(T::NAN));
            for indices in [pivots, order] {
                indices.iter_mut().enumerate().for_each(|(i, index)| *index = i as i32);
            }
        }
        Linalg::Lu => {
            x.copy_from_slice(a);
            if small { plain::lu(x, (m, n), pivots, order) } else { factor::lu(a, x, (m, n), pivots, order) }
        }
        Linalg::Qr { .. } => factor::qr(a, (m, n), x, y),
        Linalg::Svd { vectors, .. } => factor::svd(a, (m, n), x, vectors.then_some((&mut **y, &mut **z))),
        Linalg::Eigh => factor::eigh(a, n, x, y),
    }
}
