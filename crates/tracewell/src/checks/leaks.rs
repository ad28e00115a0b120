//! `checking_leaks`: a traced array that outlives its trace is found when the trace ends.

use tracewell_trace::WATCH_TRACERS;

use super::RETRACE;

/// Runs `f`; a traced array that is still alive when its trace ends, and is no result of it, is an error that names
/// the line that made it.
///
/// Without the check such an array is an error only when it is used later, if ever. Inside, jitted functions are
/// traced at every call, because the end of a trace is what is looked at. The check holds for traces that begin on
/// the current thread.
///
/// ```
/// use std::cell::RefCell;
/// use tracewell::prelude::*;
///
/// let kept = RefCell::new(None);
/// let f = jit(|x: &Array| -> Result<Array> {
///     let hidden = x.tanh();
///     *kept.borrow_mut() = Some(hidden.clone());
///     Ok(hidden.sum())
/// });
/// let x = Array::from([1.0f32, 2.0]);
/// assert!(f.call(&x).is_ok());
/// let error = checking_leaks(|| f.call(&x)).unwrap_err();
/// assert_eq!(error.message(), "a traced f32[2] is still alive after its trace has ended");
/// ```
pub fn checking_leaks<R>(f: impl FnOnce() -> R) -> R {
    RETRACE.on(|| WATCH_TRACERS.on(f))
}
