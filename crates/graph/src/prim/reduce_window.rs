//! Reductions over windows: `reduce_window_sum[…] x` combines the elements under a window at every place it has.
//!
//! Padding, and what is between the elements of a dilated array, counts as the identity of the operation.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{Combine, Comparison};

use super::elementwise::{Domain, arity};
use super::running::in_range;
use super::shape_rules::{each_index, linear_transpose, position};
use super::sliding::Sliding;
use super::{Add, Max, Min, Mul, Prim, SelectAndGather};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::{Atom, Graph, Splat};
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

type TangentFn = fn(&mut Cx<'_>, &Sliding, x: &Atom, dx: &Atom) -> Result<Atom, RuleError>;

/// Declares a primitive with windows: what every one of them has as parameters, and the way to and from [`Sliding`].
macro_rules! windows {
    ($(#[doc = $doc:literal])* $Name:ident { $($(#[doc = $more_doc:literal])* $more:ident : $ty:ty)? }) => {
        $crate::params! {
            $(#[doc = $doc])*
            pub struct $Name {
                $($(#[doc = $more_doc])* $more: $ty,)?
                /// For each axis, the size of the window.
                window: Vec<usize>,
                /// For each axis, how far apart the places of the window are.
                strides: Vec<usize>,
                /// For each axis, how much padding is before the elements; negative to leave elements out.
                low: Vec<i64>,
                /// For each axis, how much padding is after the elements; negative to leave elements out.
                high: Vec<i64>,
                /// For each axis, how far apart the elements are, padding between them.
                dilation: Vec<usize>,
                /// For each axis, how far apart the elements of the window are.
                window_dilation: Vec<usize>,
            }
        }

        impl $Name {
            fn sliding(&self) -> $crate::prim::sliding::Sliding {
                $crate::prim::sliding::Sliding {
                    window: self.window.clone(),
                    strides: self.strides.clone(),
                    low: self.low.clone(),
                    high: self.high.clone(),
                    dilation: self.dilation.clone(),
                    window_dilation: self.window_dilation.clone(),
                }
            }

            pub(super) fn of(sliding: $crate::prim::sliding::Sliding $(, $more: $ty)?) -> $Name {
                let $crate::prim::sliding::Sliding { window, strides, low, high, dilation, window_dilation } = sliding;
                $Name { $($more,)? window, strides, low, high, dilation, window_dilation }
            }
        }
    };
}
pub(super) use windows;

macro_rules! reductions {
    ($($(#[doc = $doc:literal])* $Name:ident $name:literal $combine:ident $Combined:ident
        real $real:expr, int $int:expr, linear $linear:literal, tangent $tangent:expr;)*) => {$(
        windows! { $(#[doc = $doc])* $Name {} }

        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, 1)?;
                Ok(vec![window_type($name, &self.sliding(), &inputs[0])?])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                let identity = Combine::$combine.identity(inputs[0].dtype()).ok_or("no identity")?;
                Ok(vec![eval_windows(&self.sliding(), &inputs[0], identity, $real, $int)])
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
                let dy = tangent(cx, &self.sliding(), &primals[0], dx)?;
                Ok(Jvp::one(y, Some(dy)))
            }

            /// A sum gives to each element what the windows over it got.
            fn transpose(
                &self,
                cx: &mut Cx<'_>,
                operands: &[Operand],
                cotangents: &[Option<Atom>],
            ) -> Result<Vec<Option<Atom>>, RuleError> {
                if !$linear {
                    return Err(RuleError::not_linear($name));
                }
                linear_transpose(operands, cotangents, |ty, ct| {
                    cx.bind($Name::of(self.sliding().back(&ty.shape.sizes())), &[ct])
                })
            }

            fn batch(
                &self,
                cx: &mut Cx<'_>,
                _: usize,
                operands: &[Batched],
            ) -> Result<Vec<Batched>, RuleError> {
                Ok(vec![Batched::yes(cx.bind($Name::of(self.sliding().batched()), &[&operands[0].atom])?)])
            }

            /// Parts of the array, one for each element of the window, combined.
            fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
                if outputs[0].shape.is_empty() {
                    return Ok(Lowering::Constant(Tensor::zeros(outputs[0].dtype, outputs[0].shape.clone())));
                }
                let graph = folded(&self.sliding(), &inputs[0], Combine::$combine, $Combined {}.into())?;
                Ok(Lowering::Graph(graph.into()))
            }

            fn examples() -> Vec<Example> {
                window_examples(|sliding, _| ($Name::of(sliding).into(), 1))
            }
        }
    )*};
}

reductions! {
    /// `reduce_window_max[…] x`: the largest element under the window, at each of its places; NaN where there is one.
    /// The derivative goes to the first of them.
    ReduceWindowMax "reduce_window_max" Max Max
        real |a, b| if a > b || a.is_nan() { a } else { b }, int i64::max,
        linear false, tangent |cx, sliding, x, dx| {
            cx.bind(SelectAndGather::of(sliding.clone(), Comparison::Ge), &[x, dx])
        };
    /// `reduce_window_min[…] x`: the smallest element under the window, at each of its places; NaN where there is one.
    /// The derivative goes to the first of them.
    ReduceWindowMin "reduce_window_min" Min Min
        real |a, b| if a < b || a.is_nan() { a } else { b }, int i64::min,
        linear false, tangent |cx, sliding, x, dx| {
            cx.bind(SelectAndGather::of(sliding.clone(), Comparison::Le), &[x, dx])
        };
    /// `reduce_window_prod[…] x`: the product of the elements under the window, at each of its places; integers wrap.
    ReduceWindowProd "reduce_window_prod" Mul Mul
        real |a, b| a * b, int i64::wrapping_mul,
        linear false, tangent product_tangent;
    /// `reduce_window_sum[…] x`: the sum of the elements under the window, at each of its places; integers wrap.
    ReduceWindowSum "reduce_window_sum" Add Add
        real |a, b| a + b, int i64::wrapping_add,
        linear true, tangent |cx, sliding, _, dx| cx.bind(ReduceWindowSum::of(sliding.clone()), &[dx]);
}

/// The operand's type with the places of the window for its sizes.
pub(super) fn window_type(name: &str, sliding: &Sliding, x: &ArrayType) -> Result<ArrayType, TypeError> {
    if !Domain::Number.holds(x.dtype) {
        return Err(Domain::Number.refuse(name, name, x));
    }
    let fail = |why: String| TypeError::new(name, format!("`{name}` of {x}: {why}"));
    let shape = Shape::from(sliding.places(&x.shape.sizes()).map_err(fail)?);
    if shape.checked_len().is_none() {
        return Err(fail(format!("shape {shape} has too many elements")).help(Shape::LIMIT));
    }
    Ok(x.with_shape(shape))
}

/// Calls `f` for each place with the positions of what is under the window there, `None` in padding, in order.
pub(super) fn each_window(sliding: &Sliding, image: &Shape, mut f: impl FnMut(&[Option<usize>])) {
    let axes = sliding.axes(&image.sizes());
    let places: Shape = axes.iter().map(|axis| axis.places).collect();
    let window = Shape::from(sliding.window.clone());
    each_index(&places, |place| {
        let mut under = Vec::with_capacity(window.len());
        each_index(&window, |k| {
            let at: Option<Vec<usize>> =
                axes.iter().enumerate().map(|(i, axis)| axis.source(place[i], k[i])).collect();
            under.push(at.map(|at| position(image, &at)));
        });
        f(&under);
    });
}

fn eval_windows(
    sliding: &Sliding,
    x: &Tensor,
    identity: Literal,
    real: fn(f64, f64) -> f64,
    int: fn(i64, i64) -> i64,
) -> Tensor {
    let dtype = x.dtype();
    let mut literals = Vec::new();
    each_window(sliding, x.shape(), |under| {
        let mut sums = (identity.as_f64(), identity.as_i64());
        for &at in under {
            let value = at.map_or(identity, |at| x.literal(at));
            sums = (in_range(dtype, real(sums.0, value.as_f64())), int(sums.1, value.as_i64()));
        }
        let (r, i) = sums;
        literals.push(if dtype.is_float() {
            Literal::from_f64(dtype, r)
        } else {
            Literal::from_i64(dtype, i)
        });
    });
    let places = sliding.places(&x.shape().sizes()).expect("typed");
    Tensor::from_literals(dtype, places, &literals).expect("one literal for each place")
}

/// The reduction written out.
fn folded(sliding: &Sliding, x: &ArrayType, combine: Combine, combined: Prim) -> Result<Graph, TypeError> {
    let mut b = GraphBuilder::new();
    let input = Atom::Var(b.input(x.clone()));
    let padded = sliding.padded(&mut b, input, identity(x, combine))?;
    let pair = |b: &mut GraphBuilder, a: &[Atom], c: &[Atom]| {
        Ok(vec![b.bind1(combined.clone(), &[a[0].clone(), c[0].clone()])?])
    };
    let result = sliding.fold(&mut b, vec![padded], &pair)?;
    Ok(b.finish("windows", result))
}

/// What combining with changes nothing, as a scalar like an array's elements.
pub(super) fn identity(like: &ArrayType, combine: Combine) -> Atom {
    let literal = combine.identity(like.dtype).expect("typed as numbers");
    Atom::Splat(Splat { literal, shape: Shape::scalar(), weak: like.weak })
}

/// That of the product as it is written out, right also where elements are zero.
fn product_tangent(cx: &mut Cx<'_>, sliding: &Sliding, x: &Atom, dx: &Atom) -> Result<Atom, RuleError> {
    let ty = cx.ty(x);
    let places = sliding.places(&ty.shape.sizes()).expect("typed");
    if places.contains(&0) {
        return Ok(Atom::fill(&ty.with_shape(Shape::from(places)), 0.0));
    }
    let graph = folded(sliding, &ty, Combine::Mul, Mul {}.into())?;
    let (graph, _) = cx.walks().jvp(&graph, &[true])?;
    Ok(cx.inline(&graph, &[x.clone(), dx.clone()]).remove(1))
}

/// Along each axis: size, window, stride, low, high and the two dilations.
const CASES: [&[[i64; 7]]; 13] = [
    &[],
    &[[5, 3, 1, 0, 0, 1, 1]],
    &[[6, 2, 2, 0, 0, 1, 1]],
    &[[7, 3, 2, 1, 1, 1, 1]],
    &[[4, 2, 3, -1, 2, 2, 1]],
    &[[5, 2, 1, 2, 0, 1, 3]],
    &[[0, 2, 1, 2, 1, 1, 1]],
    &[[3, 5, 1, 0, 0, 1, 1]],
    &[[40, 19, 2, 3, 0, 1, 1]],
    &[[4, 2, 2, 0, 0, 1, 1], [3, 2, 1, 1, 0, 1, 1]],
    &[[5, 3, 2, 1, 1, 1, 2], [4, 3, 1, -1, 1, 2, 1]],
    &[[2, 1, 1, 0, 0, 1, 1], [6, 5, 1, 2, 2, 1, 1], [5, 4, 2, 0, 1, 1, 1]],
    &[
        [1, 1, 1, 0, 0, 1, 1],
        [4, 2, 2, 0, 0, 1, 1],
        [4, 2, 2, 0, 0, 1, 1],
        [2, 1, 1, 0, 0, 1, 1],
        [1, 1, 2, 0, 1, 1, 1],
    ],
];

/// Examples of what has windows: `of` makes it, and says how many operands of the image's shape it has; if none is,
/// the second is of the places' shape.
pub(super) fn window_examples(of: impl Fn(Sliding, bool) -> (Prim, usize)) -> Vec<Example> {
    fn list<T: TryFrom<i64>>(axes: &[[i64; 7]], at: usize) -> Vec<T> {
        let number = |axis: &[i64; 7]| T::try_from(axis[at]).ok().expect("only paddings are negative");
        axes.iter().map(number).collect()
    }
    let numbers: Vec<DType> = DType::ALL.iter().copied().filter(|&d| Domain::Number.holds(d)).collect();
    let cases: Vec<(Prim, Vec<Shape>)> = CASES
        .iter()
        .enumerate()
        .map(|(i, axes)| {
            let sliding = Sliding {
                window: list(axes, 1),
                strides: list(axes, 2),
                low: list(axes, 3),
                high: list(axes, 4),
                dilation: list(axes, 5),
                window_dilation: list(axes, 6),
            };
            let image: Vec<usize> = list(axes, 0);
            let places = sliding.places(&image).expect("an example is typed");
            let (prim, images) = of(sliding, i % 2 == 0);
            let shapes = match images {
                0 => vec![Shape::from(image), Shape::from(places)],
                images => vec![Shape::from(image); images],
            };
            (prim, shapes)
        })
        .collect();
    super::examples_of(&cases, &numbers)
}
