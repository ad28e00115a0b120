//! How windows move: what is said about all axes at once or about each, padding, and the order of axes.

use tracewell_graph::ArrayType;
use tracewell_trace::{Error, ErrorKind};

/// A number for all axes, or one for each: `2` or `[2, 1]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PerAxis {
    /// The same for all.
    All(usize),
    /// One for each, in order.
    Each(Vec<usize>),
}

impl From<usize> for PerAxis {
    fn from(all: usize) -> PerAxis {
        PerAxis::All(all)
    }
}

impl<const N: usize> From<[usize; N]> for PerAxis {
    fn from(each: [usize; N]) -> PerAxis {
        PerAxis::Each(each.to_vec())
    }
}

impl From<&[usize]> for PerAxis {
    fn from(each: &[usize]) -> PerAxis {
        PerAxis::Each(each.to_vec())
    }
}

impl PerAxis {
    /// One for each of so many axes, none of them 0.
    pub(super) fn each(&self, what: &str, axes: usize) -> Result<Vec<usize>, Error> {
        let each = match self {
            PerAxis::All(all) => vec![*all; axes],
            PerAxis::Each(each) => each.clone(),
        };
        if each.len() != axes {
            let message = format!("{} {what}s are given for windows that move along {axes} axes", each.len());
            return Err(Error::new(ErrorKind::Type, message)
                .help(format!("give one {what} for each axis, or one number for all")));
        }
        if each.contains(&0) {
            let message = format!("a {what} is 0 in {each:?}");
            return Err(Error::new(ErrorKind::Type, message).help(format!("a {what} is at least 1")));
        }
        Ok(each)
    }
}

/// What is around an array where a window reaches beyond its elements.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Padding {
    /// Nothing: windows are over elements only.
    #[default]
    Valid,
    /// As much as it takes so that a window has one place for each element, or for each `stride` of them; if that is
    /// odd, one more after than before.
    Same,
    /// So much before and after, for each axis; negative to leave elements out.
    Explicit(Vec<(isize, isize)>),
}

impl<const N: usize> From<[(isize, isize); N]> for Padding {
    fn from(each: [(isize, isize); N]) -> Padding {
        Padding::Explicit(each.to_vec())
    }
}

/// The order of axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// Images `[batch, places…, channels]` (NHWC), kernels `[window…, channels, results]` (HWIO). The faster one.
    #[default]
    ChannelsLast,
    /// Images `[batch, channels, places…]` (NCHW), kernels `[results, channels, window…]` (OIHW).
    ChannelsFirst,
}

impl Layout {
    /// The axes along which windows move, of an image of this rank.
    pub(super) fn moving(self, rank: usize) -> std::ops::Range<usize> {
        match self {
            Layout::ChannelsLast => 1..rank - 1,
            Layout::ChannelsFirst => 2..rank,
        }
    }
}

/// A window and how it moves: its size, and if not as usual its strides, padding and dilations.
///
/// Of functions that pool, its axes are those between batch and channels, and it moves by its own size unless told
/// otherwise; of reductions, its axes are all axes, and it moves by 1.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::arange(6, F32);
/// assert_eq!(x.window_sum(&Window::new([2])).to_string(), "[1. 3. 5. 7. 9.]");
/// assert_eq!(x.window_sum(&Window::new([2]).strides(2)).to_string(), "[1. 5. 9.]");
/// assert_eq!(x.window_max(&Window::new([3]).padding(Padding::Same)).to_string(), "[1. 2. 3. 4. 5. 5.]");
/// assert_eq!(x.window_sum(&Window::new([2]).dilation(4)).to_string(), "[4. 6.]");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    pub(super) size: PerAxis,
    pub(super) strides: Option<PerAxis>,
    pub(super) padding: Padding,
    pub(super) dilation: PerAxis,
    pub(super) input_dilation: PerAxis,
    pub(super) layout: Layout,
}

impl Window {
    /// A window of this size.
    pub fn new(size: impl Into<PerAxis>) -> Window {
        Window {
            size: size.into(),
            strides: None,
            padding: Padding::Valid,
            dilation: PerAxis::All(1),
            input_dilation: PerAxis::All(1),
            layout: Layout::default(),
        }
    }

    /// How far apart its places are.
    pub fn strides(mut self, strides: impl Into<PerAxis>) -> Window {
        self.strides = Some(strides.into());
        self
    }

    /// What is around the array; of reductions it counts as what changes nothing, such as 0 for a sum.
    pub fn padding(mut self, padding: impl Into<Padding>) -> Window {
        self.padding = padding.into();
        self
    }

    /// How far apart its elements are.
    pub fn dilation(mut self, dilation: impl Into<PerAxis>) -> Window {
        self.dilation = dilation.into();
        self
    }

    /// How far apart the elements of the array are, with padding between them.
    pub fn input_dilation(mut self, dilation: impl Into<PerAxis>) -> Window {
        self.input_dilation = dilation.into();
        self
    }

    /// Of functions that pool, which axis is that of the channels.
    pub fn layout(mut self, layout: Layout) -> Window {
        self.layout = layout;
        self
    }

    /// Every number for every axis, over axes of these sizes.
    pub(super) fn moves(&self, array: &ArrayType, sizes: &[usize], by_itself: bool) -> Result<Moves, Error> {
        let axes = sizes.len();
        let window = self.size.each("window size", axes)?;
        let usual = if by_itself { PerAxis::Each(window.clone()) } else { PerAxis::All(1) };
        Moves::new(
            array,
            sizes,
            window,
            [self.strides.as_ref().unwrap_or(&usual), &self.input_dilation, &self.dilation],
            &self.padding,
        )
    }
}

/// Every number for every axis, checked.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    pub(super) window: Vec<usize>,
    pub(super) strides: Vec<usize>,
    pub(super) low: Vec<i64>,
    pub(super) high: Vec<i64>,
    pub(super) dilation: Vec<usize>,
    pub(super) window_dilation: Vec<usize>,
}

/// How far so many elements reach that are a step apart.
fn reach(size: usize, step: usize) -> i64 {
    size.checked_sub(1).map_or(0, |last| last.saturating_mul(step).saturating_add(1) as i64)
}

impl Moves {
    /// Strides, the dilation of the array and that of the window, for a window over axes of these sizes.
    pub(super) fn new(
        array: &ArrayType,
        sizes: &[usize],
        window: Vec<usize>,
        [strides, dilation, window_dilation]: [&PerAxis; 3],
        padding: &Padding,
    ) -> Result<Moves, Error> {
        let axes = sizes.len();
        let strides = strides.each("stride", axes)?;
        let (dilation, window_dilation) =
            (dilation.each("dilation", axes)?, window_dilation.each("dilation", axes)?);
        let pads: Vec<(i64, i64)> = match padding {
            Padding::Valid => vec![(0, 0); axes],
            Padding::Same => (0..axes)
                .map(|i| {
                    let image = reach(sizes[i], dilation[i]);
                    let stride = strides[i] as i64;
                    let places = (image + stride - 1) / stride;
                    let needed = (places - 1) * stride + reach(window[i], window_dilation[i]) - image;
                    let needed = needed.max(0);
                    (needed / 2, needed - needed / 2)
                })
                .collect(),
            Padding::Explicit(each) if each.len() == axes => {
                each.iter().map(|&(low, high)| (low as i64, high as i64)).collect()
            }
            Padding::Explicit(each) => {
                let message =
                    format!("{} paddings are given for windows that move along {axes} axes", each.len());
                return Err(Error::new(ErrorKind::Type, message)
                    .help("give one pair for each axis, or `Padding::Same` or `Padding::Valid`"));
            }
        };
        for i in 0..axes {
            let (low, high) = pads[i];
            let padded = reach(sizes[i], dilation[i]).saturating_add(low).saturating_add(high);
            let needed = reach(window[i], window_dilation[i]);
            if padded < needed && sizes[i] > 0 {
                let message = format!(
                    "the window {window:?} does not fit into {array}: along axis {i} of those it moves along it \
                     reaches over {needed} elements, and there are {padded}, padding included"
                );
                return Err(Error::new(ErrorKind::Type, message)
                    .help("make the window smaller, or pad: `.padding(Padding::Same)`"));
            }
        }
        let (low, high) = pads.into_iter().unzip();
        Ok(Moves { window, strides, low, high, dilation, window_dilation })
    }
}
