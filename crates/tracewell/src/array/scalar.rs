//! A traced scalar: a rank-0 array for which callers may pass a Rust number.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use tracewell_array::{Complex32, Complex64, Literal, Shape};
use tracewell_graph::{Location, Splat};
use tracewell_trace::{Error, ErrorKind, Value, is_idle, is_plain, raise};

use super::{Array, Operand, found_by};

/// A rank-0 array. As a parameter of a `jit!` function it takes any Rust number and is traced, so that other
/// values do not compile again; a number is weakly typed and takes the element type of what it meets.
pub struct Scalar {
    array: Array,
    /// What a number of the program is to users, which has no memory before somebody asks: a call that only reads it does
    /// not.
    filled: OnceLock<Array>,
}

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
        Scalar::wrap(array)
    }

    /// The array, known to take the place of a scalar.
    pub(crate) fn wrap(array: Array) -> Scalar {
        let filled = match array.value() {
            Value::Splat(_) => OnceLock::from(array.clone()),
            Value::Known(..) | Value::Traced(_) => OnceLock::new(),
        };
        Scalar { array, filled }
    }

    /// A number of the program: an array outside of traces, a literal inside.
    fn number(number: impl Operand) -> Scalar {
        let array = Array::unfilled(number.operand());
        match is_idle() {
            // Programs take complex numbers from memory.
            true if array.dtype().is_complex() => Scalar::wrap(Array::from_value(array.into_value())),
            true => Scalar { array, filled: OnceLock::new() },
            false => Scalar::wrap(array),
        }
    }

    /// The array for a call that only reads it: a number may have no memory. Whoever watches tells arrays by it, and
    /// a trace captures them.
    pub(crate) fn read(&self) -> &Array {
        if is_plain() { &self.array } else { self }
    }
}

impl Clone for Scalar {
    fn clone(&self) -> Scalar {
        // Clones have the same memory, by which they are told from other arrays.
        Scalar::wrap(self.deref().clone())
    }
}

impl Deref for Scalar {
    type Target = Array;
    fn deref(&self) -> &Array {
        match self.array.value() {
            Value::Splat(splat) => self.filled.get_or_init(|| Array::filled(splat)),
            Value::Known(..) | Value::Traced(_) => &self.array,
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

macro_rules! scalar_from {
    ($($T:ty => $literal:expr),* $(,)?) => {$(
        impl From<$T> for Scalar {
            fn from(value: $T) -> Scalar {
                Scalar::number(value)
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
        scalar.deref().clone()
    }
}

macro_rules! array_operand {
    ($($T:ty, $into:expr;)*) => {$(
        impl Operand for $T {
            fn operand(self) -> Value {
                let into: fn($T) -> Value = $into;
                into(self)
            }

            fn lent(&self) -> Option<&Value> {
                Some(self.value())
            }
        }
    )*};
}
array_operand! {
    Array, Array::into_value;
    &Array, |array| array.value().clone();
    Scalar, |scalar| scalar.value().clone();
    &Scalar, |scalar| scalar.value().clone();
}
