//! Linear algebra and sums of products as users call them: shapes, failures, batches and large matrices.

use tracewell::prelude::*;

use crate::numbers;

/// Numbers that look random, of a seed.
fn noise(shape: impl Into<Shape>, seed: usize) -> Array {
    let shape = shape.into();
    let number = |i: usize| ((i * 7919 + seed * 104_729) % 10_007) as f64 / 5003.5 - 1.0;
    Array::from((0..shape.len()).map(number).collect::<Vec<f64>>()).reshape(shape)
}

fn spd(n: usize, seed: usize) -> Array {
    let a = noise([n, n], seed);
    a.dot(&a.t()) / n as f64 + Array::eye(n, F64)
}

fn near(found: &Array, expected: &Array, tolerance: f64) {
    assert_eq!(found.shape(), expected.shape());
    for (i, (x, y)) in numbers(found).into_iter().zip(numbers(expected)).enumerate() {
        assert!((x - y).abs() <= tolerance, "element {i} is {x}, expected {y}");
    }
}

fn all_nan(x: &Array) -> bool {
    numbers(x).iter().all(|x| x.is_nan())
}

#[test]
fn factors_multiply_to_the_matrix_at_every_size() {
    for n in [1, 2, 15, 16, 17, 40, 130] {
        for (dtype, tolerance) in [(F64, 1e-11), (F32, 2e-3)] {
            let (a, s) = (noise([n, n], n).convert(dtype), spd(n, n).convert(dtype));
            let l = linalg::cholesky(&s);
            near(&l.dot(&l.t()), &s, tolerance);
            near(&linalg::tril(&l, 0), &l, 0.0);
            let (lu, _, order) = linalg::lu(&a);
            let (lower, upper) = (linalg::tril(&lu, -1) + Array::eye(n, dtype), linalg::triu(&lu, 0));
            let rows = order.expand(1).eq(Array::iota([n, n], 1, I32)).convert(dtype);
            near(&lower.dot(&upper), &rows.dot(&a), tolerance);
            let (q, r) = linalg::qr(&a);
            near(&q.dot(&r), &a, tolerance);
            near(&q.t().dot(&q), &Array::eye(n, dtype), tolerance);
            near(&linalg::triu(&r, 0), &r, 0.0);
            let (u, s_values, vt) = linalg::svd(&a);
            near(&(u * &s_values).dot(&vt), &a, tolerance);
            near(&linalg::singular_values(&a), &s_values, tolerance);
            let (w, v) = linalg::eigh(&s);
            near(&s.dot(&v), &(&v * w), tolerance);
        }
    }
}

#[test]
fn tall_and_wide() {
    for (m, n) in [(30, 7), (7, 30), (5, 1), (1, 5), (3, 0), (0, 3)] {
        let a = noise([m, n], m + n);
        let (q, r) = linalg::qr_full(&a);
        near(&q.dot(&r), &a, 1e-12);
        near(&q.t().dot(&q), &Array::eye(m, F64), 1e-12);
        let (u, s, vt) = linalg::svd_full(&a);
        near(&u.t().dot(&u), &Array::eye(m, F64), 1e-12);
        near(&vt.dot(&vt.t()), &Array::eye(n, F64), 1e-12);
        let k = m.min(n);
        let thin = (u.slice(s![.., ..k]) * s).dot(&vt.slice(s![..k, ..]));
        near(&thin, &a, 1e-12);
        if k > 0 {
            let p = linalg::pinv(&a);
            near(&a.dot(&p).dot(&a), &a, 1e-11);
        }
    }
}

#[test]
fn systems_of_every_size() {
    for n in [1, 3, 15, 16, 60, 150] {
        let a = noise([n, n], n) + (n as f64).sqrt() * Array::eye(n, F64);
        let b = noise([n, 3], 1);
        near(&a.dot(&linalg::solve(&a, &b)), &b, 1e-10);
        near(&a.dot(&linalg::inv(&a)), &Array::eye(n, F64), 1e-9);
        for triangle in [linalg::Triangle::lower(), linalg::Triangle::upper()] {
            let kept =
                if triangle == linalg::Triangle::lower() { linalg::tril(&a, 0) } else { linalg::triu(&a, 0) };
            let kept = kept + n as f64 * Array::eye(n, F64);
            near(&kept.dot(&linalg::solve_triangular(&kept, &b, triangle)), &b, 1e-10);
            near(&kept.t().dot(&linalg::solve_triangular(&kept, &b, triangle.transposed())), &b, 1e-10);
        }
    }
}

#[test]
fn a_batch_is_a_loop() {
    let a = noise([70, 20, 20], 3);
    let s = matmul(&a, &a.permute(&[0, 2, 1])) + Array::eye(20, F64);
    let l = linalg::cholesky(&s);
    let x = linalg::solve(&s, &noise([20], 5));
    for i in [0, 35, 69] {
        let one = s.slice(s![i]);
        assert_eq!(numbers(&l.slice(s![i])), numbers(&linalg::cholesky(&one)));
        near(&x.slice(s![i]), &linalg::solve(&one, &noise([20], 5)), 1e-12);
    }
    assert_eq!(linalg::cholesky(&Array::zeros([0, 3, 3], F64)).shape().to_string(), "[0,3,3]");
    assert_eq!(linalg::det(&Array::zeros([2, 0, 0], F64)).to_string(), "[1. 1.]");
    assert_eq!(
        linalg::solve(&Array::eye(2, F64), &Array::ones([4, 2, 3], F64)).shape().to_string(),
        "[4,2,3]"
    );
}

#[test]
fn what_has_no_factors() {
    for n in [2, 20] {
        let indefinite = Array::eye(n, F64) - 2.0 * Array::ones([n, n], F64);
        let l = linalg::cholesky(&indefinite);
        assert!(all_nan(&linalg::diag(&l)));
        assert_eq!(linalg::triu(&l, 1).sum().item::<f64>(), 0.0);
        let singular = Array::ones([n, n], F64);
        assert_eq!(linalg::det(&singular).item::<f64>(), 0.0);
        assert!(numbers(&linalg::solve(&singular, &Array::arange(n, F64))).iter().all(|x| !x.is_finite()));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let a = select(&Array::iota([n, n], 0, I32).eq(1), bad, Array::eye(n, F64));
            assert!(all_nan(&linalg::diag(&linalg::cholesky(&a))), "{bad}");
            assert!(all_nan(&linalg::lu(&a).0), "{bad}");
            let ((q, r), (u, s, vt), (w, v)) = (linalg::qr(&a), linalg::svd(&a), linalg::eigh(&a));
            for factor in [q, r, u, s, vt, w, v, linalg::singular_values(&a)] {
                assert!(all_nan(&factor), "{bad}");
            }
        }
    }
    // One matrix of a batch does not spoil the others.
    let pair = stack(&[Array::eye(3, F32), -Array::eye(3, F32)], 0);
    let l = linalg::cholesky(&pair);
    near(&l.slice(s![0]), &Array::eye(3, F32), 0.0);
    assert!(all_nan(&linalg::diag(&l.slice(s![1]))));
}

#[test]
fn extreme_numbers_end() {
    for x in [1e300, 1e-300, 5e-324] {
        let a = x * noise([20, 20], 1);
        for values in [linalg::singular_values(&a), linalg::eigh(&a).0, linalg::qr(&a).1, linalg::lu(&a).0] {
            assert_eq!(values.shape().iter().next(), Some(20));
        }
    }
    let zeros = Array::zeros([20, 20], F64);
    assert_eq!(linalg::singular_values(&zeros).sum().item::<f64>(), 0.0);
    assert_eq!(linalg::matrix_rank(&zeros).item::<i32>(), 0);
}

#[test]
fn inside_jit_and_loops() {
    let a = spd(6, 2);
    let solved = jit(|a: &Array| {
        fori_loop(0..3, a.clone(), |_, a| {
            let l = linalg::cholesky(a);
            l.dot(&l.t()) + Array::eye(6, F64)
        })
    });
    near(&solved.call(&a), &(&a + 3.0 * Array::eye(6, F64)), 1e-12);
    let gradient = jit(grad(|a: &Array| linalg::slogdet(a).1));
    near(&gradient.call(&a), &linalg::inv(&a).t(), 1e-12);
}

#[test]
fn integers_become_floats() {
    let a = Array::from([[4, 0], [0, 9]]);
    assert_eq!(linalg::cholesky(&a).to_string(), "[[2. 0.]\n [0. 3.]]");
    assert_eq!(linalg::det(&a).item::<f32>(), 36.0);
    assert_eq!(einsum("ij,jk->ik", &[&a, &a]).to_string(), "[[16  0]\n [ 0 81]]");
}

#[test]
fn sums_of_products() {
    let (a, b, c) = (noise([3, 4], 1), noise([4, 5], 2), noise([5, 2], 3));
    near(&einsum("ij,jk,kl->il", &[&a, &b, &c]), &a.dot(&b).dot(&c), 1e-12);
    near(&einsum("ij,jk,kl", &[&a, &b, &c]), &a.dot(&b).dot(&c), 1e-12);
    // An axis of all three is summed with the last.
    near(&einsum("ij,ij,ij->j", &[&a, &a, &a]), &(&a * &a * &a).sum_axes(&[0]), 1e-12);
    near(&einsum("ij->", &[&a]), &a.sum(), 1e-12);
    near(&einsum("...->...", &[&a]), &a, 0.0);
    near(&einsum("i...,i...->...", &[&a, &a]), &a.square().sum_axes(&[0]), 1e-12);
    near(&einsum("ij,->ij", &[&a, &Array::from(2.0f64)]), &(2.0 * &a), 0.0);
    assert_eq!(
        einsum("ij,jk->ik", &[&Array::zeros([2, 0], F64), &Array::zeros([0, 3], F64)]).sum().item::<f64>(),
        0.0
    );
    assert_eq!(matmul(&Array::ones([3], F32), &Array::ones([3], F32)).item::<f32>(), 3.0);
    assert_eq!(matmul(&noise([2, 1, 3, 4], 1), &noise([1, 6, 4, 2], 1)).shape().to_string(), "[2,6,3,2]");
}
