//! Factorizations by `faer`, which wants columns that lie one after the other: matrices are turned on their way in
//! and out, in blocks that fit the nearest memory.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder;
use faer::linalg::lu::partial_pivoting::factor as partial_lu;
use faer::linalg::qr::no_pivoting::factor as householder_qr;
use faer::linalg::svd::{ComputeSvdVectors, svd as full_svd, svd_scratch};
use faer::linalg::triangular_solve as substitution;
use faer::{Conj, MatMut, MatRef, Par};
use tracewell_kernel::Triangular;

use super::number::{Float, Number};
use super::plain;

/// Rows and columns of the blocks in which a matrix is turned.
const BLOCK: usize = 16;

/// Runs `work` with as much memory as it asked for.
pub(super) fn with_scratch<R>(need: StackReq, work: impl FnOnce(&mut MemStack) -> R) -> R {
    let mut memory = MemBuffer::new(need);
    work(MemStack::new(&mut memory))
}

/// `to[j][i] = from[i][j]` for `rows` × `columns` elements of `from`.
fn turn<T: Copy>(from: &[T], rows: usize, columns: usize, to: &mut [T]) {
    for i0 in (0..rows).step_by(BLOCK) {
        for j0 in (0..columns).step_by(BLOCK) {
            for i in i0..rows.min(i0 + BLOCK) {
                for j in j0..columns.min(j0 + BLOCK) {
                    to[j * rows + i] = from[i * columns + j];
                }
            }
        }
    }
}

/// The same matrix with its columns one after the other.
fn turned<T: Number>(a: &[T], rows: usize, columns: usize) -> Vec<T> {
    let mut columns_first = vec![T::ZERO; a.len()];
    turn(a, rows, columns, &mut columns_first);
    columns_first
}

/// `l lᴴ = (a + aᴴ)/2`
pub(super) fn cholesky<T: Number>(a: &[T], n: usize, l: &mut [T]) {
    // The mean of both triangles, in both.
    let mut work = vec![T::ZERO; n * n];
    for i0 in (0..n).step_by(BLOCK) {
        for j0 in (0..=i0).step_by(BLOCK) {
            for i in i0..n.min(i0 + BLOCK) {
                for j in j0..n.min(j0 + BLOCK) {
                    // Column j, row i.
                    work[j * n + i] = T::HALF * a[i * n + j] + T::HALF * a[j * n + i].conjugate();
                }
            }
        }
    }
    let need = llt::cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default());
    let matrix = MatMut::from_column_major_slice_mut(&mut work, n, n);
    let done = with_scratch(need, |stack| {
        llt::cholesky_in_place(matrix, Default::default(), Par::Seq, stack, Default::default())
    });
    if done.is_err() {
        return plain::no_triangle(n, l);
    }
    let mut sum = T::ZERO;
    for i0 in (0..n).step_by(BLOCK) {
        for j0 in (0..=i0).step_by(BLOCK) {
            for i in i0..n.min(i0 + BLOCK) {
                for j in j0..(i + 1).min(j0 + BLOCK) {
                    l[i * n + j] = work[j * n + i];
                    // Zero times a number is zero, unless it is infinite or NaN.
                    sum += T::ZERO * work[j * n + i];
                }
            }
        }
    }
    if sum != T::ZERO {
        plain::no_triangle(n, l);
    }
}

/// Solves in place; `sizes` are those of the right sides.
pub(super) fn triangular_solve<T: Number>(
    which: Triangular,
    a: &[T],
    n: usize,
    x: &mut [T],
    (rows, columns): (usize, usize),
) {
    let a = MatRef::from_row_major_slice(a, n, n);
    let x = MatMut::from_row_major_slice_mut(x, rows, columns);
    // x a = b is aᵀ xᵀ = bᵀ.
    let x = if which.left { x } else { x.transpose_mut() };
    let transpose = which.transpose == which.left;
    let a = if transpose { a.transpose() } else { a };
    match (which.lower != transpose, which.unit) {
        (true, false) => substitution::solve_lower_triangular_in_place(a, x, Par::Seq),
        (true, true) => substitution::solve_unit_lower_triangular_in_place(a, x, Par::Seq),
        (false, false) => substitution::solve_upper_triangular_in_place(a, x, Par::Seq),
        (false, true) => substitution::solve_unit_upper_triangular_in_place(a, x, Par::Seq),
    }
}

/// Both triangles in one matrix. `x` holds `a` before.
pub(super) fn lu<T: Number>(
    a: &[T],
    x: &mut [T],
    (m, n): (usize, usize),
    pivots: &mut [i32],
    order: &mut [i32],
) {
    let mut work = turned(a, m, n);
    let (mut forth, mut back) = (vec![0usize; m], vec![0usize; m]);
    let need = partial_lu::lu_in_place_scratch::<usize, T>(m, n, Par::Seq, Default::default());
    let matrix = MatMut::from_column_major_slice_mut(&mut work, m, n);
    with_scratch(need, |stack| {
        partial_lu::lu_in_place(matrix, &mut forth, &mut back, Par::Seq, stack, Default::default());
    });
    if work.iter().any(|x| !Number::is_finite(*x)) {
        // It divides by a pivot of zero, which the plain loops pass over.
        return plain::lu(x, (m, n), pivots, order);
    }
    turn(&work, n, m, x);
    // The exchanges that lead to this order: what is to be at k is wherever the earlier ones have put it.
    order.iter_mut().zip(&forth).for_each(|(to, &from)| *to = from as i32);
    let (mut at, mut who): (Vec<usize>, Vec<usize>) = ((0..m).collect(), (0..m).collect());
    for (k, pivot) in pivots.iter_mut().enumerate() {
        let place = at[forth[k]];
        *pivot = place as i32;
        who.swap(k, place);
        (at[who[k]], at[who[place]]) = (k, place);
    }
}

/// `q r = a`: how many columns `q` has follows from its length.
pub(super) fn qr<T: Number>(a: &[T], (m, n): (usize, usize), q: &mut [T], r: &mut [T]) {
    let k = m.min(n);
    let columns = q.len().checked_div(m).unwrap_or(0);
    if m == 0 {
        return;
    }
    if k == 0 {
        // No columns: the whole of `q`, if that was asked for, is the identity.
        (0..columns).for_each(|i| q[i * columns + i] = T::ONE);
        return;
    }
    let mut work = turned(a, m, n);
    let block = householder_qr::recommended_block_size::<T>(m, n);
    let mut coefficients = vec![T::ZERO; block * k];
    let mut columns_of_q = vec![T::ZERO; m * columns];
    (0..columns).for_each(|i| columns_of_q[i * m + i] = T::ONE);
    let need = StackReq::any_of(&[
        householder_qr::qr_in_place_scratch::<T>(m, n, block, Par::Seq, Default::default()),
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(m, block, columns),
    ]);
    with_scratch(need, |stack| {
        let mut matrix = MatMut::from_column_major_slice_mut(&mut work, m, n);
        let mut factor = MatMut::from_column_major_slice_mut(&mut coefficients, block, k);
        householder_qr::qr_in_place(matrix.as_mut(), factor.as_mut(), Par::Seq, stack, Default::default());
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            matrix.as_ref().subcols(0, k),
            factor.as_ref(),
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut columns_of_q, m, columns),
            Par::Seq,
            stack,
        );
    });
    let turns: Vec<T> = (0..k).map(|i| work[i * m + i].diagonal_turn(i + 1 == m)).collect();
    for (column, turn) in columns_of_q.chunks_exact_mut(m).zip(&turns) {
        column.iter_mut().for_each(|x| *x *= turn.conjugate());
    }
    turn(&columns_of_q, columns, m, q);
    for (i, row) in r.chunks_exact_mut(n).enumerate() {
        for (j, x) in row.iter_mut().enumerate() {
            *x = if j >= i { work[j * m + i] * turns[i] } else { T::ZERO };
        }
    }
}

/// Eigenvalues, ascending, and vectors of `(a + aᵀ)/2`.
pub(super) fn eigh<T: Float>(a: &[T], n: usize, values: &mut [T], vectors: &mut [T]) {
    if n == 0 {
        return;
    }
    let mean: Vec<T> = (0..n * n).map(|at| T::HALF * a[at] + T::HALF * a[at % n * n + at / n]).collect();
    let mut columns = vec![T::ZERO; n * n];
    let need = self_adjoint_evd_scratch::<T>(n, ComputeEigenvectors::Yes, Par::Seq, Default::default());
    let done = with_scratch(need, |stack| {
        let matrix = MatRef::from_column_major_slice(&mean, n, n);
        let vectors = MatMut::from_column_major_slice_mut(&mut columns, n, n);
        let values = DiagMut::from_slice_mut(values);
        self_adjoint_evd(matrix, values, Some(vectors), Par::Seq, stack, Default::default())
    });
    if done.is_err() {
        values.fill(T::NAN);
        return vectors.fill(T::NAN);
    }
    for column in columns.chunks_exact_mut(n) {
        fix_sign(column);
    }
    turn(&columns, n, n, vectors);
}

/// Singular values, descending, and maybe vectors: how many follows from the lengths.
pub(super) fn svd<T: Float>(
    a: &[T],
    (m, n): (usize, usize),
    values: &mut [T],
    vectors: Option<(&mut [T], &mut [T])>,
) {
    let k = m.min(n);
    let wanted = if vectors.is_some() { ComputeSvdVectors::Thin } else { ComputeSvdVectors::No };
    let (mut u, mut v) = (vec![T::ZERO; m * k], vec![T::ZERO; n * k]);
    let need = || svd_scratch::<T>(m, n, wanted, wanted, Par::Seq, Default::default());
    let done = k == 0
        || with_scratch(need(), |stack| {
            full_svd(
                MatRef::from_row_major_slice(a, m, n),
                DiagMut::from_slice_mut(values),
                vectors.is_some().then(|| MatMut::from_column_major_slice_mut(&mut u, m, k)),
                vectors.is_some().then(|| MatMut::from_column_major_slice_mut(&mut v, n, k)),
                Par::Seq,
                stack,
                Default::default(),
            )
            .is_ok()
        });
    let Some((left, right)) = vectors else {
        if !done {
            values.fill(T::NAN);
        }
        return;
    };
    if !done {
        return [values, left, right].into_iter().for_each(|out| out.fill(T::NAN));
    }
    for (left, right) in u.chunks_exact_mut(m.max(1)).zip(v.chunks_exact_mut(n.max(1))) {
        if fix_sign(left) {
            right.iter_mut().for_each(|x| *x = -*x);
        }
    }
    complete(&mut u, m, left.len());
    complete(&mut v, n, right.len());
    let count = left.len().checked_div(m).unwrap_or(0);
    turn(&u, count, m, left);
    // Right vectors are rows, which is how they lie.
    right.copy_from_slice(&v);
}

/// Turns a vector so that the first component that is large is positive. Says whether it was turned.
fn fix_sign<T: Float>(vector: &mut [T]) -> bool {
    let largest = vector.iter().fold(T::ZERO, |m, x| if x.magnitude() > m { x.magnitude() } else { m });
    let turned = vector.iter().find(|x| x.magnitude() >= T::DECIDES * largest).is_some_and(|x| *x < T::ZERO);
    if turned {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    turned
}

/// Adds vectors until there are `len` elements, each orthogonal to all before: the axis of which most is left, without
/// what the others have of it.
fn complete<T: Float>(vectors: &mut Vec<T>, length: usize, len: usize) {
    if vectors.len() == len {
        return;
    }
    let remove = |from: &mut [T], vector: &[T]| {
        let along = from.iter().zip(vector).fold(T::ZERO, |sum, (x, v)| sum + *x * *v);
        from.iter_mut().zip(vector).for_each(|(x, v)| *x -= along * *v);
    };
    // What is left of each axis, and how much: kept up to date with each vector that is added.
    let mut rest: Vec<Vec<T>> = (0..length)
        .map(|axis| (0..length).map(|i| if i == axis { T::ONE } else { T::ZERO }).collect())
        .collect();
    for vector in vectors.chunks_exact(length) {
        rest.iter_mut().for_each(|axis| remove(axis, vector));
    }
    while vectors.len() < len {
        let size = |x: &[T]| x.iter().fold(T::ZERO, |sum, v| sum + *v * *v).root();
        // Roundings do not decide between axes of which as much is left.
        let margin = T::ONE + T::from_f64_impl(1e-5);
        let best =
            (1..length).fold(0, |best, i| if size(&rest[i]) > size(&rest[best]) * margin { i } else { best });
        let mut new = rest[best].clone();
        for vector in vectors.chunks_exact(length) {
            remove(&mut new, vector);
        }
        let length_of_new = size(&new);
        new.iter_mut().for_each(|x| *x /= length_of_new);
        fix_sign(&mut new);
        rest.iter_mut().for_each(|axis| remove(axis, &new));
        vectors.extend(new);
    }
}
