//! `conv[…] x, w`: sums of products of a kernel with what is under it, at every place it has over an image.
//!
//! An image is `[batch, places…, channels]`, a kernel is `[window…, channels of a group, channels of the result]`.
//! `conv_kernel[…] x, y` is its adjoint in the kernel; the two and their adjoints are one family.

use tracewell_array::{Complex64, DType, Literal, Shape, Tensor};
use tracewell_kernel::{Conv as ConvCall, ConvResult, Library, LibraryCall};

use super::each::batch_each;
use super::elementwise::arity;
use super::shape_rules::{bilinear_jvp, each_index, linear_operand, position};
use super::sheet::Sheet;
use super::sliding::Sliding;
use super::{DotGeneral, Permute, Prim, Reshape, Reverse};
use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::{Atom, Graph};
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `conv[…] x, w`: at each place of the window of `w` over the image `x`, the sum of the products of what is
    /// under each other, for each channel of the result. Images are `[batch, places…, channels]`, kernels are
    /// `[window…, channels of a group, channels of the result]`. Integers wrap.
    pub struct Conv {
        /// For each axis of the window, how far apart its places are.
        strides: Vec<usize>,
        /// For each axis, how many zeros are before the image; negative to leave elements out.
        low: Vec<i64>,
        /// For each axis, how many zeros are after the image; negative to leave elements out.
        high: Vec<i64>,
        /// For each axis, how far apart the elements of the image are, zeros between them.
        dilation: Vec<usize>,
        /// For each axis, how far apart the elements of the window are.
        window_dilation: Vec<usize>,
        /// Groups of channels that do not see each other.
        groups: usize,
    }
}

params! {
    /// `conv_kernel[…] x, y`: the adjoint of `conv` in its kernel: for each element of the window, the sum over all
    /// images and places of the products of what is under it in `x` with `y`. Integers wrap.
    pub struct ConvKernel {
        /// For each axis, the size of the window.
        window: Vec<usize>,
        /// As of `conv`.
        strides: Vec<usize>,
        /// As of `conv`.
        low: Vec<i64>,
        /// As of `conv`.
        high: Vec<i64>,
        /// As of `conv`.
        dilation: Vec<usize>,
        /// As of `conv`.
        window_dilation: Vec<usize>,
        /// As of `conv`.
        groups: usize,
    }
}

impl Conv {
    fn sliding(&self, w: &Shape) -> Sliding {
        Sliding {
            window: w.iter().take(w.rank().saturating_sub(2)).collect(),
            strides: self.strides.clone(),
            low: self.low.clone(),
            high: self.high.clone(),
            dilation: self.dilation.clone(),
            window_dilation: self.window_dilation.clone(),
        }
    }

    fn of(sliding: Sliding, groups: usize) -> Conv {
        let Sliding { strides, low, high, dilation, window_dilation, .. } = sliding;
        Conv { strides, low, high, dilation, window_dilation, groups }
    }
}

impl ConvKernel {
    fn sliding(&self) -> Sliding {
        Sliding {
            window: self.window.clone(),
            strides: self.strides.clone(),
            low: self.low.clone(),
            high: self.high.clone(),
            dilation: self.dilation.clone(),
            window_dilation: self.window_dilation.clone(),
        }
    }

    fn of(sliding: Sliding, groups: usize) -> ConvKernel {
        let Sliding { window, strides, low, high, dilation, window_dilation } = sliding;
        ConvKernel { window, strides, low, high, dilation, window_dilation, groups }
    }
}

/// The sizes of a convolution: what its operands and its result share.
struct Sizes {
    sliding: Sliding,
    groups: usize,
    batch: usize,
    image: Vec<usize>,
    places: Vec<usize>,
    /// Channels of a group of the image, and of the result.
    from: usize,
    to: usize,
}

impl Sizes {
    fn of(sliding: Sliding, groups: usize, x: &Shape, to: usize) -> Sizes {
        let image = between(x);
        let places = sliding.places(&image).expect("typed");
        Sizes {
            groups,
            batch: x.size(0),
            from: x.size(x.rank() - 1) / groups,
            to: to / groups,
            sliding,
            image,
            places,
        }
    }

    fn image_shape(&self) -> Shape {
        [self.batch].into_iter().chain(self.image.clone()).chain([self.groups * self.from]).collect()
    }

    fn kernel_shape(&self) -> Shape {
        self.sliding.window.iter().copied().chain([self.from, self.groups * self.to]).collect()
    }

    fn result_shape(&self) -> Shape {
        [self.batch].into_iter().chain(self.places.clone()).chain([self.groups * self.to]).collect()
    }

    /// Calls `f` with the positions in image, kernel and result of everything that is multiplied.
    fn each_product(&self, mut f: impl FnMut(usize, usize, usize)) {
        let (image, kernel, result) = (self.image_shape(), self.kernel_shape(), self.result_shape());
        let axes = self.sliding.axes(&self.image);
        let d = axes.len();
        each_index(&result, |y| {
            each_index(&kernel.remove(d + 1), |k| {
                let under: Option<Vec<usize>> =
                    axes.iter().enumerate().map(|(i, axis)| axis.source(y[i + 1], k[i])).collect();
                let Some(under) = under else { return };
                let group = y[d + 1] / self.to;
                let x: Vec<usize> =
                    [y[0]].into_iter().chain(under).chain([group * self.from + k[d]]).collect();
                let w: Vec<usize> = k.iter().copied().chain([y[d + 1]]).collect();
                f(position(&image, &x), position(&kernel, &w), position(&result, y));
            });
        });
    }

    /// Whether it is a matrix product of the channels: a window of one element that is everywhere once.
    fn is_product(&self) -> bool {
        let s = &self.sliding;
        let ones = [&s.window, &s.strides, &s.dilation];
        let zeros = s.low.iter().chain(&s.high).all(|&n| n == 0);
        self.groups == 1 && zeros && ones.iter().all(|list| list.iter().all(|&n| n == 1))
    }

    fn pixels(&self) -> usize {
        self.batch * self.image.iter().product::<usize>()
    }

    fn call(&self, result: ConvResult, inputs: &[ArrayType], outputs: &[ArrayType]) -> Lowering {
        let types = |types: &[ArrayType]| types.iter().map(|t| (t.dtype, t.shape.clone())).collect();
        Lowering::Library(LibraryCall {
            library: Library::Conv(ConvCall {
                dtype: inputs[0].dtype,
                result,
                batch: self.batch,
                groups: self.groups,
                from: self.from,
                to: self.to,
                axes: self.sliding.axes(&self.image),
            }),
            inputs: types(inputs),
            outputs: types(outputs),
        })
    }
}

/// The sizes between the first axis and the last.
fn between(image: &Shape) -> Vec<usize> {
    image.iter().skip(1).take(image.rank() - 2).collect()
}

/// Numbers of one type, and at least a batch and channels.
fn check_operands(name: &str, a: &ArrayType, b: &ArrayType) -> Result<(), TypeError> {
    let error = |why: String| TypeError::new(name, format!("cannot convolve {a} and {b}: {why}"));
    if a.dtype != b.dtype {
        return Err(error(format!("dtypes are {} and {}", a.dtype, b.dtype)));
    }
    if a.dtype.is_bool() {
        return Err(error("bools have no product".to_string()).help("`.convert(I32)` first"));
    }
    if a.rank() < 2 || a.rank() != b.rank() {
        return Err(error(format!(
            "ranks are {} and {}, and must be equal and at least 2",
            a.rank(),
            b.rank()
        )));
    }
    Ok(())
}

fn checked(name: &str, a: &ArrayType, b: &ArrayType, shape: Shape) -> Result<Vec<ArrayType>, TypeError> {
    if shape.checked_len().is_none() {
        let message = format!("cannot convolve {a} and {b}: shape {shape} has too many elements");
        return Err(TypeError::new(name, message).help(Shape::LIMIT));
    }
    Ok(vec![ArrayType { dtype: a.dtype, shape, weak: a.weak && b.weak }])
}

/// Sums of products, in `f64`, `i64` and pairs of `f64`.
fn eval_sums(sizes: &Sizes, inputs: &[Tensor], result: ConvResult) -> Result<Vec<Tensor>, String> {
    let (a, b) = (&inputs[0], &inputs[1]);
    let shape = match result {
        ConvResult::Image => sizes.result_shape(),
        ConvResult::Kernel => sizes.kernel_shape(),
    };
    let (mut reals, mut ints) = (vec![0.0; shape.len()], vec![0i64; shape.len()]);
    let mut complexes = vec![Complex64::ZERO; shape.len()];
    sizes.each_product(|x, w, y| {
        let (b_at, to) = match result {
            ConvResult::Image => (w, y),
            ConvResult::Kernel => (y, w),
        };
        let (p, q) = (a.literal(x), b.literal(b_at));
        reals[to] += p.as_f64() * q.as_f64();
        ints[to] = ints[to].wrapping_add(p.as_i64().wrapping_mul(q.as_i64()));
        complexes[to] += p.as_complex() * q.as_complex();
    });
    let dtype = a.dtype();
    let literals: Vec<Literal> = if dtype.is_complex() {
        complexes.iter().map(|&z| Literal::from_complex(dtype, z)).collect()
    } else if dtype.is_float() {
        reals.iter().map(|&r| Literal::from_f64(dtype, r)).collect()
    } else {
        ints.iter().map(|&i| Literal::from_i64(dtype, i)).collect()
    };
    Ok(vec![Tensor::from_literals(dtype, shape, &literals).map_err(|e| e.to_string())?])
}

/// The adjoint in the image: the result's cotangent convolved with the kernel backwards, its channels swapped.
fn image_adjoint(
    cx: &mut Cx<'_>,
    sliding: &Sliding,
    groups: usize,
    x: &ArrayType,
    w: &Atom,
    ct: &Atom,
) -> Result<Atom, RuleError> {
    let shape = cx.ty(w).shape;
    let d = shape.rank() - 2;
    let (from, to) = (shape.size(d), shape.size(d + 1) / groups);
    let window = &sliding.window;
    let sized = |last: &[usize]| -> Shape { window.iter().chain(last).copied().collect() };
    let apart = cx.bind(Reshape { shape: sized(&[from, groups, to]) }, &[w])?;
    let axes = (0..d).chain([d + 2, d + 1, d]).collect();
    let swapped = cx.bind(Permute { axes }, &[&apart])?;
    let joined = cx.bind(Reshape { shape: sized(&[to, groups * from]) }, &[&swapped])?;
    let backwards = cx.bind(Reverse { axes: (0..d).collect() }, &[&joined])?;
    cx.bind(Conv::of(sliding.back(&between(&x.shape)), groups), &[ct, &backwards])
}

impl Primitive for Conv {
    fn name(&self) -> &str {
        "conv"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("conv", inputs, 2)?;
        let (x, w) = (&inputs[0], &inputs[1]);
        check_operands("conv", x, w)?;
        let error =
            |why: String| TypeError::new("conv", format!("cannot convolve {x} with the kernel {w}: {why}"));
        let d = x.rank() - 2;
        let (channels, from, to) = (x.shape.size(d + 1), w.shape.size(d), w.shape.size(d + 1));
        if self.groups == 0 || to % self.groups != 0 || from.checked_mul(self.groups) != Some(channels) {
            return Err(error(format!(
                "in {} groups of channels the kernel takes {from} each to {to} in all, the image has {channels}",
                self.groups
            )));
        }
        self.sliding(&w.shape).places(&between(&x.shape)).map_err(error)?;
        checked("conv", x, w, self.sizes(inputs).result_shape())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let types: Vec<ArrayType> = inputs.iter().map(ArrayType::of).collect();
        eval_sums(&self.sizes(&types), inputs, ConvResult::Image)
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        bilinear_jvp(cx, self, primals, tangents)
    }

    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let (linear, ty, known) = linear_operand("conv", operands)?;
        if linear == 0 {
            let sliding = self.sliding(&cx.ty(known).shape);
            return Ok(vec![Some(image_adjoint(cx, &sliding, self.groups, ty, known, ct)?), None]);
        }
        let adjoint = ConvKernel::of(self.sliding(&ty.shape), self.groups);
        Ok(vec![None, Some(cx.bind(adjoint, &[known, ct])?)])
    }

    /// More images are a larger batch, more kernels are more channels; where both differ, one after the other.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let [x, w] = operands else { unreachable!("typed") };
        if x.batched && w.batched {
            return batch_each(cx, self.clone().into(), size, operands);
        }
        let (x_shape, w_shape) = (cx.ty(&x.atom).shape, cx.ty(&w.atom).shape);
        let sized = |sizes: &[usize]| Reshape { shape: Shape::from(sizes) };
        if x.batched {
            let joined = x_shape.remove(0).with(0, size * x_shape.size(1));
            let x = cx.bind(Reshape { shape: joined }, &[&x.atom])?;
            let y = cx.bind(self.clone(), &[&x, &w.atom])?;
            let shape = cx.ty(&y).shape.with(0, x_shape.size(1)).insert(0, size);
            return Ok(vec![Batched::yes(cx.bind(Reshape { shape }, &[&y])?)]);
        }
        // [b, window…, from, group, to] to [window…, from, group, b, to], and back for the result.
        let rank = w_shape.rank();
        let (groups, to) = (self.groups, w_shape.size(rank - 1) / self.groups);
        let head: Vec<usize> = w_shape.iter().take(rank - 1).collect();
        let apart = cx.bind(sized(&[&head[..], &[groups, to]].concat()), &[&w.atom])?;
        let axes = (1..rank).chain([0, rank]).collect();
        let moved = cx.bind(Permute { axes }, &[&apart])?;
        let w = cx.bind(sized(&[&head[1..], &[groups * size * to]].concat()), &[&moved])?;
        let y = cx.bind(self.clone(), &[&x.atom, &w])?;
        let head: Vec<usize> = cx.ty(&y).shape.iter().take(rank - 2).collect();
        let apart = cx.bind(sized(&[&head[..], &[groups, size, to]].concat()), &[&y])?;
        let axes = std::iter::once(rank - 1).chain(0..rank - 1).chain([rank]).collect();
        let moved = cx.bind(Permute { axes }, &[&apart])?;
        let y = cx.bind(sized(&[&[size], &head[..], &[groups * to]].concat()), &[&moved])?;
        Ok(vec![Batched::yes(y)])
    }

    /// A call; of a window of one element, a matrix product; of complex numbers, that of their parts.
    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Sheet::bilinear(self, inputs));
        }
        let sizes = self.sizes(inputs);
        if !sizes.is_product() {
            return Ok(sizes.call(ConvResult::Image, inputs, outputs));
        }
        let shapes = [[sizes.pixels(), sizes.from], [sizes.from, sizes.to]];
        Ok(Lowering::Graph(product(inputs, shapes, DotGeneral::matmul(), &outputs[0].shape)?.into()))
    }

    fn examples() -> Vec<Example> {
        examples_of(|case| {
            let shapes = [case.image(), case.kernel()];
            (Conv::of(case.sliding(), case.groups).into(), shapes)
        })
    }
}

impl Conv {
    fn sizes(&self, inputs: &[ArrayType]) -> Sizes {
        let (x, w) = (&inputs[0].shape, &inputs[1].shape);
        Sizes::of(self.sliding(w), self.groups, x, w.size(w.rank() - 1))
    }
}

impl ConvKernel {
    fn sizes(&self, inputs: &[ArrayType]) -> Sizes {
        let (x, y) = (&inputs[0].shape, &inputs[1].shape);
        Sizes::of(self.sliding(), self.groups, x, y.size(y.rank() - 1))
    }
}

impl Primitive for ConvKernel {
    fn name(&self) -> &str {
        "conv_kernel"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("conv_kernel", inputs, 2)?;
        let (x, y) = (&inputs[0], &inputs[1]);
        check_operands("conv_kernel", x, y)?;
        let error =
            |why: String| TypeError::new("conv_kernel", format!("`conv_kernel` of {x} and {y}: {why}"));
        let channels = [x, y].map(|image| image.shape.size(image.rank() - 1));
        if self.groups == 0 || channels.iter().any(|n| n % self.groups != 0) {
            return Err(error(format!("{} groups do not divide the channels", self.groups)));
        }
        let places = self.sliding().places(&between(&x.shape)).map_err(error)?;
        if x.shape.size(0) != y.shape.size(0) || places != between(&y.shape) {
            return Err(error(format!("{} images have places {places:?} there", x.shape.size(0))));
        }
        checked("conv_kernel", x, y, self.sizes(inputs).kernel_shape())
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let types: Vec<ArrayType> = inputs.iter().map(ArrayType::of).collect();
        eval_sums(&self.sizes(&types), inputs, ConvResult::Kernel)
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        bilinear_jvp(cx, self, primals, tangents)
    }

    /// The cotangent is a kernel: convolved with the image it read, or led back from the one it made.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let (linear, ty, known) = linear_operand("conv_kernel", operands)?;
        if linear == 0 {
            return Ok(vec![Some(image_adjoint(cx, &self.sliding(), self.groups, ty, ct, known)?), None]);
        }
        Ok(vec![None, Some(cx.bind(Conv::of(self.sliding(), self.groups), &[known, ct])?)])
    }

    /// One after the other: each sums over whole images.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_each(cx, self.clone().into(), size, operands)
    }

    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Sheet::bilinear(self, inputs));
        }
        let sizes = self.sizes(inputs);
        if !sizes.is_product() {
            return Ok(sizes.call(ConvResult::Kernel, inputs, outputs));
        }
        let shapes = [[sizes.pixels(), sizes.from], [sizes.pixels(), sizes.to]];
        let dot = DotGeneral { a_contract: vec![0], b_contract: vec![0], a_batch: vec![], b_batch: vec![] };
        Ok(Lowering::Graph(product(inputs, shapes, dot, &outputs[0].shape)?.into()))
    }

    fn examples() -> Vec<Example> {
        examples_of(|case| {
            let sizes = Sizes::of(case.sliding(), case.groups, &case.image(), case.channels[1] * case.groups);
            let shapes = [case.image(), sizes.result_shape()];
            (ConvKernel::of(case.sliding(), case.groups).into(), shapes)
        })
    }
}

/// A product of the operands as matrices, under the shape of the result.
fn product(
    inputs: &[ArrayType],
    shapes: [[usize; 2]; 2],
    dot: DotGeneral,
    result: &Shape,
) -> Result<Graph, RuleError> {
    let mut b = GraphBuilder::new();
    let operands: Vec<Atom> = inputs.iter().map(|ty| Atom::Var(b.input(ty.clone()))).collect();
    let matrices: Result<Vec<Atom>, TypeError> = operands
        .iter()
        .zip(shapes)
        .map(|(operand, shape)| b.bind1(Reshape { shape: shape.into() }, std::slice::from_ref(operand)))
        .collect();
    let product = b.bind1(dot, &matrices?)?;
    let product = b.bind1(Reshape { shape: result.clone() }, &[product])?;
    Ok(b.finish("conv", vec![product]))
}

/// A convolution for the laws: along each axis image, window, stride, low, high and the two dilations.
struct Case {
    batch: usize,
    /// Of a group: of the image, and of the result.
    channels: [usize; 2],
    groups: usize,
    axes: &'static [[i64; 7]],
}

/// Images of rank 2 to 5; empty ones, windows larger than the image, windows of one element, every parameter.
const CASES: [Case; 16] = [
    Case { batch: 2, channels: [3, 2], groups: 1, axes: &[] },
    Case { batch: 2, channels: [1, 1], groups: 1, axes: &[[5, 3, 1, 0, 0, 1, 1]] },
    Case { batch: 1, channels: [2, 3], groups: 1, axes: &[[6, 3, 2, 1, 1, 1, 1]] },
    Case { batch: 1, channels: [2, 1], groups: 1, axes: &[[4, 2, 1, 1, 2, 3, 1]] },
    Case { batch: 1, channels: [1, 2], groups: 2, axes: &[[7, 2, 2, -1, -1, 1, 3]] },
    Case { batch: 2, channels: [2, 2], groups: 2, axes: &[[5, 2, 2, 2, -1, 2, 2]] },
    Case { batch: 0, channels: [2, 1], groups: 1, axes: &[[4, 2, 1, 0, 0, 1, 1]] },
    Case { batch: 1, channels: [2, 1], groups: 1, axes: &[[0, 2, 1, 2, 1, 1, 1]] },
    Case { batch: 1, channels: [1, 1], groups: 1, axes: &[[2, 4, 1, 0, 0, 1, 1]] },
    Case { batch: 1, channels: [0, 2], groups: 1, axes: &[[3, 2, 1, 0, 0, 1, 1]] },
    Case { batch: 1, channels: [1, 1], groups: 3, axes: &[[4, 3, 1, 1, 1, 1, 1], [3, 2, 1, 0, 1, 1, 1]] },
    Case { batch: 2, channels: [2, 3], groups: 1, axes: &[[3, 1, 1, 0, 0, 1, 1], [2, 1, 1, 0, 0, 1, 1]] },
    Case { batch: 1, channels: [2, 2], groups: 1, axes: &[[4, 3, 2, 1, 0, 1, 1], [5, 2, 1, 1, 1, 1, 2]] },
    Case { batch: 1, channels: [1, 2], groups: 2, axes: &[[3, 2, 1, 1, 1, 2, 1], [3, 3, 2, -1, 3, 1, 1]] },
    Case {
        batch: 1,
        channels: [2, 1],
        groups: 1,
        axes: &[[3, 2, 1, 0, 0, 1, 1], [2, 2, 2, 1, 1, 1, 1], [3, 1, 2, 0, 0, 1, 1]],
    },
    Case { batch: 3, channels: [8, 17], groups: 1, axes: &[[6, 3, 1, 1, 1, 1, 1]] },
];

impl Case {
    fn list<T: TryFrom<i64>>(&self, at: usize) -> Vec<T> {
        let number = |axis: &[i64; 7]| T::try_from(axis[at]).ok().expect("only paddings are negative");
        self.axes.iter().map(number).collect()
    }

    fn sliding(&self) -> Sliding {
        Sliding {
            window: self.list(1),
            strides: self.list(2),
            low: self.list(3),
            high: self.list(4),
            dilation: self.list(5),
            window_dilation: self.list(6),
        }
    }

    fn image(&self) -> Shape {
        [self.batch].into_iter().chain(self.list(0)).chain([self.groups * self.channels[0]]).collect()
    }

    fn kernel(&self) -> Shape {
        let [from, to] = self.channels;
        self.list(1).into_iter().chain([from, self.groups * to]).collect()
    }
}

fn examples_of(of: impl Fn(&Case) -> (Prim, [Shape; 2])) -> Vec<Example> {
    let numbers: Vec<DType> = DType::ALL.iter().copied().filter(|d| !d.is_bool()).collect();
    let cases: Vec<(Prim, Vec<Shape>)> = CASES
        .iter()
        .map(|case| {
            let (prim, shapes) = of(case);
            (prim, shapes.to_vec())
        })
        .collect();
    super::examples_of(&cases, &numbers)
}
