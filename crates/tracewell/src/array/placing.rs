//! From what a user takes of each axis to the windows of `gather` and `scatter`.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_graph::prim::{Places, Reshape};
use tracewell_graph::{ArrayType, Location, Splat};
use tracewell_trace::{Error, ErrorKind, Value};

use super::dynamic::{bound, strong};
use super::indexing::{bounds, check_count};
use super::operators::common_shape;
use super::{Array, Cut};

/// Windows, where they start, and what shape all of them have together.
pub(super) struct Placing {
    pub(super) places: Places,
    /// The operands that say where windows start.
    pub(super) indices: Vec<Value>,
    /// The arrays of the user among them, each with the size of its axis.
    pub(super) asked: Vec<(Array, usize)>,
    pub(super) shape: Shape,
}

/// An array of indices before its shape is that of all: with the axes it has, or a number.
enum Start {
    Array(Array),
    Number(usize),
    /// The places of a range, along an axis of their own.
    Range(Vec<usize>, usize),
}

/// Places of arrays, numbers and ranges, laid out by NumPy's rule.
pub(super) fn by_cuts(x: &Array, cuts: &[Cut], location: &Location) -> Result<Placing, Error> {
    check_count(x, cuts)?;
    let whole = Cut::from(..);
    let cut = |axis: usize| cuts.get(axis).unwrap_or(&whole);
    let mut types = Vec::new();
    for axis in 0..x.rank() {
        if let Cut::Places(places) = cut(axis) {
            check_indices(x, axis, places)?;
            types.push(places.ty());
        }
    }
    let common = common_shape("index by", &types)?;
    // A number is used together with the arrays, as in NumPy.
    let chosen: Vec<usize> = (0..x.rank()).filter(|&axis| !matches!(cut(axis), Cut::Range { .. })).collect();
    let stand_apart = chosen.windows(2).any(|pair| pair[1] != pair[0] + 1);
    let first = if stand_apart { 0 } else { chosen.first().copied().unwrap_or(0) };
    let mut places = Places {
        follows: vec![-1; x.rank()],
        sizes: vec![1; x.rank()],
        along: Vec::new(),
        index_axes: (first..first + common.rank()).collect(),
        from_back: true,
    };
    let (mut starts, mut asked, mut ranges) = (Vec::new(), Vec::new(), 0);
    let mut sizes = vec![0; x.rank() - chosen.len() + common.rank()];
    for (&axis, size) in places.index_axes.iter().zip(common.iter()) {
        sizes[axis] = size;
    }
    for (axis, size) in x.shape().iter().enumerate() {
        let cut = cut(axis);
        let (from, to, step) = bounds(x, axis, size, cut)?;
        match cut {
            Cut::Places(array) => {
                asked.push((array.clone(), size));
                starts.push(Start::Array(array.clone()));
            }
            Cut::At(_) => starts.push(Start::Number(from)),
            Cut::Range { .. } => {
                let at = if ranges < first { ranges } else { ranges + common.rank() };
                ranges += 1;
                let count = (to - from).div_ceil(step.unsigned_abs());
                sizes[at] = count;
                if step == 1 {
                    places.follows[axis] = at as i64;
                    places.sizes[axis] = count;
                    if count == size {
                        continue;
                    }
                    starts.push(Start::Number(from));
                } else {
                    let mut all: Vec<usize> = (from..to).step_by(step.unsigned_abs()).collect();
                    if step < 0 {
                        all.reverse();
                    }
                    starts.push(Start::Range(all, places.index_axes.len()));
                    places.index_axes.push(at);
                }
            }
        }
        places.along.push(axis);
    }
    let rank = places.index_axes.len();
    let operand = |start: Start| match start {
        Start::Number(at) => Ok(number(at, rank)),
        Start::Range(all, axis) => {
            let shape = Shape::from(vec![1; rank]).with(axis, all.len());
            let tensor = Tensor::from_fn(shape, |i| all[i] as i64);
            Ok(Value::Known(tensor, false))
        }
        Start::Array(array) => {
            let before = std::iter::repeat_n(1, common.rank() - array.rank());
            let after = std::iter::repeat_n(1, rank - common.rank());
            shaped(&array, before.chain(array.shape().iter()).chain(after).collect(), location)
        }
    };
    let indices = starts.into_iter().map(operand).collect::<Result<_, _>>()?;
    Ok(Placing { places, indices, asked, shape: Shape::from(sizes) })
}

/// One place along an axis for each element of the indices, whose other axes are those of the array. On either side an
/// axis of size 1 is repeated.
pub(super) fn by_axis(x: &Array, places: &Array, axis: usize, location: &Location) -> Result<Placing, Error> {
    check_indices(x, axis, places)?;
    if places.rank() != x.rank() {
        let message =
            format!("places along an axis of {} have rank {}, found {}", x.ty(), x.rank(), places.ty());
        return Err(Error::new(ErrorKind::Index, message).help(
            "there is a place for each element of the result; `take` takes the same places everywhere",
        ));
    }
    let mut windows = Places {
        follows: vec![-1; x.rank()],
        sizes: vec![1; x.rank()],
        along: vec![axis],
        index_axes: Vec::new(),
        from_back: true,
    };
    let (mut kept, mut sizes, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (size, count)) in x.shape().iter().zip(places.shape().iter()).enumerate() {
        let is_kept = at == axis || count != 1 || size == 1;
        if is_kept {
            windows.index_axes.push(at);
            kept.push(count);
        }
        sizes.push(if at != axis && count == 1 { size } else { count });
        if at == axis {
            continue;
        }
        if size == 1 && count != 1 {
            windows.along.push(at);
            firsts.push(at);
        } else if count == size || count == 1 {
            windows.follows[at] = at as i64;
            windows.sizes[at] = size;
        } else {
            let message = format!(
                "places {} along axis {axis} of {}: axis {at} is {count} and {size}",
                places.ty(),
                x.ty()
            );
            return Err(Error::new(ErrorKind::Index, message).help(
                "the other axes are those of the array, or 1; `take` takes the same places everywhere",
            ));
        }
    }
    let first = shaped(places, kept, location)?;
    let others = firsts.iter().map(|_| number(0, windows.index_axes.len()));
    let indices = std::iter::once(first).chain(others).collect();
    let asked = vec![(places.clone(), x.shape().size(axis))];
    Ok(Placing { places: windows, indices, asked, shape: Shape::from(sizes) })
}

/// Places are integers, and there must be something at them.
fn check_indices(x: &Array, axis: usize, places: &Array) -> Result<(), Error> {
    let ty = strong(places.ty());
    if ty.dtype.is_bool() {
        let message = format!("the places along axis {axis} of {} are a mask, {ty}", strong(x.ty()));
        return Err(Error::new(ErrorKind::Type, message).help(
            "how many elements it takes is not known while tracing: `select(&mask, &x, 0.0)` keeps the shape, \
             `mask.nonzero(n)` gives the places of the first `n`",
        ));
    }
    if !ty.dtype.is_integer() {
        let message =
            format!("the places along axis {axis} of {} must be integers, found {ty}", strong(x.ty()));
        return Err(Error::new(ErrorKind::Type, message).help("`.convert(I32)` first"));
    }
    if x.shape().size(axis) == 0 && !ty.shape.is_empty() {
        let message = format!("there are no places along axis {axis} of {}, found {ty}", strong(x.ty()));
        return Err(Error::new(ErrorKind::Index, message).help("the axis is empty"));
    }
    Ok(())
}

/// A number as indices of this rank.
fn number(at: usize, rank: usize) -> Value {
    let literal = Literal::from_i64(DType::I64, at as i64);
    Value::Splat(Splat { literal, shape: Shape::from(vec![1; rank]), weak: false })
}

/// An array under another shape.
fn shaped(array: &Array, sizes: Vec<usize>, location: &Location) -> Result<Value, Error> {
    let shape = Shape::from(sizes);
    match array.value() {
        value if value.ty().shape == shape => Ok(value.clone()),
        value => bound(Reshape { shape }, std::slice::from_ref(value), location),
    }
}

/// Whether each index is a place of an axis of this size.
pub(super) fn are_inside(indices: &Array, size: usize, from_back: bool) -> Array {
    let indices = indices.convert(DType::I64);
    let low = if from_back { -(size as i64) } else { 0 };
    indices.ge(low) & indices.lt(size as i64)
}

/// What a user reads where there is no place: NaN, the least signed integer, the largest unsigned one, `true`.
pub(super) fn missing(ty: &ArrayType) -> Literal {
    let dtype = ty.dtype;
    match dtype {
        DType::I32 | DType::I64 => Literal::from_f64(dtype, f64::NEG_INFINITY),
        DType::U8 | DType::U32 => Literal::from_f64(dtype, f64::INFINITY),
        DType::Bool => Literal::one(dtype),
        _ => Literal::from_f64(dtype, f64::NAN),
    }
}
