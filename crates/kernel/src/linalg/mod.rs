//! Linear algebra as library calls: factorizations of matrices and triangular systems.
//!
//! Matrices are the last two axes; the axes before them are a batch, each member on its own. `textbook` is the
//! reference; `runtime` does the same well. What is unique only up to signs or an order has one rule, which both
//! follow: see docs/numerics.md.

mod eig;
mod number;
mod textbook;

pub use eig::arrange;

use std::fmt;

use tracewell_array::{Complex64, DType, Literal, Shape, Tensor};

use number::Number;
use textbook::Matrix;

/// What is computed of a matrix or two.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Linalg {
    /// `[…,n,n]` to the lower triangle `L` with `L Lᵀ = (a + aᵀ)/2`; NaN where there is none.
    Cholesky,
    /// A triangle `[…,n,n]` and right sides to the solutions.
    TriangularSolve(Triangular),
    /// `[…,m,n]` to both triangles in one matrix, the exchanges of rows `[…,min]`, and their order `[…,m]`.
    Lu,
    /// `[…,m,n]` to an orthogonal matrix and an upper triangle.
    Qr {
        /// Whether the orthogonal matrix is square.
        full: bool,
    },
    /// `[…,m,n]` to singular values, and maybe left and right singular vectors.
    Svd {
        /// Whether the matrices of vectors are square.
        full: bool,
        /// Whether vectors are results.
        vectors: bool,
    },
    /// `[…,n,n]` to eigenvalues, ascending, and eigenvectors of `(a + aᵀ)/2`.
    Eigh,
    /// `[…,n,n]` to complex eigenvalues, and maybe eigenvectors.
    Eig {
        /// Whether vectors are results.
        vectors: bool,
    },
}

/// Which triangular system is solved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Triangular {
    /// `a x = b` with right sides as columns; else `x a = b` with right sides as rows.
    pub left: bool,
    /// Whether the lower triangle of `a` is read; else the upper one.
    pub lower: bool,
    /// Whether that triangle is transposed.
    pub transpose: bool,
    /// Whether the diagonal is taken for ones, and not read.
    pub unit: bool,
}

/// From this part of the largest component on, the first one of a vector decides about its sign. Not a half or
/// a whole: components are often in such proportions, and then roundings would decide.
pub const DECIDES: f64 = 0.7;

impl Linalg {
    /// How many arrays it takes.
    pub fn arity(self) -> usize {
        if matches!(self, Linalg::TriangularSolve(_)) { 2 } else { 1 }
    }

    /// Whether it is there for real matrices only.
    pub fn is_real_only(self) -> bool {
        matches!(self, Linalg::Svd { .. } | Linalg::Eigh)
    }

    /// The types of its results, or what is wrong with the operands.
    pub fn results(self, inputs: &[(DType, Shape)]) -> Result<Vec<(DType, Shape)>, String> {
        if inputs.len() != self.arity() {
            return Err(format!("{self} takes {} operands, found {}", self.arity(), inputs.len()));
        }
        let (dtype, shape) = &inputs[0];
        let real_only = self.is_real_only();
        if !dtype.is_inexact() || (real_only && dtype.is_complex()) {
            return Err(format!("it is {dtype}, not {}", if real_only { "a real float" } else { "a float" }));
        }
        if inputs.iter().any(|(other, _)| other != dtype) {
            return Err(format!("dtypes are {dtype} and {}", inputs[1].0));
        }
        if let Some((_, shape)) = inputs.iter().find(|(_, shape)| shape.rank() < 2) {
            return Err(format!("a matrix has two axes, this has {}", shape.rank()));
        }
        let (m, n) = dims(shape);
        let square = !matches!(self, Linalg::Lu | Linalg::Qr { .. } | Linalg::Svd { .. });
        if square && m != n {
            return Err(format!("the matrix is {m}×{n}, not square"));
        }
        let k = m.min(n);
        let with = |sizes: &[usize]| (*dtype, batched(shape, sizes));
        Ok(match self {
            Linalg::Cholesky => vec![with(&[n, n])],
            Linalg::TriangularSolve(which) => {
                let b = &inputs[1].1;
                let (rows, columns) = dims(b);
                let length = if which.left { rows } else { columns };
                if b.rank() != shape.rank()
                    || !b.iter().zip(shape.iter()).take(b.rank() - 2).all(|(x, y)| x == y)
                {
                    return Err("their leading axes differ".to_owned());
                }
                if length != n {
                    let side = if which.left { "columns" } else { "rows" };
                    return Err(format!("the matrix is {n}×{n}, right sides are {side} of {length}"));
                }
                vec![(*dtype, b.clone())]
            }
            Linalg::Lu => {
                let ints = |size| (DType::I32, batched(shape, &[size]));
                vec![with(&[m, n]), ints(k), ints(m)]
            }
            Linalg::Qr { full } => {
                let k = if full { m } else { k };
                vec![with(&[m, k]), with(&[k, n])]
            }
            Linalg::Svd { vectors: false, .. } => vec![with(&[k])],
            Linalg::Svd { full, .. } => {
                let (left, right) = if full { (m, n) } else { (k, k) };
                vec![with(&[k]), with(&[m, left]), with(&[right, n])]
            }
            Linalg::Eigh => vec![with(&[n]), with(&[n, n])],
            Linalg::Eig { vectors } => {
                let complex = dtype.complex().unwrap_or(*dtype);
                let of = |sizes: &[usize]| (complex, batched(shape, sizes));
                if vectors { vec![of(&[n]), of(&[n, n])] } else { vec![of(&[n])] }
            }
        })
    }

    /// The reference: textbook loops in `f64`, rounded at the end.
    pub fn reference(self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let types: Vec<(DType, Shape)> = inputs.iter().map(|t| (t.dtype(), t.shape().clone())).collect();
        let results = self.results(&types)?;
        let mut elements: Vec<Vec<Literal>> = vec![Vec::new(); results.len()];
        for number in 0..batch_len(&types[0].1) {
            let own = if types[0].0.is_complex() {
                let matrices: Vec<Matrix<Complex64>> = inputs.iter().map(|t| matrix(t, number)).collect();
                self.of_matrices(&matrices, &results)
            } else {
                let matrices: Vec<Matrix> = inputs.iter().map(|t| matrix(t, number)).collect();
                match self {
                    Linalg::Svd { full, vectors } => {
                        let (s, u, vt) = textbook::svd(&matrices[0], full);
                        let all = [s, u.elements, vt.elements].into_iter().take(if vectors { 3 } else { 1 });
                        all.zip(&results).map(|(all, (dtype, _))| literals(&all, *dtype)).collect()
                    }
                    Linalg::Eigh => {
                        let (w, v) = textbook::eigh(&matrices[0]);
                        let all = [w, v.elements].into_iter();
                        all.zip(&results).map(|(all, (dtype, _))| literals(&all, *dtype)).collect()
                    }
                    _ => self.of_matrices(&matrices, &results),
                }
            };
            elements.iter_mut().zip(own).for_each(|(all, own)| all.extend(own));
        }
        let tensor = |((dtype, shape), literals): ((DType, Shape), Vec<Literal>)| {
            Tensor::from_literals(dtype, shape, &literals).map_err(|error| error.to_string())
        };
        results.into_iter().zip(elements).map(tensor).collect()
    }

    /// What there is of real and of complex matrices.
    fn of_matrices<T: Number>(self, matrices: &[Matrix<T>], results: &[(DType, Shape)]) -> Vec<Vec<Literal>> {
        let a = &matrices[0];
        let dtype = results[0].0;
        let indices = |indices: Vec<usize>| {
            indices.into_iter().map(|i| Literal::from_i64(DType::I32, i as i64)).collect()
        };
        match self {
            Linalg::Cholesky => vec![literals(&textbook::cholesky(a).elements, dtype)],
            Linalg::TriangularSolve(which) => {
                vec![literals(&textbook::triangular_solve(which, a, &matrices[1]).elements, dtype)]
            }
            Linalg::Lu => {
                let (lu, pivots, order) = textbook::lu(a);
                vec![literals(&lu.elements, dtype), indices(pivots), indices(order)]
            }
            Linalg::Qr { full } => {
                let (q, r) = textbook::qr(a, full);
                vec![literals(&q.elements, dtype), literals(&r.elements, dtype)]
            }
            Linalg::Eig { vectors } => {
                let (w, v) = eig::eig(a);
                let w = literals(&w, dtype);
                if vectors { vec![w, literals(&v.elements, dtype)] } else { vec![w] }
            }
            Linalg::Svd { .. } | Linalg::Eigh => unreachable!("of real matrices only"),
        }
    }

    /// All of them, as texts name them.
    pub(crate) fn all() -> impl Iterator<Item = Linalg> {
        let flags = [false, true];
        let triangular = (0..16).map(|bits| {
            let bit = |k: u32| bits >> k & 1 == 1;
            let which = Triangular { left: bit(0), lower: bit(1), transpose: bit(2), unit: bit(3) };
            Linalg::TriangularSolve(which)
        });
        let svd = flags.into_iter().flat_map(move |full| flags.map(|vectors| Linalg::Svd { full, vectors }));
        let plain = [Linalg::Cholesky, Linalg::Lu, Linalg::Eigh];
        plain
            .into_iter()
            .chain(triangular)
            .chain(flags.map(|full| Linalg::Qr { full }))
            .chain(svd)
            .chain(flags.map(|vectors| Linalg::Eig { vectors }))
    }
}

impl fmt::Display for Linalg {
    /// One word: `cholesky`, `triangular_solve_left_lower`, `svd_full_vectors`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, flags): (&str, Vec<(bool, &str)>) = match *self {
            Linalg::Cholesky => ("cholesky", vec![]),
            Linalg::TriangularSolve(which) => {
                let flags = [
                    (which.left, "left"),
                    (which.lower, "lower"),
                    (which.transpose, "transpose"),
                    (which.unit, "unit"),
                ];
                ("triangular_solve", flags.into())
            }
            Linalg::Lu => ("lu", vec![]),
            Linalg::Qr { full } => ("qr", vec![(full, "full")]),
            Linalg::Svd { full, vectors } => ("svd", vec![(full, "full"), (vectors, "vectors")]),
            Linalg::Eigh => ("eigh", vec![]),
            Linalg::Eig { vectors } => ("eig", vec![(vectors, "vectors")]),
        };
        f.write_str(name)?;
        flags.into_iter().filter(|(on, _)| *on).try_for_each(|(_, flag)| write!(f, "_{flag}"))
    }
}

/// Rows and columns of the matrices in an array of rank 2 or more.
pub fn dims(shape: &Shape) -> (usize, usize) {
    let rank = shape.rank();
    (shape.size(rank - 2), shape.size(rank - 1))
}

/// How many matrices there are in an array of rank 2 or more.
pub fn batch_len(shape: &Shape) -> usize {
    shape.iter().take(shape.rank() - 2).product()
}

/// The batch axes of an array of matrices, then others.
fn batched(shape: &Shape, sizes: &[usize]) -> Shape {
    shape.iter().take(shape.rank() - 2).chain(sizes.iter().copied()).collect()
}

fn matrix<T: Number>(tensor: &Tensor, number: usize) -> Matrix<T> {
    let (rows, columns) = dims(tensor.shape());
    let len = rows * columns;
    let elements = (number * len..(number + 1) * len).map(|i| T::of(tensor.literal(i))).collect();
    Matrix { rows, columns, elements }
}

fn literals<T: Number>(elements: &[T], dtype: DType) -> Vec<Literal> {
    elements.iter().map(|x| x.literal(dtype)).collect()
}

#[cfg(test)]
mod tests;
