//! `debug_print!`: prints arrays when they are known.

use std::cell::RefCell;

use tracewell_graph::Location;

use super::host::{Site, call};
use crate::array::Array;

/// Prints a line with the values of arrays, also inside `jit!`, `vmap`, `grad` and loops: there it is printed whenever
/// the compiled function comes to it.
///
/// The format is that of `println!`, with arrays and numbers for its arguments: `{}`, `{:.3}`, `{:?}`, `{0}`. Under
/// `vmap` there is a line for each element, in order; under `grad` the values of the forward pass are printed, once.
///
/// ```
/// use tracewell::prelude::*;
///
/// let step = jit(|x: &Array| {
///     let loss = x.square().sum();
///     debug_print!("loss = {:.3}", &loss);
///     loss
/// });
/// let (_, text) = capturing_prints(|| step.call(&Array::from([0.1f32, 0.2])));
/// assert_eq!(text, "loss = 0.050\n");
/// ```
#[macro_export]
macro_rules! debug_print {
    ($format:literal $(, $value:expr)* $(,)?) => {
        $crate::__private::debug_print(
            $format,
            |values: &[$crate::Array]| $crate::__formatted!(values, $format $(, $value)*),
            &[$($crate::__private::shown($value)),*],
        )
    };
}

/// The text of a format with the next array in the place of each value.
#[doc(hidden)]
#[macro_export]
macro_rules! __formatted {
    ($values:ident, $format:literal $(, $value:expr)*) => {{
        let mut _values = $values.iter();
        ::std::fmt::format(::std::format_args!(
            $format
            $(, {
                const _: &str = ::std::stringify!($value);
                _values.next().expect("one array for each value")
            })*
        ))
    }};
}

/// What [`debug_print!`](crate::debug_print) expands to.
#[track_caller]
pub fn debug_print(format: &'static str, show: fn(&[Array]) -> String, values: &[Array]) {
    let location = &Location::caller();
    let name = format!("debug_print {format:?} at {location}");
    let operands: Vec<&Array> = values.iter().collect();
    call(Site { name, ordered: true, location }, &operands, Vec::new(), || {
        Box::new(move |values| {
            print_line(&show(values));
            Ok(Vec::new())
        })
    });
}

thread_local! {
    /// What was printed on this thread since each [`capturing_prints`] began.
    static CAPTURED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[allow(clippy::print_stdout, reason = "what it is for")]
fn print_line(line: &str) {
    let captured = CAPTURED.with_borrow_mut(|captured| match captured.last_mut() {
        Some(text) => {
            text.push_str(line);
            text.push('\n');
            true
        }
        None => false,
    });
    if !captured {
        println!("{line}");
    }
}

/// Runs `f`; what `debug_print!` would print on this thread is not printed, but returned.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (sum, text) = capturing_prints(|| {
///     let x = Array::from([1.0f32, 2.0]);
///     debug_print!("x = {}", &x);
///     x.sum().item::<f32>()
/// });
/// assert_eq!((sum, text.as_str()), (3.0, "x = [1. 2.]\n"));
/// ```
pub fn capturing_prints<R>(f: impl FnOnce() -> R) -> (R, String) {
    /// Ends it, also by a panic.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            CAPTURED.with_borrow_mut(Vec::pop);
        }
    }
    CAPTURED.with_borrow_mut(|captured| captured.push(String::new()));
    let end = End;
    let result = f();
    let text = CAPTURED.with_borrow_mut(|captured| captured.last_mut().map(std::mem::take));
    drop(end);
    (result, text.unwrap_or_default())
}
