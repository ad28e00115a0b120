//! Inputs to check laws on: gentle ones, at which everything is differentiable, and wild ones.

use tracewell_array::{Complex64, DType, Literal, Shape, Tensor};
use tracewell_graph::ArrayType;

use super::rng::Rng;

/// Where the floats of [`gentle`] lie: not every function is defined everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Region {
    /// Of either sign.
    Signed,
    /// Above zero.
    Positive,
    /// Above one.
    AboveOne,
    /// Of either sign, in matrices that are far from singular: elements of a diagonal are much larger, each by
    /// another amount. It starts in the column of this number.
    Dominant(usize),
}

impl Region {
    /// The wider ones first.
    pub(super) const ALL: [Region; 3] = [Region::Signed, Region::Positive, Region::AboveOne];
}

/// Floats of magnitude 0.52 to 0.97, no two of the same magnitude and so far from each other, from zero, the
/// integers and halves that small steps cross no edge of any function; nor is a quotient of two near a whole number.
/// Complex numbers have such a real part, and an imaginary one of that size. Small integers; random bools.
pub(super) fn gentle(rng: &mut Rng, types: &[ArrayType], region: Region) -> Vec<Tensor> {
    let floats: usize = types.iter().filter(|ty| ty.dtype.is_inexact()).map(|ty| ty.shape.len()).sum();
    let mut strata: Vec<usize> = (0..floats).collect();
    rng.shuffle(&mut strata);
    let mut strata = strata.into_iter();
    types
        .iter()
        .map(|ty| {
            fill(ty, |at| match ty.dtype {
                dtype if dtype.is_inexact() => {
                    let stratum = strata.next().expect("one for each element") as f64;
                    let magnitude = 0.52 + 0.45 * (stratum + 0.5 + 0.2 * rng.signed_unit()) / floats as f64;
                    let re = Literal::from_f64(
                        dtype.real(),
                        match region {
                            Region::Signed if rng.below(2) == 0 => -magnitude,
                            Region::Signed | Region::Positive => magnitude,
                            Region::AboveOne => 1.0 + magnitude,
                            Region::Dominant(first) => {
                                let signed = if rng.below(2) == 0 { -magnitude } else { magnitude };
                                signed + dominance(&ty.shape, at, first)
                            }
                        },
                    );
                    if dtype.is_float() {
                        return re;
                    }
                    // As far from the real axis, where functions have their cuts.
                    let im = (0.75 + 0.2 * rng.signed_unit()) * [-1.0, 1.0][rng.below(2)];
                    Literal::of_parts(re, Literal::from_f64(dtype.real(), im))
                }
                dtype => Literal::from_i64(dtype, rng.below(3) as i64),
            })
        })
        .collect()
}

/// What is added to an element on the diagonal of a matrix that starts in column `first`: more than all others of its
/// row together, and more for each row.
fn dominance(shape: &Shape, at: usize, first: usize) -> f64 {
    let rank = shape.rank();
    if rank < 2 {
        return 0.0;
    }
    let (rows, columns) = (shape.size(rank - 2), shape.size(rank - 1));
    let (row, column) = (at / columns % rows, at % columns);
    let size = rows.max(columns);
    if column == (row + first) % columns && row < columns { (size * (row + 1)) as f64 } else { 0.0 }
}

/// Floats, and parts of complex numbers, evenly in `[-1, 1)`: tangents and cotangents.
pub(super) fn direction(rng: &mut Rng, ty: &ArrayType) -> Tensor {
    let dtype = ty.dtype;
    fill(ty, |_| match dtype.is_complex() {
        true => Literal::from_complex(dtype, Complex64::new(rng.signed_unit(), rng.signed_unit())),
        false => Literal::from_f64(dtype, rng.signed_unit()),
    })
}

/// NaN, infinities, zeros of both signs, subnormals, the extreme integers, and ordinary numbers between.
pub(super) fn wild(rng: &mut Rng, types: &[ArrayType]) -> Vec<Tensor> {
    types.iter().map(|ty| fill(ty, |_| wild_literal(rng, ty.dtype))).collect()
}

fn wild_literal(rng: &mut Rng, dtype: DType) -> Literal {
    const REALS: [f64; 10] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        0.0,
        1.0,
        -1.0,
        f32::MAX as f64,
        f32::MIN_POSITIVE as f64,
        -1e-42,
    ];
    const INTEGERS: [i64; 6] = [0, 1, -1, 2, i64::MIN, i64::MAX];
    if dtype.is_complex() {
        let part = dtype.real();
        return Literal::of_parts(wild_literal(rng, part), wild_literal(rng, part));
    }
    match rng.below(3) {
        0 if dtype.is_float() => Literal::from_f64(dtype, REALS[rng.below(REALS.len())]),
        1 if dtype.is_float() => Literal::from_f64(dtype, 4.0 * rng.signed_unit()),
        // Saturates: the extremes of every integer type are reached.
        0 => Literal::from_f64(dtype, INTEGERS[rng.below(INTEGERS.len())] as f64),
        1 => Literal::from_i64(dtype, INTEGERS[rng.below(INTEGERS.len())]),
        _ => Literal::from_bits(dtype, rng.bits().into()),
    }
}

fn fill(ty: &ArrayType, mut element: impl FnMut(usize) -> Literal) -> Tensor {
    let literals: Vec<Literal> = (0..ty.shape.len()).map(&mut element).collect();
    Tensor::from_literals(ty.dtype, ty.shape.clone(), &literals).expect("one literal for each element")
}
