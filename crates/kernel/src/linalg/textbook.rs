//! The reference of linear algebra: textbook loops over small matrices of `f64`.
//!
//! Every loop ends after a number of steps that the sizes bound, whatever the elements. A matrix in which an element
//! is not finite has factors that are NaN.

use std::ops::{Index, IndexMut};

use super::{DECIDES, Triangular};

/// A dense row-major matrix.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) elements: Vec<f64>,
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.elements[i * self.columns + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.elements[i * self.columns + j]
    }
}

impl Matrix {
    pub(super) fn from_fn(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Matrix {
        let elements = (0..rows * columns).map(|at| f(at / columns, at % columns)).collect();
        Matrix { rows, columns, elements }
    }

    fn identity(size: usize) -> Matrix {
        Matrix::from_fn(size, size, |i, j| f64::from(i == j))
    }

    fn transposed(&self) -> Matrix {
        Matrix::from_fn(self.columns, self.rows, |i, j| self[(j, i)])
    }

    fn symmetric(&self) -> Matrix {
        Matrix::from_fn(self.rows, self.rows, |i, j| self[(i, j)] / 2.0 + self[(j, i)] / 2.0)
    }

    fn is_finite(&self) -> bool {
        self.elements.iter().all(|x| x.is_finite())
    }

    fn column(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    fn set_column(&mut self, j: usize, column: &[f64]) {
        column.iter().enumerate().for_each(|(i, &x)| self[(i, j)] = x);
    }

    fn nan(rows: usize, columns: usize) -> Matrix {
        Matrix::from_fn(rows, columns, |_, _| f64::NAN)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// The length of a vector, of numbers whose squares may be too large.
fn norm(x: &[f64]) -> f64 {
    let largest = x.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    largest * x.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
}

/// Row by row, after Cholesky and Banachiewicz. Without a square root, all of the triangle is NaN.
pub(super) fn cholesky(a: &Matrix) -> Matrix {
    let n = a.rows;
    let a = a.symmetric();
    let mut l = Matrix::from_fn(n, n, |_, _| 0.0);
    for i in 0..n {
        for j in 0..=i {
            let sum = a[(i, j)] - (0..j).map(|k| l[(i, k)] * l[(j, k)]).sum::<f64>();
            l[(i, j)] = if i == j { sum.sqrt() } else { sum / l[(j, j)] };
        }
    }
    // A pivot of zero is no positive one either.
    let definite = (0..n).all(|i| l[(i, i)] > 0.0) && l.is_finite();
    Matrix::from_fn(n, n, |i, j| if j > i || definite { l[(i, j)] } else { f64::NAN })
}

/// Substitution, forwards or backwards.
pub(super) fn triangular_solve(which: Triangular, a: &Matrix, b: &Matrix) -> Matrix {
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
            x[(i, c)] = if which.unit { sum } else { sum / at(i, i) };
        }
    }
    if which.left { x } else { x.transposed() }
}

/// Gauss with the largest pivot of each column; the first of equal ones. A column of zeros is left alone.
pub(super) fn lu(a: &Matrix) -> (Matrix, Vec<usize>, Vec<usize>) {
    let (m, n) = (a.rows, a.columns);
    let mut order: Vec<usize> = (0..m).collect();
    if !a.is_finite() {
        return (Matrix::nan(m, n), (0..m.min(n)).collect(), order);
    }
    let mut lu = a.clone();
    let mut pivots = Vec::new();
    for k in 0..m.min(n) {
        let pivot =
            (k + 1..m).fold(k, |best, i| if lu[(i, k)].abs() > lu[(best, k)].abs() { i } else { best });
        pivots.push(pivot);
        order.swap(k, pivot);
        for j in 0..n {
            lu.elements.swap(k * n + j, pivot * n + j);
        }
        if lu[(k, k)] == 0.0 {
            continue;
        }
        for i in k + 1..m {
            lu[(i, k)] /= lu[(k, k)];
            for j in k + 1..n {
                lu[(i, j)] -= lu[(i, k)] * lu[(k, j)];
            }
        }
    }
    (lu, pivots, order)
}

/// Householder's reflections, with LAPACK's signs: a diagonal element has the sign opposite to what stood there,
/// unless there is nothing below it to remove.
pub(super) fn qr(a: &Matrix, full: bool) -> (Matrix, Matrix) {
    let (m, n) = (a.rows, a.columns);
    let k = if full { m } else { m.min(n) };
    if !a.is_finite() {
        return (Matrix::nan(m, k), Matrix::nan(k, n));
    }
    let mut r = a.clone();
    let mut q = Matrix::identity(m);
    for j in 0..m.min(n) {
        let mut v: Vec<f64> = (j..m).map(|i| r[(i, j)]).collect();
        if norm(&v[1..]) == 0.0 {
            continue;
        }
        let beta = -norm(&v).copysign(v[0]);
        v[0] -= beta;
        let length = norm(&v);
        v.iter_mut().for_each(|x| *x /= length);
        // Both sides of the reflection I - 2 v vᵀ: from the left to r, from the right to q.
        for c in 0..n {
            let along = 2.0 * (j..m).map(|i| v[i - j] * r[(i, c)]).sum::<f64>();
            (j..m).for_each(|i| r[(i, c)] -= along * v[i - j]);
        }
        for i in 0..m {
            let along = 2.0 * (j..m).map(|c| q[(i, c)] * v[c - j]).sum::<f64>();
            (j..m).for_each(|c| q[(i, c)] -= along * v[c - j]);
        }
        (j + 1..m).for_each(|i| r[(i, j)] = 0.0);
    }
    (Matrix::from_fn(m, k, |i, j| q[(i, j)]), Matrix::from_fn(k, n, |i, j| r[(i, j)]))
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
                for i in 0..tall.rows {
                    let (x, y) = (columns[p][i], columns[q][i]);
                    (columns[p][i], columns[q][i]) = (c * x - s * y, s * x + c * y);
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
    complete(&mut tall_vectors, tall.rows, if full { tall.rows } else { k });
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
