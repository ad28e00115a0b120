//! The reference of linear algebra: textbook loops over small matrices of `f64`, or of pairs of them.
//!
//! Every loop ends after a number of steps that the sizes bound, whatever the elements. A matrix in which an element
//! is not finite has factors that are NaN.

use std::ops::{Index, IndexMut};

use super::number::Number;
use super::{DECIDES, Triangular};

/// A dense row-major matrix.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Matrix<T = f64> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) elements: Vec<T>,
}

impl<T> Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.elements[i * self.columns + j]
    }
}

impl<T> IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.elements[i * self.columns + j]
    }
}

impl<T: Number> Matrix<T> {
    pub(super) fn from_fn(rows: usize, columns: usize, f: impl Fn(usize, usize) -> T) -> Matrix<T> {
        let elements = (0..rows * columns).map(|at| f(at / columns, at % columns)).collect();
        Matrix { rows, columns, elements }
    }

    pub(super) fn identity(size: usize) -> Matrix<T> {
        Matrix::from_fn(size, size, |i, j| T::real(f64::from(i == j)))
    }

    pub(super) fn times(&self, other: &Matrix<T>) -> Matrix<T> {
        Matrix::from_fn(self.rows, other.columns, |i, j| {
            (0..self.columns).fold(T::real(0.0), |sum, k| sum + self[(i, k)] * other[(k, j)])
        })
    }

    pub(super) fn adjoint(&self) -> Matrix<T> {
        Matrix::from_fn(self.columns, self.rows, |i, j| self[(j, i)].conj())
    }

    fn transposed(&self) -> Matrix<T> {
        Matrix::from_fn(self.columns, self.rows, |i, j| self[(j, i)])
    }

    /// `(a + aᴴ)/2`
    fn symmetric(&self) -> Matrix<T> {
        let half = T::real(0.5);
        Matrix::from_fn(self.rows, self.rows, |i, j| self[(i, j)] * half + self[(j, i)].conj() * half)
    }

    pub(super) fn is_finite(&self) -> bool {
        self.elements.iter().all(|x| x.is_finite())
    }

    pub(super) fn column(&self, j: usize) -> Vec<T> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    fn set_column(&mut self, j: usize, column: &[T]) {
        column.iter().enumerate().for_each(|(i, &x)| self[(i, j)] = x);
    }

    fn nan(rows: usize, columns: usize) -> Matrix<T> {
        Matrix::from_fn(rows, columns, |_, _| T::nan())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The length of a vector, of numbers whose squares may be too large.
fn norm<T: Number>(x: &[T]) -> f64 {
    let largest = x.iter().fold(0.0, |m: f64, v| m.max(v.size()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * x.iter().map(|v| (v.size() / largest).powi(2)).sum::<f64>().sqrt()
}

/// Row by row, after Cholesky and Banachiewicz. Without a square root, all of the triangle is NaN.
pub(super) fn cholesky<T: Number>(a: &Matrix<T>) -> Matrix<T> {
    let n = a.rows;
    let a = a.symmetric();
    let mut l = Matrix::from_fn(n, n, |_, _| T::real(0.0));
    for i in 0..n {
        for j in 0..=i {
            let sum = (0..j).fold(a[(i, j)], |sum, k| sum - l[(i, k)] * l[(j, k)].conj());
            l[(i, j)] = if i == j { T::real(sum.re().sqrt()) } else { sum.over(l[(j, j)]) };
        }
    }
    // A pivot of zero is no positive one either.
    let definite = (0..n).all(|i| l[(i, i)].re() > 0.0) && l.is_finite();
    Matrix::from_fn(n, n, |i, j| if j > i || definite { l[(i, j)] } else { T::nan() })
}

/// Substitution, forwards or backwards.
pub(super) fn triangular_solve<T: Number>(which: Triangular, a: &Matrix<T>, b: &Matrix<T>) -> Matrix<T> {
    // x a = b is aᵀ xᵀ = bᵀ.
    let (mut x, transpose) =
        if which.left { (b.clone(), which.transpose) } else { (b.transposed(), !which.transpose) };
    let n = a.rows;
    let at = |i: usize, j: usize| if transpose { a[(j, i)] } else { a[(i, j)] };
    let forwards = which.lower != transpose;
    for c in 0..x.columns {
        for step in 0..n {
            let i = if forwards { step } else { n - 1 - step };
            let known = if forwards { 0..i } else { i + 1..n };
            let sum = known.fold(x[(i, c)], |sum, j| sum - at(i, j) * x[(j, c)]);
            x[(i, c)] = if which.unit { sum } else { sum.over(at(i, i)) };
        }
    }
    if which.left { x } else { x.transposed() }
}

/// Gauss with the largest pivot of each column; the first of equal ones. A column of zeros is left alone.
pub(super) fn lu<T: Number>(a: &Matrix<T>) -> (Matrix<T>, Vec<usize>, Vec<usize>) {
    let (m, n) = (a.rows, a.columns);
    let mut order: Vec<usize> = (0..m).collect();
    if !a.is_finite() {
        return (Matrix::nan(m, n), (0..m.min(n)).collect(), order);
    }
    let mut lu = a.clone();
    let mut pivots = Vec::new();
    for k in 0..m.min(n) {
        let pivot =
            (k + 1..m).fold(k, |best, i| if lu[(i, k)].spread() > lu[(best, k)].spread() { i } else { best });
        pivots.push(pivot);
        order.swap(k, pivot);
        for j in 0..n {
            lu.elements.swap(k * n + j, pivot * n + j);
        }
        if lu[(k, k)] == T::real(0.0) {
            continue;
        }
        for i in k + 1..m {
            lu[(i, k)] = lu[(i, k)].over(lu[(k, k)]);
            for j in k + 1..n {
                lu[(i, j)] = lu[(i, j)] - lu[(i, k)] * lu[(k, j)];
            }
        }
    }
    (lu, pivots, order)
}

/// Householder's reflections, with LAPACK's signs: a diagonal element has the sign opposite to what stood there,
/// unless there is nothing below it to remove. Of complex matrices the diagonal is real, and its real part as said.
pub(super) fn qr<T: Number>(a: &Matrix<T>, full: bool) -> (Matrix<T>, Matrix<T>) {
    let (m, n) = (a.rows, a.columns);
    let k = if full { m } else { m.min(n) };
    if !a.is_finite() {
        return (Matrix::nan(m, k), Matrix::nan(k, n));
    }
    let mut r = a.clone();
    let mut q = Matrix::identity(m);
    for j in 0..m.min(n) {
        let mut v: Vec<T> = (j..m).map(|i| r[(i, j)]).collect();
        if norm(&v[1..]) > 0.0 {
            let phase = if v[0].size() == 0.0 { T::real(1.0) } else { v[0].over(T::real(v[0].size())) };
            v[0] = v[0] + phase * T::real(norm(&v));
            let length = norm(&v);
            v.iter_mut().for_each(|x| *x = x.over(T::real(length)));
            // Both sides of the reflection I - 2 v vᴴ: from the left to r, from the right to q.
            let zero = T::real(0.0);
            for c in 0..n {
                let along = (j..m).fold(zero, |sum, i| sum + v[i - j].conj() * r[(i, c)]);
                (j..m).for_each(|i| r[(i, c)] = r[(i, c)] - T::real(2.0) * along * v[i - j]);
            }
            for i in 0..m {
                let along = (j..m).fold(zero, |sum, c| sum + q[(i, c)] * v[c - j]);
                (j..m).for_each(|c| q[(i, c)] = q[(i, c)] - T::real(2.0) * along * v[c - j].conj());
            }
            (j + 1..m).for_each(|i| r[(i, j)] = zero);
        }
        let turn = diagonal_turn(r[(j, j)], j + 1 == m);
        (0..n).for_each(|c| r[(j, c)] = r[(j, c)] * turn);
        (0..m).for_each(|i| q[(i, j)] = q[(i, j)] * turn.conj());
    }
    (Matrix::from_fn(m, k, |i, j| q[(i, j)]), Matrix::from_fn(k, n, |i, j| r[(i, j)]))
}

/// What a row is multiplied with, so that its diagonal element is real and its real part keeps the sign; in the last
/// row, where LAPACK reflects what is not real, it changes.
fn diagonal_turn<T: Number>(diagonal: T, is_last: bool) -> T {
    if diagonal == diagonal.conj() {
        return T::real(1.0);
    }
    let size = diagonal.size().copysign(diagonal.re());
    T::real(if is_last { -size } else { size }).over(diagonal)
}

/// More rounds than any matrix needs: the error is squared in each of the last ones.
const ROUNDS: usize = 60;

/// Jacobi's rotations, all pairs in turn.
pub(super) fn eigh(a: &Matrix) -> (Vec<f64>, Matrix) {
    let n = a.rows;
    if !a.is_finite() {
        return (vec![f64::NAN; n], Matrix::nan(n, n));
    }
    // Between 0 and 1, so that squares are in range.
    let scale = a.elements.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scale = if scale == 0.0 { 1.0 } else { scale };
    let symmetric = a.symmetric();
    let mut a = Matrix::from_fn(n, n, |i, j| symmetric[(i, j)] / scale);
    let mut v = Matrix::identity(n);
    for _ in 0..ROUNDS {
        for p in 0..n {
            for q in p + 1..n {
                if a[(p, q)] == 0.0 {
                    continue;
                }
                let (c, s) = rotation(a[(p, p)], a[(p, q)], a[(q, q)]);
                for k in 0..n {
                    let (x, y) = (a[(k, p)], a[(k, q)]);
                    (a[(k, p)], a[(k, q)]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[(p, k)], a[(q, k)]);
                    (a[(p, k)], a[(q, k)]) = (c * x - s * y, s * x + c * y);
                }
                // What the rotation is for; roundings left something.
                (a[(p, q)], a[(q, p)]) = (0.0, 0.0);
                for k in 0..n {
                    let (x, y) = (v[(k, p)], v[(k, q)]);
                    (v[(k, p)], v[(k, q)]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[(i, i)].total_cmp(&a[(j, j)]));
    let values = order.iter().map(|&i| a[(i, i)] * scale).collect();
    let mut vectors = Matrix::from_fn(n, n, |i, j| v[(i, order[j])]);
    for j in 0..n {
        let mut column = vectors.column(j);
        fix_sign(&mut column);
        vectors.set_column(j, &column);
    }
    (values, vectors)
}

/// Cosine and sine of the rotation that makes `[[app, apq], [apq, aqq]]` diagonal, of at most an eighth of a turn.
fn rotation(app: f64, apq: f64, aqq: f64) -> (f64, f64) {
    let theta = (aqq - app) / (2.0 * apq);
    let t = if theta.abs() > 1e150 {
        0.5 / theta
    } else {
        1.0f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt())
    };
    let c = 1.0 / (t * t + 1.0).sqrt();
    (c, t * c)
}

/// Turns a vector so that the first component that is large decides: it is positive. Says whether it was turned.
fn fix_sign(vector: &mut [f64]) -> bool {
    let largest = vector.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let turned = vector.iter().find(|x| x.abs() >= DECIDES * largest).is_some_and(|x| *x < 0.0);
    if turned {
        vector.iter_mut().for_each(|x| *x = -*x);
    }
    turned
}

/// Jacobi's rotations from one side, after Hestenes: columns are made orthogonal, their lengths are the values.
pub(super) fn svd(a: &Matrix, full: bool) -> (Vec<f64>, Matrix, Matrix) {
    let (m, n) = (a.rows, a.columns);
    let k = m.min(n);
    let (left, right) = if full { (m, n) } else { (k, k) };
    if !a.is_finite() {
        return (vec![f64::NAN; k], Matrix::nan(m, left), Matrix::nan(right, n));
    }
    // At least as many rows as columns.
    let tall = if m < n { a.transposed() } else { a.clone() };
    let scale = a.elements.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scale = if scale == 0.0 { 1.0 } else { scale };
    let mut columns: Vec<Vec<f64>> =
        (0..k).map(|j| tall.column(j).iter().map(|x| x / scale).collect()).collect();
    let mut v = Matrix::identity(k);
    for _ in 0..ROUNDS {
        for p in 0..k {
            for q in p + 1..k {
                let apq = dot(&columns[p], &columns[q]);
                let (app, aqq) = (dot(&columns[p], &columns[p]), dot(&columns[q], &columns[q]));
                if apq == 0.0 || apq.abs() <= 1e-17 * (app * aqq).sqrt() {
                    continue;
                }
                let (c, s) = rotation(app, apq, aqq);
                let (left, right) = columns.split_at_mut(q);
                for (x, y) in left[p].iter_mut().zip(&mut right[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
                for i in 0..k {
                    let (x, y) = (v[(i, p)], v[(i, q)]);
                    (v[(i, p)], v[(i, q)]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let lengths: Vec<f64> = columns.iter().map(|column| norm(column)).collect();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    // Vectors whose value is nothing but rounding are not in the columns any more.
    let least = lengths.iter().fold(0.0, |m: f64, x| m.max(*x)) * f64::EPSILON * m.max(n) as f64;
    let mut tall_vectors: Vec<Vec<f64>> = Vec::new();
    for &i in order.iter().filter(|&&i| lengths[i] > least) {
        tall_vectors.push(columns[i].iter().map(|x| x / lengths[i]).collect());
    }
    let found = tall_vectors.len();
    complete(&mut tall_vectors, tall.rows, if full { tall.rows } else { k });
    // What is left of a column still says which way its vector points.
    for (vector, &i) in tall_vectors.iter_mut().zip(&order).skip(found) {
        if dot(vector, &columns[i]) < 0.0 {
            vector.iter_mut().for_each(|x| *x = -*x);
        }
    }
    let mut short_vectors: Vec<Vec<f64>> = order.iter().map(|&i| v.column(i)).collect();
    let (u, w) =
        if m < n { (&mut short_vectors, &mut tall_vectors) } else { (&mut tall_vectors, &mut short_vectors) };
    // Left vectors have the sign of the rule, right ones follow; what has no partner has the rule's too.
    for (i, vector) in u.iter_mut().enumerate() {
        if fix_sign(vector) && i < k {
            w[i].iter_mut().for_each(|x| *x = -*x);
        }
    }
    w.iter_mut().skip(k).for_each(|vector| {
        fix_sign(vector);
    });
    let values = order.iter().map(|&i| lengths[i] * scale).collect();
    let u = Matrix::from_fn(m, left, |i, j| u[j][i]);
    let vt = Matrix::from_fn(right, n, |i, j| w[i][j]);
    (values, u, vt)
}

/// Adds vectors that are orthogonal to all before: each time the axis of which most is left, without what the
/// others have of it.
fn complete(vectors: &mut Vec<Vec<f64>>, length: usize, count: usize) {
    while vectors.len() < count {
        let rest = |axis: usize| {
            let mut rest: Vec<f64> = (0..length).map(|i| f64::from(i == axis)).collect();
            // Twice: the first time leaves a rounding of what was removed.
            for _ in 0..2 {
                for vector in vectors.iter() {
                    let along = dot(vector, &rest);
                    rest.iter_mut().zip(vector).for_each(|(x, v)| *x -= along * v);
                }
            }
            rest
        };
        let all: Vec<Vec<f64>> = (0..length).map(rest).collect();
        let best = (1..length)
            .fold(0, |best, i| if norm(&all[i]) > norm(&all[best]) * (1.0 + 1e-9) { i } else { best });
        let size = norm(&all[best]);
        vectors.push(all[best].iter().map(|x| x / size).collect());
    }
}
