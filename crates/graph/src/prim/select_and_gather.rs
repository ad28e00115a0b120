//! The derivatives of extremes over windows: values taken from where the extreme is, and values put there.
//!
//! The extreme of a window is its first element that no other exceeds, in row-major order; NaN exceeds every number.
//! Padding counts as the least that there is, with a value of zero; what is put there is lost.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{Combine, Comparison};

use super::elementwise::{Domain, arity, same_type};
use super::reduce_window::{each_window, identity, window_examples, window_type, windows};
use super::shape_rules::each_index;
use super::sliding::Sliding;
use super::{Add, Broadcast, Compare, Iota, Mul, Or, Pad, Reshape, Select, Slice};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::{Atom, Graph};
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

windows! {
    /// `select_and_gather[comparison=ge, …] x, v`: at each place of the window, the element of `v` where the first
    /// largest element of `x` under the window is; with `le`, the first smallest.
    SelectAndGather {
        /// `ge` for the largest, `le` for the smallest.
        comparison: Comparison
    }
}

windows! {
    /// `select_and_scatter_add[comparison=ge, …] x, v`: zeros like `x`, and for each place of the window the element of
    /// `v` added where the first largest element of `x` under the window is; with `le`, the first smallest.
    SelectAndScatterAdd {
        /// `ge` for the largest, `le` for the smallest.
        comparison: Comparison
    }
}

/// What the extreme is of: of nothing, the least.
fn extreme(name: &str, comparison: Comparison) -> Result<Combine, TypeError> {
    match comparison {
        Comparison::Ge => Ok(Combine::Max),
        Comparison::Le => Ok(Combine::Min),
        _ => Err(TypeError::new(name, format!("`{name}` selects by `ge` or `le`, not by `{comparison:?}`"))),
    }
}

/// For each place, which element of the window is its extreme: its position, `None` if it is padding.
fn chosen(sliding: &Sliding, comparison: Comparison, x: &Tensor) -> Vec<Option<usize>> {
    let combine = extreme("select", comparison).expect("typed");
    let least = combine.identity(x.dtype()).expect("typed");
    let exceeds = |a: Literal, b: Literal| {
        if !x.dtype().is_float() {
            return if comparison == Comparison::Ge {
                a.as_i64() > b.as_i64()
            } else {
                a.as_i64() < b.as_i64()
            };
        }
        let (a, b) = (a.as_f64(), b.as_f64());
        let beyond = if comparison == Comparison::Ge { a > b } else { a < b };
        beyond || (a.is_nan() && !b.is_nan())
    };
    let mut found = Vec::new();
    each_window(sliding, x.shape(), |under| {
        let value = |at: Option<usize>| at.map_or(least, |at| x.literal(at));
        let first = under[0];
        found.push(
            under.iter().copied().fold(
                first,
                |best, at| {
                    if exceeds(value(at), value(best)) { at } else { best }
                },
            ),
        );
    });
    found
}

/// The first array, which decides, and others, folded to those of the extremes.
fn fold_extremes(
    b: &mut GraphBuilder,
    sliding: &Sliding,
    comparison: Comparison,
    states: Vec<Atom>,
) -> Result<Vec<Atom>, TypeError> {
    let is_float = b.ty(&states[0]).dtype.is_float();
    sliding.fold(b, states, &|b, first, second| {
        let (x, y) = (first[0].clone(), second[0].clone());
        let mut keeps = b.bind1(Compare { comparison }, &[x.clone(), y])?;
        if is_float {
            let is_nan = b.bind1(Compare { comparison: Comparison::Ne }, &[x.clone(), x])?;
            keeps = b.bind1(Or {}, &[keeps, is_nan])?;
        }
        let select = |(a, c): (&Atom, &Atom)| b.bind1(Select {}, &[keeps.clone(), a.clone(), c.clone()]);
        first.iter().zip(second).map(select).collect()
    })
}

impl Primitive for SelectAndGather {
    fn name(&self) -> &str {
        "select_and_gather"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("select_and_gather", inputs, 2)?;
        extreme("select_and_gather", self.comparison)?;
        let ty = same_type("select_and_gather", Domain::Number, inputs)?;
        Ok(vec![ArrayType {
            weak: inputs[1].weak,
            ..window_type("select_and_gather", &self.sliding(), &ty)?
        }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (x, v) = (&inputs[0], &inputs[1]);
        let zero = Literal::zero(v.dtype());
        let sliding = self.sliding();
        let found = chosen(&sliding, self.comparison, x);
        let literals: Vec<Literal> = found.iter().map(|at| at.map_or(zero, |at| v.literal(at))).collect();
        let places = sliding.places(&x.shape().sizes())?;
        Ok(vec![Tensor::from_literals(v.dtype(), places, &literals).map_err(|e| e.to_string())?])
    }

    /// Linear in the values; where they are taken from does not change with the elements that decide.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(self.clone(), &[&primals[0], &primals[1]])?;
        let dy = tangents[1].as_ref().map(|dv| cx.bind(self.clone(), &[&primals[0], dv])).transpose()?;
        Ok(Jvp::one(y, dy))
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let x = operands[0].known().ok_or_else(|| RuleError::not_linear("select_and_gather"))?;
        let scatter = SelectAndScatterAdd::of(self.sliding(), self.comparison);
        Ok(vec![None, Some(cx.bind(scatter, &[x, ct])?)])
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let atoms = cx.batch_all(size, operands)?;
        let batched = SelectAndGather::of(self.sliding().batched(), self.comparison);
        Ok(vec![Batched::yes(cx.bind(batched, &[&atoms[0], &atoms[1]])?)])
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        if outputs[0].shape.is_empty() {
            return Ok(Lowering::Constant(Tensor::zeros(outputs[0].dtype, outputs[0].shape.clone())));
        }
        let (sliding, combine) = (self.sliding(), extreme("select_and_gather", self.comparison)?);
        let mut b = GraphBuilder::new();
        let operands: Vec<Atom> = inputs.iter().map(|ty| Atom::Var(b.input(ty.clone()))).collect();
        let x = sliding.padded(&mut b, operands[0].clone(), identity(&inputs[0], combine))?;
        let zero = Atom::fill(&inputs[1].with_shape(Shape::scalar()), 0.0);
        let v = sliding.padded(&mut b, operands[1].clone(), zero)?;
        let result = fold_extremes(&mut b, &sliding, self.comparison, vec![x, v])?.remove(1);
        Ok(Lowering::Graph(b.finish("select_and_gather", vec![result]).into()))
    }

    fn examples() -> Vec<Example> {
        window_examples(|sliding, largest| (SelectAndGather::of(sliding, by(largest)).into(), 2))
    }
}

fn by(largest: bool) -> Comparison {
    if largest { Comparison::Ge } else { Comparison::Le }
}

impl Primitive for SelectAndScatterAdd {
    fn name(&self) -> &str {
        "select_and_scatter_add"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let name = "select_and_scatter_add";
        arity(name, inputs, 2)?;
        extreme(name, self.comparison)?;
        let places = window_type(name, &self.sliding(), &inputs[0])?;
        if !places.matches(&inputs[1]) {
            let message = format!("`{name}` of {} puts {places} there, found {}", inputs[0], inputs[1]);
            return Err(TypeError::new(name, message));
        }
        Ok(vec![ArrayType { weak: inputs[1].weak, ..inputs[0].clone() }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (x, v) = (&inputs[0], &inputs[1]);
        let (mut reals, mut ints) = (vec![0.0; x.len()], vec![0i64; x.len()]);
        let found = chosen(&self.sliding(), self.comparison, x);
        for (at, value) in found.into_iter().zip(v.literals()) {
            let Some(at) = at else { continue };
            reals[at] += value.as_f64();
            ints[at] = ints[at].wrapping_add(value.as_i64());
        }
        let dtype = x.dtype();
        let literal = |i: usize| match dtype.is_float() {
            true => Literal::from_f64(dtype, reals[i]),
            false => Literal::from_i64(dtype, ints[i]),
        };
        let literals: Vec<Literal> = (0..x.len()).map(literal).collect();
        Ok(vec![Tensor::from_literals(dtype, x.shape().clone(), &literals).map_err(|e| e.to_string())?])
    }

    /// Linear in the values.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(self.clone(), &[&primals[0], &primals[1]])?;
        let dy = tangents[1].as_ref().map(|dv| cx.bind(self.clone(), &[&primals[0], dv])).transpose()?;
        Ok(Jvp::one(y, dy))
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let x = operands[0].known().ok_or_else(|| RuleError::not_linear("select_and_scatter_add"))?;
        let gather = SelectAndGather::of(self.sliding(), self.comparison);
        Ok(vec![None, Some(cx.bind(gather, &[x, ct])?)])
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let atoms = cx.batch_all(size, operands)?;
        let batched = SelectAndScatterAdd::of(self.sliding().batched(), self.comparison);
        Ok(vec![Batched::yes(cx.bind(batched, &[&atoms[0], &atoms[1]])?)])
    }

    /// Where the extreme of each place is, then for each element the sum over the places that reach it.
    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        if outputs[0].shape.is_empty() || inputs[1].shape.is_empty() {
            return Ok(Lowering::Constant(Tensor::zeros(outputs[0].dtype, outputs[0].shape.clone())));
        }
        Ok(Lowering::Graph(scattered(&self.sliding(), self.comparison, inputs)?.into()))
    }

    fn examples() -> Vec<Example> {
        window_examples(|sliding, largest| (SelectAndScatterAdd::of(sliding, by(largest)).into(), 0))
    }
}

/// Elements in blocks of a stride each: a place's window begins with a block and reaches a few more. An element gets
/// what belongs to the places whose windows begin with its block or one of those before.
struct Blocks {
    /// For each axis, how many blocks a window reaches.
    reach: Vec<usize>,
    /// For each axis, how many there are.
    count: Vec<usize>,
    /// The shape `[blocks, elements of a block, …]`, without the elements where a block has one, and which axes of it
    /// are the blocks.
    shape: Shape,
    axes: Vec<usize>,
    /// How far apart the numbers of elements are, along each axis.
    steps: Vec<usize>,
}

impl Blocks {
    fn new(sliding: &Sliding, image: &[usize]) -> Blocks {
        let axes = sliding.axes(image);
        let reach: Vec<usize> =
            axes.iter().map(|a| ((a.window - 1) * a.window_dilation + 1).div_ceil(a.stride)).collect();
        let count: Vec<usize> = axes.iter().zip(&reach).map(|(a, reach)| a.places + reach - 1).collect();
        let (mut sizes, mut at) = (Vec::new(), Vec::new());
        for (axis, &count) in axes.iter().zip(&count) {
            at.push(sizes.len());
            sizes.push(count);
            sizes.extend((axis.stride > 1).then_some(axis.stride));
        }
        // Numbers are of elements in all blocks, so that no two have the same one. Along an axis where the window
        // stays at every element, it need not be known which.
        let moves = |i: usize| axes[i].window > 1 || axes[i].stride > 1;
        let (mut steps, mut step) = (vec![0; axes.len()], 1);
        for i in (0..axes.len()).rev().filter(|&i| moves(i)) {
            steps[i] = step;
            step *= (count[i] * axes[i].stride).max(image_reach(sliding, i, image[i]));
        }
        Blocks { reach, count, shape: Shape::from(sizes), axes: at, steps }
    }

    /// Large enough for every number.
    fn dtype(&self, sliding: &Sliding, image: &[usize]) -> DType {
        let size = |i: usize| (self.count[i] * sliding.strides[i]).max(image_reach(sliding, i, image[i]));
        let all = (0..image.len()).map(|i| size(i) as f64).product::<f64>();
        if all < f64::from(i32::MAX) { DType::I32 } else { DType::I64 }
    }
}

/// The size of an axis with its padding.
fn image_reach(sliding: &Sliding, axis: usize, image: usize) -> usize {
    let spread = image.checked_sub(1).map_or(0, |last| last * sliding.dilation[axis] + 1);
    usize::try_from(spread as i64 + sliding.low[axis] + sliding.high[axis]).unwrap_or(0)
}

/// The sum of the indices along some axes, each times a step.
fn numbered(
    b: &mut GraphBuilder,
    dtype: DType,
    shape: &Shape,
    axes: impl Iterator<Item = (usize, usize)>,
) -> Result<Atom, TypeError> {
    let ty = ArrayType::new(dtype, shape.clone());
    let mut sum = Atom::fill(&ty, 0.0);
    for (axis, step) in axes.filter(|&(_, step)| step != 0) {
        let index = b.bind1(Iota { dtype, shape: shape.clone(), axis }, &[])?;
        let scaled = b.bind1(Mul {}, &[index, Atom::fill(&ty, step as f64)])?;
        sum = b.bind1(Add {}, &[sum, scaled])?;
    }
    Ok(sum)
}

fn scattered(sliding: &Sliding, comparison: Comparison, inputs: &[ArrayType]) -> Result<Graph, RuleError> {
    let image = inputs[0].shape.sizes();
    let blocks = Blocks::new(sliding, &image);
    let combine = extreme("select_and_scatter_add", comparison)?;
    let mut b = GraphBuilder::new();
    let operands: Vec<Atom> = inputs.iter().map(|ty| Atom::Var(b.input(ty.clone()))).collect();
    let dtype = blocks.dtype(sliding, &image);
    // The number of the extreme under the window, at each place.
    let padded = sliding.padded(&mut b, operands[0].clone(), identity(&inputs[0], combine))?;
    let shape = b.ty(&padded).shape;
    let numbers = numbered(&mut b, dtype, &shape, blocks.steps.iter().copied().enumerate())?;
    let found = fold_extremes(&mut b, sliding, comparison, vec![padded, numbers])?.remove(1);
    // The number of each element in its block.
    let own = (0..image.len()).flat_map(|i| {
        let (axis, stride, step) = (blocks.axes[i], sliding.strides[i], blocks.steps[i]);
        [(axis, stride * step), (axis + 1, if stride > 1 { step } else { 0 })]
    });
    let own = numbered(&mut b, dtype, &blocks.shape, own)?;
    let mut shifts = Vec::new();
    each_index(&Shape::from(blocks.reach.clone()), |shift| shifts.push(shift.to_vec()));
    let zero = Atom::fill(&inputs[1].with_shape(Shape::scalar()), 0.0);
    let zeros = Atom::fill(&inputs[1].with_shape(blocks.shape.clone()), 0.0);
    let nowhere = Atom::fill(&ArrayType::new(dtype, Shape::scalar()), -1.0);
    let mut sum = None;
    for shift in shifts {
        let pad = Pad {
            low: shift.iter().map(|&n| n as i64).collect(),
            high: shift.iter().zip(&blocks.reach).map(|(&n, &reach)| (reach - 1 - n) as i64).collect(),
            interior: vec![0; shift.len()],
        };
        let mut in_blocks = |x: &Atom, value: &Atom| {
            let moved = if blocks.reach.iter().all(|&n| n == 1) {
                x.clone()
            } else {
                b.bind1(pad.clone(), &[x.clone(), value.clone()])?
            };
            b.bind1(Broadcast { shape: blocks.shape.clone(), axes: blocks.axes.clone() }, &[moved])
        };
        let (there, value) = (in_blocks(&found, &nowhere)?, in_blocks(&operands[1], &zero)?);
        let is_it = b.bind1(Compare { comparison: Comparison::Eq }, &[there, own.clone()])?;
        let value = b.bind1(Select {}, &[is_it, value, zeros.clone()])?;
        sum = Some(match sum {
            Some(sum) => b.bind1(Add {}, &[sum, value])?,
            None => value,
        });
    }
    // Blocks side by side, without the padding and what is between the elements.
    let sizes: Vec<usize> = (0..image.len()).map(|i| blocks.count[i] * sliding.strides[i]).collect();
    let sum = sum.expect("a window reaches a block");
    let whole = b.bind1(Reshape { shape: Shape::from(sizes.clone()) }, &[sum])?;
    let spread: Vec<usize> = (0..image.len()).map(|i| (image[i] - 1) * sliding.dilation[i] + 1).collect();
    let unpad = Pad {
        low: sliding.low.iter().map(|n| -n).collect(),
        high: (0..image.len()).map(|i| spread[i] as i64 - sizes[i] as i64 + sliding.low[i]).collect(),
        interior: vec![0; image.len()],
    };
    let unpadded = match unpad.low.iter().chain(&unpad.high).all(|&n| n == 0) {
        true => whole,
        false => b.bind1(unpad, &[whole, zero])?,
    };
    let every = Slice { start: vec![0; image.len()], limit: spread, step: sliding.dilation.clone() };
    let result = match sliding.dilation.iter().all(|&n| n == 1) {
        true => unpadded,
        false => b.bind1(every, &[unpadded])?,
    };
    Ok(b.finish("select_and_scatter_add", vec![result]))
}
