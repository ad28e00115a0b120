//! `eig[vectors=B] a`: eigenvalues and eigenvectors of any square matrix, as complex numbers.

use tracewell_array::{DType, Shape, Tensor};
use tracewell_kernel::linalg::DECIDES;
use tracewell_kernel::{Comparison, Linalg};

use super::matrices::{
    as_columns, as_rows, batch_matrices, diagonal, eval_matrices, lower_matrices, matrix_types, minus, plus,
    product, reordered, times,
};
use super::svd::off_diagonal_inverse;
use super::{
    Abs, ArgMax, Compare, Complex, Conj, Convert, Div, Imag, Iota, Lu, Mul, Neg, Real, ReduceMax, ReduceSum,
    Select, TriangularSolve,
};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `eig[vectors=B] a`: the eigenvalues of a square matrix, complex, by ascending real parts; and if there are to be
    /// vectors, those as columns of length 1, whose first large component is real and positive.
    pub struct Eig {
        /// Whether eigenvectors are results.
        vectors: bool,
    }
}

impl Eig {
    fn linalg(&self) -> Linalg {
        Linalg::Eig { vectors: self.vectors }
    }
}

impl Primitive for Eig {
    fn name(&self) -> &str {
        "eig"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        matrix_types("eig", self.linalg(), inputs)
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        eval_matrices(self.linalg(), inputs)
    }

    /// With `P = v⁻¹ da v`: `dw` is its diagonal. Vectors turn by `u = v (P ∘ 1 / (wⱼ - wᵢ))`, without what would
    /// change their lengths or the phase of the component that decides about it.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let a = std::slice::from_ref(&primals[0]);
        let Some(da) = &tangents[0] else {
            let primals = cx.bind_all(self.clone(), a)?;
            return Ok(Jvp { tangents: vec![None; primals.len()], primals });
        };
        if cx.ty(&primals[0]).shape.is_empty() {
            let primals = cx.bind_all(self.clone(), a)?;
            let tangents = primals.iter().map(|x| Some(Atom::fill(&cx.ty(x), 0.0))).collect();
            return Ok(Jvp { primals, tangents });
        }
        let both = cx.bind_all(Eig { vectors: true }, a)?;
        let (w, v) = (&both[0], &both[1]);
        let da = cx.bind(Convert { dtype: cx.ty(v).dtype, weak: false }, &[da])?;
        let da_v = product(cx, &da, v)?;
        let p = solve(cx, v, &da_v)?;
        let dw = diagonal(cx, &p)?;
        if !self.vectors {
            return Ok(Jvp::one(w.clone(), Some(dw)));
        }
        let square = cx.ty(&p);
        let (rows, columns) = (as_rows(cx, w, &square.shape)?, as_columns(cx, w, &square.shape)?);
        let gaps = minus(cx, &rows, &columns)?;
        let f = off_diagonal_inverse(cx, &gaps, &square)?;
        let inner = times(cx, &f, &p)?;
        let u = product(cx, v, &inner)?;
        let along = free_part(cx, v, &u)?;
        let along = as_rows(cx, &along, &square.shape)?;
        let moved = times(cx, v, &along)?;
        let dv = plus(cx, &u, &moved)?;
        Ok(Jvp { primals: both, tangents: vec![Some(dw), Some(dv)] })
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("eig"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_matrices(cx, self.clone(), size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(lower_matrices(self.linalg(), inputs, outputs))
    }

    fn examples() -> Vec<Example> {
        let shapes: [(&[usize], bool); 8] = [
            (&[1, 1], true),
            (&[3, 3], true),
            (&[3, 3], false),
            (&[2, 2, 2], true),
            (&[2, 0, 0], true),
            (&[0, 3, 3], false),
            (&[1, 2, 1, 2, 2], true),
            (&[8, 8], true),
        ];
        let cases = shapes.map(|(shape, vectors)| (Eig { vectors }.into(), vec![Shape::from(shape)]));
        super::examples_of(&cases, &[DType::F32, DType::F64, DType::C64, DType::C128])
    }
}

/// `x` with `a x = b`.
fn solve(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Atom, RuleError> {
    let factors = cx.bind_all(Lu {}, std::slice::from_ref(a))?;
    let moved = reordered(cx, &factors[2], b)?;
    let lower = TriangularSolve { left: true, lower: true, transpose: false, unit: true };
    let upper = TriangularSolve { left: true, lower: false, transpose: false, unit: false };
    let half_way = cx.bind(lower, &[&factors[0], &moved])?;
    cx.bind(upper, &[&factors[0], &half_way])
}

/// For each vector the multiple of it that must be added to its turn `u`, so that its length stays 1 and the component
/// that is real stays real: `-Re(vᴴu) - i Im(uₖ) / vₖ`.
fn free_part(cx: &mut Cx<'_>, v: &Atom, u: &Atom) -> Result<Atom, RuleError> {
    let ty = cx.ty(v);
    let axis = ty.rank() - 2;
    let over_rows = |cx: &mut Cx<'_>, x: &Atom| cx.bind(ReduceSum { axes: vec![axis] }, &[x]);
    let conj = cx.bind(Conj {}, &[v])?;
    let overlap = cx.bind(Mul {}, &[&conj, u])?;
    let overlap = over_rows(cx, &overlap)?;
    let overlap = cx.bind(Real {}, &[&overlap])?;
    let re = cx.bind(Neg {}, &[&overlap])?;
    // The first component that is large.
    let sizes = cx.bind(Abs {}, &[v])?;
    let largest = cx.bind(ReduceMax { axes: vec![axis] }, &[&sizes])?;
    let limit = cx.fill(&largest, DECIDES);
    let limit = times(cx, &largest, &limit)?;
    let limit = as_rows(cx, &limit, &ty.shape)?;
    let large = cx.bind(Compare { comparison: Comparison::Ge }, &[&sizes, &limit])?;
    let large = cx.bind(Convert { dtype: DType::I32, weak: false }, &[&large])?;
    let first = cx.bind(ArgMax { axis, dtype: DType::I32 }, &[&large])?;
    let first = as_rows(cx, &first, &ty.shape)?;
    let row = cx.bind(Iota { dtype: DType::I32, shape: ty.shape.clone(), axis }, &[])?;
    let mask = cx.bind(Compare { comparison: Comparison::Eq }, &[&row, &first])?;
    let decisive = |cx: &mut Cx<'_>, x: &Atom| {
        let zero = cx.fill(x, 0.0);
        let kept = cx.bind(Select {}, &[&mask, x, &zero])?;
        cx.bind(ReduceSum { axes: vec![axis] }, &[&kept])
    };
    let (parts_v, parts_u) = (cx.bind(Real {}, &[v])?, cx.bind(Imag {}, &[u])?);
    let (vk, uk) = (decisive(cx, &parts_v)?, decisive(cx, &parts_u)?);
    let turn = cx.bind(Div {}, &[&uk, &vk])?;
    let im = cx.bind(Neg {}, &[&turn])?;
    cx.bind(Complex {}, &[&re, &im])
}
