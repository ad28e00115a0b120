//! `vmap`: a function of one example becomes one of a batch.

use tracewell_array::Shape;
use tracewell_graph::prim::{Broadcast, Permute};
use tracewell_graph::{Location, Prim};
use tracewell_trace::{Api, Argument, Error, ErrorKind, Event, Staged, Value, apply, bind, notify};

use super::pullback::rule;
use crate::outcome::Outcome;
use crate::staging::{Function, describe, enter, refill, stage_tree};
use crate::tree::{Tree, TreeRef, leaves, paths};

/// `f` over the leading axis of every array of its argument; results get a leading axis.
///
/// ```
/// use tracewell::prelude::*;
///
/// let rows = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(vmap(|row: &Array| row.sum())(&rows).to_string(), "[3. 7.]");
/// ```
#[track_caller]
pub fn vmap<X, R, F>(f: F) -> impl Fn(&X) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    vmap_from(Function::of::<F>(Api::Vmap, Location::caller()), f)
}

/// The same for an API that is made of it.
pub(crate) fn vmap_from<X, R, F>(function: Function, f: F) -> impl Fn(&X) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    move |x| {
        let axes = vec![Some(0); leaves(x).len()];
        run(&function, &f, x, &axes, |result| vec![Some(0); leaves(result).len()])
    }
}

/// `f` over the axes given: for each array of the argument the axis that is the batch, or none for one that is
/// the same for all; for results the axis at which the batch appears, or none for one that is the same for all.
/// One number stands for a whole tree, a tuple for a tuple, and a `Vec` lists the axis of each array in order.
///
/// ```
/// use tracewell::prelude::*;
///
/// let scale = |(x, s): &(Array, Array)| x * s;
/// let x = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
/// let columns = vmap_axes(scale, (1, None), 1)(&(x, Array::from(10.0f32)));
/// assert_eq!(columns.to_string(), "[[10. 20.]\n [30. 40.]]");
///
/// // The results are a batch along axis 1 and a number that all examples share.
/// let f = |(x, s): &(Array, Array)| (x * s, s.sin());
/// let a = (Array::ones([3, 2], F32), Array::from(0.0f32));
/// let (y, s) = vmap_axes(f, vec![Some(0), None], (1, None))(&a);
/// assert_eq!((y.shape().to_string(), s.item::<f32>()), ("[2,3]".into(), 0.0));
/// ```
#[track_caller]
pub fn vmap_axes<X, R, F, I, O>(f: F, in_axes: I, out_axes: O) -> impl Fn(&X) -> R
where
    X: Tree,
    R: Outcome,
    F: Fn(&X) -> R,
    I: Axes<X>,
    O: Axes<R::Ok>,
{
    let function = Function::of::<F>(Api::Vmap, Location::caller());
    move |x| {
        let mut axes = Vec::new();
        in_axes.collect(x, &mut axes);
        run(&function, &f, x, &axes, |result| {
            let mut axes = Vec::new();
            out_axes.collect(result, &mut axes);
            axes
        })
    }
}

/// Which axis of each array is the batch: one number (or none) for a whole tree, a tuple of these for a tuple, or a
/// `Vec` with one for each array.
pub trait Axes<T> {
    /// Adds one axis for each array.
    fn collect(&self, tree: &T, axes: &mut Vec<Option<isize>>);
}

macro_rules! number_axes {
    ($($N:ty),*) => {$(
        impl<T: Tree> Axes<T> for $N {
            fn collect(&self, tree: &T, axes: &mut Vec<Option<isize>>) {
                axes.extend(std::iter::repeat_n(Some(*self as isize), leaves(tree).len()));
            }
        }
    )*};
}
number_axes!(i32, isize, usize);

impl<T: Tree> Axes<T> for Option<isize> {
    fn collect(&self, tree: &T, axes: &mut Vec<Option<isize>>) {
        axes.extend(std::iter::repeat_n(*self, leaves(tree).len()));
    }
}

impl<T: Tree> Axes<T> for Vec<Option<isize>> {
    fn collect(&self, _: &T, axes: &mut Vec<Option<isize>>) {
        axes.extend(self);
    }
}

macro_rules! tuple_axes {
    ($($I:ident $T:ident $i:tt),*) => {
        impl<$($T: Tree, $I: Axes<$T>),*> Axes<($($T,)*)> for ($($I,)*) {
            fn collect(&self, tree: &($($T,)*), axes: &mut Vec<Option<isize>>) {
                $(self.$i.collect(&tree.$i, axes);)*
            }
        }
    };
}
tuple_axes!(I A 0);
tuple_axes!(I A 0, J B 1);
tuple_axes!(I A 0, J B 1, K C 2);
tuple_axes!(I A 0, J B 1, K C 2, L D 3);
tuple_axes!(I A 0, J B 1, K C 2, L D 3, M E 4);
tuple_axes!(I A 0, J B 1, K C 2, L D 3, M E 4, N F 5);
tuple_axes!(I A 0, J B 1, K C 2, L D 3, M E 4, N F 5, O G 6);
tuple_axes!(I A 0, J B 1, K C 2, L D 3, M E 4, N F 5, O G 6, P H 7);

fn run<X, R, F>(
    function: &Function,
    f: &F,
    x: &X,
    axes: &[Option<isize>],
    out_axes: impl FnOnce(&R::Ok) -> Vec<Option<isize>>,
) -> R
where
    X: TreeRef + ?Sized,
    R: Outcome,
    F: Fn(&X) -> R,
{
    let location = &function.location;
    R::own(enter::<R, R::Ok>(
        function,
        || describe(x, "x").option("axes", axes_text(axes)),
        || {
            check_count("arguments", axes.len(), leaves(x).len())?;
            let (size, axes) = batch_size(x, axes)?;
            let mut inputs = Vec::new();
            let mut arguments = Vec::new();
            for ((leaf, axis), name) in leaves(x).into_iter().zip(&axes).zip(paths(x, "x")) {
                let mut ty = leaf.ty();
                let mut value = leaf.value().clone();
                if let Some(axis) = axis {
                    ty.shape = ty.shape.remove(*axis);
                    value = move_axis(value, *axis, 0, location)?;
                }
                arguments.push(Argument { name, ty, value: None });
                inputs.push(value);
            }
            let traced = stage_tree::<X, R>(function, x, &arguments, f)?;
            let Staged { graph, captured, .. } = traced.staged;
            let flags: Vec<bool> =
                std::iter::repeat_n(false, captured.len()).chain(axes.iter().map(Option::is_some)).collect();
            let (batched, has_axis) = tracewell_transform::batch(&graph, size, &flags).map_err(rule)?;
            let inputs: Vec<Value> = captured.into_iter().chain(inputs).collect();
            let outputs = apply(&batched, &inputs, location)?;
            let out_axes = out_axes(&traced.result);
            notify(&Event::Option { name: "out_axes", value: &axes_text(&out_axes) });
            check_count("results", out_axes.len(), outputs.len())?;
            let named = paths(&traced.result, "y").into_iter().zip(out_axes);
            let mut results = Vec::with_capacity(outputs.len());
            for ((value, has_axis), (path, axis)) in outputs.into_iter().zip(has_axis).zip(named) {
                results.push(place(value, has_axis, axis, size, &path, location)?);
            }
            Ok(refill(&traced.result, results))
        },
    ))
}

/// Axes as observers are told them: `0,-,1`.
fn axes_text(axes: &[Option<isize>]) -> String {
    let text = |axis: &Option<isize>| axis.map_or("-".to_string(), |axis| axis.to_string());
    axes.iter().map(text).collect::<Vec<_>>().join(",")
}

/// A list of axes must name one for each array.
fn check_count(what: &str, axes: usize, arrays: usize) -> Result<(), Error> {
    if axes == arrays {
        return Ok(());
    }
    let message = format!("`vmap_axes` was given {axes} axes for {arrays} arrays of the {what}");
    Err(Error::new(ErrorKind::Structure, message).help("one number or `None` stands for a whole tree"))
}

/// The size of the batch and the axis of each array, counted from the front.
fn batch_size<X: TreeRef + ?Sized>(
    x: &X,
    axes: &[Option<isize>],
) -> Result<(usize, Vec<Option<usize>>), Error> {
    let mut size: Option<(usize, String)> = None;
    let mut found = Vec::with_capacity(axes.len());
    for ((leaf, axis), path) in leaves(x).into_iter().zip(axes).zip(paths(x, "x")) {
        let Some(axis) = *axis else {
            found.push(None);
            continue;
        };
        let rank = leaf.rank() as isize;
        let at = if axis < 0 { axis + rank } else { axis };
        if !(0..rank).contains(&at) {
            let message = format!("`vmap` has no axis {axis} of `{path}` to run over: it is {}", leaf.ty());
            let help = match rank {
                0 => "give `None` as its axis in `vmap_axes` to use it whole for every example".to_string(),
                _ => format!("axes of this array are {}..{rank}", -rank),
            };
            return Err(Error::new(ErrorKind::Index, message).help(help));
        }
        let n = leaf.shape().size(at as usize);
        match &size {
            Some((size, first)) if *size != n => {
                let message =
                    format!("`vmap` runs over axes of one size: `{first}` has {size}, `{path}` has {n}");
                return Err(Error::new(ErrorKind::Type, message)
                    .help("choose the axes with `vmap_axes`; `None` uses an array whole for every example"));
            }
            Some(_) => {}
            None => size = Some((n, path)),
        }
        found.push(Some(at as usize));
    }
    match size {
        Some((size, _)) => Ok((size, found)),
        None => {
            Err(Error::new(ErrorKind::Structure, "`vmap` has no axis to run over: every array is used whole")
                .help("call the function itself, or give an axis to one of its arrays"))
        }
    }
}

fn move_axis(value: Value, from: usize, to: usize, location: &Location) -> Result<Value, Error> {
    if from == to {
        return Ok(value);
    }
    let rank = value.ty().rank();
    let mut axes: Vec<usize> = (0..rank).filter(|&a| a != from).collect();
    axes.insert(to, from);
    Ok(bind(&Prim::from(Permute { axes }), &[value], location)?.remove(0))
}

/// A result with its batch at the axis that was asked for, or without one.
fn place(
    value: Value,
    has_axis: bool,
    axis: Option<isize>,
    size: usize,
    path: &str,
    location: &Location,
) -> Result<Value, Error> {
    let Some(axis) = axis else {
        if !has_axis {
            return Ok(value);
        }
        let message = format!("`vmap` gives `{path}` no axis, but it differs from example to example");
        return Err(
            Error::new(ErrorKind::Structure, message).help("give it one, such as 0, in the last argument")
        );
    };
    let value = if has_axis { value } else { repeat(value, size, location)? };
    let rank = value.ty().rank() as isize;
    let at = if axis < 0 { axis + rank } else { axis };
    if !(0..rank).contains(&at) {
        let message =
            format!("`vmap` has no axis {axis} for `{path}`, which with its batch is {}", value.ty());
        return Err(
            Error::new(ErrorKind::Index, message).help(format!("axes of the result are {}..{rank}", -rank))
        );
    }
    move_axis(value, 0, at as usize, location)
}

/// A result that is the same for all examples, once for each.
fn repeat(value: Value, size: usize, location: &Location) -> Result<Value, Error> {
    let ty = value.ty();
    let shape: Shape = ty.shape.insert(0, size);
    let broadcast = Broadcast { shape, axes: (1..=ty.rank()).collect() };
    Ok(bind(&Prim::from(broadcast), &[value], location)?.remove(0))
}
