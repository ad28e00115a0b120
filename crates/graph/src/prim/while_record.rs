//! A loop that keeps snapshots of what it carries, for its reverse mode.
//!
//! There is room for `K` snapshots, and one more that only the way back uses. A snapshot is taken every `s` trips, at
//! first at each. When there are `K`, every other one is dropped and `s` doubles; so a loop of `n` trips ends with
//! between `K/2` and `K` snapshots, if it has that many trips, and has copied each carry at most `2·n/s` times.
//!
//! The loop becomes three, one inside the other, so that the room for snapshots is touched only where it changes:
//!
//! ```text
//! fill
//! while C(x):
//!   snapshots, s, held = snapshots[0, 2, 4, …], 2·s, held/2
//!   fill
//!
//! fill:
//!   while held < K and C(x):
//!     snapshots[held], held = x, held + 1
//!     left = s
//!     while left > 0 and C(x):
//!       x, left = B(x), left - 1
//!     trips = trips + s - left
//! ```

use tracewell_array::{DType, Shape};
use tracewell_kernel::Comparison;

use super::nested::{built, inline_strictly, parts};
use super::{
    Add, And, Compare, Convert, Div, DynamicSlice, DynamicUpdateSlice, Mul, Pad, Prim, Reshape, Slice, Sub,
    While,
};
use crate::error::RuleError;
use crate::graph::Atom;
use crate::primitive::Cx;
use crate::ty::ArrayType;

/// The bytes that snapshots may take, unless the fewest take more.
const MEMORY: usize = 8 << 20;

/// How many snapshots are kept, at least and at most.
const FEWEST: usize = 4;
const MOST: usize = 128;

/// How many snapshots of carries of these types there is room for: 4 to 128, and an even number.
pub(super) fn affordable(carries: &[ArrayType]) -> usize {
    let bytes: usize = carries.iter().map(|ty| ty.shape.len() * ty.dtype.size()).sum();
    (MEMORY / bytes.max(1)).clamp(FEWEST, MOST) & !1
}

/// What a loop that has run leaves for its reverse mode.
pub(super) struct Record {
    /// How many trips there were.
    trips: Atom,
    /// How many trips are between two snapshots.
    stride: Atom,
    /// How many snapshots are held.
    held: Atom,
    /// For each carry, the snapshots.
    snapshots: Vec<Atom>,
}

impl Record {
    /// All of it, in the order of [`known`].
    pub(super) fn atoms(self) -> Vec<Atom> {
        [self.trips, self.stride, self.held].into_iter().chain(self.snapshots).collect()
    }
}

/// The types of a record, and then of the body's constants.
pub(super) fn known(rooms: &[ArrayType], consts: &[ArrayType]) -> Vec<ArrayType> {
    [&[trips(), trips(), place()], rooms, consts].concat()
}

/// The type of trips.
pub(super) fn trips() -> ArrayType {
    ArrayType::new(DType::I64, Shape::scalar())
}

/// The type of places of snapshots.
pub(super) fn place() -> ArrayType {
    ArrayType::new(DType::I32, Shape::scalar())
}

/// A number of trips.
pub(super) fn trip(number: usize) -> Atom {
    Atom::fill(&trips(), number as f64)
}

/// The place of a snapshot, or a number of places.
pub(super) fn slot(number: usize) -> Atom {
    Atom::fill(&place(), number as f64)
}

/// The types of `count` snapshots of carries of these types, and of room for one more.
pub(super) fn room(carries: &[ArrayType], count: usize) -> Vec<ArrayType> {
    carries.iter().map(|ty| ArrayType::new(ty.dtype, ty.shape.insert(0, count + 1))).collect()
}

/// Whether one number is below another.
pub(super) fn less(cx: &mut Cx<'_>, a: &Atom, b: &Atom) -> Result<Atom, RuleError> {
    cx.bind(Compare { comparison: Comparison::Lt }, &[a, b])
}

/// One element along the leading axis.
pub(super) fn load(cx: &mut Cx<'_>, all: &Atom, at: &Atom) -> Result<Atom, RuleError> {
    let shape = cx.ty(all).shape;
    let sizes = shape.with(0, 1).iter().collect();
    let zeros = vec![slot(0); shape.rank() - 1];
    let operands: Vec<&Atom> = [all, at].into_iter().chain(&zeros).collect();
    let one = cx.bind(DynamicSlice { sizes }, &operands)?;
    cx.bind(Reshape { shape: shape.remove(0) }, &[&one])
}

/// The array with one element along the leading axis replaced.
pub(super) fn store(cx: &mut Cx<'_>, all: &Atom, one: &Atom, at: &Atom) -> Result<Atom, RuleError> {
    let shape = cx.ty(all).shape;
    let one = cx.bind(Reshape { shape: shape.with(0, 1) }, &[one])?;
    let zeros = vec![slot(0); shape.rank() - 1];
    let operands: Vec<&Atom> = [all, &one, at].into_iter().chain(&zeros).collect();
    cx.bind(DynamicUpdateSlice {}, &operands)
}

/// Every other one of `count` snapshots, at the beginning of the same room.
fn every_other(cx: &mut Cx<'_>, all: &Atom, count: usize) -> Result<Atom, RuleError> {
    let ty = cx.ty(all);
    let mut slice = Slice::along(&ty.shape, 0, 0, count);
    slice.step[0] = 2;
    let kept = cx.bind(slice, &[all])?;
    let mut high = vec![0; ty.rank()];
    high[0] = (count / 2 + 1) as i64;
    let pad = Pad { low: vec![0; ty.rank()], high, interior: vec![0; ty.rank()] };
    cx.bind(pad, &[&kept, &Atom::fill(&ty.with_shape(Shape::scalar()), 0.0)])
}

/// Runs a loop and keeps up to `count` snapshots, an even number. Gives its results and the record.
pub(super) fn record(
    cx: &mut Cx<'_>,
    looped: &While,
    count: usize,
    primals: &[Atom],
) -> Result<(Vec<Atom>, Record), RuleError> {
    let (cond_consts, consts, carries) = looped.split(primals);
    let rooms = room(&looped.types().2, count);
    let empty: Vec<Atom> = rooms.iter().map(|ty| Atom::fill(ty, 0.0)).collect();
    let filling = filling(cx, looped, count)?;
    let stride = [trip(1)];
    let numbers = [slot(0), trip(0)];
    let operands = [cond_consts, &stride, cond_consts, consts, &numbers, &empty, carries].concat();
    let mut first = cx.bind_all(filling, &operands)?;
    first.insert(2, trip(1));
    let doubling = doubling(cx, looped, count)?;
    let results = cx.bind_all(doubling, &[cond_consts, cond_consts, consts, &first].concat())?;
    let [numbers, snapshots, carries] = parts(&results, [3, rooms.len(), carries.len()]);
    let record = Record {
        held: numbers[0].clone(),
        trips: numbers[1].clone(),
        stride: numbers[2].clone(),
        snapshots: snapshots.to_vec(),
    };
    Ok((carries.to_vec(), record))
}

/// The outer loop: carries what is held, the trips, the stride, the snapshots and the loop's own.
fn doubling(cx: &Cx<'_>, looped: &While, count: usize) -> Result<While, RuleError> {
    let (cond_types, const_types, carry_types) = looped.types();
    let numbers = [place(), trips(), trips()];
    let rooms = room(&carry_types, count);
    let lengths = [numbers.len(), rooms.len(), carry_types.len()];
    let cond_inputs: [&[ArrayType]; 4] = [&cond_types, &numbers, &rooms, &carry_types];
    let cond = built(cx.walks(), &looped.cond.name, &cond_inputs, |cx, inputs| {
        let (consts, carried) = inputs.split_at(cond_types.len());
        let [_, _, x] = parts(carried, lengths);
        inline_strictly(cx, &looped.cond, &[consts, x].concat())
    })?;
    let inputs: [&[ArrayType]; 5] = [&cond_types, &const_types, &numbers, &rooms, &carry_types];
    let body = built(cx.walks(), "doubling", &inputs, |cx, inputs| {
        let [cond_consts, consts, carried] =
            parts(inputs, [cond_types.len(), const_types.len(), lengths.iter().sum()]);
        let [numbers, snapshots, x] = parts(carried, lengths);
        let [held, trips, stride] = numbers else { unreachable!("three numbers") };
        let half = cx.bind(Div {}, &[held, &slot(2)])?;
        let stride = cx.bind(Mul {}, &[stride, &trip(2)])?;
        let mut kept = Vec::with_capacity(snapshots.len());
        for all in snapshots {
            kept.push(every_other(cx, all, count)?);
        }
        let filling = filling(cx, looped, count)?;
        let numbers = [half, trips.clone()];
        let stride_only = std::slice::from_ref(&stride);
        let operands = [cond_consts, stride_only, cond_consts, consts, &numbers, &kept, x].concat();
        let mut results = cx.bind_all(filling, &operands)?;
        results.insert(2, stride);
        Ok(results)
    })?;
    let (cond_consts, body_consts) = (cond_types.len(), cond_types.len() + const_types.len());
    Ok(While { cond, body, cond_consts, body_consts })
}

/// The loop that fills the room: from the stride and the constants; carries what is held, the trips, the snapshots and the loop's
/// own.
fn filling(cx: &Cx<'_>, looped: &While, count: usize) -> Result<While, RuleError> {
    let (cond_types, const_types, carry_types) = looped.types();
    let (stride, numbers) = ([trips()], [place(), trips()]);
    let rooms = room(&carry_types, count);
    let lengths = [numbers.len(), rooms.len(), carry_types.len()];
    let cond_inputs: [&[ArrayType]; 4] = [&cond_types, &numbers, &rooms, &carry_types];
    let cond = built(cx.walks(), &looped.cond.name, &cond_inputs, |cx, inputs| {
        let (consts, carried) = inputs.split_at(cond_types.len());
        let [numbers, _, x] = parts(carried, lengths);
        let goes_on = inline_strictly(cx, &looped.cond, &[consts, x].concat())?;
        let has_room = less(cx, &numbers[0], &slot(count))?;
        Ok(vec![cx.bind(And {}, &[&has_room, &goes_on[0]])?])
    })?;
    let inputs: [&[ArrayType]; 6] = [&stride, &cond_types, &const_types, &numbers, &rooms, &carry_types];
    let body = built(cx.walks(), "filling", &inputs, |cx, inputs| {
        let [stride, cond_consts, consts, carried] =
            parts(inputs, [1, cond_types.len(), const_types.len(), lengths.iter().sum()]);
        let [numbers, snapshots, x] = parts(carried, lengths);
        let [held, trips] = numbers else { unreachable!("two numbers") };
        let mut taken = Vec::with_capacity(snapshots.len());
        for (all, x) in snapshots.iter().zip(x) {
            taken.push(store(cx, all, x, held)?);
        }
        let running = running(cx, looped)?;
        let after = cx.bind_all(running, &[cond_consts, consts, stride, x].concat())?;
        let run = cx.bind(Sub {}, &[&stride[0], &after[0]])?;
        let mut results = vec![cx.bind(Add {}, &[held, &slot(1)])?, cx.bind(Add {}, &[trips, &run])?];
        results.extend(taken);
        results.extend_from_slice(&after[1..]);
        Ok(results)
    })?;
    let (cond_consts, body_consts) = (cond_types.len(), 1 + cond_types.len() + const_types.len());
    Ok(While { cond, body, cond_consts, body_consts })
}

/// The inner loop: carries how many trips are left, and the loop's own.
fn running(cx: &Cx<'_>, looped: &While) -> Result<While, RuleError> {
    let (cond_types, _, carry_types) = looped.types();
    let cond_inputs: [&[ArrayType]; 3] = [&cond_types, &[trips()], &carry_types];
    let cond = built(cx.walks(), &looped.cond.name, &cond_inputs, |cx, inputs| {
        let [consts, left, x] = parts(inputs, [cond_types.len(), 1, carry_types.len()]);
        let goes_on = inline_strictly(cx, &looped.cond, &[consts, x].concat())?;
        let has_left = less(cx, &trip(0), &left[0])?;
        Ok(vec![cx.bind(And {}, &[&has_left, &goes_on[0]])?])
    })?;
    Ok(While { cond, cond_consts: cond_types.len(), ..repeated(cx, looped)? })
}

/// The body, as often as the first carry says.
pub(super) fn repeated(cx: &Cx<'_>, looped: &While) -> Result<While, RuleError> {
    let (_, const_types, carry_types) = looped.types();
    let left = [trips()];
    let cond = built(cx.walks(), "trips_left", &[&left, &carry_types], |cx, inputs| {
        Ok(vec![less(cx, &trip(0), &inputs[0])?])
    })?;
    let inputs: [&[ArrayType]; 3] = [&const_types, &left, &carry_types];
    let body = built(cx.walks(), &looped.body.name, &inputs, |cx, inputs| {
        let [consts, left, x] = parts(inputs, [const_types.len(), 1, carry_types.len()]);
        let mut results = vec![cx.bind(Sub {}, &[&left[0], &trip(1)])?];
        results.extend(inline_strictly(cx, &looped.body, &[consts, x].concat())?);
        Ok(results)
    })?;
    Ok(While { cond, body, cond_consts: 0, body_consts: const_types.len() })
}

/// A number of places as a number of trips.
pub(super) fn as_trips(cx: &mut Cx<'_>, places: &Atom) -> Result<Atom, RuleError> {
    let convert: Prim = Convert { dtype: DType::I64, weak: false }.into();
    cx.bind(convert, &[places])
}
