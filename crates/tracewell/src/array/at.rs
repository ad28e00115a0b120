//! Parts of arrays to read or to change: `x.at(s![..3]).add(&y)`.

use tracewell_array::{DType, Literal, Shape};
use tracewell_graph::prim::{
    self, Broadcast, Gather, Outside, Pad, Prim, Reshape, Reverse, Scatter, ScatterOp,
};
use tracewell_graph::{ArrayType, Location, Splat};
use tracewell_trace::{Error, ErrorKind, Value};

use super::dynamic::{bound, number, put, strong, type_after_update};
use super::indexing::{PLACES, Plan, cut_of, cut_text, plan};
use super::operators::{Operand, common_shape, fit};
use super::placing::{Placing, are_inside, by_axis, by_cuts, missing};
use super::reduce::axis_of;
use super::{Array, Cut, Cuts, found_by, or_raise};
use crate::effects::check_at;

/// A part of an array, to read or to change. Made by [`Array::at`] and [`Array::at_along`].
///
/// Changes make a new array and leave the old one as it is; compiled code changes it in place if nobody needs it any
/// more. Elements that are named more than once are changed in the order of the updates: of several that are
/// [`set`](Self::set) the last one stays.
///
/// Negative places count from the back. Where there is no such place, reads give NaN (the least signed integer, the
/// largest unsigned one, `true`) and updates are left out, unless [`clip`](Self::clip), [`fill`](Self::fill) or
/// [`checked`](Self::checked) say otherwise.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until `get`, `set`, `add`, … is called"]
pub struct At {
    array: Array,
    target: Target,
    missing: Missing,
    from_back: bool,
}

#[derive(Clone, Debug)]
enum Target {
    Cuts(Vec<Cut>),
    Along(Array, isize),
}

/// What a place means that is not there.
#[derive(Clone, Debug)]
enum Missing {
    /// Reads give a value that is easily seen, updates are left out.
    Marked,
    /// The nearest place.
    Clip,
    /// Reads give this, updates are left out.
    Fill(Value),
    /// An error.
    Checked,
}

impl Array {
    /// A part of the array, to read or to change: places and ranges made by [`s!`](crate::s), arrays of integers, or a
    /// tuple of these. They mean what they mean to [`slice`](Self::slice). A mask for the first axes is possible where
    /// something is changed.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::zeros([5], I32);
    /// assert_eq!(x.at(s![1..3]).set(7).to_string(), "[0 7 7 0 0]");
    /// let places = Array::from([0, 0, -1]);
    /// assert_eq!(x.at(&places).add(&Array::from([1, 2, 3])).to_string(), "[3 0 0 0 3]");
    /// let grid = Array::arange(6, I32).reshape([2, 3]);
    /// let (i, j) = (Array::from([0, 1]), Array::from([2, 0]));
    /// assert_eq!(grid.at((&i, &j)).mul(10).to_string(), "[[ 0  1 20]\n [30  4  5]]");
    /// assert_eq!(grid.at(&grid.gt(3)).set(0).to_string(), "[[0 1 2]\n [3 0 0]]");
    /// ```
    pub fn at(&self, cuts: impl Cuts) -> At {
        self.at_target(Target::Cuts(cuts.cuts()))
    }

    /// One place along an axis for each element of `places`, to read or to change: as
    /// [`take_along_axis`](Self::take_along_axis) reads it.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let x = Array::from([[3, 1, 2], [4, 6, 5]]);
    /// let largest = x.argmax(1).expand(1);
    /// assert_eq!(x.at_along(&largest, 1).set(0).to_string(), "[[0 1 2]\n [4 0 5]]");
    /// ```
    #[doc(alias = "put_along_axis")]
    pub fn at_along(&self, places: &Array, axis: isize) -> At {
        self.at_target(Target::Along(places.clone(), axis))
    }

    fn at_target(&self, target: Target) -> At {
        At { array: self.clone(), target, missing: Missing::Marked, from_back: true }
    }
}

macro_rules! updates {
    ($($(#[$doc:meta])* $method:ident $Op:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[track_caller]
        pub fn $method(&self, value: impl Operand) -> Array {
            self.update_at(ScatterOp::$Op, value.operand(), &Location::caller())
        }
    )*};
}

impl At {
    /// A place that is not there is the nearest one that is.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let (x, places) = (Array::from([1, 2, 3]), Array::from([0, 7]));
    /// assert_eq!(x.at(&places).clip().get().to_string(), "[1 3]");
    /// assert_eq!(x.at(&places).clip().add(10).to_string(), "[11  2 13]");
    /// ```
    pub fn clip(self) -> At {
        At { missing: Missing::Clip, ..self }
    }

    /// What is read at a place that is not there is this number, which is known while tracing. Updates are left out.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let (x, places) = (Array::from([1, 2, 3]), Array::from([0, 7]));
    /// assert_eq!(x.at(&places).fill(-1).get().to_string(), "[ 1 -1]");
    /// ```
    pub fn fill(self, value: impl Operand) -> At {
        At { missing: Missing::Fill(value.operand()), ..self }
    }

    /// A place that is not there is an error, also inside compiled functions: there their call fails, as by
    /// [`check!`](crate::check).
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let look = jit(|(x, i): &(Array, Array)| -> Result<Array> { Ok(x.at(i).checked().get()) });
    /// let x = Array::from([1.0f32, 2.0]);
    /// assert!(look.call(&(x.clone(), Array::from([1, -2]))).is_ok());
    /// let error = look.call(&(x, Array::from([0, 2]))).unwrap_err();
    /// assert_eq!(error.message(), "an index of [0 2] is out of range for an axis of size 2");
    /// ```
    pub fn checked(self) -> At {
        At { missing: Missing::Checked, ..self }
    }

    /// Negative places are not there, instead of counting from the back.
    pub(super) fn not_from_back(self) -> At {
        At { from_back: false, ..self }
    }

    /// What is there.
    ///
    /// ```
    /// use tracewell::prelude::*;
    ///
    /// let (x, places) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([2, 5]));
    /// assert_eq!(x.at(&places).get().to_string(), "[ 3. nan]");
    /// ```
    #[track_caller]
    pub fn get(&self) -> Array {
        self.get_at(&Location::caller())
    }

    updates! {
        /// The array with something else there, repeated if it has fewer axes. Of several updates of one element the
        /// last one stays.
        ///
        /// ```
        /// use tracewell::prelude::*;
        ///
        /// let x = Array::zeros([2, 3], I32);
        /// assert_eq!(x.at(s![.., 0]).set(&Array::from([7, 8])).to_string(), "[[7 0 0]\n [8 0 0]]");
        /// ```
        set Set,
        /// The array with something added there; all updates of one element are added.
        ///
        /// ```
        /// use tracewell::prelude::*;
        ///
        /// let places = Array::from([1, 1, 2]);
        /// assert_eq!(Array::zeros([3], F32).at(&places).add(1.0).to_string(), "[0. 2. 1.]");
        /// ```
        add Add,
        /// The array with elements multiplied there, by all updates of each.
        ///
        /// ```
        /// use tracewell::prelude::*;
        ///
        /// let places = Array::from([1, 1, 2]);
        /// assert_eq!(Array::ones([3], F32).at(&places).mul(3.0).to_string(), "[1. 9. 3.]");
        /// ```
        mul Mul,
        /// The array with nothing larger there; NaN wins.
        ///
        /// ```
        /// use tracewell::prelude::*;
        ///
        /// assert_eq!(Array::arange(4, I32).at(s![1..]).min(2).to_string(), "[0 1 2 2]");
        /// ```
        min Min,
        /// The array with nothing smaller there; NaN wins.
        ///
        /// ```
        /// use tracewell::prelude::*;
        ///
        /// assert_eq!(Array::arange(4, I32).at(s![..2]).max(1).to_string(), "[1 1 2 3]");
        /// ```
        max Max,
    }

    pub(super) fn get_at(&self, location: &Location) -> Array {
        let got = || {
            let Some(placing) = self.placing(location)? else {
                let plan = plan(&self.array, self.cuts())?;
                return Ok(self.array.part(plan, location).value().clone());
            };
            let gather = Gather::new(placing.places, self.outside()?);
            let operands: Vec<Value> =
                std::iter::once(self.array.value().clone()).chain(placing.indices).collect();
            bound(gather, &operands, location)
        };
        let got = got().map_err(|error| self.failed(error, "get", None));
        Array::from_value(or_raise(got, location))
    }

    pub(super) fn update_at(&self, op: ScatterOp, update: Value, location: &Location) -> Array {
        let updated = |update: Value| {
            let (dtype, weak) = type_after_update(&self.array, &update)?;
            let x = fit(self.array.value(), dtype, weak, self.array.shape(), location)?;
            if let [Cut::Places(mask)] = self.cuts()
                && mask.dtype().is_bool()
            {
                return self.update_masked(op, x, mask, update, location);
            }
            let Some(placing) = self.placing(location)? else {
                return self.update_static(op, x, update, location);
            };
            let update = self.fitted(&update, &x, &placing.shape, location)?;
            let drop = !matches!(self.missing, Missing::Clip | Missing::Checked);
            let operands: Vec<Value> = [x, update].into_iter().chain(placing.indices).collect();
            bound(Scatter::new(placing.places, op, drop), &operands, location)
        };
        let updated = updated(update.clone()).map_err(|error| self.failed(error, op.name(), Some(update)));
        Array::from_value(or_raise(updated, location))
    }

    /// An error with all that is needed to come to it again.
    fn failed(&self, error: Error, method: &'static str, update: Option<Value>) -> Error {
        let mut arrays = vec![self.array.clone()];
        arrays.extend(update.map(Array::unfilled));
        let missing = match &self.missing {
            Missing::Marked => "marked",
            Missing::Clip => "clip",
            Missing::Checked => "checked",
            Missing::Fill(value) => {
                arrays.push(Array::unfilled(value.clone()));
                "fill"
            }
        };
        let target = match &self.target {
            Target::Along(places, axis) => {
                arrays.push(places.clone());
                format!("along {axis}")
            }
            Target::Cuts(cuts) => {
                arrays.extend(cuts.iter().filter_map(|cut| match cut {
                    Cut::Places(places) => Some(places.clone()),
                    Cut::At(_) | Cut::Range { .. } => None,
                }));
                cuts.iter().map(cut_text).collect::<Vec<_>>().join(", ")
            }
        };
        let arrays: Vec<&Array> = arrays.iter().collect();
        found_by(error, "at", &arrays, &[&method, &target, &missing, &self.from_back])
    }

    fn cuts(&self) -> &[Cut] {
        match &self.target {
            Target::Cuts(cuts) => cuts,
            Target::Along(..) => &[],
        }
    }

    /// The windows, unless all places are known while tracing. Places are checked if that is wanted.
    fn placing(&self, location: &Location) -> Result<Option<Placing>, Error> {
        let mut placing = match &self.target {
            Target::Cuts(cuts) if !cuts.iter().any(|cut| matches!(cut, Cut::Places(_))) => return Ok(None),
            Target::Cuts(cuts) => by_cuts(&self.array, cuts, location)?,
            Target::Along(places, axis) => {
                by_axis(&self.array, places, axis_of(&self.array, *axis)?, location)?
            }
        };
        placing.places.from_back = self.from_back;
        if let Missing::Checked = self.missing {
            for (indices, size) in &placing.asked {
                let show = |values: &[Array]| match values {
                    [indices, size] => {
                        format!("an index of {indices} is out of range for an axis of size {size}")
                    }
                    _ => "an index is out of range".to_string(),
                };
                let condition = are_inside(indices, *size, self.from_back);
                let values = [indices.clone(), Array::from(*size as i64)];
                check_at(location, "indices are inside", show, condition, &values);
            }
        }
        Ok(Some(placing))
    }

    /// What is read at places that are not there.
    fn outside(&self) -> Result<Outside, Error> {
        let ty = self.array.ty();
        Ok(match &self.missing {
            Missing::Clip | Missing::Checked => Outside::Clip,
            Missing::Marked => Outside::Fill(missing(&ty)),
            Missing::Fill(value) => Outside::Fill(known(value, &ty)?),
        })
    }

    /// An update as an array of the type of the part.
    fn fitted(&self, update: &Value, x: &Value, shape: &Shape, location: &Location) -> Result<Value, Error> {
        let part = strong(x.ty().with_shape(shape.clone()));
        let repeated = common_shape("update", &[part.clone(), update.ty()]);
        if repeated.ok().as_ref() != Some(shape) {
            let (whole, update) = (strong(self.array.ty()), strong(update.ty()));
            let message = format!("cannot update {part}, a part of {whole}, by {update}");
            return Err(Error::new(ErrorKind::Type, message)
                .help("what is put there has the shape of the part, or fewer axes"));
        }
        fit(update, part.dtype, x.ty().weak, shape, location)
    }

    /// The places are known while tracing, and none occurs twice.
    fn update_static(
        &self,
        op: ScatterOp,
        x: Value,
        update: Value,
        location: &Location,
    ) -> Result<Value, Error> {
        let plan = plan(&self.array, self.cuts())?;
        let update = self.fitted(&update, &x, &plan.shape, location)?;
        if plan.shape.is_empty() {
            return Ok(x);
        }
        let part = match combining(op) {
            None => update,
            Some(prim) => {
                let part = Array::from_value(x.clone()).part(plan.clone(), location);
                bound(prim, &[part.value().clone(), update], location)?
            }
        };
        put_static(x, part, plan, location)
    }

    /// Each element of the first axes is changed or not.
    fn update_masked(
        &self,
        op: ScatterOp,
        x: Value,
        mask: &Array,
        update: Value,
        location: &Location,
    ) -> Result<Value, Error> {
        let shape = self.array.shape();
        let first = shape.iter().take(mask.rank());
        if !first.eq(mask.shape().iter()) {
            let message =
                format!("a mask of {} has its first axes, found {}", strong(self.array.ty()), mask.ty());
            return Err(Error::new(ErrorKind::Type, message).help("compare the array itself: `x.gt(0.0)`"));
        }
        let inner: Shape = shape.iter().skip(mask.rank()).collect();
        let update = self.fitted(&update, &x, &inner, location)?;
        let update = fit(&update, update.ty().dtype, update.ty().weak, shape, location)?;
        let changed = match combining(op) {
            None => update,
            Some(prim) => bound(prim, &[x.clone(), update], location)?,
        };
        let axes = (0..mask.rank()).collect();
        let mask = bound(Broadcast { shape: shape.clone(), axes }, &[mask.value().clone()], location)?;
        bound(prim::Select {}, &[mask, changed, x], location)
    }
}

/// What [`At::failed`] tells of, done again; nothing if it is not told so.
pub(crate) fn at_again(arrays: &[Array], arguments: [&str; 4], location: &Location) -> Option<()> {
    let [method, target, missing, from_back] = arguments;
    let mut arrays = arrays.iter().cloned();
    let array = arrays.next()?;
    let op = ScatterOp::ALL.into_iter().find(|op| op.name() == method);
    let update = match op {
        Some(_) => Some(arrays.next()?),
        None => None,
    };
    let missing = match missing {
        "clip" => Missing::Clip,
        "checked" => Missing::Checked,
        "fill" => Missing::Fill(arrays.next()?.value().clone()),
        _ => Missing::Marked,
    };
    let target = match target.strip_prefix("along ") {
        Some(axis) => Target::Along(arrays.next()?, axis.parse().ok()?),
        None => {
            let cuts = target.split(", ").filter(|cut| !cut.is_empty());
            let cut = |text| match text {
                PLACES => arrays.next().map(Cut::Places),
                text => cut_of(text),
            };
            Target::Cuts(cuts.map(cut).collect::<Option<_>>()?)
        }
    };
    let at = At { array, target, missing, from_back: from_back == "true" };
    match (op, update) {
        (Some(op), Some(update)) => at.update_at(op, update.value().clone(), location),
        _ => at.get_at(location),
    };
    Some(())
}

/// The primitive that combines an element with an update; none where the update takes its place.
fn combining(op: ScatterOp) -> Option<Prim> {
    match op {
        ScatterOp::Set => None,
        ScatterOp::Add => Some(prim::Add {}.into()),
        ScatterOp::Mul => Some(prim::Mul {}.into()),
        ScatterOp::Min => Some(prim::Min {}.into()),
        ScatterOp::Max => Some(prim::Max {}.into()),
    }
}

/// Puts a part, of the shape that a slice has in the end, back to where it was.
fn put_static(x: Value, part: Value, plan: Plan, location: &Location) -> Result<Value, Error> {
    let (whole, slice) = (x.ty(), plan.slice);
    let counts = slice.start.iter().zip(&slice.limit).zip(&slice.step);
    let counts: Vec<usize> = counts.map(|((start, limit), step)| (limit - start).div_ceil(*step)).collect();
    let mut part = bound(Reshape { shape: Shape::from(counts.clone()) }, &[part], location)?;
    if !plan.reversed.is_empty() {
        part = bound(Reverse { axes: plan.reversed }, &[part], location)?;
    }
    let short = whole.shape.iter().all(|size| i32::try_from(size).is_ok());
    let runs = slice.step.iter().zip(&counts).all(|(&step, &count)| step == 1 || count == 1);
    if short && runs {
        let starts = slice.start.iter().map(|&start| number(DType::I32, start as i64)).collect();
        return put(&Array::from_value(x.clone()), x, part, starts, location);
    }
    let ends = counts.iter().zip(&slice.start).zip(&slice.step);
    let ends = ends.map(|((count, start), step)| start + (count - 1) * step + 1);
    let pad = Pad {
        low: slice.start.iter().map(|&start| start as i64).collect(),
        high: whole.shape.iter().zip(ends).map(|(size, end)| size as i64 - end as i64).collect(),
        interior: slice.step.iter().map(|step| step - 1).collect(),
    };
    let filled = |dtype: DType, n: f64, shape: Shape| {
        Value::Splat(Splat { literal: Literal::from_f64(dtype, n), shape, weak: false })
    };
    let all = filled(DType::Bool, 1.0, Shape::from(counts));
    let mask = bound(pad.clone(), &[all, filled(DType::Bool, 0.0, Shape::scalar())], location)?;
    let spread = bound(pad, &[part, filled(whole.dtype, 0.0, Shape::scalar())], location)?;
    bound(prim::Select {}, &[mask, spread, x], location)
}

/// A number as an element of an array.
fn known(value: &Value, ty: &ArrayType) -> Result<Literal, Error> {
    let literal = match value {
        Value::Splat(splat) if splat.shape.rank() == 0 => Some(splat.literal),
        Value::Known(tensor, _) if tensor.rank() == 0 => Some(tensor.literal(0)),
        _ => None,
    };
    literal.map(|literal| literal.convert(ty.dtype)).ok_or_else(|| {
        let message =
            format!("what is read outside must be a number known while tracing, found {}", value.ty());
        Error::new(ErrorKind::Type, message).help("`select` what is read from another array")
    })
}
