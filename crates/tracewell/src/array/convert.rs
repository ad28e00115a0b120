//! Into and out of arrays: `Vec`s, slices, Rust arrays and scalars, `ndarray`, `.npy`.

use std::path::Path;

use tracewell_array::{DType, Element, Tensor, npy};
use tracewell_graph::Location;
use tracewell_graph::prim::Convert;
use tracewell_trace::{Error, ErrorKind, Value, ask};

use super::{Array, apply, or_raise};

impl Array {
    /// The elements in row-major order, without a copy. An error for another element type, and for arrays
    /// whose data is not known.
    #[track_caller]
    pub fn as_slice<T: Element>(&self) -> Result<&[T], Error> {
        match self.value() {
            Value::Known(tensor, _) => tensor.as_slice().map_err(conversion),
            Value::Splat(_) => Err(Error::new(
                ErrorKind::Conversion,
                "an array filled with one literal inside a trace has no memory; use `to_vec`",
            )),
            Value::Traced(tracer) => {
                ask(self.value(), "as_slice()", &Location::caller())?;
                match tracer.value() {
                    Some(tensor) => tensor.as_slice().map_err(conversion),
                    None => Err(Error::bug("a concrete tracer has no data")),
                }
            }
        }
    }

    /// The elements in row-major order. An error for another element type, and for abstract tracers.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        self.data("to_vec()", &Location::caller())?.to_vec().map_err(conversion)
    }

    /// The one element of an array of one element.
    ///
    /// Raises an error for more elements, for another element type, and for abstract tracers.
    #[track_caller]
    pub fn item<T: Element>(&self) -> T {
        let location = Location::caller();
        or_raise(self.try_item(&location), &location)
    }

    fn try_item<T: Element>(&self, location: &Location) -> Result<T, Error> {
        if self.len() != 1 {
            let message = format!("`item()` takes an array of one element, found {}", self.ty());
            return Err(Error::new(ErrorKind::Conversion, message).help("reduce or index it first"));
        }
        if self.dtype() != T::DTYPE {
            let message = format!("`item::<{}>()` was asked of {}", T::DTYPE, self.ty());
            let help = format!("ask for `item::<{}>()`, or `convert` the array first", self.dtype());
            return Err(Error::new(ErrorKind::Conversion, message).help(help));
        }
        let data = self.data("item()", location)?;
        data.item().map_err(|e| Error::new(ErrorKind::Conversion, e.to_string()))
    }

    /// The data, as asked by a user's line.
    pub(crate) fn data(&self, what: &str, location: &Location) -> Result<Tensor, Error> {
        ask(self.value(), what, location)
    }

    /// A copy as an `ndarray`. An error for another element type: nothing is cast.
    #[track_caller]
    pub fn to_ndarray<T: Element>(&self) -> Result<ndarray::ArrayD<T>, Error> {
        self.data("to_ndarray()", &Location::caller())?.to_ndarray().map_err(conversion)
    }

    /// The same values as another element type: floats to integers saturate and take NaN to 0, integers wrap,
    /// to bool is `!= 0`.
    #[track_caller]
    pub fn convert(&self, dtype: DType) -> Array {
        if dtype == self.dtype() && !self.ty().weak {
            return self.clone();
        }
        apply(Convert { dtype, weak: false }, &[self.value().clone()], &Location::caller())
    }

    /// Reads a NumPy `.npy` file.
    pub fn load_npy(path: impl AsRef<Path>) -> Result<Array, Error> {
        npy::load(path.as_ref()).map(Array::from).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))
    }

    /// Writes a NumPy `.npy` file.
    #[track_caller]
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let data = self.data("save_npy()", &Location::caller())?;
        npy::save(path.as_ref(), &data).map_err(|e| Error::new(ErrorKind::Io, e.to_string()))
    }
}

fn conversion(error: tracewell_array::DTypeError) -> Error {
    Error::new(ErrorKind::Conversion, error.to_string())
        .help(format!("ask for `{}`, or `convert` the array first", error.found))
}

impl From<Tensor> for Array {
    fn from(tensor: Tensor) -> Array {
        Array(Value::from(tensor))
    }
}

/// Free of copy: the array takes over the `Vec`'s memory.
impl<T: Element> From<Vec<T>> for Array {
    fn from(values: Vec<T>) -> Array {
        let shape = [values.len()];
        Array::from(Tensor::from_vec(values, shape).expect("a vector has as many elements as its length"))
    }
}

impl<T: Element> From<&[T]> for Array {
    fn from(values: &[T]) -> Array {
        Array::from(values.to_vec())
    }
}

// One by one: a blanket implementation over `Element`, a trait of another crate, would overlap the others.
macro_rules! from_elements {
    ($($T:ty),*) => {$(
        impl From<$T> for Array {
            fn from(value: $T) -> Array {
                Array::from(Tensor::scalar(value))
            }
        }

        impl<const N: usize> From<[$T; N]> for Array {
            fn from(values: [$T; N]) -> Array {
                Array::from(values.to_vec())
            }
        }

        impl<const N: usize, const M: usize> From<[[$T; M]; N]> for Array {
            fn from(values: [[$T; M]; N]) -> Array {
                let flat = values.as_flattened().to_vec();
                Array::from(Tensor::from_vec(flat, [N, M]).expect("N rows of M elements"))
            }
        }
    )*};
}
from_elements!(bool, u8, u32, i32, i64, f32, f64);

impl<S, D, T> From<ndarray::ArrayBase<S, D>> for Array
where
    S: ndarray::DataOwned<Elem = T>,
    D: ndarray::Dimension,
    T: Element,
{
    fn from(array: ndarray::ArrayBase<S, D>) -> Array {
        Array::from(Tensor::from_ndarray(array))
    }
}

impl From<&Array> for Array {
    fn from(array: &Array) -> Array {
        array.clone()
    }
}
