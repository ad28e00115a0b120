//! Floats, and what is decided by them.

use std::f64::consts::SQRT_2;

use tracewell_array::{DType, Shape};
use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind};

use super::bits::{shifted_right, words};
use super::{Key, drawn};
use crate::array::{Array, found_by, or_raise};

/// Bits of the mantissa.
fn digits(dtype: DType) -> u32 {
    if dtype == DType::F32 { 23 } else { 52 }
}

/// The smallest positive float of full precision.
fn tiny(dtype: DType) -> f64 {
    if dtype == DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE }
}

/// An error unless it is a float type.
pub(crate) fn check_float(what: &str, dtype: DType, location: &Location) {
    if !dtype.is_float() {
        let message = format!("`random::{what}` draws floats, not {dtype}");
        let error = Error::new(ErrorKind::Type, message).help("`random::randint` draws integers");
        or_raise(Err(found_by(error, "floats", &[], &[&what, &dtype])), location)
    }
}

/// From 0 to 1, 1 not included: random digits behind the point.
fn unit(key: &Array, shape: &Shape, dtype: DType, location: &Location) -> Array {
    let (bits, one) = match dtype {
        DType::F32 => (DType::U32, i64::from(1.0f32.to_bits())),
        _ => (DType::I64, 1.0f64.to_bits() as i64),
    };
    let width = 8 * dtype.size() as u32;
    let mantissa = shifted_right(&words(key, shape, bits, location), width - digits(dtype));
    (mantissa | one).bitcast(dtype) - 1.0
}

/// From `low` to `high`.
fn between(
    key: &Array,
    shape: &Shape,
    dtype: DType,
    low: &Array,
    high: &Array,
    location: &Location,
) -> Array {
    let unit = unit(key, shape, dtype, location);
    (unit * (high - low) + low).maximum(low)
}

fn number(value: f64, dtype: DType) -> Array {
    Array::full(Shape::scalar(), value, dtype)
}

/// Floats from 0 to 1, 1 not included, all equally likely.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = random::uniform(&random::key(0), [1000], F32);
/// assert!(x.ge(0.0).all().item::<bool>() && x.lt(1.0).all().item::<bool>());
/// ```
#[track_caller]
pub fn uniform(key: &Key, shape: impl Into<Shape>, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    check_float("uniform", dtype, &location);
    drawn("uniform", key, &[], &location, |key, _| unit(key, &shape, dtype, &location))
}

/// Floats from `low` to `high`, all equally likely.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = random::uniform_in(&random::key(0), [1000], -2.0, 3.0, F64);
/// assert!(x.ge(-2.0).all().item::<bool>() && x.lt(3.0).all().item::<bool>());
/// ```
#[track_caller]
pub fn uniform_in(key: &Key, shape: impl Into<Shape>, low: f64, high: f64, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    check_float("uniform_in", dtype, &location);
    drawn("uniform_in", key, &[], &location, |key, _| {
        between(key, &shape, dtype, &number(low, dtype), &number(high, dtype), &location)
    })
}

/// Floats of the normal distribution, of mean 0 and variance 1.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = random::normal(&random::key(0), [10000], F32);
/// assert!(x.mean().item::<f32>().abs() < 0.05);
/// ```
#[track_caller]
pub fn normal(key: &Key, shape: impl Into<Shape>, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    check_float("normal", dtype, &location);
    // The float above -1: the inverse of the error function is infinite there.
    let low = if dtype == DType::F32 { f64::from((-1.0f32).next_up()) } else { (-1.0f64).next_up() };
    drawn("normal", key, &[], &location, |key, _| {
        let u = between(key, &shape, dtype, &number(low, dtype), &number(1.0, dtype), &location);
        u.erf_inv() * SQRT_2
    })
}

/// Floats of the normal distribution, but only those between `low` and `high`.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = random::truncated_normal(&random::key(0), [1000], -1.0, 2.0, F32);
/// assert!(x.gt(-1.0).all().item::<bool>() && x.lt(2.0).all().item::<bool>());
/// ```
#[track_caller]
pub fn truncated_normal(key: &Key, shape: impl Into<Shape>, low: f64, high: f64, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    check_float("truncated_normal", dtype, &location);
    drawn("truncated_normal", key, &[], &location, |key, _| {
        let [low, high] = [low, high].map(|bound| number(bound, dtype));
        let [a, b] = [&low, &high].map(|bound| (bound / SQRT_2).erf());
        let x = between(key, &shape, dtype, &a, &b, &location).erf_inv() * SQRT_2;
        x.clamp(low.nextafter(f64::INFINITY), high.nextafter(f64::NEG_INFINITY))
    })
}

/// Floats of the exponential distribution of mean 1.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = random::exponential(&random::key(0), [1000], F32);
/// assert!(x.ge(0.0).all().item::<bool>());
/// ```
#[track_caller]
pub fn exponential(key: &Key, shape: impl Into<Shape>, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    check_float("exponential", dtype, &location);
    drawn("exponential", key, &[], &location, |key, _| -(-unit(key, &shape, dtype, &location)).log1p())
}

/// Floats of the Gumbel distribution: what is added to logits so that the largest is a sample.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = random::gumbel(&random::key(0), [10000], F32);
/// assert!((x.mean().item::<f32>() - 0.5772).abs() < 0.05);
/// ```
#[track_caller]
pub fn gumbel(key: &Key, shape: impl Into<Shape>, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    check_float("gumbel", dtype, &location);
    drawn("gumbel", key, &[], &location, |key, _| gumbels(key, &shape, dtype, &location))
}

pub(super) fn gumbels(key: &Array, shape: &Shape, dtype: DType, location: &Location) -> Array {
    let u = between(key, shape, dtype, &number(tiny(dtype), dtype), &number(1.0, dtype), location);
    -(-u.log()).log()
}

/// Floats of the Laplace distribution, of mean 0 and mean magnitude 1.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = random::laplace(&random::key(0), [10000], F32);
/// assert!((x.abs().mean().item::<f32>() - 1.0).abs() < 0.05);
/// ```
#[track_caller]
pub fn laplace(key: &Key, shape: impl Into<Shape>, dtype: DType) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    check_float("laplace", dtype, &location);
    let below_one = if dtype == DType::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON } / 2.0;
    drawn("laplace", key, &[], &location, |key, _| {
        let low = number(-1.0 + below_one, dtype);
        let u = between(key, &shape, dtype, &low, &number(1.0, dtype), &location);
        u.sign() * (-u.abs()).log1p()
    })
}

/// Whether each event happens: with the probability that `p` has for it, a float array that is repeated to the shape.
///
/// ```
/// use tracewell::prelude::*;
///
/// let coins = random::bernoulli(&random::key(0), &Array::from(0.5f32), [10000]);
/// assert!((coins.convert(F32).mean().item::<f32>() - 0.5).abs() < 0.05);
/// ```
#[track_caller]
pub fn bernoulli(key: &Key, p: &Array, shape: impl Into<Shape>) -> Array {
    let (shape, location) = (shape.into(), Location::caller());
    check_float("bernoulli", p.dtype(), &location);
    let p = p.broadcast_to(shape.clone());
    drawn("bernoulli", key, &[&p], &location, |key, others| {
        unit(key, &shape, others[0].dtype(), &location).lt(&others[0])
    })
}

/// For each row along an axis of logits a place in it, as `i32`: each as likely as the exponential of its logit,
/// compared with the others.
///
/// ```
/// use tracewell::prelude::*;
///
/// let logits = Array::from([[0.0f32, f32::NEG_INFINITY], [f32::NEG_INFINITY, 0.0]]);
/// assert_eq!(random::categorical(&random::key(0), &logits, 1).to_string(), "[0 1]");
/// ```
#[track_caller]
pub fn categorical(key: &Key, logits: &Array, axis: isize) -> Array {
    let location = Location::caller();
    check_float("categorical", logits.dtype(), &location);
    let from_front = or_raise(crate::array::axis_of(logits, axis), &location);
    if logits.shape().size(from_front) == 0 {
        let message = format!("there is nothing to choose from along axis {axis} of {}", logits.ty());
        let error = Error::new(ErrorKind::Index, message).help("the axis must not be empty");
        or_raise(Err(found_by(error, "categorical", &[logits], &[&axis])), &location)
    }
    drawn("categorical", key, &[logits], &location, |key, others| {
        let logits = &others[0];
        let noise = gumbels(key, logits.shape(), logits.dtype(), &location);
        (noise + logits).argmax(from_front as isize)
    })
}
