//! Eigenvalues and eigenvectors of any square matrix: the QR algorithm, and the rule about order and phase.

use tracewell_array::Complex64;

use super::DECIDES;
use super::number::Number;
use super::textbook::{Matrix, qr};

/// Steps for each eigenvalue, more than any needs: the error is squared in each of the last ones.
const STEPS: usize = 300;

/// Eigenvalues and eigenvectors, as columns; NaN of what is not finite.
pub(super) fn eig<T: Number>(a: &Matrix<T>) -> (Vec<Complex64>, Matrix<Complex64>) {
    let n = a.rows;
    let nan = Complex64::nan();
    if !a.is_finite() {
        return (vec![nan; n], Matrix::from_fn(n, n, |_, _| nan));
    }
    // Between 0 and 1, so that squares are in range.
    let scale = a.elements.iter().fold(0.0, |m: f64, x| m.max(x.size()));
    let scale = if scale == 0.0 { 1.0 } else { scale };
    let (triangle, basis) = schur(Matrix::from_fn(n, n, |i, j| a[(i, j)].complex() / scale));
    let mut values: Vec<Complex64> = (0..n).map(|i| triangle[(i, i)] * scale).collect();
    let mut vectors = basis.times(&triangle_vectors(&triangle));
    if a.elements.iter().all(|x| x.complex().im == 0.0) {
        make_pairs(&mut values, &mut vectors);
    }
    arrange(&mut values, &mut vectors.elements);
    (values, vectors)
}

/// An upper triangle and a basis with `basis × triangle × basisᴴ` the matrix: shifted QR steps, the last row first.
fn schur(mut a: Matrix<Complex64>) -> (Matrix<Complex64>, Matrix<Complex64>) {
    let n = a.rows;
    let mut basis = Matrix::identity(n);
    let mut active = n;
    let mut steps = 0;
    while active > 1 {
        let last = active - 1;
        let rest: f64 = (0..last).map(|j| a[(last, j)].size()).sum();
        if rest <= 1e-16 || steps > STEPS * n {
            (0..last).for_each(|j| a[(last, j)] = 0.0.into());
            active -= 1;
            continue;
        }
        steps += 1;
        // The eigenvalue of the last 2 by 2 that is nearest to the corner; now and then another, so that nothing turns
        // in a circle.
        let shift = if steps % 11 == 10 {
            a[(last, last)] + Complex64::new(rest, rest / 2.0)
        } else {
            nearest_of_corner(&a, last)
        };
        let part =
            Matrix::from_fn(active, active, |i, j| a[(i, j)] - if i == j { shift } else { 0.0.into() });
        let (q, r) = qr(&part, true);
        let turned = r.times(&q);
        let beside = q.adjoint().times(&Matrix::from_fn(active, n - active, |i, j| a[(i, active + j)]));
        let columns =
            basis.times(&Matrix::from_fn(n, active, |i, j| if i < active { q[(i, j)] } else { 0.0.into() }));
        for i in 0..n {
            (0..active).for_each(|j| basis[(i, j)] = columns[(i, j)]);
        }
        for i in 0..active {
            (0..active).for_each(|j| a[(i, j)] = turned[(i, j)]);
            (active..n).for_each(|j| a[(i, j)] = beside[(i, j - active)]);
            a[(i, i)] += shift;
        }
    }
    (a, basis)
}

fn nearest_of_corner(a: &Matrix<Complex64>, last: usize) -> Complex64 {
    let (p, q, r, s) = (a[(last - 1, last - 1)], a[(last - 1, last)], a[(last, last - 1)], a[(last, last)]);
    let (half, middle) = ((p - s) / 2.0, (p + s) / 2.0);
    let root = (half * half + q * r).sqrt();
    let (one, other) = (middle + root, middle - root);
    if (one - s).size() < (other - s).size() { one } else { other }
}

/// The eigenvectors of an upper triangle, as columns.
fn triangle_vectors(t: &Matrix<Complex64>) -> Matrix<Complex64> {
    let n = t.rows;
    let mut vectors = Matrix::identity(n);
    for k in 0..n {
        for i in (0..k).rev() {
            let sum = (i + 1..=k).fold(Complex64::from(0.0), |sum, j| sum + t[(i, j)] * vectors[(j, k)]);
            let gap = t[(k, k)] - t[(i, i)];
            // Equal eigenvalues may have one vector only: then this one is nearly the same.
            let gap = if gap.size() < 1e-16 { Complex64::from(1e-16) } else { gap };
            vectors[(i, k)] = sum.over(gap);
        }
    }
    vectors
}

/// Eigenvalues of a real matrix are real, or two are each other's conjugates, and so are their vectors.
fn make_pairs(values: &mut [Complex64], vectors: &mut Matrix<Complex64>) {
    let n = values.len();
    let largest = values.iter().fold(0.0, |m: f64, x| m.max(x.size()));
    let mut left: Vec<usize> = (0..n).collect();
    while let Some(&i) = left.iter().max_by(|&&i, &&j| values[i].im.total_cmp(&values[j].im)) {
        left.retain(|&j| j != i);
        let distance = |j: usize| (values[j] - values[i].conj()).size();
        let partner = left.iter().copied().min_by(|&j, &k| distance(j).total_cmp(&distance(k)));
        match partner {
            Some(j) if values[i].im > 1e-13 * largest => {
                left.retain(|&k| k != j);
                values[j] = values[i].conj();
                (0..n).for_each(|row| vectors[(row, j)] = vectors[(row, i)].conj());
            }
            _ => {
                values[i].im = 0.0;
                let phase =
                    decisive(&vectors.column(i)).map_or(Complex64::from(1.0), |k| unit(vectors[(k, i)]));
                for row in 0..n {
                    let turned = vectors[(row, i)] * phase.conj();
                    vectors[(row, i)] = turned.re.into();
                }
            }
        }
    }
}

fn unit(z: Complex64) -> Complex64 {
    z / z.size()
}

/// The first component of a vector that is large enough to decide about its phase.
fn decisive(vector: &[Complex64]) -> Option<usize> {
    let largest = vector.iter().fold(0.0, |m: f64, x| m.max(x.size()));
    vector.iter().position(|x| x.size() >= DECIDES * largest && largest > 0.0)
}

/// The order of eigenvalues and the phase of eigenvectors, which are the columns of a row-major matrix: real parts
/// ascend, and of equal ones the imaginary parts descend; vectors have length 1, and their first component that is large
/// is real and positive.
pub fn arrange(values: &mut [Complex64], vectors: &mut [Complex64]) {
    let n = values.len();
    let mut order: Vec<usize> = (0..n).collect();
    let compare = |a: Complex64, b: Complex64| a.re.total_cmp(&b.re).then(b.im.total_cmp(&a.im));
    order.sort_by(|&i, &j| compare(values[i], values[j]));
    let sorted: Vec<Complex64> = order.iter().map(|&i| values[i]).collect();
    values.copy_from_slice(&sorted);
    if vectors.is_empty() {
        return;
    }
    let column = |j: usize| -> Vec<Complex64> { (0..n).map(|i| vectors[i * n + j]).collect() };
    let columns: Vec<Vec<Complex64>> = order.iter().map(|&j| normalized(column(j))).collect();
    for (j, column) in columns.iter().enumerate() {
        column.iter().enumerate().for_each(|(i, x)| vectors[i * n + j] = *x);
    }
}

/// A vector of length 1, whose component that decides is real and positive.
fn normalized(mut vector: Vec<Complex64>) -> Vec<Complex64> {
    let largest = vector.iter().fold(0.0, |m: f64, x| m.max(x.size()));
    let Some(k) = decisive(&vector).filter(|_| largest.is_finite()) else { return vector };
    let length = largest * vector.iter().map(|x| (*x / largest).norm_sqr()).sum::<f64>().sqrt();
    let factor = unit(vector[k]).conj() / length;
    vector.iter_mut().for_each(|x| *x *= factor);
    vector[k].im = 0.0;
    vector
}
