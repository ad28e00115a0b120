//! `searchsorted[right=R] x, q`: how many elements of the sorted rows of `x` come before those of `q`.

use std::sync::Arc;

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{Comparison, Index, KernelBuilder, Op, Size, Value};

use super::elementwise::{Domain, arity};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `searchsorted[right=R] x, q`: for each element of the last axis of `q`, where it belongs in the last axis of
    /// `x`, which is sorted: how many elements are smaller or, if `R`, not larger. NaN is larger than any number.
    pub struct Searchsorted {
        /// Whether equal elements come before.
        right: bool,
    }
}

impl Primitive for Searchsorted {
    fn name(&self) -> &str {
        "searchsorted"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("searchsorted", inputs, 2)?;
        let (x, q) = (&inputs[0], &inputs[1]);
        let fail =
            |why: &str| Err(TypeError::new("searchsorted", format!("cannot search {x} for {q}: {why}")));
        if x.dtype.is_complex() {
            return Err(Domain::Ordered.refuse("searchsorted", "searchsorted", x));
        }
        if x.dtype != q.dtype {
            return fail(&format!("dtypes are {} and {}", x.dtype, q.dtype));
        }
        if x.rank() == 0 || x.rank() != q.rank() {
            return fail("both have as many axes, and at least one");
        }
        let last = x.rank() - 1;
        if x.shape.remove(last) != q.shape.remove(last) {
            return fail("all axes but the last are the same");
        }
        if i32::try_from(x.shape.size(last)).is_err() {
            return fail("the last axis is too long for an index, which is an `i32`");
        }
        Ok(vec![ArrayType::new(DType::I32, q.shape.clone())])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (x, q) = (&inputs[0], &inputs[1]);
        let (n, m) = sizes(x.shape(), q.shape());
        let before = |a: Literal, b: Literal| {
            if !a.dtype().is_float() {
                return if self.right { a.as_i64() <= b.as_i64() } else { a.as_i64() < b.as_i64() };
            }
            let (a, b) = (a.as_f64(), b.as_f64());
            if self.right { a <= b || b.is_nan() } else { a < b || (b.is_nan() && !a.is_nan()) }
        };
        let found: Vec<Literal> = (0..q.len())
            .map(|i| {
                // The same steps as compiled, so that rows which are not sorted give the same.
                let low = halves(n).fold(0, |low, half| {
                    let comes_before = before(x.literal(i / m * n + low + half - 1), q.literal(i));
                    if comes_before { low + half } else { low }
                });
                Literal::from_i64(DType::I32, low as i64)
            })
            .collect();
        Ok(vec![Tensor::from_literals(DType::I32, q.shape().clone(), &found).map_err(|e| e.to_string())?])
    }

    /// Places have no tangent.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        Ok(Jvp::one(cx.bind(self.clone(), &[&primals[0], &primals[1]])?, None))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("searchsorted"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let operands = cx.batch_all(size, operands)?;
        Ok(vec![Batched::yes(cx.bind(self.clone(), &[&operands[0], &operands[1]])?)])
    }

    /// By halves, the same ones for every element and written out: nothing waits for a turn of a loop, and neighbours
    /// are searched for together.
    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let (n, m) = sizes(&inputs[0].shape, &inputs[1].shape);
        let rows = inputs[1].shape.len().checked_div(m).unwrap_or(0);
        let right = self.right;
        Ok(Lowering::Kernel(Arc::new(move |b, operands, results| {
            let search = |b: &mut KernelBuilder, row: Option<Value>, i: Value| {
                let at = |place: Value, len: usize, offset: usize| {
                    let mut index = Index::at(offset as i64);
                    index.terms.push((place, Size::Const(1)));
                    index.terms.extend(row.map(|row| (row, Size::Const(len as i64))));
                    index
                };
                let element = b.load(operands[1], at(i, m, 0));
                let wanted = Wanted::new(b, element, right);
                let start = b.constant(0i32);
                let found = halves(n).fold(start, |low, half| {
                    let first = b.op(Op::Clamp(Size::Const((n - half + 1) as i64)), &[low]);
                    let first = b.op(Op::Convert(DType::I64), &[first]);
                    let element = b.load(operands[0], at(first, n, half - 1));
                    let comes_before = wanted.is_after(b, element);
                    let step = b.constant(half as i32);
                    let above = b.op(Op::Add, &[low, step]);
                    b.select(comes_before, above, low)
                });
                b.store(results[0], at(i, m, 0), found);
            };
            if rows == 1 {
                b.each(Size::Const(m as i64), |b, i| search(b, None, i));
            } else {
                b.each(Size::Const(rows as i64), |b, row| {
                    b.each(Size::Const(m as i64), |b, i| search(b, Some(row), i));
                });
            }
        })))
    }

    fn examples() -> Vec<Example> {
        let cases: [(&[usize], &[usize]); 8] = [
            (&[1], &[1]),
            (&[7], &[9]),
            (&[0], &[3]),
            (&[4], &[0]),
            (&[2, 5], &[2, 3]),
            (&[1, 8], &[1, 67]),
            (&[2, 0, 3], &[2, 0, 2]),
            (&[2, 1, 3, 6], &[2, 1, 3, 2]),
        ];
        let with = |right: bool| {
            super::examples_of(
                &cases.map(|(x, q)| (Searchsorted { right }.into(), vec![Shape::from(x), Shape::from(q)])),
                DType::REAL,
            )
        };
        [false, true].into_iter().flat_map(with).collect()
    }
}

/// The sizes of the last axes.
fn sizes(x: &Shape, q: &Shape) -> (usize, usize) {
    let last = x.rank() - 1;
    (x.size(last), q.size(last))
}

/// By how much the place of an element in a sorted row of so many grows at most, step by step: if what lies so far above
/// what is known comes before it.
fn halves(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(n), |left| Some(left / 2))
        .take_while(|left| *left > 0)
        .map(|left| left - left / 2)
}

/// What is searched for.
struct Wanted {
    element: Value,
    is_nan: Option<Value>,
    right: bool,
}

impl Wanted {
    fn new(b: &mut KernelBuilder, element: Value, right: bool) -> Wanted {
        let element = Wanted::comparable(b, element);
        let is_nan = b.dtype(element).is_float().then(|| b.compare(Comparison::Ne, element, element));
        Wanted { element, is_nan, right }
    }

    fn comparable(b: &mut KernelBuilder, x: Value) -> Value {
        if b.dtype(x).is_bool() { b.op(Op::Convert(DType::U8), &[x]) } else { x }
    }

    /// Whether an element of the row comes before.
    fn is_after(&self, b: &mut KernelBuilder, other: Value) -> Value {
        let other = Wanted::comparable(b, other);
        let comparison = if self.right { Comparison::Le } else { Comparison::Lt };
        let before = b.compare(comparison, other, self.element);
        let Some(mut beyond) = self.is_nan else { return before };
        if !self.right {
            let number = b.compare(Comparison::Eq, other, other);
            beyond = b.op(Op::And, &[beyond, number]);
        }
        b.op(Op::Or, &[before, beyond])
    }
}
