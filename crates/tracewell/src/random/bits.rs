//! Keys, and the bits that they give.

use tracewell_array::{DType, Shape};
use tracewell_graph::Location;
use tracewell_graph::prim::{Broadcast, Iota, Reshape, Threefry};
use tracewell_trace::{Error, ErrorKind};

use super::{Key, drawn};
use crate::array::{Array, Cut, Operand, apply, found_by, listed, or_raise, stack};

/// A key from a seed.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(random::key(42).words().to_string(), "[ 0 42]");
/// ```
pub fn key(seed: u64) -> Key {
    Key { words: Array::from([(seed >> 32) as u32, seed as u32]) }
}

/// Several keys from one, each as good as new. The one is used up.
///
/// ```
/// use tracewell::prelude::*;
///
/// let [a, b] = random::split(&random::key(0));
/// assert_ne!(random::bits(&a, [], U32).item::<u32>(), random::bits(&b, [], U32).item::<u32>());
/// ```
#[track_caller]
pub fn split<const N: usize>(key: &Key) -> [Key; N] {
    let words = split_words(key, N, &Location::caller());
    std::array::from_fn(|i| Key { words: words.slice([Cut::from(i)]) })
}

/// As many keys as are asked for, as one with an axis more: for `vmap` and `scan`.
///
/// ```
/// use tracewell::prelude::*;
///
/// let keys = random::split_n(&random::key(0), 5);
/// let rows = vmap(|key: &random::Key| random::normal(key, [3], F32))(&keys);
/// assert_eq!(rows.shape().to_string(), "[5,3]");
/// ```
#[track_caller]
pub fn split_n(key: &Key, n: usize) -> Key {
    Key { words: split_words(key, n, &Location::caller()) }
}

fn split_words(key: &Key, n: usize, location: &Location) -> Array {
    let shape = Shape::from([n]);
    drawn("split", key, &[], location, |key, _| halves(&wide(key, &shape, location)))
}

/// Another key from a key and a number: the same from the same. The key is not used up; numbers must differ.
///
/// ```
/// use tracewell::prelude::*;
///
/// let key = random::key(0);
/// let steps: Vec<Array> = (0..3).map(|i| random::uniform(&random::fold_in(&key, i), [2], F32)).collect();
/// assert_ne!(steps[0].to_string(), steps[1].to_string());
/// ```
#[track_caller]
pub fn fold_in(key: &Key, number: impl Operand) -> Key {
    let location = Location::caller();
    let number = Array::from_value(number.operand());
    if !number.dtype().is_integer() || number.rank() != 0 {
        let message = format!("an integer is folded into a key, found {}", number.ty());
        let error = Error::new(ErrorKind::Type, message).help("`.convert(U32)` first");
        or_raise(Err(found_by(error, "fold_in", &[&number], &[])), &location)
    }
    let low = number.convert(DType::U32);
    let high = match number.dtype() {
        DType::I64 if !number.ty().weak => shifted_right(&number, 32).convert(DType::U32),
        _ => Array::zeros(Shape::scalar(), DType::U32),
    };
    let [k0, k1] = parts(&key.words);
    let operands = [k0, k1, high, low].map(|x| x.value().clone());
    Key { words: halves(&apply(Threefry { wide: true }, &operands, &location)) }
}

/// Random bits: every value of an integer type is as likely as any other.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(random::bits(&random::key(7), [3], U8).dtype(), U8);
/// ```
#[track_caller]
pub fn bits(key: &Key, shape: impl Into<Shape>, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    if !dtype.is_integer() {
        let message = format!("random bits are integers, not {dtype}");
        let error = Error::new(ErrorKind::Type, message).help("`random::uniform` draws floats");
        or_raise(Err(found_by(error, "bits", &[], &[&dtype])), &location)
    }
    drawn("bits", key, &[], &location, |key, _| words(key, &shape, dtype, &location))
}

/// The bits of a key, for as many elements as a shape has: each by its number.
pub(super) fn words(key: &Array, shape: &Shape, dtype: DType, location: &Location) -> Array {
    match dtype.size() {
        8 => wide(key, shape, location),
        _ => {
            let bits = enciphered(key, shape, false, location);
            match dtype {
                DType::I32 => bits.bitcast(dtype),
                _ => bits.convert(dtype),
            }
        }
    }
}

/// 64 bits for each element.
fn wide(key: &Array, shape: &Shape, location: &Location) -> Array {
    enciphered(key, shape, true, location)
}

fn enciphered(key: &Array, shape: &Shape, wide: bool, location: &Location) -> Array {
    let Some(count) = shape.checked_len() else {
        let message = format!("cannot draw an array of shape {shape}: it has too many elements");
        let error = Error::new(ErrorKind::Index, message).help(Shape::LIMIT);
        or_raise(Err(found_by(error, "draw", &[], &[&listed(shape.iter())])), location)
    };
    let flat = Shape::from([count]);
    let number = |dtype| apply(Iota { dtype, shape: flat.clone(), axis: 0 }, &[], location);
    let low = number(DType::U32);
    let high = if u32::try_from(count).is_ok() {
        Array::zeros(flat.clone(), DType::U32)
    } else {
        shifted_right(&number(DType::I64), 32).convert(DType::U32)
    };
    let repeated =
        |x: Array| apply(Broadcast { shape: flat.clone(), axes: Vec::new() }, &[x.value().clone()], location);
    let [k0, k1] = parts(key).map(repeated);
    let operands = [k0, k1, high, low].map(|x| x.value().clone());
    let bits = apply(Threefry { wide }, &operands, location);
    apply(Reshape { shape: shape.clone() }, &[bits.value().clone()], location)
}

/// The two words of a key.
fn parts(words: &Array) -> [Array; 2] {
    [0, 1].map(|i| words.slice([Cut::from(i)]))
}

/// The two halves of 64 bits, on a new last axis.
pub(super) fn halves(bits: &Array) -> Array {
    let high = shifted_right(bits, 32).convert(DType::U32);
    stack(&[high, bits.convert(DType::U32)], -1)
}

/// Zeros follow, whatever the sign.
pub(super) fn shifted_right(bits: &Array, by: u32) -> Array {
    let location = Location::caller();
    let by = Array::full(bits.shape().clone(), f64::from(by), bits.dtype());
    let operands = [bits.value().clone(), by.value().clone()];
    apply(tracewell_graph::prim::ShiftRightLogical {}, &operands, &location)
}
