//! `cumsum[axis=A, reverse=R] x` and its kin: at each place along an axis, what all elements up to it give together.
//!
//! In what order floats are combined is said in `running.rs`.

use smallvec::SmallVec;
use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{Comparison, KernelBuilder, Op, Value, math};

use super::elementwise::{Domain, arity, same_type};
use super::running::{BLOCK, Running, Walk, in_range};
use super::shape_rules::{check_axes, each_index, linear_transpose, position};
use super::{Compare, Exp, LinearRecurrence, Mul, Pad, Select, Slice, Sub};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

/// What elements are combined by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sum,
    Product,
    Max,
    Min,
    LogSumExp,
}

macro_rules! cumulative {
    ($($(#[doc = $doc:literal])* $Name:ident $name:literal $domain:ident;)*) => {$(
        params! {
            $(#[doc = $doc])*
            pub struct $Name {
                /// The axis along which elements are combined.
                axis: usize,
                /// Whether from the last element on.
                reverse: bool,
            }
        }

        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, 1)?;
                check_axes($name, &[self.axis], &inputs[0])?;
                Ok(vec![same_type($name, Domain::$domain, inputs)?])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                Ok(vec![Kind::$Name.eval(&inputs[0], self.axis, self.reverse)])
            }

            fn jvp(
                &self,
                cx: &mut Cx<'_>,
                primals: &[Atom],
                tangents: &[Option<Atom>],
            ) -> Result<Jvp, RuleError> {
                let y = cx.bind(self.clone(), &[&primals[0]])?;
                let Some(dx) = &tangents[0] else { return Ok(Jvp::one(y, None)) };
                let dy = match Kind::$Name {
                    Kind::Sum => cx.bind(self.clone(), &[dx])?,
                    kind => kind.tangent(cx, self.axis, self.reverse, [&primals[0], &y, dx])?,
                };
                Ok(Jvp::one(y, Some(dy)))
            }

            fn transpose(
                &self,
                cx: &mut Cx<'_>,
                operands: &[Operand],
                cotangents: &[Option<Atom>],
            ) -> Result<Vec<Option<Atom>>, RuleError> {
                match Kind::$Name {
                    // What each element is added to lies on the other side of it.
                    Kind::Sum => linear_transpose(operands, cotangents, |_, ct| {
                        cx.bind($Name { reverse: !self.reverse, ..self.clone() }, &[ct])
                    }),
                    _ => Err(RuleError::not_linear($name)),
                }
            }

            fn batch(
                &self,
                cx: &mut Cx<'_>,
                _: usize,
                operands: &[Batched],
            ) -> Result<Vec<Batched>, RuleError> {
                let batched = $Name { axis: self.axis + 1, ..self.clone() };
                Ok(vec![Batched::yes(cx.bind(batched, &[&operands[0].atom])?)])
            }

            fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
                let walk = Walk::new(&inputs[0].shape, self.axis, self.reverse);
                let start = Kind::$Name.identity(inputs[0].dtype);
                let step = |b: &mut KernelBuilder, sofar, x: &[Value]| Kind::$Name.combine(b, sofar, x[0]);
                let join = Some(|b: &mut KernelBuilder, a, x| Kind::$Name.combine(b, a, x));
                let is_quick = matches!(Kind::$Name, Kind::Sum | Kind::Product);
                Ok(walk.lowering(Running { start, step, join, is_quick }))
            }

            fn examples() -> Vec<Example> {
                let dtypes: Vec<DType> =
                    DType::ALL.iter().copied().filter(|&d| Domain::$domain.holds(d)).collect();
                let mut all: Vec<Example> = [false, true]
                    .into_iter()
                    .flat_map(|reverse| {
                        super::examples_of(
                            &shapes().map(|(shape, axis)| {
                                ($Name { axis, reverse }.into(), vec![Shape::from(shape)])
                            }),
                            &dtypes,
                        )
                    })
                    .collect();
                let long: [(&[usize], usize); 3] = [(&[2100 + BLOCK], 0), (&[BLOCK + 3, 2], 0), (&[2, 520], 0)];
                // Among many floats of few digits the nearest are too near for differences.
                let dtype = match Kind::$Name {
                    Kind::Max | Kind::Min => DType::F64,
                    _ => DType::F32,
                };
                all.extend(long.map(|(shape, axis)| Example {
                    prim: $Name { axis, reverse: shape.len() == 1 }.into(),
                    inputs: vec![ArrayType::new(dtype, shape)],
                }));
                all
            }
        }
    )*};
}

cumulative! {
    /// `cumsum[axis=A, reverse=R] x`: the sum of the elements up to each one along axis `A`; if `R`, from each one on.
    Cumsum "cumsum" Number;
    /// `cumprod[axis=A, reverse=R] x`: the product of the elements up to each one along axis `A`; if `R`, from each
    /// one on.
    Cumprod "cumprod" Number;
    /// `cummax[axis=A, reverse=R] x`: the largest of the elements up to each one along axis `A`; if `R`, from each one
    /// on. NaN where there is one.
    Cummax "cummax" Number;
    /// `cummin[axis=A, reverse=R] x`: the smallest of the elements up to each one along axis `A`; if `R`, from each
    /// one on. NaN where there is one.
    Cummin "cummin" Number;
    /// `cumlogsumexp[axis=A, reverse=R] x`: the logarithm of the sum of exponentials of the elements up to each one
    /// along axis `A`; if `R`, from each one on.
    Cumlogsumexp "cumlogsumexp" Float;
}

/// Shapes with an axis: one element, none, a few, columns, up to rank 5.
fn shapes() -> [(&'static [usize], usize); 8] {
    [
        (&[1], 0),
        (&[7], 0),
        (&[0], 0),
        (&[3, 4], 1),
        (&[4, 3], 0),
        (&[2, 0, 3], 2),
        (&[2, 1, 3], 1),
        (&[2, 1, 3, 2, 2], 2),
    ]
}

#[allow(non_upper_case_globals, reason = "by the name of the primitive")]
impl Kind {
    const Cumsum: Kind = Kind::Sum;
    const Cumprod: Kind = Kind::Product;
    const Cummax: Kind = Kind::Max;
    const Cummin: Kind = Kind::Min;
    const Cumlogsumexp: Kind = Kind::LogSumExp;

    /// What changes nothing: for a sum of floats the zero below 0, because 0 + -0 is 0.
    fn identity(self, dtype: DType) -> Literal {
        Literal::from_f64(
            dtype,
            match self {
                Kind::Sum => -0.0,
                Kind::Product => 1.0,
                Kind::Max | Kind::LogSumExp => f64::NEG_INFINITY,
                Kind::Min => f64::INFINITY,
            },
        )
    }

    fn combine(self, b: &mut KernelBuilder, a: Value, x: Value) -> Value {
        let op = match self {
            Kind::Sum => Op::Add,
            Kind::Product => Op::Mul,
            Kind::Max => Op::Max,
            Kind::Min => Op::Min,
            Kind::LogSumExp => return log_add_exp(b, a, x),
        };
        b.op(op, &[a, x])
    }

    fn real(self, a: f64, x: f64) -> f64 {
        match self {
            Kind::Sum => a + x,
            Kind::Product => a * x,
            Kind::Max if a > x || a.is_nan() => a,
            Kind::Min if a < x || a.is_nan() => a,
            Kind::Max | Kind::Min => x,
            // Two equal infinities, or a NaN.
            Kind::LogSumExp if (a - x).is_nan() => a + x,
            Kind::LogSumExp => a.max(x) + (-(a - x).abs()).exp().ln_1p(),
        }
    }

    fn int(self, a: i64, x: i64) -> i64 {
        match self {
            Kind::Sum => a.wrapping_add(x),
            Kind::Product => a.wrapping_mul(x),
            Kind::Max => a.max(x),
            Kind::Min => a.min(x),
            Kind::LogSumExp => unreachable!("of floats only"),
        }
    }

    fn eval(self, x: &Tensor, axis: usize, reverse: bool) -> Tensor {
        let (shape, dtype) = (x.shape(), x.dtype());
        let mut literals = vec![Literal::zero(dtype); shape.len()];
        each_index(&shape.with(axis, shape.size(axis).min(1)), |index| {
            let first = self.identity(dtype);
            let (mut real, mut int) = (first.as_f64(), first.as_i64());
            for i in 0..shape.size(axis) {
                let mut index = index.to_vec();
                index[axis] = if reverse { shape.size(axis) - 1 - i } else { i };
                let at = position(shape, &index);
                literals[at] = if dtype.is_float() {
                    real = in_range(dtype, self.real(real, x.literal(at).as_f64()));
                    Literal::from_f64(dtype, real)
                } else {
                    // Wrapped to the width of the type, of which products and sums keep the lower bits.
                    int = Literal::from_i64(dtype, self.int(int, x.literal(at).as_i64())).as_i64();
                    Literal::from_i64(dtype, int)
                };
            }
        });
        Tensor::from_literals(dtype, shape.clone(), &literals).expect("one literal for each element")
    }

    /// The tangent of what is no sum: that of each result is made of the one before and of the element's own.
    fn tangent(
        self,
        cx: &mut Cx<'_>,
        axis: usize,
        reverse: bool,
        [x, y, dx]: [&Atom; 3],
    ) -> Result<Atom, RuleError> {
        let [before, own] = match self {
            Kind::Sum => unreachable!("linear"),
            Kind::Product => [without_first(cx, x, axis, reverse)?, shifted(cx, y, axis, !reverse, 1.0)?],
            // Of two that are equal each has a half, but the first element has nothing before it.
            Kind::Max | Kind::Min => {
                let first = self.identity(cx.ty(x).dtype).as_f64();
                let previous = shifted(cx, y, axis, !reverse, first)?;
                let beats = if self == Kind::Max { Comparison::Gt } else { Comparison::Lt };
                let wins = cx.bind(Compare { comparison: beats }, &[&previous, x])?;
                let ties = cx.bind(Compare { comparison: Comparison::Eq }, &[&previous, x])?;
                let [zero, half, one] = [0.0, 0.5, 1.0].map(|number| cx.fill(x, number));
                let tied = cx.bind(Select {}, &[&ties, &half, &zero])?;
                let weight = cx.bind(Select {}, &[&wins, &one, &tied])?;
                let weight = without_first(cx, &weight, axis, reverse)?;
                let own = cx.bind(Sub {}, &[&one, &weight])?;
                [weight, own]
            }
            Kind::LogSumExp => {
                let previous = shifted(cx, y, axis, !reverse, f64::NEG_INFINITY)?;
                let part = |cx: &mut Cx<'_>, of: &Atom| {
                    let less = cx.bind(Sub {}, &[of, y])?;
                    cx.bind(Exp {}, &[&less])
                };
                let weight = part(cx, &previous)?;
                [without_first(cx, &weight, axis, reverse)?, part(cx, x)?]
            }
        };
        let own = cx.bind(Mul {}, &[dx, &own])?;
        cx.bind(LinearRecurrence { axis, reverse }, &[&before, &own])
    }
}

/// `log(exp a + exp x)` without overflow; the larger one where the other is infinitely smaller.
fn log_add_exp(b: &mut KernelBuilder, a: Value, x: Value) -> Value {
    let difference = b.op(Op::Sub, &[a, x]);
    // Two equal infinities, or a NaN.
    let strange = b.compare(Comparison::Ne, difference, difference);
    let apart = b.op(Op::Abs, &[difference]);
    let apart = b.op(Op::Neg, &[apart]);
    let ratio = math::exp(b, apart);
    let more = math::log1p(b, ratio);
    let larger = b.op(Op::Max, &[a, x]);
    let found = b.op(Op::Add, &[larger, more]);
    let sum = b.op(Op::Add, &[a, x]);
    b.select(strange, sum, found)
}

/// The elements moved by one place along an axis, to the end or to the beginning; what becomes free is
/// filled with a number.
pub(super) fn shifted(
    cx: &mut Cx<'_>,
    x: &Atom,
    axis: usize,
    to_end: bool,
    fill: f64,
) -> Result<Atom, RuleError> {
    let ty = cx.ty(x);
    let (rank, size) = (ty.rank(), ty.shape.size(axis));
    if size == 0 {
        return Ok(x.clone());
    }
    let (mut start, mut low, mut high) = (vec![0; rank], vec![0; rank], vec![0; rank]);
    let mut limit: SmallVec<[usize; 4]> = ty.shape.sizes();
    if to_end {
        limit[axis] -= 1;
        low[axis] = 1;
    } else {
        start[axis] = 1;
        high[axis] = 1;
    }
    let part = cx.bind(Slice { start, limit: limit.to_vec(), step: vec![1; rank] }, &[x])?;
    let fill = Atom::fill(&ty.with_shape(Shape::scalar()), fill);
    cx.bind(Pad { low, high, interior: vec![0; rank] }, &[&part, &fill])
}

/// The array with zeros where a walk along an axis begins.
fn without_first(cx: &mut Cx<'_>, x: &Atom, axis: usize, reverse: bool) -> Result<Atom, RuleError> {
    let rest = shifted(cx, x, axis, reverse, 0.0)?;
    shifted(cx, &rest, axis, !reverse, 0.0)
}
