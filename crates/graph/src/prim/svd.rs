//! `svd[full=B, vectors=B] a`: singular values, descending, and the vectors of `a = U diag(s) Vᵀ`.

use tracewell_array::{Shape, Tensor};
use tracewell_kernel::linalg::dims;
use tracewell_kernel::{Comparison, Linalg};

use super::Div;
use super::matrices::{
    as_columns, as_rows, batch_matrices, diagonal, eval_matrices, float_examples, identity, lower_matrices,
    matrix_types, minus, part, plus, product, times, transposed,
};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `svd[full=B, vectors=B] a`: `s`, descending, and if there are to be vectors `u` and `vᵀ` with
    /// `u diag(s) vᵀ = a`. The first large component of each column of `u` is positive.
    pub struct Svd {
        /// Whether `u` and `v` are square; else they have as many columns as there are singular values.
        full: bool,
        /// Whether `u` and `vᵀ` are results.
        vectors: bool,
    }
}

impl Svd {
    fn linalg(&self) -> Linalg {
        Linalg::Svd { full: self.full, vectors: self.vectors }
    }
}

impl Primitive for Svd {
    fn name(&self) -> &str {
        "svd"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        matrix_types("svd", self.linalg(), inputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval_matrices(self.linalg(), inputs)
    }

    /// With `D = uᵀ da v` and `F = 1 / (sⱼ² - sᵢ²)` off the diagonal: `ds` is the diagonal of `D`,
    /// `du = u (F ∘ (D S + S Dᵀ))` and `dv = v (F ∘ (S D + Dᵀ S))`, and what leaves the space of the vectors is
    /// divided by `s`.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let a = &primals[0];
        let (m, n) = dims(&cx.ty(a).shape);
        let Some(da) = &tangents[0] else {
            let primals = cx.bind_all(self.clone(), std::slice::from_ref(a))?;
            return Ok(Jvp { tangents: vec![None; primals.len()], primals });
        };
        if self.full && self.vectors && m != n {
            let why = "some vectors of the larger side are not determined by the matrix; those that are not \
                       `full` have one";
            return Err(RuleError::not_differentiable("svd", why));
        }
        let thin = cx.bind_all(Svd { full: false, vectors: true }, std::slice::from_ref(a))?;
        let (s, u, vt) = (&thin[0], &thin[1], &thin[2]);
        let (ut, v) = (transposed(cx, u)?, transposed(cx, vt)?);
        let da_v = product(cx, da, &v)?;
        let d = product(cx, &ut, &da_v)?;
        let ds = diagonal(cx, &d)?;
        if !self.vectors {
            return Ok(Jvp::one(s.clone(), Some(ds)));
        }
        let square = cx.ty(&d);
        let (s_rows, s_columns) = (as_rows(cx, s, &square.shape)?, as_columns(cx, s, &square.shape)?);
        // The product of sum and difference keeps more digits than the difference of squares.
        let (sum, difference) = (plus(cx, &s_rows, &s_columns)?, minus(cx, &s_rows, &s_columns)?);
        let squares = times(cx, &sum, &difference)?;
        let f = off_diagonal_inverse(cx, &squares, &square)?;
        let (ds_right, ds_left) = (times(cx, &s_rows, &d)?, times(cx, &s_columns, &d)?);
        let turned = |cx: &mut Cx<'_>, x: &Atom, basis: &Atom| {
            let mirrored = transposed(cx, x)?;
            let both = plus(cx, x, &mirrored)?;
            let inner = times(cx, &f, &both)?;
            product(cx, basis, &inner)
        };
        let (mut du, mut dv) = (turned(cx, &ds_right, u)?, turned(cx, &ds_left, &v)?);
        if m > n {
            let out = outside(cx, &da_v, u, &ut, s)?;
            du = plus(cx, &du, &out)?;
        }
        if n > m {
            let dat = transposed(cx, da)?;
            let dat_u = product(cx, &dat, u)?;
            let out = outside(cx, &dat_u, &v, vt, s)?;
            dv = plus(cx, &dv, &out)?;
        }
        let dvt = transposed(cx, &dv)?;
        Ok(Jvp { tangents: vec![Some(ds), Some(du), Some(dvt)], primals: thin })
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("svd"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_matrices(cx, self.clone(), size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(lower_matrices(self.linalg(), inputs, outputs))
    }

    fn examples() -> Vec<Example> {
        let shapes: [(&[usize], bool, bool); 11] = [
            (&[1, 1], false, true),
            (&[3, 3], true, true),
            (&[4, 2], false, true),
            (&[4, 2], true, true),
            (&[2, 4], true, true),
            (&[2, 3], false, true),
            (&[2, 3, 2], false, false),
            (&[2, 0, 3], true, true),
            (&[3, 0], true, true),
            (&[1, 2, 1, 2, 2], false, true),
            (&[12, 9], false, true),
        ];
        let case = |(shape, full, vectors): (&[usize], bool, bool)| {
            (Svd { full, vectors }.into(), vec![Shape::from(shape)])
        };
        float_examples(&shapes.map(case))
    }
}

/// `1 / x` off the diagonal, zeros on it.
pub(super) fn off_diagonal_inverse(cx: &mut Cx<'_>, x: &Atom, square: &ArrayType) -> Result<Atom, RuleError> {
    let ones = identity(cx, square, 0)?;
    let off = part(cx, x, Comparison::Ne)?;
    let safe = plus(cx, &off, &ones)?;
    let one = cx.fill(&safe, 1.0);
    let inverse = cx.bind(Div {}, &[&one, &safe])?;
    part(cx, &inverse, Comparison::Ne)
}

/// What of `x` is outside of the space of a basis, divided by the singular values.
fn outside(cx: &mut Cx<'_>, x: &Atom, basis: &Atom, dual: &Atom, s: &Atom) -> Result<Atom, RuleError> {
    let along = product(cx, dual, x)?;
    let inside = product(cx, basis, &along)?;
    let out = minus(cx, x, &inside)?;
    let shape = cx.ty(&out).shape;
    let s = as_rows(cx, s, &shape)?;
    cx.bind(Div {}, &[&out, &s])
}
