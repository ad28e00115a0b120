//! Stopping calls that take long: by a handle, or after a time.

use std::time::Duration;

use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind, raise};

pub use tracewell_runtime::Cancel;

/// Runs `f`; compiled functions that it calls stop with an error when the handle is cancelled, from whatever thread.
///
/// Loops look at it at every turn, and programs between their kernels and library calls.
///
/// ```
/// use tracewell::prelude::*;
///
/// let f = jit(|x: &Array| -> Result<Array> { Ok(x.sin()) });
/// let x = Array::from([1.0f32]);
/// let handle = Cancel::new();
/// assert!(with_cancel(&handle, || f.call(&x)).is_ok());
/// handle.cancel();
/// let error = with_cancel(&handle, || f.call(&x)).unwrap_err();
/// assert_eq!(error.message(), "the call was cancelled");
/// ```
pub fn with_cancel<R>(handle: &Cancel, f: impl FnOnce() -> R) -> R {
    tracewell_runtime::with_cancel(handle, f)
}

/// Runs `f`; compiled functions that it calls stop with an error when the time is over.
///
/// ```
/// use std::time::Duration;
/// use tracewell::prelude::*;
///
/// let f = jit(|x: &Array| -> Result<Array> { Ok(x.sin()) });
/// let x = Array::from([1.0f32]);
/// assert!(with_time_limit(Duration::from_secs(60), || f.call(&x)).is_ok());
/// let error = with_time_limit(Duration::ZERO, || f.call(&x)).unwrap_err();
/// assert_eq!(error.message(), "the time limit of 0ns was exceeded");
/// ```
#[track_caller]
pub fn with_time_limit<R>(limit: Duration, f: impl FnOnce() -> R) -> R {
    let location = Location::caller();
    tracewell_runtime::with_time_limit(limit, f).unwrap_or_else(|error| {
        let message = format!("no thread can be started to watch the time: {error}");
        raise(Error::new(ErrorKind::Io, message), &location)
    })
}
