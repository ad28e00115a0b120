//! Arrays as text: data like NumPy's, tracers by their type and origin.

use std::fmt;

use tracewell_trace::Value;

use super::Array;

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Value::Known(tensor, _) => fmt::Display::fmt(tensor, f),
            Value::Splat(splat) => write!(f, "{} in every place of {}", splat.literal, splat.ty()),
            Value::Traced(tracer) => write!(f, "{tracer}"),
        }
    }
}

/// The type, then the values: `f32[3] [1. 2. 3.]`.
impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Value::Known(..) => write!(f, "{} {self}", self.ty()),
            Value::Splat(_) | Value::Traced(_) => write!(f, "{self}"),
        }
    }
}
