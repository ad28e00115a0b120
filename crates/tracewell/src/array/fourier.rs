//! Fourier transforms, as in `numpy.fft`.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_graph::Location;
use tracewell_graph::prim::{Concatenate, Fft, Mul, Pad, Permute, Slice};
use tracewell_kernel::{FftKind, half_length};
use tracewell_trace::{Error, ErrorKind};

use super::operators::binary;
use super::reduce::axis_of;
use super::{Array, apply, found_by, listed, or_raise};

/// Which of a transform and its inverse is divided by the number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Norm {
    /// The inverse.
    #[default]
    Backward,
    /// Both by its root, so that each keeps lengths.
    Ortho,
    /// The transform itself.
    Forward,
}

/// A Fourier transform along chosen axes, of chosen lengths, with a choice of norm. The methods of [`Array`] are those
/// with nothing chosen.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
/// let y = Fourier::along(&[0]).lengths(&[4]).norm(Norm::Ortho).fft(&x);
/// assert_eq!(y.shape(), &[4, 2]);
/// let again = Fourier::along(&[0]).norm(Norm::Ortho).ifft(&y);
/// assert_eq!(format!("{:.3}", again.re().slice(s![..3])), "[[1. 2.]\n [3. 4.]\n [5. 6.]]");
/// ```
#[derive(Clone, Debug)]
pub struct Fourier {
    axes: Vec<isize>,
    lengths: Option<Vec<usize>>,
    norm: Norm,
}

impl Fourier {
    /// Along these axes; negative ones count from the back. The last of them is the one that real transforms halve.
    pub fn along(axes: &[isize]) -> Fourier {
        Fourier { axes: axes.to_vec(), lengths: None, norm: Norm::default() }
    }

    /// As many elements along each axis: what is missing is zero, what is more is left out. For `irfft` those of the
    /// result.
    pub fn lengths(mut self, lengths: &[usize]) -> Fourier {
        self.lengths = Some(lengths.to_vec());
        self
    }

    /// With this norm.
    pub fn norm(mut self, norm: Norm) -> Fourier {
        self.norm = norm;
        self
    }

    /// The transform. Real numbers become complex.
    #[track_caller]
    pub fn fft(&self, x: &Array) -> Array {
        let location = Location::caller();
        self.apply(FftKind::Forward, &x.as_complex(&location), &location)
    }

    /// The inverse transform. Real numbers become complex.
    #[track_caller]
    pub fn ifft(&self, x: &Array) -> Array {
        let location = Location::caller();
        self.apply(FftKind::Inverse, &x.as_complex(&location), &location)
    }

    /// The transform of real numbers: along the last axis, the elements of no negative frequency, of which the others
    /// are the conjugates.
    #[track_caller]
    pub fn rfft(&self, x: &Array) -> Array {
        let location = Location::caller();
        self.apply(FftKind::RealForward, &x.as_float(&location), &location)
    }

    /// The inverse of [`rfft`](Self::rfft): real numbers, along the last axis an even number of them unless
    /// [`lengths`](Self::lengths) says how many.
    #[track_caller]
    pub fn irfft(&self, x: &Array) -> Array {
        let location = Location::caller();
        self.apply(FftKind::RealInverse, &x.as_complex(&location), &location)
    }

    fn apply(&self, kind: FftKind, x: &Array, location: &Location) -> Array {
        let (axes, lengths) = or_raise(self.plan(kind, x), location);
        let kept = (0..x.rank()).filter(|axis| !axes.contains(axis));
        let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
        let back = Permute { axes: order.clone() }.inverse();
        let x = apply(Permute { axes: order }, &[x.value().clone()], location);
        let x = resized(&x, kind, &lengths, location);
        let count: f64 = lengths.iter().map(|&n| n as f64).product();
        let y = apply(Fft { kind, lengths }, &[x.value().clone()], location);
        let scale = match (self.norm, kind.is_inverse()) {
            (Norm::Backward, _) => None,
            (Norm::Ortho, false) => Some(count.sqrt().recip()),
            (Norm::Ortho, true) => Some(count.sqrt()),
            (Norm::Forward, false) => Some(count.recip()),
            (Norm::Forward, true) => Some(count),
        };
        let y = match scale {
            Some(scale) => binary("scale", Mul {}, y, scale, location),
            None => y,
        };
        apply(back, &[y.value().clone()], location)
    }

    /// The axes from the front, and the length along each.
    fn plan(&self, kind: FftKind, x: &Array) -> Result<(Vec<usize>, Vec<usize>), Error> {
        self.planned(kind, x).map_err(|error| {
            let lengths = self.lengths.as_ref().map_or("-".to_string(), listed);
            found_by(error, "fft", &[x], &[&kind.name(), &listed(&self.axes), &lengths])
        })
    }

    fn planned(&self, kind: FftKind, x: &Array) -> Result<(Vec<usize>, Vec<usize>), Error> {
        let name = kind.name();
        let axes: Vec<usize> = self.axes.iter().map(|&axis| axis_of(x, axis)).collect::<Result<_, _>>()?;
        if axes.is_empty() {
            let message = format!("`{name}` of {} along no axis", x.ty());
            return Err(Error::new(ErrorKind::Index, message).help("name an axis: `Fourier::along(&[-1])`"));
        }
        if (1..axes.len()).any(|i| axes[..i].contains(&axes[i])) {
            let message = format!("an axis occurs twice in {:?} for {}", self.axes, x.ty());
            return Err(Error::new(ErrorKind::Index, message).help("name each axis once"));
        }
        let sizes = axes.iter().map(|&axis| x.shape().size(axis));
        let mut lengths: Vec<usize> = match &self.lengths {
            Some(lengths) if lengths.len() == axes.len() => lengths.clone(),
            Some(lengths) => {
                let message = format!("`{name}` along {} axes has {} lengths", axes.len(), lengths.len());
                return Err(Error::new(ErrorKind::Index, message).help("give one length for each axis"));
            }
            None => sizes.collect(),
        };
        if kind.gives_real() && self.lengths.is_none() {
            let last = lengths.last_mut().into_iter();
            last.for_each(|last| *last = 2 * last.saturating_sub(1));
        }
        if lengths.contains(&0) {
            let message = format!("`{name}` of {} has no elements along an axis", x.ty());
            return Err(Error::new(ErrorKind::Index, message).help(
                "lengths are at least 1; `irfft` of one element takes its length from `lengths(&[1])`",
            ));
        }
        Ok((axes, lengths))
    }
}

/// The check of axes and lengths again, of a transform that failed by it.
pub(crate) fn fft_again(
    kind: FftKind,
    x: &Array,
    axes: Vec<isize>,
    lengths: Option<Vec<usize>>,
) -> Result<(), Error> {
    Fourier { axes, lengths, norm: Norm::default() }.plan(kind, x).map(|_| ())
}

/// The last axes cut off, or filled up with zeros, to what a transform of these lengths takes.
fn resized(x: &Array, kind: FftKind, lengths: &[usize], location: &Location) -> Array {
    let front = x.rank() - lengths.len();
    let mut high = vec![0i64; x.rank()];
    for (k, &length) in lengths.iter().enumerate() {
        let halved = kind.gives_real() && k + 1 == lengths.len();
        let wanted = if halved { half_length(length) } else { length };
        high[front + k] = wanted as i64 - x.shape().size(front + k) as i64;
    }
    if high.iter().all(|&more| more == 0) {
        return x.clone();
    }
    let pad = Pad { low: vec![0; x.rank()], high, interior: vec![0; x.rank()] };
    let zero = Array::zeros(Shape::scalar(), x.dtype());
    apply(pad, &[x.value().clone(), zero.value().clone()], location)
}

macro_rules! transforms {
    ($($(#[$doc:meta])* $name:ident $along:ident $how:ident;)*) => {
        impl Array {$(
            $(#[$doc])*
            ///
            /// Along the last axis; [`Fourier`] has other axes, lengths and norms.
            #[track_caller]
            pub fn $name(&self) -> Array {
                Fourier::along(&[-1]).$how(self)
            }

            $(#[$doc])*
            ///
            /// Along all axes given; negative ones count from the back.
            #[track_caller]
            pub fn $along(&self, axes: &[isize]) -> Array {
                Fourier::along(axes).$how(self)
            }
        )*}
    };
}
transforms! {
    /// The discrete Fourier transform `y[k] = Σ_j x[j] exp(-2πi jk/n)`.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 2.0, 4.0, 8.0]);
    /// assert_eq!(x.fft().to_string(), "[15.+0.j -3.+6.j -5.+0.j -3.-6.j]");
    /// assert_eq!(x.fft().ifft().re().to_string(), "[1. 2. 4. 8.]");
    /// assert_eq!(x.fftn(&[0]).to_string(), x.fft().to_string());
    /// ```
    fft fftn fft;
    /// The inverse of the discrete Fourier transform.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let y = Array::from([4.0f32, 0.0, 0.0, 0.0]);
    /// assert_eq!(y.ifft().to_string(), "[1.+0.j 1.+0.j 1.+0.j 1.+0.j]");
    /// assert_eq!(y.ifftn(&[-1]).to_string(), y.ifft().to_string());
    /// ```
    ifft ifftn ifft;
    /// The discrete Fourier transform of real numbers: the elements of no negative frequency.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 2.0, 4.0, 8.0]);
    /// assert_eq!(x.rfft().to_string(), "[15.+0.j -3.+6.j -5.+0.j]");
    /// assert_eq!(x.rfftn(&[0]).to_string(), x.rfft().to_string());
    /// ```
    rfft rfftn rfft;
    /// The inverse of [`rfft`](Self::rfft), an even number of elements.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([1.0f32, 2.0, 4.0, 8.0]);
    /// assert_eq!(x.rfft().irfft().to_string(), "[1. 2. 4. 8.]");
    /// let odd = Array::from([1.0f32, 2.0, 4.0]);
    /// let again = Fourier::along(&[-1]).lengths(&[3]).irfft(&odd.rfft());
    /// assert_eq!(format!("{again:.3}"), "[1. 2. 4.]");
    /// assert_eq!(x.rfft().irfftn(&[-1]).to_string(), x.to_string());
    /// ```
    irfft irfftn irfft;
}

impl Array {
    /// The discrete Fourier transform along the last two axes.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([[1.0f32, 2.0], [4.0, 8.0]]);
    /// assert_eq!(x.fft2().to_string(), "[[15.+0.j -5.+0.j]\n [-9.+0.j  3.+0.j]]");
    /// ```
    #[track_caller]
    pub fn fft2(&self) -> Array {
        self.fftn(&[-2, -1])
    }

    /// The inverse of [`fft2`](Self::fft2).
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([[1.0f32, 2.0], [4.0, 8.0]]);
    /// assert_eq!(x.fft2().ifft2().re().to_string(), x.to_string());
    /// ```
    #[track_caller]
    pub fn ifft2(&self) -> Array {
        self.ifftn(&[-2, -1])
    }

    /// The frequencies of a transform with the zero moved to the middle of these axes.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let f = fftfreq(5, 1.0, F32);
    /// assert_eq!(f.fftshift(&[0]).to_string(), "[-0.4 -0.2  0.   0.2  0.4]");
    /// ```
    #[track_caller]
    pub fn fftshift(&self, axes: &[isize]) -> Array {
        self.rolled(axes, |n| n.div_ceil(2), &Location::caller())
    }

    /// The inverse of [`fftshift`](Self::fftshift).
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let f = fftfreq(5, 1.0, F32);
    /// assert_eq!(f.fftshift(&[0]).ifftshift(&[0]).to_string(), f.to_string());
    /// ```
    #[track_caller]
    pub fn ifftshift(&self, axes: &[isize]) -> Array {
        self.rolled(axes, |n| n / 2, &Location::caller())
    }

    /// Along each axis, what begins at `first` of its size goes before the rest.
    fn rolled(&self, axes: &[isize], first: fn(usize) -> usize, location: &Location) -> Array {
        let mut x = self.clone();
        for &axis in axes {
            let axis = or_raise(axis_of(self, axis), location);
            let size = x.shape().size(axis);
            let at = first(size);
            let part =
                |from, to| apply(Slice::along(x.shape(), axis, from, to), &[x.value().clone()], location);
            let (end, start) = (part(at, size), part(0, at));
            x = apply(Concatenate { axis }, &[end.value().clone(), start.value().clone()], location);
        }
        x
    }
}

/// The frequencies of a transform of `n` elements that are `spacing` apart: `0, 1, …, -2, -1`, over `n × spacing`.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(fftfreq(4, 0.5, F32).to_string(), "[ 0.   0.5 -1.  -0.5]");
/// ```
#[track_caller]
pub fn fftfreq(n: usize, spacing: f64, dtype: DType) -> Array {
    let index = |i: usize| if i < n.div_ceil(2) { i as f64 } else { i as f64 - n as f64 };
    frequencies(n, index, n as f64 * spacing, dtype, &Location::caller())
}

/// The frequencies of a transform of `n` real numbers that are `spacing` apart: those that are not negative.
///
/// ```
/// use tracewell::prelude::*;
///
/// assert_eq!(rfftfreq(4, 0.5, F32).to_string(), "[0.  0.5 1. ]");
/// ```
#[track_caller]
pub fn rfftfreq(n: usize, spacing: f64, dtype: DType) -> Array {
    frequencies(half_length(n), |i| i as f64, n as f64 * spacing, dtype, &Location::caller())
}

/// Frequencies are floats.
pub(crate) fn check_frequencies(dtype: DType) -> Result<(), Error> {
    if dtype.is_float() {
        return Ok(());
    }
    let message = format!("frequencies are floats, which {dtype} are not");
    let error = Error::new(ErrorKind::Type, message).help("take `F32` or `F64`");
    Err(found_by(error, "frequencies", &[], &[&dtype]))
}

fn frequencies(
    count: usize,
    index: impl Fn(usize) -> f64,
    divisor: f64,
    dtype: DType,
    location: &Location,
) -> Array {
    or_raise(check_frequencies(dtype), location);
    let literals: Vec<Literal> = (0..count).map(|i| Literal::from_f64(dtype, index(i) / divisor)).collect();
    Array::from(Tensor::from_literals(dtype, [count], &literals).expect("one literal for each element"))
}
