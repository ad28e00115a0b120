//! A traced scalar: a rank-0 array for which callers may pass a Rust number.

use std::fmt;
use std::ops::Deref;

use tracewell_array::{Complex32, Complex64, Literal, Shape};
use tracewell_graph::{Location, Splat};
use tracewell_trace::{Error, ErrorKind, Value, raise};

use super::{Array, Operand, found_by};

/// A rank-0 array. As a parameter of a `jit!` function it takes any Rust number and is traced, so that other
/// values do not compile again; a number is weakly typed and takes the element type of what it meets.
#[derive(Clone)]
pub struct Scalar(Array);

impl Scalar {
    /// The array, which must be of rank 0 or an error is raised.
    #[track_caller]
    pub fn new(array: Array) -> Scalar {
        if array.rank() != 0 {
            let message = format!("a `Scalar` is an array of rank 0, found {}", array.ty());
            let error = Error::new(ErrorKind::Type, message)
                .help("reduce it first, as in `.sum()`, or take an `Array`");
            raise(found_by(error, "scalar", &[&array], &[]), &Location::caller());
        }
        Scalar(array)
    }

    /// The array, known to take the place of a scalar.
    pub(crate) fn wrap(array: Array) -> Scalar {
        Scalar(array)
    }
}

impl Deref for Scalar {
    type Target = Array;
    fn deref(&self) -> &Array {
        &self.0
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

macro_rules! scalar_from {
    ($($T:ty => $literal:expr),* $(,)?) => {$(
        impl From<$T> for Scalar {
            fn from(value: $T) -> Scalar {
                Scalar(Array::from_value(Operand::operand(value)))
            }
        }

        impl Operand for $T {
            fn operand(self) -> Value {
                let literal: fn($T) -> Literal = $literal;
                Value::Splat(Splat { literal: literal(self), shape: Shape::scalar(), weak: true })
            }
        }
    )*};
}
scalar_from! {
    Complex32 => Literal::new, Complex64 => Literal::new,
    f32 => Literal::new, f64 => Literal::new, i32 => Literal::new, i64 => Literal::new,
    u8 => |v| Literal::new(i32::from(v)), u32 => |v| Literal::new(i64::from(v)),
    usize => |v| Literal::new(i64::try_from(v).unwrap_or(i64::MAX)),
}

/// A bool is not a number to promote: it stays one.
impl Operand for bool {
    fn operand(self) -> Value {
        Value::Splat(Splat { literal: Literal::new(self), shape: Shape::scalar(), weak: false })
    }
}

impl From<Array> for Scalar {
    #[track_caller]
    fn from(array: Array) -> Scalar {
        Scalar::new(array)
    }
}

impl From<&Array> for Scalar {
    #[track_caller]
    fn from(array: &Array) -> Scalar {
        Scalar::new(array.clone())
    }
}

impl From<&Scalar> for Scalar {
    fn from(scalar: &Scalar) -> Scalar {
        scalar.clone()
    }
}

impl From<Scalar> for Array {
    fn from(scalar: Scalar) -> Array {
        scalar.0
    }
}

impl Operand for Scalar {
    fn operand(self) -> Value {
        self.0.operand()
    }
}

impl Operand for &Scalar {
    fn operand(self) -> Value {
        (&self.0).operand()
    }
}

impl Operand for Array {
    fn operand(self) -> Value {
        self.value().clone()
    }
}

impl Operand for &Array {
    fn operand(self) -> Value {
        self.value().clone()
    }
}
