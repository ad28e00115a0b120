//! Operators and everything else that takes two arrays: promotion and NumPy's broadcasting, then one primitive.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use tracewell_array::{Complex32, Complex64, DType, Shape, promote};
use tracewell_graph::prim::{self, Broadcast, Compare, Convert, Prim};
use tracewell_graph::{ArrayType, Location, Splat};
use tracewell_kernel::Comparison;
use tracewell_trace::{
    Cause, Error, ErrorKind, Value, are_arrays_followed, captures_numbers, is_idle, is_observed,
};

use super::{Array, Scalar, apply, bind_here, found_by, or_raise};
use crate::executor::again;

/// What an array can be combined with: arrays, [`Scalar`]s, and Rust numbers, which are weakly typed.
pub trait Operand {
    /// As a value of the tracing layer.
    fn operand(self) -> Value;

    /// The same where it is, if it is an array: to refer to its data once more takes as long as to add two numbers.
    #[doc(hidden)]
    fn lent(&self) -> Option<&Value> {
        None
    }
}

/// Combines two operands by a primitive of two operands of one type.
pub(crate) fn binary(
    verb: &str,
    prim: impl Into<Prim>,
    a: impl Operand,
    b: impl Operand,
    location: &Location,
) -> Array {
    let prim = prim.into();
    if let (Some(a), Some(b)) = (a.lent(), b.lent())
        && are_alike(a, [b])
        && let Some(result) = again(&prim, &[a, b])
    {
        return result;
    }
    combined(verb, prim, a.operand(), b.operand(), location)
}

fn combined(verb: &str, prim: Prim, a: Value, b: Value, location: &Location) -> Array {
    let operands = or_raise(unify(verb, [a, b], location), location);
    apply(prim, &operands, location)
}

/// Operands converted to their common element type and repeated to their common shape.
pub(crate) fn unify<const N: usize>(
    verb: &str,
    operands: [Value; N],
    location: &Location,
) -> Result<[Value; N], Error> {
    if is_idle()
        && !is_observed()
        && let [first, rest @ ..] = operands.as_slice()
        && are_alike(first, rest)
    {
        return Ok(operands);
    }
    let cause = |error: Error| {
        error.caused_by(|| Cause::Call {
            name: "unify",
            operands: operands.to_vec(),
            arguments: vec![verb.to_string()],
        })
    };
    let types = operands.each_ref().map(Value::ty);
    let (dtype, weak) = common_dtype(&types);
    let shape = common_shape(verb, &types).map_err(cause)?;
    let mut failed = None;
    let unified = operands.each_ref().map(|operand| match fit(operand, dtype, weak, &shape, location) {
        Ok(value) => value,
        Err(error) => {
            failed.get_or_insert(error);
            operand.clone()
        }
    });
    match failed {
        Some(error) => Err(cause(error)),
        None => Ok(unified),
    }
}

/// Whether all are data of one type: then there is nothing to do, and asking for more would take as long as a number is
/// added to another.
fn are_alike<'a>(first: &Value, rest: impl IntoIterator<Item = &'a Value>) -> bool {
    let Value::Known(first, weak) = first else { return false };
    let is_like = |value: &Value| match value {
        Value::Known(other, w) => {
            w == weak && other.dtype() == first.dtype() && other.shape() == first.shape()
        }
        Value::Splat(_) | Value::Traced(_) => false,
    };
    rest.into_iter().all(is_like)
}

/// The element type of several after promotion, and whether it is weak.
pub(crate) fn common_dtype(types: &[ArrayType]) -> (DType, bool) {
    let mut all = types.iter().map(|t| (t.dtype, t.weak));
    let first = all.next().unwrap_or((DType::F32, true));
    all.fold(first, |(d, w), (e, v)| promote(d, w, e, v))
}

/// NumPy's rule: shapes are aligned at their last axes; an axis of size 1 or a missing one is repeated.
pub(crate) fn common_shape(verb: &str, types: &[ArrayType]) -> Result<Shape, Error> {
    let rank = types.iter().map(ArrayType::rank).max().unwrap_or(0);
    let mut sizes = vec![1; rank];
    for ty in types {
        let skip = rank - ty.rank();
        for (axis, n) in ty.shape.iter().enumerate() {
            let size = &mut sizes[skip + axis];
            if *size == 1 {
                *size = n;
            } else if n != 1 && n != *size {
                let message =
                    format!("cannot {verb} {}: axis {} is {} and {n}", listed(types), skip + axis, *size);
                return Err(Error::new(ErrorKind::Type, message).help(
                    "axes are aligned from the last; sizes must be equal, or 1; `reshape` to add an axis",
                ));
            }
        }
    }
    let shape = Shape::from(sizes);
    if shape.checked_len().is_none() {
        let message = format!("cannot {verb} {}: shape {shape} has too many elements", listed(types));
        return Err(Error::new(ErrorKind::Type, message).help(Shape::LIMIT));
    }
    Ok(shape)
}

/// Types in words; that one is weak is of no interest.
fn listed(types: &[ArrayType]) -> String {
    let plain = |ty: &ArrayType| ArrayType { weak: false, ..ty.clone() }.to_string();
    types.iter().map(plain).collect::<Vec<_>>().join(" and ")
}

/// A value converted to an element type and repeated to a shape. Literals cost nothing.
pub(crate) fn fit(
    value: &Value,
    dtype: DType,
    weak: bool,
    shape: &Shape,
    location: &Location,
) -> Result<Value, Error> {
    let splat = match value {
        Value::Splat(splat) => Some((splat.literal, splat.weak)),
        Value::Known(tensor, weak) if tensor.rank() == 0 => Some((tensor.literal(0), *weak)),
        Value::Known(..) | Value::Traced(_) => None,
    };
    if let Some((literal, is_number)) = splat {
        let converted = literal.convert(dtype);
        if is_number && dtype.is_integer() && converted.as_i64() != literal.as_i64() {
            let message = format!("{literal} does not fit the element type {dtype} of the array it meets");
            return Err(Error::new(ErrorKind::Type, message)
                .help("`convert` the array to a type that holds the number, such as `I64`"));
        }
        let is_literal = matches!(value, Value::Splat(_));
        if is_literal || !(captures_numbers() || are_arrays_followed()) {
            return Ok(Value::Splat(Splat { literal: converted, shape: shape.clone(), weak }));
        }
    }
    let ty = value.ty();
    let mut value = value.clone();
    if ty.dtype != dtype || (ty.weak && !weak) {
        value = bind_here(&Convert { dtype, weak }.into(), &[value], location)?.remove(0);
    }
    if ty.shape != *shape {
        let axes = (shape.rank() - ty.rank()..shape.rank()).collect();
        let broadcast = Broadcast { shape: shape.clone(), axes };
        value = bind_here(&broadcast.into(), &[value], location)?.remove(0);
    }
    Ok(value)
}

macro_rules! operator {
    ($($Trait:ident $method:ident $combine:expr;)*) => {$(
        operator!(@arrays $Trait $method $combine, Array, Array);
        operator!(@arrays $Trait $method $combine, Array, &Array);
        operator!(@arrays $Trait $method $combine, &Array, Array);
        operator!(@arrays $Trait $method $combine, &Array, &Array);
        operator!(@arrays $Trait $method $combine, Scalar, Array);
        operator!(@arrays $Trait $method $combine, Scalar, &Array);
        operator!(@arrays $Trait $method $combine, &Scalar, Array);
        operator!(@arrays $Trait $method $combine, &Scalar, &Array);
        operator!(@arrays $Trait $method $combine, f64, Array);
        operator!(@arrays $Trait $method $combine, f64, &Array);
        operator!(@arrays $Trait $method $combine, i64, Array);
        operator!(@arrays $Trait $method $combine, i64, &Array);
        operator!(@arrays $Trait $method $combine, Complex64, Array);
        operator!(@arrays $Trait $method $combine, Complex64, &Array);
        operator!(@scalars $Trait $method $combine, Array);
        operator!(@scalars $Trait $method $combine, &Array);
        operator!(@scalars $Trait $method $combine, Scalar);
        operator!(@scalars $Trait $method $combine, &Scalar);
    )*};
    (@arrays $Trait:ident $method:ident $combine:expr, $Left:ty, $Right:ty) => {
        impl $Trait<$Right> for $Left {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: $Right) -> Array {
                $combine(self, other, &Location::caller())
            }
        }
    };
    // One generic implementation, not one for each number type: only then is the type of `&x * 1.0` known.
    (@scalars $Trait:ident $method:ident $combine:expr, $Left:ty) => {
        impl<S: NotArray> $Trait<S> for $Left {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: S) -> Array {
                $combine(self, other, &Location::caller())
            }
        }
    };
}
operator! {
    Add add |a, b, at| binary("add", prim::Add {}, a, b, at);
    Sub sub |a, b, at| binary("subtract", prim::Sub {}, a, b, at);
    Mul mul |a, b, at| binary("multiply", prim::Mul {}, a, b, at);
    Div div |a, b, at| binary("divide", prim::Div {}, a, b, at);
    Rem rem |a, b, at| binary("take the remainder of", prim::Rem {}, a, b, at);
    BitAnd bitand |a, b, at| binary("and", prim::And {}, a, b, at);
    BitOr bitor |a, b, at| binary("or", prim::Or {}, a, b, at);
    BitXor bitxor |a, b, at| binary("xor", prim::Xor {}, a, b, at);
    Shl shl |a, b, at| binary("shift", prim::ShiftLeft {}, a, b, at);
    Shr shr shift_right;
}

/// As Rust does it: copies of the sign follow in signed types, zeros in unsigned ones.
fn shift_right(a: impl Operand, b: impl Operand, location: &Location) -> Array {
    let operands = or_raise(unify("shift", [a.operand(), b.operand()], location), location);
    match operands[0].ty().dtype {
        DType::U8 | DType::U32 => apply(prim::ShiftRightLogical {}, &operands, location),
        _ => apply(prim::ShiftRightArithmetic {}, &operands, location),
    }
}

/// Operands that are not arrays: Rust numbers and [`Scalar`]s.
pub trait NotArray: Operand {}

macro_rules! not_arrays {
    ($($T:ty),*) => { $(impl NotArray for $T {})* };
}
not_arrays!(Complex32, Complex64, f32, f64, i32, i64, u8, u32, usize, Scalar, &Scalar);

macro_rules! unary_operator {
    ($($Trait:ident $method:ident),*) => {$(
        impl $Trait for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self) -> Array {
                (&self).$method()
            }
        }

        impl $Trait for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self) -> Array {
                apply(prim::$Trait {}, &[self.value().clone()], &Location::caller())
            }
        }
    )*};
}
unary_operator!(Neg neg, Not not);

macro_rules! comparisons {
    ($($(#[$doc:meta])* $method:ident $Comparison:ident),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $method(&self, other: impl Operand) -> Array {
                let compare = Compare { comparison: Comparison::$Comparison };
                binary("compare", compare, self, other, &Location::caller())
            }
        )*}
    };
}
comparisons! {
    /// Whether each element equals the other's.
    eq Eq,
    /// Whether each element differs from the other's.
    ne Ne,
    /// Whether each element is less than the other's.
    lt Lt,
    /// Whether each element is at most the other's.
    le Le,
    /// Whether each element is greater than the other's.
    gt Gt,
    /// Whether each element is at least the other's.
    ge Ge,
}

/// Methods of two operands that are primitives: what the message of an error calls them, and an example.
macro_rules! pairs {
    ($($(#[$doc:meta])* $method:ident $Prim:ident $verb:literal $example:literal $result:literal),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            ///
            /// ```
            /// use tracewell::prelude::*;
            ///
            #[doc = concat!("assert_eq!(", $example, ".to_string(), \"", $result, "\");")]
            /// ```
            #[track_caller]
            pub fn $method(&self, other: impl Operand) -> Array {
                binary($verb, prim::$Prim {}, self, other, &Location::caller())
            }
        )*}
    };
}
pairs! {
    /// The larger of each pair; NaN where either is.
    maximum Max "take the maximum of" "Array::from([1, 3]).maximum(2)" "[2 3]",
    /// The smaller of each pair; NaN where either is.
    minimum Min "take the minimum of" "Array::from([1, 3]).minimum(2)" "[1 2]",
    /// What is left by the truncated quotient, with the sign of the dividend, as `%` in Rust.
    rem Rem "take the remainder of" "Array::from([7, -7]).rem(3)" "[ 1 -1]",
    /// The next float on the way to the other. It has no derivative.
    nextafter Nextafter "take the float next to"
        "Array::from([1.0f64]).nextafter(2.0).gt(1.0)" "[ true]",
}

/// Functions of two floats; integers and bools become floats first.
macro_rules! float_pairs {
    ($($(#[$doc:meta])* $method:ident $Prim:ident $verb:literal $example:literal $result:literal),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            ///
            /// ```
            /// use tracewell::prelude::*;
            ///
            #[doc = concat!("assert_eq!(", $example, ".to_string(), \"", $result, "\");")]
            /// ```
            #[track_caller]
            pub fn $method(&self, other: impl Operand) -> Array {
                let location = Location::caller();
                let [a, b] = [self.clone(), Array::from_value(other.operand())].map(|x| x.as_float(&location));
                binary($verb, prim::$Prim {}, a, b, &location)
            }
        )*}
    };
}
float_pairs! {
    /// To the power of the other. Integers become floats; [`powi`](Self::powi) keeps them.
    pow Pow "raise" "Array::from([2.0f32, 9.0]).pow(0.5)" "[1.4142135 3.       ]",
    /// The angle of the point with these ordinates and the other's abscissas, from -π to π.
    atan2 Atan2 "take the angle of" "Array::from([0.0f64, 1.0]).atan2(-1.0)" "[3.14159265 2.35619449]",
}

impl Array {
    /// The elements, but none below `lo` and none above `hi`.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([-2.0f32, 0.5, 7.0]);
    /// assert_eq!(x.clamp(0.0, 1.0).to_string(), "[0.  0.5 1. ]");
    /// ```
    #[doc(alias = "clip")]
    #[track_caller]
    pub fn clamp(&self, lo: impl Operand, hi: impl Operand) -> Array {
        let location = Location::caller();
        let operands = [lo.operand(), self.value().clone(), hi.operand()];
        apply(prim::Clamp {}, &or_raise(unify("clamp", operands, &location), &location), &location)
    }

    /// The elements times a factor plus an addend, rounded once: `x * factor + addend` rounds the product first.
    ///
    /// Nothing else fuses the two, so that a program gives the same numbers wherever it is compiled. Ask for it where
    /// the product should not lose its last digits before something nearly as large is taken from it, or where one
    /// instruction is faster than two. With the negative of a rounded product as the addend, the result is what rounding
    /// has lost, exactly.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([4097.0f32]);
    /// // 4097² is 16785409, which has one bit more than an `f32` holds: the square is 1 too small.
    /// let square = &x * &x;
    /// assert_eq!(x.mul_add(&x, -square).to_string(), "[1.]");
    /// ```
    #[doc(alias = "fma")]
    #[track_caller]
    pub fn mul_add(&self, factor: impl Operand, addend: impl Operand) -> Array {
        let location = Location::caller();
        let operands = [self.value().clone(), factor.operand(), addend.operand()];
        let unified = or_raise(unify("multiply and add", operands, &location), &location);
        apply(prim::MulAdd {}, &unified, &location)
    }
}

/// `a` where the condition holds, `b` elsewhere, elementwise.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([-1.0f32, 2.0]);
/// assert_eq!(select(&x.gt(0.0), &x, 0.0).to_string(), "[0. 2.]");
/// ```
#[track_caller]
pub fn select(condition: &Array, a: impl Operand, b: impl Operand) -> Array {
    let location = Location::caller();
    let (a, b) = (a.operand(), b.operand());
    let result = (|| {
        if !condition.dtype().is_bool() {
            let message = format!("`select` expects a bool condition, found {}", condition.ty());
            return Err(Error::new(ErrorKind::Type, message).help("compare first: `x.gt(0.0)`"));
        }
        let types = [condition.ty(), a.ty(), b.ty()];
        let shape = common_shape("select from", &types)?;
        let (dtype, weak) = common_dtype(&types[1..]);
        let condition = fit(condition.value(), DType::Bool, false, &shape, &location)?;
        let a = fit(&a, dtype, weak, &shape, &location)?;
        let b = fit(&b, dtype, weak, &shape, &location)?;
        Ok([condition, a, b])
    })();
    let result = result.map_err(|error| {
        found_by(error, "select", &[condition, &Array::unfilled(a), &Array::unfilled(b)], &[])
    });
    apply(prim::Select {}, &or_raise(result, &location), &location)
}
