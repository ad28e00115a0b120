//! Convolution, and the convolution that goes the other way.

use tracewell_graph::Location;
use tracewell_graph::prim::{self, Convert, Permute};
use tracewell_trace::{Error, ErrorKind, Value};

use super::geometry::{Layout, Moves, Padding, PerAxis};
use crate::array::{Array, bind_here, common_dtype, found_by, or_raise};

/// How a kernel moves over images: strides, padding, dilations, groups of channels and the order of axes.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (x, w) = (Array::ones([1, 8, 8, 4], F32), Array::ones([3, 3, 2, 6], F32));
/// let y = conv(&x, &w, &Conv::new().strides(2).padding(Padding::Same).groups(2));
/// assert_eq!(*y.shape(), Shape::from([1, 4, 4, 6]));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conv {
    pub(super) strides: PerAxis,
    pub(super) padding: Padding,
    pub(super) dilation: PerAxis,
    pub(super) input_dilation: PerAxis,
    pub(super) groups: usize,
    pub(super) layout: Layout,
}

impl Default for Conv {
    fn default() -> Conv {
        Conv::new()
    }
}

impl Conv {
    /// By steps of 1, without padding or dilation, one group, channels last.
    pub fn new() -> Conv {
        Conv {
            strides: PerAxis::All(1),
            padding: Padding::Valid,
            dilation: PerAxis::All(1),
            input_dilation: PerAxis::All(1),
            groups: 1,
            layout: Layout::default(),
        }
    }

    /// How far apart the places of the kernel are; of [`conv_transpose`], how far apart it puts the elements.
    pub fn strides(mut self, strides: impl Into<PerAxis>) -> Conv {
        self.strides = strides.into();
        self
    }

    /// Zeros around the images.
    pub fn padding(mut self, padding: impl Into<Padding>) -> Conv {
        self.padding = padding.into();
        self
    }

    /// How far apart the elements of the kernel are.
    pub fn dilation(mut self, dilation: impl Into<PerAxis>) -> Conv {
        self.dilation = dilation.into();
        self
    }

    /// How far apart the elements of the images are, with zeros between them.
    pub fn input_dilation(mut self, dilation: impl Into<PerAxis>) -> Conv {
        self.input_dilation = dilation.into();
        self
    }

    /// Groups of channels that do not see each other; as many as channels for a kernel for each channel.
    pub fn groups(mut self, groups: usize) -> Conv {
        self.groups = groups;
        self
    }

    /// Which axes are those of the channels.
    pub fn layout(mut self, layout: Layout) -> Conv {
        self.layout = layout;
        self
    }
}

/// The sums of products of a kernel with what is under it, at every place that it has over images: for each place,
/// over the window and the channels of the image. As in every library of networks, the kernel is not reversed.
///
/// Images are `[batch, places…, channels]` and kernels `[window…, channels, results]`, with any number of axes that the
/// window moves along; [`Layout`] says how else. With groups, a kernel has the channels of one group and the results of
/// all. Element types are promoted as in a sum.
///
/// ```
/// use tracewell::prelude::*;
///
/// // Differences of neighbours, of one sequence with one channel.
/// let x = Array::from([1.0f32, 4.0, 9.0, 16.0]).reshape([1, 4, 1]);
/// let w = Array::from([-1.0f32, 1.0]).reshape([2, 1, 1]);
/// assert_eq!(conv(&x, &w, &Conv::new()).ravel().to_string(), "[3. 5. 7.]");
///
/// let gradient = grad(|w: &Array| conv(&x, w, &Conv::new()).sum())(&w);
/// assert_eq!(gradient.ravel().to_string(), "[14. 29.]");
/// ```
#[track_caller]
pub fn conv(x: &Array, w: &Array, how: &Conv) -> Array {
    let location = Location::caller();
    let result = checked("conv", x, w, how).and_then(|sizes| {
        let dilations = [&how.strides, &how.input_dilation, &how.dilation];
        let moves = Moves::new(&x.ty(), &sizes.image, sizes.window, dilations, &how.padding)?;
        apply_conv(x, w, how, moves, &location)
    });
    or_raise(result.map_err(|error| failed(error, "conv", x, w, how)), &location)
}

fn failed(error: Error, name: &str, x: &Array, w: &Array, how: &Conv) -> Error {
    found_by(error, "conv", &[x, w], &[&name, &how.written()])
}

/// The convolution that makes images larger: elements are put `strides` apart, with zeros between, and the kernel moves
/// over them by 1. With [`Padding::Same`] the result is `strides` times as large; with [`Padding::Valid`] it is as large
/// as what [`conv`] makes as large as `x`; explicit padding is around the elements that were put apart.
///
/// ```
/// use tracewell::prelude::*;
///
/// let (x, w) = (Array::from([1.0f32, 2.0]).reshape([1, 2, 1]), Array::ones([2, 1, 1], F32));
/// let y = conv_transpose(&x, &w, &Conv::new().strides(2).padding(Padding::Same));
/// assert_eq!(y.ravel().to_string(), "[1. 1. 2. 2.]");
/// ```
#[track_caller]
pub fn conv_transpose(x: &Array, w: &Array, how: &Conv) -> Array {
    let location = Location::caller();
    let result = checked("conv_transpose", x, w, how).and_then(|sizes| {
        let axes = sizes.image.len();
        let strides = how.strides.each("stride", axes)?;
        let dilation = how.dilation.each("dilation", axes)?;
        let pad = |i: usize| {
            let (k, s) = (((sizes.window[i] - 1) * dilation[i] + 1) as isize, strides[i] as isize);
            match &how.padding {
                Padding::Same => {
                    let all = k + s - 2;
                    let low = if s > k - 1 { k - 1 } else { (all + 1) / 2 };
                    (low, all - low)
                }
                _ => (k - 1, s - 1 + (k - s).max(0)),
            }
        };
        let padding = match &how.padding {
            Padding::Explicit(_) => how.padding.clone(),
            _ => Padding::Explicit((0..axes).map(pad).collect()),
        };
        let apart = PerAxis::Each(strides);
        let dilations = [&PerAxis::All(1), &apart, &how.dilation];
        let moves = Moves::new(&x.ty(), &sizes.image, sizes.window, dilations, &padding)?;
        apply_conv(x, w, how, moves, &location)
    });
    or_raise(result.map_err(|error| failed(error, "conv_transpose", x, w, how)), &location)
}

/// The sizes along the axes that the window moves along.
struct Sizes {
    image: Vec<usize>,
    window: Vec<usize>,
}

fn checked(name: &str, x: &Array, w: &Array, how: &Conv) -> Result<Sizes, Error> {
    let (image, kernel) = (x.ty(), w.ty());
    let error = |why: String| {
        Error::new(ErrorKind::Type, format!("`{name}` of {image} with the kernel {kernel}: {why}"))
    };
    let orders = match how.layout {
        Layout::ChannelsLast => "images are [batch, places…, channels], kernels [window…, channels, results]",
        Layout::ChannelsFirst => {
            "images are [batch, channels, places…], kernels [results, channels, window…]"
        }
    };
    if image.rank() < 2 || image.rank() != kernel.rank() {
        let why = format!("their ranks are {} and {}, and must be equal", image.rank(), kernel.rank());
        return Err(error(why).help(format!("{orders}; `.expand(0)` adds a batch of one")));
    }
    let moving = how.layout.moving(image.rank());
    let (windows, channels, from, to) = match how.layout {
        Layout::ChannelsLast => (0..image.rank() - 2, image.rank() - 1, image.rank() - 2, image.rank() - 1),
        Layout::ChannelsFirst => (2..image.rank(), 1, 1, 0),
    };
    let [channels, from, to] =
        [(&image, channels), (&kernel, from), (&kernel, to)].map(|(ty, i)| ty.shape.size(i));
    let groups = how.groups;
    if groups == 0 || channels % groups != 0 || to % groups != 0 {
        let why = format!("{groups} groups do not divide {channels} channels and {to} results");
        return Err(error(why).help("a group has as many channels as any other, and as many results"));
    }
    if from * groups != channels {
        let each = if groups == 1 { String::new() } else { format!(" in each of {groups} groups") };
        let why = format!("the kernel takes {from} channels{each}, and the image has {channels}");
        return Err(error(why).help(format!("{orders}; `.layout(…)` says which")));
    }
    let window: Vec<usize> = windows.map(|i| kernel.shape.size(i)).collect();
    if window.contains(&0) {
        return Err(error("the window of the kernel has no elements".to_string()));
    }
    Ok(Sizes { image: moving.map(|i| image.shape.size(i)).collect(), window })
}

/// The primitive between the permutations that its order of axes takes.
fn apply_conv(x: &Array, w: &Array, how: &Conv, moves: Moves, location: &Location) -> Result<Array, Error> {
    let bind = |prim: prim::Prim, operands: &[Value]| -> Result<Value, Error> {
        Ok(bind_here(&prim, operands, location)?.remove(0))
    };
    let (dtype, weak) = common_dtype(&[x.ty(), w.ty()]);
    let mut operands = Vec::with_capacity(2);
    for array in [x, w] {
        let (ty, value) = (array.ty(), array.value().clone());
        let same = ty.dtype == dtype && ty.weak == weak;
        operands.push(if same { value } else { bind(Convert { dtype, weak }.into(), &[value])? });
    }
    let conv = prim::Conv {
        strides: moves.strides,
        low: moves.low,
        high: moves.high,
        dilation: moves.dilation,
        window_dilation: moves.window_dilation,
        groups: how.groups,
    };
    let rank = x.rank();
    let y = match how.layout {
        Layout::ChannelsLast => bind(conv.into(), &operands)?,
        Layout::ChannelsFirst => {
            let image = [0].into_iter().chain(2..rank).chain([1]).collect();
            let kernel = (2..rank).chain([1, 0]).collect();
            let result = [0, rank - 1].into_iter().chain(1..rank - 1).collect();
            let x = bind(Permute { axes: image }.into(), &operands[..1])?;
            let w = bind(Permute { axes: kernel }.into(), &operands[1..])?;
            let y = bind(conv.into(), &[x, w])?;
            bind(Permute { axes: result }.into(), &[y])?
        }
    };
    Ok(Array::from_value(y))
}
