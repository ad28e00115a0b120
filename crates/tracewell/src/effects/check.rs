//! `check!`: conditions that must hold when a function runs.

use tracewell_array::Tensor;
use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind, raise};

use super::host::{Site, call};
use crate::array::{Array, found_by};

/// Fails unless all elements of a condition hold, also inside `jit!`, `vmap`, `grad` and loops: there the call of the
/// compiled function fails when it comes to it.
///
/// The condition is an array of `bool`s; then come a format and arrays or numbers for it, as in
/// [`debug_print!`](crate::debug_print). A function that returns `Result` gives the error to its caller; another one
/// panics with its text. Under `vmap` the error says which element it was; under `grad` the values of the forward pass
/// are checked, once.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = jit(|x: &Array| -> Result<Array> {
///     check!(x.gt(0.0), "the logarithm of {}", x);
///     Ok(x.log())
/// });
/// assert!(f.call(&Array::from([1.0f32, 2.0])).is_ok());
/// let error = f.call(&Array::from([1.0f32, -2.0])).unwrap_err();
/// assert_eq!(error.message(), "the logarithm of [ 1. -2.]");
/// ```
#[macro_export]
macro_rules! check {
    ($condition:expr $(,)?) => {
        $crate::__private::check(
            ::std::stringify!($condition),
            |_: &[$crate::Array]| ::std::string::String::from(
                ::std::concat!("`", ::std::stringify!($condition), "` does not hold")
            ),
            $crate::__private::shown($condition),
            &[],
        )
    };
    ($condition:expr, $format:literal $(, $value:expr)* $(,)?) => {
        $crate::__private::check(
            $format,
            |values: &[$crate::Array]| $crate::__formatted!(values, $format $(, $value)*),
            $crate::__private::shown($condition),
            &[$($crate::__private::shown($value)),*],
        )
    };
}

/// What [`check!`](crate::check) expands to.
#[track_caller]
pub fn check(format: &'static str, show: fn(&[Array]) -> String, condition: Array, values: &[Array]) {
    check_at(&Location::caller(), format, show, condition, values);
}

/// The same for a line of the user's.
pub(crate) fn check_at(
    location: &Location,
    format: &'static str,
    show: fn(&[Array]) -> String,
    condition: Array,
    values: &[Array],
) {
    if !condition.dtype().is_bool() {
        let message = format!("`check!` takes a condition of bool, found {}", condition.ty());
        let help = "compare it with something: `.gt(0.0)`, `.is_finite()`";
        let error = Error::new(ErrorKind::Type, message).help(help);
        raise(found_by(error, "check", &[&condition], &[]), location);
    }
    let name = format!("check {format:?} at {location}");
    let operands: Vec<&Array> = std::iter::once(&condition).chain(values).collect();
    call(Site { name, ordered: true, location }, &operands, Vec::new(), || {
        Box::new(move |arrays| {
            let (condition, values) = arrays.split_first().ok_or_else(|| Error::bug("a check of nothing"))?;
            let held = condition.value().known().ok_or_else(|| Error::bug("a check of a tracer"))?;
            match failing(&held) {
                None => Ok(Vec::new()),
                Some(where_) => Err(Error::new(ErrorKind::Check, show(values)).note(where_)),
            }
        })
    });
}

/// Where a condition does not hold, in words.
fn failing(condition: &Tensor) -> Option<String> {
    let holds: Vec<bool> = condition.to_vec().ok()?;
    let first = holds.iter().position(|holds| !holds)?;
    if condition.rank() == 0 {
        return Some("the condition does not hold".to_string());
    }
    let count = holds.iter().filter(|holds| !**holds).count();
    let strides = condition.shape().strides();
    let index: Vec<String> = (condition.shape().iter().zip(strides))
        .map(|(size, stride)| (first / stride.max(1) % size).to_string())
        .collect();
    let of = holds.len();
    Some(format!("the condition does not hold for {count} of {of} elements, first at [{}]", index.join(", ")))
}
