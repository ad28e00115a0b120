//! Random shapes, numbers and arrays.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_graph::ArrayType;

use super::rng::Rng;

/// No array of a random graph has more elements: the evaluator is slow, and small arrays have all the edges.
pub(super) const MOST_ELEMENTS: usize = 256;

/// Rank 0 to 4, few elements, now and then an axis of size 0, often one of size 1.
pub(super) fn shape(rng: &mut Rng) -> Shape {
    let rank = [0, 1, 1, 2, 2, 2, 3, 3, 4][rng.below(9)];
    let empty = rng.percent(5).then(|| rng.below(rank));
    let mut shape = Shape::scalar();
    for axis in 0..rank {
        let room = MOST_ELEMENTS / shape.len().max(1) / 2;
        let size = if Some(axis) == empty { 0 } else { axis_size(rng).min(room.max(1)) };
        shape = shape.insert(axis, size);
    }
    shape
}

/// Mostly small, sometimes more than a vector register holds.
pub(super) fn axis_size(rng: &mut Rng) -> usize {
    [1, 1, 2, 2, 3, 3, 4, 5, 7, 19][rng.below(10)]
}

/// Any element type, floats most often.
pub(super) fn dtype(rng: &mut Rng) -> DType {
    let floats: Vec<DType> = DType::ALL.iter().copied().filter(|dtype| dtype.is_float()).collect();
    let from = if rng.percent(60) { floats.as_slice() } else { DType::ALL };
    *rng.pick(from).expect("there are element types")
}

/// A number. Gentle ones are small; `extreme` ones are often NaN, infinite, a zero of either sign, subnormal, or
/// at the end of the integers.
pub(super) fn literal(rng: &mut Rng, dtype: DType, extreme: bool) -> Literal {
    const REALS: [f64; 9] =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1.0, -1.0, f32::MIN_POSITIVE as f64, -1e-42];
    const INTEGERS: [f64; 6] = [0.0, 1.0, -1.0, i64::MIN as f64, i64::MAX as f64, i32::MIN as f64];
    // What becomes of infinite parts nobody promises.
    if dtype.is_complex() {
        let mut part = || literal(rng, dtype.real(), false);
        return Literal::of_parts(part(), part());
    }
    if extreme && rng.percent(30) {
        let special: &[f64] = if dtype.is_float() { &REALS } else { &INTEGERS };
        // Saturates: the ends of every integer type are reached.
        return Literal::from_f64(dtype, *rng.pick(special).expect("not empty"));
    }
    if extreme && !dtype.is_float() && rng.percent(30) {
        return Literal::from_bits(dtype, u128::from(rng.bits()));
    }
    if dtype.is_float() && rng.percent(80) {
        return Literal::from_f64(dtype, 3.0 * rng.signed_unit());
    }
    // Whole numbers, also as floats: they meet in comparisons.
    Literal::from_i64(dtype, rng.below(7) as i64 - if dtype.is_signed() { 3 } else { 0 })
}

/// An array of this type.
pub(super) fn tensor(rng: &mut Rng, ty: &ArrayType, extreme: bool) -> Tensor {
    let literals: Vec<Literal> = (0..ty.shape.len()).map(|_| literal(rng, ty.dtype, extreme)).collect();
    Tensor::from_literals(ty.dtype, ty.shape.clone(), &literals).expect("one literal for each element")
}
