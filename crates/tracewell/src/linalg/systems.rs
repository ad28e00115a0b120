//! What is solved with factors: systems, inverses, determinants.

use tracewell_array::DType;
use tracewell_graph::Location;

use super::factors::{Triangle, lu, singular_values, svd, triangular, with_sides};
use super::parts::{diagonal, matrix_sizes};
use super::{square, transposed, with_batch};
use crate::array::select;
use crate::products::matmul;
use crate::{Array, I32, custom_jvp};

/// `x` with `a x = b`. Of rank 1, `b` is one vector; else its columns are. Batch axes are broadcast. Of a singular
/// matrix, elements are infinite or NaN.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[3.0f64, 1.0], [1.0, 2.0]]);
/// assert_eq!(linalg::solve(&a, &Array::from([9.0f64, 8.0])).to_string(), "[2. 3.]");
/// ```
#[track_caller]
pub fn solve(a: &Array, b: &Array) -> Array {
    let (a, _) = square("solve", a);
    with_sides("solve", &a, b, |a, b| {
        // The factors of `a` serve the derivative too: `a dx = db - da x`.
        let solve = custom_jvp(
            |(a, b): &(Array, Array)| Factored::of(a).solve(b),
            |(a, b): &(Array, Array), (da, db): &(Array, Array)| {
                let factored = Factored::of(a);
                let x = factored.solve(b);
                let dx = factored.solve(&(db - matmul(da, &x)));
                (x, dx)
            },
        );
        solve(&(a.clone(), b.clone()))
    })
}

/// A square matrix in triangles.
struct Factored {
    triangles: Array,
    /// For each row of the triangles, the row of the matrix.
    order: Array,
}

impl Factored {
    #[track_caller]
    fn of(a: &Array) -> Factored {
        let (triangles, _, order) = lu(a);
        Factored { triangles, order: order.expand(-1) }
    }

    #[track_caller]
    fn solve(&self, b: &Array) -> Array {
        let moved = b.at_along(&self.order, -2).clip().get();
        let half_way = triangular(&self.triangles, &moved, Triangle::lower().unit());
        triangular(&self.triangles, &half_way, Triangle::upper())
    }
}

/// The inverse of a square matrix.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[2.0f64, 0.0], [0.0, 4.0]]);
/// assert_eq!(linalg::inv(&a).to_string(), "[[0.5  0.  ]\n [0.   0.25]]");
/// ```
#[track_caller]
pub fn inv(a: &Array) -> Array {
    let (a, n) = square("inv", a);
    solve(&a, &identity(n, a.dtype()))
}

#[track_caller]
fn identity(n: usize, dtype: DType) -> Array {
    Array::iota([n, n], 0, I32).eq(Array::iota([n, n], 1, I32)).convert(dtype)
}

/// Minus one to the number of exchanges, and the diagonal of the upper triangle.
#[track_caller]
fn pivots(a: &Array) -> (Array, Array) {
    let (triangles, pivots, _) = lu(a);
    let moved = pivots.ne(Array::iota(pivots.shape().clone(), -1, I32));
    let count = moved.convert(I32).sum_axes(&[-1]);
    let sign = 1.0 - 2.0 * (count.rem(2)).convert(a.dtype());
    (sign, diagonal(&triangles))
}

/// The determinant of a square matrix.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(linalg::det(&Array::from([[1.0f64, 2.0], [3.0, 4.0]])).item::<f64>(), -2.0);
/// ```
#[track_caller]
pub fn det(a: &Array) -> Array {
    let (a, n) = square("det", a);
    // Small ones are written out, so that a singular matrix has a derivative too.
    if n == 2 || n == 3 {
        let at = |i: usize, j: usize| {
            let mut cuts: Vec<crate::Cut> = vec![(..).into(); a.rank() - 2];
            cuts.extend([crate::Cut::from(i % n), crate::Cut::from(j % n)]);
            a.slice(cuts)
        };
        if n == 2 {
            return at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
        }
        let along = |k: usize| {
            let down = at(0, k) * at(1, k + 1) * at(2, k + 2);
            down - at(0, k) * at(1, k + 2) * at(2, k + 1)
        };
        return along(0) + along(1) + along(2);
    }
    let (sign, diagonal) = pivots(&a);
    sign * diagonal.prod_axes(&[-1])
}

/// The sign of the determinant and the logarithm of its magnitude, which may be too large or too small for a float.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (sign, log) = linalg::slogdet(&(-1e200 * Array::eye(3, F64)));
/// assert_eq!((sign.item::<f64>(), log.item::<f64>().round()), (-1.0, 1382.0));
/// ```
#[track_caller]
pub fn slogdet(a: &Array) -> (Array, Array) {
    let (a, _) = square("slogdet", a);
    let (sign, diagonal) = pivots(&a);
    (sign * diagonal.sign().prod_axes(&[-1]), diagonal.abs().log().sum_axes(&[-1]))
}

/// How many times the spacing of floats a singular value is of the largest one, for it to be more than rounding.
#[track_caller]
fn cutoff(s: &Array, times: f64) -> Array {
    let epsilon = if s.dtype() == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    if s.shape().iter().next_back() == Some(0) {
        return Array::zeros([], s.dtype());
    }
    s.max_axes(&[-1]).expand(-1) * (times * epsilon)
}

/// The inverse after Moore and Penrose, of a matrix of any shape and rank. Singular values below ten times the larger
/// size times the spacing of floats, relative to the largest, count as zero.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[2.0f64, 0.0], [0.0, 0.0], [0.0, 0.0]]);
/// let p = linalg::pinv(&a);
/// assert_eq!((p.shape().to_string(), p.sum().item::<f64>()), ("[2,3]".to_string(), 0.5));
/// ```
#[track_caller]
pub fn pinv(a: &Array) -> Array {
    let (a, m, n) = matrix_sizes("pinv", a);
    let (of_rows, of_columns) = (identity(m, a.dtype()), identity(n, a.dtype()));
    let direct = move |a: &Array| {
        let (u, s, vt) = svd(a);
        let large = s.gt(cutoff(&s, 10.0 * m.max(n) as f64));
        let inverse = select(&large, 1.0 / select(&large, &s, 1.0), 0.0);
        matmul(&(transposed(&vt) * inverse.expand(-2)), &transposed(&u))
    };
    let pinv = custom_jvp(direct, |a: &Array, da: &Array| {
        let p = direct(a);
        let (pt, dat) = (transposed(&p), transposed(da));
        let left = matmul(&matmul(&p, &pt), &matmul(&dat, &(&of_rows - matmul(a, &p))));
        let right = matmul(&(&of_columns - matmul(&p, a)), &matmul(&dat, &matmul(&pt, &p)));
        let dp = left + right - matmul(&matmul(&p, da), &p);
        (p, dp)
    });
    pinv(&a)
}

/// The `x` of least length with least `‖a x - b‖`. Of rank 1, `b` is one vector; else its columns are.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[1.0f64, 0.0], [1.0, 1.0], [1.0, 2.0]]);
/// let x = linalg::lstsq(&a, &Array::from([1.0f64, 3.0, 5.0]));
/// assert_eq!((x * 1e6).round().to_string(), "[1000000. 2000000.]");
/// ```
#[track_caller]
pub fn lstsq(a: &Array, b: &Array) -> Array {
    let (a, ..) = matrix_sizes("lstsq", a);
    matmul(&pinv(&a), &b.as_float(&Location::caller()))
}

/// How many singular values are more than rounding: more than the larger size times the spacing of floats, relative to
/// the largest.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(linalg::matrix_rank(&Array::ones([3, 3], F64)).item::<i32>(), 1);
/// ```
#[track_caller]
pub fn matrix_rank(a: &Array) -> Array {
    let (a, m, n) = matrix_sizes("matrix_rank", a);
    let s = singular_values(&a);
    s.gt(cutoff(&s, m.max(n) as f64)).convert(I32).sum_axes(&[-1])
}

/// A square matrix multiplied with itself; the inverse for negative powers.
///
/// ```
/// use tracewell::prelude::*;
///
/// let a = Array::from([[1.0f64, 1.0], [0.0, 1.0]]);
/// assert_eq!(linalg::matrix_power(&a, 5).to_string(), "[[1. 5.]\n [0. 1.]]");
/// ```
#[track_caller]
pub fn matrix_power(a: &Array, power: i32) -> Array {
    let (a, n) = square("matrix_power", a);
    let mut square = if power < 0 { inv(&a) } else { a.clone() };
    let mut left = power.unsigned_abs();
    let mut result: Option<Array> = None;
    while left > 0 {
        if left % 2 == 1 {
            result = Some(result.map_or_else(|| square.clone(), |result| matmul(&result, &square)));
        }
        left /= 2;
        if left > 0 {
            square = matmul(&square, &square);
        }
    }
    let batch: Vec<usize> = a.shape().iter().take(a.rank() - 2).collect();
    result.unwrap_or_else(|| with_batch(&identity(n, a.dtype()), &batch, 2))
}
