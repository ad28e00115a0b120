//! Hyperbolic functions and their inverses.

use super::float::Math;
use crate::build::KernelBuilder;
use crate::ir::Value;

/// `tanh x = t / (t + 2)` with `t = e^(2|x|) - 1` in two parts; at most 1 ulp.
pub fn tanh(b: &mut KernelBuilder, x: Value) -> Value {
    let m = &mut Math::new(b, x);
    let magnitude = m.abs(x);
    // Beyond this the result rounds to 1.
    let limit = m.pick(10.0, 20.0);
    let magnitude = m.at_most(magnitude, limit);
    let doubled = m.add(magnitude, magnitude);
    let t = m.expm1_pair(doubled);
    let t = m.fast_two_sum(t.hi, t.lo);
    let two = m.c(2.0);
    let mut denominator = m.two_sum(two, t.hi);
    denominator.lo = m.add(denominator.lo, t.lo);
    let y = m.quotient(t, denominator);
    let y = m.join(y);
    let sign = m.sign(x);
    m.flip(y, sign)
}
