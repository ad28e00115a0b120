//! Reductions: `reduce_sum[axes=A] x` combines the elements along the axes `A`, which disappear.
//!
//! The order in which floats are summed is part of the numeric contract (docs/numerics.md) and belongs to the
//! kernel language; the evaluator here sums in `f64`, so the two agree up to rounding.

use tracewell_array::{Complex64, DType, Literal, Shape, Tensor};
use tracewell_kernel::{Combine, Comparison};

use super::elementwise::{Domain, arity};
use super::shape_rules::{each_index, position};
use super::{Add, Broadcast, Compare, Convert, Div, Mul, Permute, Reshape, Slice};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

type ComplexFn = fn(Complex64, Complex64) -> Complex64;
type TangentFn = fn(&mut Cx<'_>, axes: &[usize], x: &Atom, dx: &Atom, y: &Atom) -> Result<Atom, RuleError>;

macro_rules! reductions {
    ($($(#[doc = $doc:literal])* $Name:ident $name:literal $domain:ident $combine:ident
        real $real:expr, int $int:expr, linear $linear:literal, tangent $tangent:expr
        $(, complex $complex:expr, by $split:expr)?;)*) => {$(
        params! {
            $(#[doc = $doc])*
            pub struct $Name {
                /// The axes that disappear, ascending.
                axes: Vec<usize>,
            }
        }

        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, 1)?;
                reduced_type($name, Domain::$domain, &self.axes, &inputs[0])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                let complex: &[ComplexFn] = &[$($complex)?];
                let complex = complex.first();
                Ok(vec![eval_reduce(&inputs[0], &self.axes, Combine::$combine, $real, $int, complex)])
            }

            fn jvp(
                &self,
                cx: &mut Cx<'_>,
                primals: &[Atom],
                tangents: &[Option<Atom>],
            ) -> Result<Jvp, RuleError> {
                let y = cx.bind(self.clone(), &[&primals[0]])?;
                let Some(dx) = &tangents[0] else { return Ok(Jvp::one(y, None)) };
                let tangent: TangentFn = $tangent;
                let dy = tangent(cx, &self.axes, &primals[0], dx, &y)?;
                Ok(Jvp::one(y, Some(dy)))
            }

            fn transpose(
                &self,
                cx: &mut Cx<'_>,
                operands: &[Operand],
                cotangents: &[Option<Atom>],
            ) -> Result<Vec<Option<Atom>>, RuleError> {
                let (Operand::Linear(ty), Some(ct)) = (&operands[0], &cotangents[0]) else {
                    return Ok(vec![None]);
                };
                if !$linear {
                    return Err(RuleError::not_linear($name));
                }
                Ok(vec![Some(spread(cx, ct, &self.axes, &ty.shape)?)])
            }

            fn batch(
                &self,
                cx: &mut Cx<'_>,
                _: usize,
                operands: &[Batched],
            ) -> Result<Vec<Batched>, RuleError> {
                let axes = self.axes.iter().map(|a| a + 1).collect();
                Ok(vec![Batched::yes(cx.bind($Name { axes }, &[&operands[0].atom])?)])
            }

            fn lower(&self, _inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
                $(
                    if _inputs[0].dtype.is_complex() {
                        let split: fn(&[usize], &ArrayType) -> Result<Lowering, RuleError> = $split;
                        return split(&self.axes, &_inputs[0]);
                    }
                )?
                Ok(Lowering::Reduce { combine: Combine::$combine, axes: self.axes.clone() })
            }

            fn examples() -> Vec<Example> {
                let dtypes: Vec<DType> =
                    DType::ALL.iter().copied().filter(|&d| Domain::$domain.holds(d)).collect();
                super::examples_of(
                    &reduce_cases().map(|(shape, axes)| {
                        ($Name { axes: axes.to_vec() }.into(), vec![Shape::from(shape)])
                    }),
                    &dtypes,
                )
            }
        }
    )*};
}

reductions! {
    /// `reduce_and[axes=A] x`: whether all hold along the axes `A`; of integers, the bits that all have.
    ReduceAnd "reduce_and" Bits And
        real |_, b| b, int |a, b| a & b,
        linear false, tangent no_tangent;
    /// `reduce_or[axes=A] x`: whether any holds along the axes `A`; of integers, the bits that any has.
    ReduceOr "reduce_or" Bits Or
        real |_, b| b, int |a, b| a | b,
        linear false, tangent no_tangent;
    /// `reduce_max[axes=A] x`: the largest along the axes `A`; NaN where there is one. The derivative is shared
    /// equally between ties.
    ReduceMax "reduce_max" Number Max
        real |a, b| if a > b || a.is_nan() { a } else { b }, int i64::max,
        linear false, tangent share_of_extremes;
    /// `reduce_min[axes=A] x`: the smallest along the axes `A`; NaN where there is one. The derivative is
    /// shared equally between ties.
    ReduceMin "reduce_min" Number Min
        real |a, b| if a < b || a.is_nan() { a } else { b }, int i64::min,
        linear false, tangent share_of_extremes;
    /// `reduce_prod[axes=A] x`: the product along the axes `A`; integers wrap.
    ReduceProd "reduce_prod" Field Mul
        real |a, b| a * b, int i64::wrapping_mul,
        linear false, tangent |cx, axes, x, dx, _| product_tangent(cx, axes, x, dx),
        complex |a, b| a * b, by |axes, x| Ok(Lowering::Graph(product_by_halves(axes, x)?.into()));
    /// `reduce_sum[axes=A] x`: the sum along the axes `A`; integers wrap.
    ReduceSum "reduce_sum" Field Add
        real |a, b| a + b, int i64::wrapping_add,
        linear true, tangent |cx, axes, _, dx, _| cx.bind(ReduceSum { axes: axes.to_vec() }, &[dx]),
        complex |a, b| a + b, by |_, _| Ok(Lowering::Parts);
}

/// The operand's type without the reduced axes.
fn reduced_type(
    name: &str,
    domain: Domain,
    axes: &[usize],
    x: &ArrayType,
) -> Result<Vec<ArrayType>, TypeError> {
    if !axes.windows(2).all(|w| w[0] < w[1]) || axes.iter().any(|&a| a >= x.rank()) {
        return Err(TypeError::new(
            name,
            format!("cannot reduce {x} over axes {axes:?}: each must be below {} and occur once", x.rank()),
        ));
    }
    if !domain.holds(x.dtype) {
        // By the name of the method, which users know.
        let method = match name {
            "reduce_and" => "all",
            "reduce_or" => "any",
            _ => name.trim_start_matches("reduce_"),
        };
        return Err(domain.refuse(name, method, x));
    }
    let kept = x.shape.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, n)| n);
    Ok(vec![x.with_shape(kept.collect::<Shape>())])
}

fn eval_reduce(
    x: &Tensor,
    axes: &[usize],
    combine: Combine,
    real: fn(f64, f64) -> f64,
    int: fn(i64, i64) -> i64,
    complex: Option<&ComplexFn>,
) -> Tensor {
    let dtype = x.dtype();
    let kept: Vec<usize> = (0..x.rank()).filter(|a| !axes.contains(a)).collect();
    let shape: Shape = kept.iter().map(|&a| x.shape().size(a)).collect();
    let identity = combine.identity(dtype.real()).expect("typed");
    let mut complexes = vec![identity.as_complex(); shape.len()];
    let mut reals = vec![identity.as_f64(); shape.len()];
    let mut ints = vec![identity.as_i64(); shape.len()];
    each_index(x.shape(), |index| {
        let to: Vec<usize> = kept.iter().map(|&a| index[a]).collect();
        let (to, value) = (position(&shape, &to), x.literal(position(x.shape(), index)));
        reals[to] = real(reals[to], value.as_f64());
        ints[to] = int(ints[to], value.as_i64());
        if let Some(complex) = complex {
            complexes[to] = complex(complexes[to], value.as_complex());
        }
    });
    let literals: Vec<Literal> = if dtype.is_complex() {
        complexes.iter().map(|&z| Literal::from_complex(dtype, z)).collect()
    } else if dtype.is_float() {
        reals.iter().map(|&r| Literal::from_f64(dtype, r)).collect()
    } else {
        ints.iter().map(|&i| Literal::from_i64(dtype, i)).collect()
    };
    Tensor::from_literals(dtype, shape, &literals).expect("one literal for each element")
}

/// Repeats a reduced array along the axes that the reduction removed.
fn spread(cx: &mut Cx<'_>, x: &Atom, axes: &[usize], shape: &Shape) -> Result<Atom, RuleError> {
    let kept = (0..shape.rank()).filter(|a| !axes.contains(a)).collect();
    cx.bind(Broadcast { shape: shape.clone(), axes: kept }, &[x])
}

/// Only floats have tangents, and bits are not floats.
fn no_tangent(_: &mut Cx<'_>, _: &[usize], _: &Atom, _: &Atom, _: &Atom) -> Result<Atom, RuleError> {
    Err(RuleError::not_differentiable("reduce", "bools and integers have no tangents"))
}

/// The tangent of a product, right also where elements are zero: the derivative of multiplying halves until one
/// element is left.
fn product_tangent(cx: &mut Cx<'_>, axes: &[usize], x: &Atom, dx: &Atom) -> Result<Atom, RuleError> {
    let ty = cx.ty(x);
    let graph = product_by_halves(axes, &ty)?;
    let (graph, _) = cx.walks().jvp(&graph, &[true])?;
    Ok(cx.inline(&graph, &[x.clone(), dx.clone()]).remove(1))
}

/// The product along some axes, by multiplying one half with the other again and again.
fn product_by_halves(axes: &[usize], ty: &ArrayType) -> Result<Graph, TypeError> {
    let mut b = GraphBuilder::new();
    let x = Atom::Var(b.input(ty.clone()));
    let kept: Vec<usize> = (0..ty.rank()).filter(|a| !axes.contains(a)).collect();
    let result: Shape = kept.iter().map(|&a| ty.shape.size(a)).collect();
    let mut rows: usize = axes.iter().map(|&a| ty.shape.size(a)).product();
    let order = axes.iter().copied().chain(kept).collect();
    let x = b.bind1(Permute { axes: order }, &[x])?;
    let mut shape = Shape::from([rows, result.len()]);
    let mut x = b.bind1(Reshape { shape: shape.clone() }, &[x])?;
    let mut product: Option<Atom> = None;
    while rows > 0 {
        // An odd row is set aside.
        if rows % 2 == 1 {
            let row = b.bind1(Slice::along(&shape, 0, rows - 1, rows), &[x.clone()])?;
            product = Some(match product {
                Some(product) => b.bind1(Mul {}, &[product, row])?,
                None => row,
            });
        }
        rows /= 2;
        if rows > 0 {
            let upper = b.bind1(Slice::along(&shape, 0, 0, rows), &[x.clone()])?;
            let lower = b.bind1(Slice::along(&shape, 0, rows, 2 * rows), &[x])?;
            x = b.bind1(Mul {}, &[upper, lower])?;
            shape = shape.with(0, rows);
        }
    }
    // The product of nothing is 1, and its tangent 0; written as a function of the operand for the walk's sake.
    let product = match product {
        Some(product) => b.bind1(Reshape { shape: result }, &[product])?,
        None => {
            let sum = b.bind1(ReduceSum { axes: vec![0] }, &[x])?;
            let one = Atom::fill(&b.ty(&sum), 1.0);
            let product = b.bind1(Add {}, &[sum, one])?;
            b.bind1(Reshape { shape: result }, &[product])?
        }
    };
    Ok(b.finish("product", vec![product]))
}

/// The mean tangent of the elements that attain the extreme.
fn share_of_extremes(
    cx: &mut Cx<'_>,
    axes: &[usize],
    x: &Atom,
    dx: &Atom,
    y: &Atom,
) -> Result<Atom, RuleError> {
    let ty = cx.ty(x);
    let extreme = spread(cx, y, axes, &ty.shape)?;
    let attained = cx.bind(Compare { comparison: Comparison::Eq }, &[x, &extreme])?;
    let mask = cx.bind(Convert { dtype: ty.dtype, weak: ty.weak }, &[&attained])?;
    let count = cx.bind(ReduceSum { axes: axes.to_vec() }, &[&mask])?;
    let masked = cx.bind(Mul {}, &[dx, &mask])?;
    let sum = cx.bind(ReduceSum { axes: axes.to_vec() }, &[&masked])?;
    cx.bind(Div {}, &[&sum, &count])
}

type ReduceCase = (&'static [usize], &'static [usize]);

/// Rows, columns, everything, nothing, empty and size-1 axes, more than one block of lanes.
fn reduce_cases() -> [ReduceCase; 9] {
    [
        (&[], &[]),
        (&[5], &[0]),
        (&[2, 3], &[1]),
        (&[2, 3], &[0]),
        (&[2, 3], &[0, 1]),
        (&[3, 0], &[1]),
        (&[2, 1, 3], &[0, 2]),
        (&[2, 3, 2, 2], &[1, 3]),
        (&[2, 67], &[1]),
    ]
}
