//! Effects for people: what a compiled function does besides computing its results, and how it is stopped.
//!
//! `debug_print!`, `check!` and callbacks are one primitive, a Rust function that is called with known arrays when the
//! compiled function comes to it. Where nothing is traced, that is at once.

mod callback;
mod check;
mod host;
mod print;
mod stop;

pub use callback::{callback, ordered_callback};
pub use check::check;
pub(crate) use check::check_at;
pub use print::{capturing_prints, debug_print};
pub use stop::{Cancel, with_cancel, with_time_limit};

use crate::array::{Array, Operand};

/// A value that is to be shown, as an array.
pub fn shown(value: impl Operand) -> Array {
    Array::from_value(value.operand())
}
