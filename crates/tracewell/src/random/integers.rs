//! Integers, orders and choices.

use tracewell_array::{DType, Literal, Shape};
use tracewell_graph::prim::{Broadcast, Sort};
use tracewell_graph::{Location, Splat};
use tracewell_trace::{Error, ErrorKind, Value};

use super::bits::{halves, shifted_right, words};
use super::{Key, drawn};
use crate::array::{Array, Cut, axis_of, bind_here, found_by, or_raise, select};

/// Integers from `low` to `high`, `high` not included, all equally likely but for less than one part in 2³².
///
/// ```
/// use tracewell::prelude::*;
///
/// let dice = random::randint(&random::key(0), [1000], 1, 7, I32);
/// assert!(dice.ge(1).all().item::<bool>() && dice.le(6).all().item::<bool>());
/// ```
#[track_caller]
pub fn randint(key: &Key, shape: impl Into<Shape>, low: i64, high: i64, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    let failed = |error| found_by(error, "randint", &[], &[&low, &high, &dtype]);
    let (least, most) = match dtype {
        DType::U8 => (0, i64::from(u8::MAX)),
        DType::U32 => (0, i64::from(u32::MAX)),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        DType::I64 => (i64::MIN, i64::MAX),
        _ => {
            let message = format!("`random::randint` draws integers, not {dtype}");
            let error = Error::new(ErrorKind::Type, message).help("`random::uniform` draws floats");
            or_raise(Err(failed(error)), &location)
        }
    };
    // One more than the largest is allowed: it is not included.
    if low >= high || low < least || high.checked_sub(1).is_none_or(|last| last > most) {
        let message = format!("there is no {dtype} from {low} to {high}, {high} not included");
        or_raise(Err(failed(Error::new(ErrorKind::Index, message).help("`low` is below `high`"))), &location)
    }
    let span = (high as i128 - low as i128) as u64;
    drawn("randint", key, &[], &location, |key, _| {
        // A byte has too few bits to be evenly shared out.
        let wider = if dtype == DType::U8 { DType::I32 } else { dtype };
        integers(key, &shape, low, span, wider, &location).convert(dtype)
    })
}

/// Two draws of as many bits as the type has, as digits of one number, of which the remainder is taken.
fn integers(key: &Array, shape: &Shape, low: i64, span: u64, dtype: DType, location: &Location) -> Array {
    let bits = if dtype == DType::I64 { DType::I64 } else { DType::U32 };
    let [above, below] = halves_of(key, location).map(|key| words(&key, shape, bits, location));
    let width = 8 * dtype.size() as u32;
    // In the arithmetic of the type, in which a span of all its values is none.
    let mask = u64::MAX >> (64 - width);
    let span = span & mask;
    let remainder = |x: &Array| if span == 0 { x.clone() } else { remainder(x, span) };
    let half = (1u64 << (width / 2)).checked_rem(span).unwrap_or(1 << (width / 2));
    let squared = half.wrapping_mul(half) & mask;
    let factor = squared.checked_rem(span).unwrap_or(squared);
    let sum = remainder(&above) * number(Literal::from_bits(bits, factor.into())) + remainder(&below);
    let offset = remainder(&sum);
    let offset = if dtype == DType::I32 { offset.bitcast(dtype) } else { offset };
    offset + number(Literal::from_i64(dtype, low))
}

fn number(literal: Literal) -> Array {
    Array::from_value(Value::Splat(Splat { literal, shape: Shape::scalar(), weak: false }))
}

/// The remainder of unsigned integers, which 64 bits are here too, although their type has a sign.
fn remainder(x: &Array, span: u64) -> Array {
    if x.dtype() != DType::I64 {
        return x % number(Literal::from_bits(x.dtype(), span.into()));
    }
    let is_huge = span >> 63 == 1;
    let span = number(Literal::from_bits(DType::I64, span.into()));
    if is_huge {
        // The quotient is 0 or 1: 1 where `x` is as far up as `span`, unsigned.
        let fits = x.lt(0) & x.ge(&span);
        return select(&fits, x - &span, x);
    }
    // Half of it has no sign; what is lost is less than the divisor twice.
    let quotient = shifted_right(x, 1) / &span * 2;
    let rest = x - quotient * &span;
    let too_much = rest.ge(&span) | rest.lt(0);
    select(&too_much, &rest - &span, &rest)
}

/// Two keys of one that is used up already.
fn halves_of(key: &Array, location: &Location) -> [Array; 2] {
    let pairs = halves(&words(key, &Shape::from([2]), DType::I64, location));
    [0, 1].map(|i| pairs.slice([Cut::from(i)]))
}

/// The numbers from 0 to `n` in random order, as `i32`: every order as likely as any other.
///
/// ```
/// use tracewell::prelude::*;
///
/// let order = random::permutation(&random::key(0), 5);
/// assert_eq!(order.sort(0).to_string(), "[0 1 2 3 4]");
/// ```
#[track_caller]
pub fn permutation(key: &Key, n: usize) -> Array {
    shuffle(key, &Array::arange(n, DType::I32), 0)
}

/// The array in random order along an axis: what belongs together stays together.
///
/// ```
/// use tracewell::prelude::*;
///
/// let rows = Array::from([[1, 10], [2, 20], [3, 30]]);
/// let shuffled = random::shuffle(&random::key(3), &rows, 0);
/// assert_eq!(shuffled.sort(0).to_string(), "[[ 1 10]\n [ 2 20]\n [ 3 30]]");
/// ```
#[track_caller]
pub fn shuffle(key: &Key, x: &Array, axis: isize) -> Array {
    let location = Location::caller();
    let axis = or_raise(axis_of(x, axis), &location);
    let size = x.shape().size(axis);
    // So often that hardly ever the order of equal keys decides.
    let rounds = (3.0 * (size.max(1) as f64).ln() / f64::from(u32::MAX).ln()).ceil() as usize;
    drawn("shuffle", key, &[x], &location, |key, others| {
        let (mut key, mut x) = (key.clone(), others[0].clone());
        for _ in 0..rounds {
            let [next, now] = halves_of(&key, &location);
            key = next;
            let order = words(&now, &Shape::from([size]), DType::U32, &location);
            let broadcast = Broadcast { shape: x.shape().clone(), axes: vec![axis] };
            let order = bind_here(&broadcast.into(), &[order.value().clone()], &location);
            let order = or_raise(order, &location).remove(0);
            let sort = Sort { axis, keys: 1, descending: false, kept: size };
            let sorted = bind_here(&sort.into(), &[order, x.value().clone()], &location);
            x = Array::from_value(or_raise(sorted, &location).remove(1));
        }
        x
    })
}

/// Places in an array of `n` elements, as `i32`: each as likely as any other, and any of them more than once.
///
/// ```
/// use tracewell::prelude::*;
///
/// let drawn = random::choice(&random::key(0), 3, [100]);
/// assert_eq!(drawn.unique(3).to_string(), "[0 1 2]");
/// ```
#[track_caller]
pub fn choice(key: &Key, n: usize, shape: impl Into<Shape>) -> Array {
    randint(key, shape, 0, n as i64, DType::I32)
}

/// Places in an array of probabilities, as `i32`: each as likely as the array says, and any of them more than once.
///
/// ```
/// use tracewell::prelude::*;
///
/// let p = Array::from([0.0f32, 0.25, 0.0, 0.75]);
/// let drawn = random::choice_weighted(&random::key(0), &p, [100]);
/// assert_eq!(drawn.unique(2).to_string(), "[1 3]");
/// ```
#[track_caller]
pub fn choice_weighted(key: &Key, p: &Array, shape: impl Into<Shape>) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    if !p.dtype().is_float() || p.rank() != 1 || p.is_empty() {
        let message = format!("probabilities are floats along one axis, found {}", p.ty());
        let help = "give a probability for each element; `random::choice` needs none";
        let error = Error::new(ErrorKind::Type, message).help(help);
        or_raise(Err(found_by(error, "choice_weighted", &[p], &[])), &location)
    }
    let sums = p.cumsum(0);
    let all = sums.slice([Cut::from(-1isize)]);
    let drawn = all * (1.0 - super::uniform(key, shape, p.dtype()));
    sums.searchsorted(&drawn)
}
