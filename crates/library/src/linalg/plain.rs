//! The plain loops, for small matrices: row-major, in place.

use tracewell_kernel::Triangular;

use super::number::Number;

/// The lower triangle `l` with `l lᴴ = (a + aᴴ)/2`; NaN where there is none. `l` is all zeros before.
pub(super) fn cholesky<T: Number>(a: &[T], n: usize, l: &mut [T]) {
    for i in 0..n {
        for j in 0..=i {
            let mut sum = T::HALF * a[i * n + j] + T::HALF * a[j * n + i].conjugate();
            for k in 0..j {
                sum -= l[i * n + k] * l[j * n + k].conjugate();
            }
            l[i * n + j] = if i == j {
                let Some(root) = sum.pivot_root() else { return no_triangle(n, l) };
                root
            } else {
                sum / l[j * n + j]
            };
        }
    }
    if l.iter().any(|x| !Number::is_finite(*x)) {
        no_triangle(n, l);
    }
}

/// A lower triangle of NaN.
pub(super) fn no_triangle<T: Number>(n: usize, l: &mut [T]) {
    for i in 0..n {
        l[i * n..i * n + i + 1].fill(T::NAN);
        l[i * n + i + 1..(i + 1) * n].fill(T::ZERO);
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
    let transpose = which.transpose == which.left;
    // Right sides are columns: `step` from one of its elements to the next, `next` from one side to the next.
    let (count, step, next) = if which.left { (columns, columns, 1) } else { (rows, 1, columns) };
    let at = |i: usize, j: usize| if transpose { a[j * n + i] } else { a[i * n + j] };
    let forwards = which.lower != transpose;
    for side in 0..count {
        for turn in 0..n {
            let i = if forwards { turn } else { n - 1 - turn };
            let mut sum = x[i * step + side * next];
            for j in if forwards { 0..i } else { i + 1..n } {
                sum -= at(i, j) * x[j * step + side * next];
            }
            x[i * step + side * next] = if which.unit { sum } else { sum / at(i, i) };
        }
    }
}

/// Both triangles in place, with the largest pivot of each column. A column of zeros is left alone.
pub(super) fn lu<T: Number>(a: &mut [T], (m, n): (usize, usize), pivots: &mut [i32], order: &mut [i32]) {
    order.iter_mut().enumerate().for_each(|(i, row)| *row = i as i32);
    for k in 0..m.min(n) {
        let size = |i: usize| a[i * n + k].spread();
        let pivot = (k + 1..m).fold(k, |best, i| if size(i) > size(best) { i } else { best });
        pivots[k] = pivot as i32;
        order.swap(k, pivot);
        if pivot != k {
            (0..n).for_each(|j| a.swap(k * n + j, pivot * n + j));
        }
        let (above, below) = a.split_at_mut((k + 1) * n);
        let row = &above[k * n..];
        if row[k] == T::ZERO {
            continue;
        }
        for other in below.chunks_exact_mut(n) {
            let factor = other[k] / row[k];
            other[k] = factor;
            for (x, y) in other[k + 1..].iter_mut().zip(&row[k + 1..]) {
                *x -= factor * *y;
            }
        }
    }
}
