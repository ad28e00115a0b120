//! Into and out of arrays: `Vec`s, slices, Rust arrays and scalars, `ndarray`, `.npy`.

use std::path::Path;

use tracewell_array::{Complex32, Complex64, DType, Element, Tensor, npy};
use tracewell_graph::Location;
use tracewell_graph::prim::Convert;
use tracewell_trace::{Error, ErrorKind, Value, ask, complete, raise};

use super::{Array, apply, found_by, or_raise};

impl Array {
    /// The elements in row-major order, without a copy. An error for another element type, and for arrays
    /// whose data is not known.
    #[track_caller]
    pub fn as_slice<T: Element>(&self) -> Result<&[T], Error> {
        let location = Location::caller();
        self.try_as_slice(&location).map_err(|error| complete(error, &location))
    }

    fn try_as_slice<T: Element>(&self, location: &Location) -> Result<&[T], Error> {
        self.check_element::<T>("as_slice")?;
        let tensor = match self.value() {
            Value::Known(tensor, _) => Some(tensor),
            Value::Splat(splat) => {
                let message =
                    format!("{} was filled with one number while tracing and has no memory", splat.ty());
                return Err(Error::new(ErrorKind::Conversion, message).help("use `to_vec`"));
            }
            Value::Traced(tracer) => {
                ask(self.value(), "as_slice()", location)?;
                tracer.value()
            }
        };
        let slice = tensor.and_then(|tensor| tensor.as_slice().ok());
        slice.ok_or_else(|| Error::bug("a known array has no data of its element type"))
    }

    /// The elements in row-major order. An error for another element type, and for abstract tracers.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        let location = Location::caller();
        self.typed_data::<T>("to_vec", &location)?.to_vec().map_err(Error::bug)
    }

    /// The one element of an array of one element.
    ///
    /// Raises an error for more elements, for another element type, and for abstract tracers.
    #[track_caller]
    pub fn item<T: Element>(&self) -> T {
        let location = Location::caller();
        or_raise(self.try_item(&location), &location)
    }

    /// The element, where that is asked again by a repro.
    pub(crate) fn item_again(&self, element: DType, location: &Location) -> Result<(), Error> {
        tracewell_array::with_element!(element, T => self.try_item::<T>(location).map(|_| ()))
    }

    fn try_item<T: Element>(&self, location: &Location) -> Result<T, Error> {
        let failed = |error| found_by(error, "item", &[self], &[&T::DTYPE]);
        self.item_or_error(location).map_err(failed)
    }

    fn item_or_error<T: Element>(&self, location: &Location) -> Result<T, Error> {
        if self.len() != 1 {
            let message = format!("`item()` takes an array of one element, found {}", self.ty());
            let help = "reduce it first, as in `.sum()`, or use `to_vec` for all elements";
            return Err(Error::new(ErrorKind::Conversion, message).help(help));
        }
        self.check_element::<T>("item")?;
        ask(self.value(), "item()", location)?.item().map_err(Error::bug)
    }

    /// Elements are not cast: they are asked for by their own type.
    fn check_element<T: Element>(&self, method: &str) -> Result<(), Error> {
        if self.dtype() == T::DTYPE {
            return Ok(());
        }
        let message = format!("`{method}::<{}>()` was asked of {}", T::DTYPE, self.ty());
        let help = format!("ask for `{method}::<{}>()`, or `convert` the array first", self.dtype());
        let error = Error::new(ErrorKind::Conversion, message).help(help);
        Err(found_by(error, "element", &[self], &[&method, &T::DTYPE]))
    }

    /// The same check again, by the name of the type.
    pub(crate) fn check_element_again(&self, method: &str, element: DType) -> Result<(), Error> {
        tracewell_array::with_element!(element, T => self.check_element::<T>(method))
    }

    /// The data by its element type, as asked by a user's line.
    fn typed_data<T: Element>(&self, method: &str, location: &Location) -> Result<Tensor, Error> {
        let data = self.check_element::<T>(method);
        let data = data.and_then(|()| ask(self.value(), &format!("{method}()"), location));
        data.map_err(|error| complete(error, location))
    }

    /// A copy as an `ndarray`. An error for another element type: nothing is cast.
    #[track_caller]
    pub fn to_ndarray<T: Element>(&self) -> Result<ndarray::ArrayD<T>, Error> {
        let location = Location::caller();
        self.typed_data::<T>("to_ndarray", &location)?.to_ndarray().map_err(Error::bug)
    }

    /// The same values as another element type: floats to integers saturate and take NaN to 0, integers wrap,
    /// to bool is `!= 0`. Complex numbers do not become real ones silently: take [`re`](Self::re).
    #[track_caller]
    pub fn convert(&self, dtype: DType) -> Array {
        if self.dtype().is_complex() && !dtype.is_complex() && !dtype.is_bool() {
            let message = format!("cannot convert {} to {dtype}: imaginary parts would be lost", self.ty());
            let help = format!(
                "take a real part of it first: `.re().convert({})`",
                dtype.to_string().to_uppercase()
            );
            let error = Error::new(ErrorKind::Conversion, message).help(help);
            raise(found_by(error, "convert", &[self], &[&dtype]), &Location::caller());
        }
        if dtype == self.dtype() && !self.ty().weak {
            return self.clone();
        }
        apply(Convert { dtype, weak: false }, &[self.value().clone()], &Location::caller())
    }

    /// Reads a NumPy `.npy` file.
    #[track_caller]
    pub fn load_npy(path: impl AsRef<Path>) -> Result<Array, Error> {
        let (path, location) = (path.as_ref(), Location::caller());
        npy::load(path).map(Array::from).map_err(|error| file("read", path, error, &location))
    }

    /// Writes a NumPy `.npy` file.
    #[track_caller]
    pub fn save_npy(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let (path, location) = (path.as_ref(), Location::caller());
        let data = ask(self.value(), "save_npy()", &location).map_err(|error| complete(error, &location))?;
        npy::save(path, &data).map_err(|error| file("write", path, error, &location))
    }
}

/// A failure with a file, by the name of the file.
fn file(verb: &str, path: &Path, error: npy::NpyError, location: &Location) -> Error {
    let path = path.display();
    let why = match &error {
        npy::NpyError::Io { error, .. } => error.to_string(),
        other => other.to_string(),
    };
    let message = format!("cannot {verb} `{path}`: {why}");
    let made = Error::new(ErrorKind::Io, message);
    let made = match error {
        npy::NpyError::DType(_) => {
            made.help("convert it in NumPy before it is saved: `x.astype(\"float32\")`")
        }
        npy::NpyError::NotNpy => made.help("write it with `numpy.save` or `save_npy`"),
        _ => made,
    };
    complete(made, location)
}

impl From<Tensor> for Array {
    fn from(tensor: Tensor) -> Array {
        Array(Value::from(tensor))
    }
}

/// Free of copy: the array takes over the `Vec`'s memory. That of a copy, as from a slice, begins on a line of the cache
/// and is in large pages where it is large: a function that reads it often may take less time.
impl<T: Element> From<Vec<T>> for Array {
    fn from(values: Vec<T>) -> Array {
        let shape = [values.len()];
        Array::from(Tensor::from_vec(values, shape).expect("a vector has as many elements as its length"))
    }
}

impl<T: Element> From<&[T]> for Array {
    fn from(values: &[T]) -> Array {
        let shape = [values.len()];
        Array::from(Tensor::from_slice(values, shape).expect("a slice has as many elements as its length"))
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
                Array::from(&values[..])
            }
        }

        impl<const N: usize, const M: usize> From<[[$T; M]; N]> for Array {
            fn from(values: [[$T; M]; N]) -> Array {
                let flat = values.as_flattened();
                Array::from(Tensor::from_slice(flat, [N, M]).expect("N rows of M elements"))
            }
        }
    )*};
}
from_elements!(bool, u8, u32, i32, i64, f32, f64, Complex32, Complex64);

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
