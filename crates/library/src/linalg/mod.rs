//! Linear algebra on buffers: plain loops where matrices are small, `faer` where they are not.
//!
//! Invariant: a matrix is factored by one thread, so that no result depends on how many there are; the matrices of
//! a batch are shared out between them.

mod eig;
mod factor;
mod number;
mod plain;

use tracewell_array::{Complex, Complex32, Complex64, DType, Shape};
use tracewell_kernel::linalg::{batch_len, dims};
use tracewell_kernel::{BufferMut, BufferRef, Linalg};

use crate::pool;
use number::Number;

/// Below this many rows and columns plain loops are done before the library has looked at the sizes.
const SMALL: usize = 16;
/// Multiply-adds, about, from which a batch is worth sharing out.
const PARALLEL: usize = 64 * 64 * 64;

/// Fills the results of a call.
pub(crate) fn call(linalg: Linalg, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) {
    match inputs[0].dtype {
        DType::F32 | DType::F64 if matches!(linalg, Linalg::Eig { .. }) => widened(linalg, inputs, outputs),
        DType::F32 => typed::<f32>(linalg, inputs, outputs),
        DType::F64 => typed::<f64>(linalg, inputs, outputs),
        DType::C64 => widened(linalg, inputs, outputs),
        DType::C128 => typed::<Complex64>(linalg, inputs, outputs),
        other => unreachable!("the verifier refuses matrices of {other}"),
    }
}

/// The same by way of `c128`: what is used seldom is not compiled for every type.
fn widened(linalg: Linalg, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) {
    let inputs: Vec<(Vec<Complex64>, &Shape)> =
        inputs.iter().map(|input| (wide(input), input.shape)).collect();
    let (mut large, mut indices): (Vec<Vec<Complex64>>, Vec<&mut [i32]>) = Default::default();
    let mut results: Vec<&mut BufferMut<'_>> = Vec::new();
    for output in outputs {
        if output.dtype == DType::I32 {
            indices.push(output.as_mut_slice().expect("the type it has"));
        } else {
            large.push(vec![Complex64::default(); output.shape.len()]);
            results.push(output);
        }
    }
    let operands: Vec<(&[Complex64], &Shape)> =
        inputs.iter().map(|(all, shape)| (&all[..], *shape)).collect();
    run(linalg, &operands, large.iter_mut().map(Vec::as_mut_slice), indices);
    for (result, wide) in results.into_iter().zip(large) {
        if let Ok(narrow) = result.as_mut_slice::<Complex32>() {
            let rounded = |z: &Complex64| Complex::new(z.re as f32, z.im as f32);
            narrow.iter_mut().zip(&wide).for_each(|(to, z)| *to = rounded(z));
        } else {
            result.as_mut_slice().expect("results are complex").copy_from_slice(&wide);
        }
    }
}

/// Numbers of any type as complex ones.
fn wide(input: &BufferRef<'_>) -> Vec<Complex64> {
    match input.dtype {
        DType::F32 => {
            let all: &[f32] = input.as_slice().expect("the type it has");
            all.iter().map(|&x| f64::from(x).into()).collect()
        }
        DType::F64 => {
            let all: &[f64] = input.as_slice().expect("the type it has");
            all.iter().map(|&x| x.into()).collect()
        }
        _ => {
            let all: &[Complex32] = input.as_slice().expect("the verifier refuses other types");
            all.iter().map(|z| Complex::new(f64::from(z.re), f64::from(z.im))).collect()
        }
    }
}

fn shares(shape: &Shape) -> bool {
    let ((m, n), count) = (dims(shape), batch_len(shape));
    count > 1 && count.saturating_mul(m).saturating_mul(n).saturating_mul(m.min(n)) >= PARALLEL
}

/// One matrix of each operand and of each result.
struct Job<'a, T> {
    inputs: [&'a [T]; 2],
    floats: [&'a mut [T]; 3],
    ints: [&'a mut [i32]; 2],
}

fn typed<T: Number>(linalg: Linalg, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) {
    let operands: Vec<(&[T], &Shape)> =
        inputs.iter().map(|input| (input.as_slice().expect("operands have one type"), input.shape)).collect();
    let (mut numbers, mut indices): (Vec<&mut [T]>, Vec<&mut [i32]>) = Default::default();
    for output in outputs {
        if output.dtype == DType::I32 {
            indices.push(output.as_mut_slice().expect("the type it has"));
        } else {
            numbers.push(output.as_mut_slice().expect("results have the operands' type"));
        }
    }
    run(linalg, &operands, numbers, indices);
}

/// Each matrix on its own, by one thread or several.
fn run<'a, T: Number>(
    linalg: Linalg,
    operands: &[(&'a [T], &Shape)],
    numbers: impl IntoIterator<Item = &'a mut [T]>,
    indices: impl IntoIterator<Item = &'a mut [i32]>,
) {
    let shape = operands[0].1;
    let (count, (m, n)) = (batch_len(shape), dims(shape));
    if count == 0 {
        return;
    }
    let all = [operands[0].0, operands.get(1).map_or(&[], |(all, _)| *all)];
    // Sizes of the second operand, for right sides.
    let sides = operands.get(1).map_or((0, 0), |(_, shape)| dims(shape));
    let (mut floats, mut ints): ([&mut [T]; 3], [&mut [i32]; 2]) = Default::default();
    floats.iter_mut().zip(numbers).for_each(|(place, all)| *place = all);
    ints.iter_mut().zip(indices).for_each(|(place, all)| *place = all);
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
    let shared = shares(shape);
    let parts = if shared { pool::threads().min(count) } else { 1 };
    if parts <= 1 {
        return work(&mut jobs);
    }
    pool::share_out(jobs.chunks_mut(count.div_ceil(parts)).collect(), work);
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
fn one<T: Number>(linalg: Linalg, (m, n): (usize, usize), sides: (usize, usize), job: &mut Job<'_, T>) {
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
        _ if a.iter().any(|x| !Number::is_finite(*x)) => {
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
        Linalg::Svd { vectors, .. } => T::svd(a, (m, n), x, vectors.then_some((&mut **y, &mut **z))),
        Linalg::Eigh => T::eigh(a, n, x, y),
        Linalg::Eig { .. } => T::eig(a, n, x, y),
    }
}
