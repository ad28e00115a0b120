//! The textbook against definitions: factors multiply to the matrix, and are of their kind.

use super::*;

fn numbers(rows: usize, columns: usize, seed: usize) -> Matrix {
    let number =
        |i: usize, j: usize| ((seed + 7 * i + 13 * j + i * j * 5) * 7919 % 1013) as f64 / 500.0 - 1.0;
    Matrix::from_fn(rows, columns, number)
}

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows, b.columns, |i, j| (0..a.columns).map(|k| a[(i, k)] * b[(k, j)]).sum())
}

fn transposed(a: &Matrix) -> Matrix {
    Matrix::from_fn(a.columns, a.rows, |i, j| a[(j, i)])
}

fn near(a: &Matrix, b: &Matrix) {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns));
    for (x, y) in a.elements.iter().zip(&b.elements) {
        assert!((x - y).abs() < 1e-12, "{a:?}\n{b:?}");
    }
}

fn orthogonal(q: &Matrix) {
    near(&times(&transposed(q), q), &Matrix::from_fn(q.columns, q.columns, |i, j| f64::from(i == j)));
}

#[test]
fn factors_multiply_to_the_matrix() {
    for (m, n) in [(1, 1), (3, 3), (5, 2), (2, 5), (6, 4), (0, 3), (3, 0)] {
        let a = numbers(m, n, 3 * m + n);
        for full in [false, true] {
            let (q, r) = textbook::qr(&a, full);
            orthogonal(&q);
            near(&times(&q, &r), &a);
            let (s, u, vt) = textbook::svd(&a, full);
            orthogonal(&u);
            orthogonal(&transposed(&vt));
            let s = Matrix::from_fn(u.columns, vt.rows, |i, j| if i == j { s[i] } else { 0.0 });
            near(&times(&times(&u, &s), &vt), &a);
        }
        let (lu, _, order) = textbook::lu(&a);
        let k = m.min(n);
        let l = Matrix::from_fn(m, k, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => lu[(i, j)],
        });
        let u = Matrix::from_fn(k, n, |i, j| if i <= j { lu[(i, j)] } else { 0.0 });
        near(&times(&l, &u), &Matrix::from_fn(m, n, |i, j| a[(order[i], j)]));
    }
}

#[test]
fn symmetric_matrices() {
    let a = numbers(5, 5, 1);
    // Far from singular: roundings do not decide whether it is definite.
    let square = times(&a, &transposed(&a));
    let a = Matrix::from_fn(5, 5, |i, j| square[(i, j)] + f64::from(i == j));
    let l = textbook::cholesky(&a);
    near(&times(&l, &transposed(&l)), &a);
    let (w, v) = textbook::eigh(&a);
    orthogonal(&v);
    near(&times(&a, &v), &Matrix::from_fn(5, 5, |i, j| v[(i, j)] * w[j]));
    assert!(w.windows(2).all(|pair| pair[0] <= pair[1]));
}

#[test]
fn every_triangular_system() {
    let a = Matrix::from_fn(4, 4, |i, j| numbers(4, 4, 2)[(i, j)] + 3.0 * f64::from(i == j));
    for which in Linalg::all() {
        let Linalg::TriangularSolve(which) = which else { continue };
        let b = if which.left { numbers(4, 3, 5) } else { numbers(3, 4, 5) };
        let x = textbook::triangular_solve(which, &a, &b);
        let kept = Matrix::from_fn(4, 4, |i, j| match (i == j, (i > j) == which.lower) {
            (true, _) => {
                if which.unit {
                    1.0
                } else {
                    a[(i, j)]
                }
            }
            (_, true) => a[(i, j)],
            _ => 0.0,
        });
        let kept = if which.transpose { transposed(&kept) } else { kept };
        near(&if which.left { times(&kept, &x) } else { times(&x, &kept) }, &b);
    }
}

#[test]
fn what_has_no_factors() {
    let indefinite = Matrix::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 });
    let l = textbook::cholesky(&indefinite);
    assert!(l[(0, 0)].is_nan() && l[(1, 0)].is_nan() && l[(1, 1)].is_nan() && l[(0, 1)] == 0.0);
    let zeros = Matrix::from_fn(3, 3, |_, _| 0.0);
    assert_eq!(textbook::lu(&zeros).0, zeros);
    let (s, u, vt) = textbook::svd(&zeros, false);
    assert_eq!(s, [0.0; 3]);
    orthogonal(&u);
    orthogonal(&vt);
    // Beside a value that hides it, a small one is still the product of its vectors, and of its sign.
    let small = Matrix::from_fn(2, 2, |i, j| [[1e30, 0.0], [0.0, -3.0]][i][j]);
    for full in [false, true] {
        let (s, u, vt) = textbook::svd(&small, full);
        assert_eq!(s, [1e30, 3.0]);
        assert_eq!(u[(1, 1)] * vt[(1, 1)], -1.0);
    }
    let infinite = Matrix::from_fn(2, 2, |i, j| if i == j { f64::INFINITY } else { 0.0 });
    assert!(textbook::eigh(&infinite).0.iter().all(|x| x.is_nan()));
    assert!(textbook::svd(&infinite, true).0.iter().all(|x| x.is_nan()));
    assert!(textbook::qr(&infinite, true).0.elements.iter().all(|x| x.is_nan()));
}

fn complex_numbers(rows: usize, columns: usize, seed: usize) -> Matrix<Complex64> {
    let (re, im) = (numbers(rows, columns, seed), numbers(rows, columns, seed + 17));
    Matrix::from_fn(rows, columns, |i, j| Complex64::new(re[(i, j)], im[(i, j)]))
}

fn close(a: &Matrix<Complex64>, b: &Matrix<Complex64>) {
    assert_eq!((a.rows, a.columns), (b.rows, b.columns));
    for (x, y) in a.elements.iter().zip(&b.elements) {
        assert!((x - y).norm() < 1e-12, "{a:?}\n{b:?}");
    }
}

#[test]
fn complex_factors_multiply_to_the_matrix() {
    for (m, n) in [(1, 1), (3, 3), (5, 2), (2, 5), (0, 3)] {
        let a = complex_numbers(m, n, m + n);
        let (q, r) = textbook::qr(&a, true);
        close(&q.times(&r), &a);
        close(&q.adjoint().times(&q), &Matrix::identity(m));
        for i in 0..m.min(n) {
            assert!(r[(i, i)].im.abs() < 1e-14, "{r:?}");
        }
        let (lu, _, order) = textbook::lu(&a);
        let k = m.min(n);
        let one = |i: usize, j: usize| Complex64::from(f64::from(i == j));
        let l = Matrix::from_fn(m, k, |i, j| if i > j { lu[(i, j)] } else { one(i, j) });
        let u = Matrix::from_fn(k, n, |i, j| if i <= j { lu[(i, j)] } else { 0.0.into() });
        close(&l.times(&u), &Matrix::from_fn(m, n, |i, j| a[(order[i], j)]));
    }
    let a = complex_numbers(4, 4, 3);
    let a = a.times(&a.adjoint());
    let l = textbook::cholesky(&a);
    close(&l.times(&l.adjoint()), &a);
}

#[test]
fn eigenvectors_of_any_matrix() {
    for n in [1, 2, 3, 5, 9] {
        for is_real in [true, false] {
            let parts = complex_numbers(n, n, n);
            let a =
                Matrix::from_fn(n, n, |i, j| if is_real { parts[(i, j)].re.into() } else { parts[(i, j)] });
            let (w, v) = eig::eig(&a);
            close(&a.times(&v), &Matrix::from_fn(n, n, |i, j| v[(i, j)] * w[j]));
            assert!(w.windows(2).all(|pair| pair[0].re <= pair[1].re), "{w:?}");
            for j in 0..n {
                let length: f64 = v.column(j).iter().map(|x| x.norm_sqr()).sum();
                assert!((length - 1.0).abs() < 1e-14);
            }
            if is_real {
                let paired = |x: &Complex64| x.im == 0.0 || w.contains(&x.conj());
                assert!(w.iter().all(paired), "{w:?}");
            }
        }
    }
}
