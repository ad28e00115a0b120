//! Pooling: what is under a window of every channel, made one.

use tracewell_array::Shape;
use tracewell_graph::Location;
use tracewell_graph::prim;
use tracewell_trace::{Error, ErrorKind};

use super::geometry::{Layout, Moves, Window};
use super::reduce::reduced;
use crate::array::{Array, apply, binary, found_by, or_raise};

/// How a window moves that is given for the axes between batch and channels, over all axes.
pub(crate) fn moves_of(name: &str, x: &Array, window: &Window) -> Result<Moves, Error> {
    over_places(name, x, window).map_err(|error| found_by(error, "pool", &[x], &[&name, &window.written()]))
}

fn over_places(name: &str, x: &Array, window: &Window) -> Result<Moves, Error> {
    let ty = x.ty();
    if ty.rank() < 3 {
        let message = format!("`{name}` of {ty}: there is no axis between batch and channels");
        return Err(Error::new(ErrorKind::Type, message).help(
            "images are [batch, places…, channels], or with `Layout::ChannelsFirst` [batch, channels, places…]",
        ));
    }
    let moving = window.layout.moving(ty.rank());
    let sizes: Vec<usize> = moving.clone().map(|i| ty.shape.size(i)).collect();
    let moves = window.moves(&ty, &sizes, true)?;
    fn all<T: Copy>(rank: usize, moving: &std::ops::Range<usize>, usual: T, own: &[T]) -> Vec<T> {
        (0..rank).map(|i| if moving.contains(&i) { own[i - moving.start] } else { usual }).collect()
    }
    Ok(Moves {
        window: all(ty.rank(), &moving, 1, &moves.window),
        strides: all(ty.rank(), &moving, 1, &moves.strides),
        low: all(ty.rank(), &moving, 0, &moves.low),
        high: all(ty.rank(), &moving, 0, &moves.high),
        dilation: all(ty.rank(), &moving, 1, &moves.dilation),
        window_dilation: all(ty.rank(), &moving, 1, &moves.window_dilation),
    })
}

/// The largest element under a window, for each channel. The window's axes are those between batch and channels, and it
/// moves by its own size unless strides are given.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([1.0f32, 3.0, 2.0, 0.0, 5.0, 4.0]).reshape([1, 6, 1]);
/// assert_eq!(max_pool(&x, &Window::new(2)).ravel().to_string(), "[3. 2. 5.]");
/// ```
#[track_caller]
pub fn max_pool(x: &Array, window: &Window) -> Array {
    let location = Location::caller();
    reduced!(ReduceWindowMax, x, or_raise(moves_of("max_pool", x, window), &location), &location)
}

/// The smallest element under a window, for each channel. The window's axes are those between batch and channels, and it
/// moves by its own size unless strides are given.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([1.0f32, 3.0, 2.0, 0.0, 5.0, 4.0]).reshape([1, 6, 1]);
/// assert_eq!(min_pool(&x, &Window::new(2)).ravel().to_string(), "[1. 0. 4.]");
/// ```
#[track_caller]
pub fn min_pool(x: &Array, window: &Window) -> Array {
    let location = Location::caller();
    reduced!(ReduceWindowMin, x, or_raise(moves_of("min_pool", x, window), &location), &location)
}

/// The mean of the elements under a window, for each channel; padding is not counted. The window's axes are those between
/// batch and channels, and it moves by its own size unless strides are given.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::from([1.0f32, 3.0, 2.0]).reshape([1, 3, 1]);
/// let y = avg_pool(&x, &Window::new(2).padding(Padding::Same));
/// assert_eq!(y.ravel().to_string(), "[2. 2.]");
/// ```
#[track_caller]
pub fn avg_pool(x: &Array, window: &Window) -> Array {
    let location = Location::caller();
    let x = &x.as_float(&location);
    let moves = or_raise(moves_of("avg_pool", x, window), &location);
    let sum = reduced!(ReduceWindowSum, x, moves.clone(), &location);
    let is_full =
        moves.low.iter().chain(&moves.high).all(|&n| n <= 0) && moves.dilation.iter().all(|&n| n == 1);
    let count = if is_full {
        Array::weak(moves.window.iter().product::<usize>() as f64)
    } else {
        // The same for each image and channel.
        let moving = window.layout.moving(x.rank());
        let sizes = x.shape().iter().enumerate().map(|(i, n)| if moving.contains(&i) { n } else { 1 });
        let ones = Array::ones(sizes.collect::<Shape>(), x.dtype());
        reduced!(ReduceWindowSum, ones, moves, &location)
    };
    binary("divide", prim::Div {}, sum, count, &location)
}

/// The largest element of every channel.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::arange(8, F32).reshape([1, 2, 2, 2]);
/// assert_eq!(global_max_pool(&x, Layout::ChannelsLast).to_string(), "[[6. 7.]]");
/// ```
#[track_caller]
pub fn global_max_pool(x: &Array, layout: Layout) -> Array {
    let location = Location::caller();
    let axes = or_raise(places_of("global_max_pool", x, layout), &location);
    apply(prim::ReduceMax { axes }, &[x.value().clone()], &location)
}

/// The mean of every channel.
///
/// ```
/// use tracewell::prelude::*;
///
/// let x = Array::arange(8, F32).reshape([1, 2, 2, 2]);
/// assert_eq!(global_avg_pool(&x, Layout::ChannelsFirst).to_string(), "[[1.5 5.5]]");
/// ```
#[track_caller]
pub fn global_avg_pool(x: &Array, layout: Layout) -> Array {
    let location = Location::caller();
    let axes = or_raise(places_of("global_avg_pool", x, layout), &location);
    x.mean_axes(&axes.iter().map(|&axis| axis as isize).collect::<Vec<_>>())
}

/// The axes between batch and channels, or after both.
pub(crate) fn places_of(name: &str, x: &Array, layout: Layout) -> Result<Vec<usize>, Error> {
    if x.rank() < 2 {
        let message = format!("`{name}` of {}: there is no batch, or there are no channels", x.ty());
        let error = Error::new(ErrorKind::Type, message).help("`.expand(0)` adds a batch of one");
        return Err(found_by(error, "places", &[x], &[&name, &layout.written()]));
    }
    Ok(layout.moving(x.rank()).collect())
}
