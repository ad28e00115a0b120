//! Convolution as a library call: its sizes, what they mean, and the plain loops.
//!
//! An image is `[batch, places…, channels]`, a kernel is `[window…, channels of a group, channels]`. Channels are
//! in groups that do not see each other.

use tracewell_array::{DType, Literal, Shape};

use crate::op::Op;
use crate::scalar;

/// A convolution, or its adjoint in the kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Conv {
    /// The element type of the operands and of the result.
    pub dtype: DType,
    /// What is computed from what.
    pub result: ConvResult,
    /// Number of images.
    pub batch: usize,
    /// Number of groups of channels.
    pub groups: usize,
    /// Channels of an image in a group.
    pub from: usize,
    /// Channels of a result in a group.
    pub to: usize,
    /// The axes along which the window moves.
    pub axes: Vec<WindowAxis>,
}

/// What a convolution computes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ConvResult {
    /// `y[n,o,c] = Σ_k,i x[n,o+k,i] × w[k,i,c]` from the image `x` and the kernel `w`.
    Image,
    /// `w[k,i,c] = Σ_n,o x[n,o+k,i] × y[n,o,c]` from the images `x` and `y`.
    Kernel,
}

/// How a window moves along one axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WindowAxis {
    /// Size of what it moves over, without padding.
    pub image: usize,
    /// Size of the window.
    pub window: usize,
    /// Number of places it has.
    pub places: usize,
    /// How far apart its places are.
    pub stride: usize,
    /// How far before the first element it starts; negative to start after it.
    pub low: i64,
    /// How far apart the elements are that it moves over.
    pub image_dilation: usize,
    /// How far apart the elements of the window are.
    pub window_dilation: usize,
}

impl WindowAxis {
    /// The element under element `k` of the window at a place; `None` in padding and between elements.
    pub fn source(&self, place: usize, k: usize) -> Option<usize> {
        let at = (place * self.stride + k * self.window_dilation) as i64 - self.low;
        let at = usize::try_from(at).ok()?;
        let element = at / self.image_dilation;
        (at.is_multiple_of(self.image_dilation) && element < self.image).then_some(element)
    }

    /// Whether all it computes fits, and nothing is divided by zero.
    fn is_sound(&self) -> bool {
        let reach = |count: usize, step: usize| count.checked_mul(step).and_then(|n| i64::try_from(n).ok());
        let farthest = || {
            let window = reach(self.window, self.window_dilation)?;
            reach(self.image, self.image_dilation)?;
            reach(self.places, self.stride)?.checked_add(window)?.checked_sub(self.low)
        };
        self.image_dilation > 0 && self.low != i64::MIN && farthest().is_some()
    }
}

impl Conv {
    /// Multiply-adds up to which it is done by plain loops in the order of the language, before anybody has looked at the
    /// sizes: part of the numeric contract.
    pub const SMALL: usize = 1 << 13;

    /// The shapes of the image that is read, of the kernel, and of the image that is made.
    pub fn shapes(&self) -> [Shape; 3] {
        let image = |size: fn(&WindowAxis) -> usize, channels: usize| {
            let channels = self.groups.saturating_mul(channels);
            [self.batch].into_iter().chain(self.axes.iter().map(size)).chain([channels]).collect::<Shape>()
        };
        let to = self.groups.saturating_mul(self.to);
        let kernel = self.axes.iter().map(|axis| axis.window).chain([self.from, to]).collect();
        [image(|axis| axis.image, self.from), kernel, image(|axis| axis.places, self.to)]
    }

    /// Multiply-adds, at most.
    pub fn work(&self) -> usize {
        let [_, kernel, image] = self.shapes();
        let channels = self.groups.saturating_mul(self.to).max(1);
        (kernel.len() / channels).saturating_mul(image.len())
    }

    /// Why the call makes no sense on operands of these types, if it does not.
    pub(crate) fn mistake(&self, inputs: &[(DType, Shape)], outputs: &[(DType, Shape)]) -> Option<String> {
        let ([a, b], [c]) = (inputs, outputs) else {
            return Some("`conv` has two inputs and one output".to_owned());
        };
        if self.dtype.is_bool()
            || self.dtype.is_complex()
            || [a, b, c].iter().any(|(dtype, _)| *dtype != self.dtype)
        {
            return Some("the operands of `conv` have its type, of real numbers".to_owned());
        }
        let sizes: [fn(&WindowAxis) -> usize; 3] = [|a| a.image, |a| a.window, |a| a.places];
        let counted =
            |size: &fn(&WindowAxis) -> usize| self.axes.iter().map(size).collect::<Shape>().checked_len();
        let fits = sizes.iter().all(|size| counted(size).is_some());
        if !fits || !self.axes.iter().all(WindowAxis::is_sound) {
            return Some("a window of `conv` moves too far, or over a dilation of 0".to_owned());
        }
        let [x, w, y] = self.shapes();
        let expected = match self.result {
            ConvResult::Image => [x, w, y],
            ConvResult::Kernel => [x, y, w],
        };
        let mut pairs = [a, b, c].into_iter().zip(&expected).enumerate();
        pairs.find_map(|(i, ((_, found), expected))| {
            let len = expected.checked_len();
            (len.is_none() || len != found.checked_len())
                .then(|| format!("operand {i} of `conv` is {expected}, not {found}"))
        })
    }

    /// The plain loops over operands of the right sizes: `step` is asked at each product whether to go on.
    pub(crate) fn eval(
        &self,
        a: &[Option<Literal>],
        b: &[Option<Literal>],
        mut step: impl FnMut() -> Result<(), String>,
    ) -> Result<Vec<Option<Literal>>, String> {
        let [x, w, y] = self.shapes();
        let result = match self.result {
            ConvResult::Image => &y,
            ConvResult::Kernel => &w,
        };
        let mut sums = vec![Literal::zero(self.dtype); result.len()];
        let read = |cell: Option<Literal>| cell.ok_or("`conv` reads what was never written");
        let windows: Shape = self.axes.iter().map(|axis| axis.window).collect();
        let places: Shape = self.axes.iter().map(|axis| axis.places).collect();
        let (from, to) = (self.from, self.to);
        for n in 0..self.batch {
            for place in 0..places.len() {
                for k in 0..windows.len() {
                    step()?;
                    let Some(under) = self.under(&places, place, &windows, k) else { continue };
                    for (group, i) in (0..self.groups).flat_map(|g| (0..from).map(move |i| (g, i))) {
                        let at_x = (n * self.images() + under) * self.groups * from + group * from + i;
                        for c in (0..to).map(|c| group * to + c) {
                            step()?;
                            let at_w = (k * from + i) * self.groups * to + c;
                            let at_y = (n * places.len() + place) * self.groups * to + c;
                            let (at_b, at) = match self.result {
                                ConvResult::Image => (at_w, at_y),
                                ConvResult::Kernel => (at_y, at_w),
                            };
                            let factors = [read(a[at_x])?, read(b[at_b])?];
                            let product = scalar::eval(Op::Mul, &factors, &[]);
                            sums[at] = scalar::eval(Op::Add, &[sums[at], product], &[]);
                        }
                    }
                }
            }
        }
        debug_assert_eq!(x.len(), a.len());
        Ok(sums.into_iter().map(Some).collect())
    }

    /// Elements of an image, channels apart.
    fn images(&self) -> usize {
        self.axes.iter().map(|axis| axis.image).product()
    }

    /// The element of an image under element `k` of the window at a place, all in row-major order.
    fn under(&self, places: &Shape, place: usize, windows: &Shape, k: usize) -> Option<usize> {
        let (places, windows) = (places.strides(), windows.strides());
        self.axes.iter().enumerate().try_fold(0, |at, (i, axis)| {
            let element = axis.source(place / places[i] % axis.places, k / windows[i] % axis.window)?;
            Some(at * axis.image + element)
        })
    }
}
