//! Math functions as expansions into scalar operations.
//!
//! Each function takes the builder and `f32` or `f64` values and returns the value of the same type.
//! Expansions are straight lines of operations that exist on vectors: no branches, no tables, no conversions
//! between `f64` and integers. Special values (zeros, infinities, NaN, subnormal arguments and results) are
//! as in IEEE 754.
//!
//! Errors are in units in the last place of the exact result. [`FUNCTIONS`] states the bound of each function,
//! the tests assert it, and docs/math.md says how large the errors were found to be.

mod exp;
mod float;
mod gamma;
mod hyperbolic;
mod log;
mod poly;
mod special;
mod table;
#[cfg(test)]
mod tests;
mod trig;

pub use exp::{exp, exp2, expm1, logistic};
pub use gamma::{digamma, lgamma, trigamma};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh, tanh};
pub use log::{log, log1p, log2, log10, pow};
pub use special::{cbrt, erf, erf_inv, erfc, rsqrt};
pub use table::{Expansion, FUNCTIONS, Function};
pub use trig::{LIMIT_F64, acos, asin, atan, atan2, cos, sin, tan};
