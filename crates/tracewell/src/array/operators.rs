//! Operators and everything else that takes two arrays: promotion and NumPy's broadcasting, then one primitive.

use std::ops::{Add, Div, Mul, Neg, Sub};

use tracewell_array::{DType, Shape, promote};
use tracewell_graph::prim::{self, Broadcast, Compare, Convert, Prim};
use tracewell_graph::{ArrayType, Location, Splat};
use tracewell_kernel::Comparison;
use tracewell_trace::{Error, ErrorKind, Value};

use super::{Array, Scalar, apply, bind_here, or_raise};

/// What an array can be combined with: arrays, [`Scalar`]s, and Rust numbers, which are weakly typed.
pub trait Operand {
    /// As a value of the tracing layer.
    fn operand(self) -> Value;
}

/// Combines two operands by a primitive of two operands of one type.
pub(crate) fn binary(verb: &str, prim: impl Into<Prim>, a: Value, b: Value, location: &Location) -> Array {
    let operands = or_raise(unify(verb, [a, b], location), location);
    apply(prim, &operands, location)
}

/// Operands converted to their common element type and repeated to their common shape.
pub(crate) fn unify<const N: usize>(
    verb: &str,
    operands: [Value; N],
    location: &Location,
) -> Result<[Value; N], Error> {
    let types = operands.each_ref().map(Value::ty);
    let (dtype, weak) = common_dtype(&types);
    let shape = common_shape(verb, &types)?;
    let mut unified = operands;
    for operand in &mut unified {
        *operand = fit(operand, dtype, weak, &shape, location)?;
    }
    Ok(unified)
}

fn common_dtype(types: &[ArrayType]) -> (DType, bool) {
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
fn fit(value: &Value, dtype: DType, weak: bool, shape: &Shape, location: &Location) -> Result<Value, Error> {
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
        return Ok(Value::Splat(Splat { literal: converted, shape: shape.clone(), weak }));
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
    ($($Trait:ident $method:ident $verb:literal),* $(,)?) => {$(
        operator!(@arrays $Trait $method $verb, Array, Array);
        operator!(@arrays $Trait $method $verb, Array, &Array);
        operator!(@arrays $Trait $method $verb, &Array, Array);
        operator!(@arrays $Trait $method $verb, &Array, &Array);
        operator!(@arrays $Trait $method $verb, Scalar, Array);
        operator!(@arrays $Trait $method $verb, Scalar, &Array);
        operator!(@arrays $Trait $method $verb, &Scalar, Array);
        operator!(@arrays $Trait $method $verb, &Scalar, &Array);
        operator!(@arrays $Trait $method $verb, f64, Array);
        operator!(@arrays $Trait $method $verb, f64, &Array);
        operator!(@arrays $Trait $method $verb, i64, Array);
        operator!(@arrays $Trait $method $verb, i64, &Array);
        operator!(@scalars $Trait $method $verb, Array);
        operator!(@scalars $Trait $method $verb, &Array);
        operator!(@scalars $Trait $method $verb, Scalar);
        operator!(@scalars $Trait $method $verb, &Scalar);
    )*};
    (@arrays $Trait:ident $method:ident $verb:literal, $Left:ty, $Right:ty) => {
        impl $Trait<$Right> for $Left {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: $Right) -> Array {
                binary($verb, prim::$Trait {}, self.operand(), other.operand(), &Location::caller())
            }
        }
    };
    // One generic implementation, not one for each number type: only then is the type of `&x * 1.0` known.
    (@scalars $Trait:ident $method:ident $verb:literal, $Left:ty) => {
        impl<S: NotArray> $Trait<S> for $Left {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: S) -> Array {
                binary($verb, prim::$Trait {}, self.operand(), other.operand(), &Location::caller())
            }
        }
    };
}
operator! { Add add "add", Sub sub "subtract", Mul mul "multiply", Div div "divide" }

/// Operands that are not arrays: Rust numbers and [`Scalar`]s.
pub trait NotArray: Operand {}

macro_rules! not_arrays {
    ($($T:ty),*) => { $(impl NotArray for $T {})* };
}
not_arrays!(f32, f64, i32, i64, u8, u32, usize, Scalar, &Scalar);

impl Neg for Array {
    type Output = Array;
    #[track_caller]
    fn neg(self) -> Array {
        -&self
    }
}

impl Neg for &Array {
    type Output = Array;
    #[track_caller]
    fn neg(self) -> Array {
        apply(prim::Neg {}, &[self.value().clone()], &Location::caller())
    }
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $method:ident $Comparison:ident),* $(,)?) => {
        impl Array {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $method(&self, other: impl Operand) -> Array {
                let compare = Compare { comparison: Comparison::$Comparison };
                binary("compare", compare, self.value().clone(), other.operand(), &Location::caller())
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

impl Array {
    /// The larger of each pair; NaN where either is.
    #[track_caller]
    pub fn maximum(&self, other: impl Operand) -> Array {
        binary(
            "take the maximum of",
            prim::Max {},
            self.value().clone(),
            other.operand(),
            &Location::caller(),
        )
    }

    /// The smaller of each pair; NaN where either is.
    #[track_caller]
    pub fn minimum(&self, other: impl Operand) -> Array {
        binary(
            "take the minimum of",
            prim::Min {},
            self.value().clone(),
            other.operand(),
            &Location::caller(),
        )
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
    let result = (|| {
        if !condition.dtype().is_bool() {
            let message = format!("`select` expects a bool condition, found {}", condition.ty());
            return Err(Error::new(ErrorKind::Type, message).help("compare first: `x.gt(0.0)`"));
        }
        let (a, b) = (a.operand(), b.operand());
        let types = [condition.ty(), a.ty(), b.ty()];
        let shape = common_shape("select from", &types)?;
        let (dtype, weak) = common_dtype(&types[1..]);
        let condition = fit(condition.value(), DType::Bool, false, &shape, &location)?;
        let a = fit(&a, dtype, weak, &shape, &location)?;
        let b = fit(&b, dtype, weak, &shape, &location)?;
        Ok([condition, a, b])
    })();
    apply(prim::Select {}, &or_raise(result, &location), &location)
}
