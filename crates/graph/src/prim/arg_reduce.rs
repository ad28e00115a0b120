//! `argmax[axis=A, dtype=D] x` and `argmin`: where along an axis the extreme is; the first of several.
//!
//! NaN is more extreme than any number, as in `reduce_max` and `reduce_min`.

use std::sync::Arc;

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::Comparison;

use super::elementwise::{Domain, arity, same_type};
use super::shape_rules::{check_axes, each_index, position};
use super::{Broadcast, Compare, Iota, ReduceMax, ReduceMin, Select};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

macro_rules! arg_reductions {
    ($($(#[doc = $doc:literal])* $Name:ident $name:literal $Reduce:ident beats $beats:tt;)*) => {$(
        params! {
            $(#[doc = $doc])*
            pub struct $Name {
                /// The axis that disappears; not empty.
                axis: usize,
                /// The integer type of the result.
                dtype: DType,
            }
        }

        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, 1)?;
                arg_type($name, self.axis, self.dtype, &inputs[0])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                Ok(vec![eval_arg(&inputs[0], self.axis, self.dtype, |a, b| a $beats b, |a, b| a $beats b)])
            }

            /// Positions have no tangent.
            fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
                Ok(Jvp::one(cx.bind(self.clone(), &[&primals[0]])?, None))
            }

            fn transpose(
                &self,
                _: &mut Cx<'_>,
                _: &[Operand],
                _: &[Option<Atom>],
            ) -> Result<Vec<Option<Atom>>, RuleError> {
                Err(RuleError::not_linear($name))
            }

            fn batch(
                &self,
                cx: &mut Cx<'_>,
                _: usize,
                operands: &[Batched],
            ) -> Result<Vec<Batched>, RuleError> {
                let batched = $Name { axis: self.axis + 1, ..*self };
                Ok(vec![Batched::yes(cx.bind(batched, &[&operands[0].atom])?)])
            }

            fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
                let extreme = $Reduce { axes: vec![self.axis] };
                Ok(Lowering::Graph(Arc::new(first_of(extreme, self.axis, self.dtype, &inputs[0])?)))
            }

            fn examples() -> Vec<Example> {
                let cases: [(&[usize], usize); 6] =
                    [(&[1], 0), (&[7], 0), (&[2, 3], 1), (&[3, 2], 0), (&[2, 0, 3], 2), (&[2, 67, 1, 2], 1)];
                let numbers: Vec<DType> = DType::REAL.iter().copied().filter(|d| !d.is_bool()).collect();
                [DType::I32, DType::I64]
                    .into_iter()
                    .flat_map(|dtype| {
                        super::examples_of(
                            &cases.map(|(from, axis)| ($Name { axis, dtype }.into(), vec![Shape::from(from)])),
                            &numbers,
                        )
                    })
                    .collect()
            }
        }
    )*};
}

arg_reductions! {
    /// `argmax[axis=A, dtype=D] x`: the index along `A` of the largest; of the first NaN, if there is one.
    ArgMax "argmax" ReduceMax beats >;
    /// `argmin[axis=A, dtype=D] x`: the index along `A` of the smallest; of the first NaN, if there is one.
    ArgMin "argmin" ReduceMin beats <;
}

fn arg_type(name: &str, axis: usize, dtype: DType, x: &ArrayType) -> Result<Vec<ArrayType>, TypeError> {
    same_type(name, Domain::Number, std::slice::from_ref(x))?;
    check_axes(name, &[axis], x)?;
    if !dtype.is_integer() {
        return Err(TypeError::new(name, format!("`{name}` gives integers, which {dtype} are not")));
    }
    if x.shape.size(axis) == 0 {
        return Err(TypeError::new(
            name,
            format!("`{name}` of {x} along axis {axis}: no element to choose from"),
        ));
    }
    Ok(vec![ArrayType::new(dtype, x.shape.remove(axis))])
}

fn eval_arg(
    x: &Tensor,
    axis: usize,
    dtype: DType,
    real: fn(f64, f64) -> bool,
    int: fn(i64, i64) -> bool,
) -> Tensor {
    let shape = x.shape().remove(axis);
    let beats = |a: Literal, b: Literal| {
        if !x.dtype().is_float() {
            return int(a.as_i64(), b.as_i64());
        }
        let (a, b) = (a.as_f64(), b.as_f64());
        !b.is_nan() && (a.is_nan() || real(a, b))
    };
    let mut best: Vec<Literal> = Vec::with_capacity(shape.len());
    each_index(&shape, |index| {
        let at = |i: usize| {
            let mut full = index.to_vec();
            full.insert(axis, i);
            x.literal(position(x.shape(), &full))
        };
        let first =
            (1..x.shape().size(axis)).fold(0, |best, i| if beats(at(i), at(best)) { i } else { best });
        best.push(Literal::from_i64(dtype, first as i64));
    });
    Tensor::from_literals(dtype, shape, &best).expect("one literal for each element")
}

/// The smallest index whose element is the extreme one, or NaN where there is one.
fn first_of(
    extreme: impl Into<super::Prim>,
    axis: usize,
    dtype: DType,
    x: &ArrayType,
) -> Result<Graph, TypeError> {
    let mut b = GraphBuilder::new();
    let operand = Atom::Var(b.input(x.clone()));
    let best = b.bind1(extreme, std::slice::from_ref(&operand))?;
    let kept = (0..x.rank()).filter(|&a| a != axis).collect();
    let best = b.bind1(Broadcast { shape: x.shape.clone(), axes: kept }, &[best])?;
    let mut is_best = b.bind1(Compare { comparison: Comparison::Eq }, &[operand.clone(), best])?;
    if x.dtype.is_float() {
        let is_nan = b.bind1(Compare { comparison: Comparison::Ne }, &[operand.clone(), operand])?;
        let yes = Atom::fill(&b.ty(&is_nan), 1.0);
        is_best = b.bind1(Select {}, &[is_nan, yes, is_best])?;
    }
    let index = b.bind1(Iota { dtype, shape: x.shape.clone(), axis }, &[])?;
    // The extreme is always attained, so that the largest index is never a wrong answer.
    let last = Atom::fill(&ArrayType::new(dtype, x.shape.clone()), x.shape.size(axis) as f64 - 1.0);
    let candidates = b.bind1(Select {}, &[is_best, index, last])?;
    let first = b.bind1(ReduceMin { axes: vec![axis] }, &[candidates])?;
    Ok(b.finish("first_of", vec![first]))
}
