//! The way back through a loop that has run: cotangents are pulled through the body, from the last trip to the first.
//!
//! The snapshots that the loop kept (`while_record.rs`) are a stack, the latest on top. If the top is of the trip that is
//! due, the cotangents are pulled through the body there and the snapshot is dropped. If it is of an earlier trip, the
//! loop runs on from it, and leaves more snapshots in the room that there is:
//!
//! ```text
//! while t ≥ 0:
//!   while at[top] < t:                              there is a way to go
//!     ahead = ceil(2·(t - at[top]) / (free + 1))    all of it, if one place is free
//!     push B(B(…(top))), of trip at[top] + ahead
//!   while at[top] = t:                              as many as there are in a row
//!     cotangents = pulled through B at top
//!     pop; t = t - 1
//! ```
//!
//! Memory is that of `K + 1` carries, `K` being 4 to 128, as many as 8 MiB hold. A loop of at most `K` trips computes
//! nothing again. For up to `K²/2` trips the body runs at most twice more for each trip; beyond, about `n/K²` times.

use std::sync::Arc;

use tracewell_array::DType;
use tracewell_kernel::Comparison;

use super::nested::{built, inline_strictly, parts, spread};
use super::while_record::{as_trips, known, less, load, place, repeated, room, slot, store, trip, trips};
use super::{Add, Broadcast, Compare, Div, Iota, Mul, Sub, While};
use crate::error::RuleError;
use crate::graph::{Atom, Graph};
use crate::primitive::Cx;
use crate::ty::ArrayType;

/// The pullback of one trip.
pub(super) struct Pull {
    /// From constants, carries and cotangents of what varies of the carries to cotangents that are not zero.
    pub(super) graph: Arc<Graph>,
    /// Which are not, of what varies of the constants and then of the carries.
    pub(super) nonzero: Vec<bool>,
}

/// The way back through a loop.
pub(super) struct Back<'l> {
    /// The loop that has run.
    looped: &'l While,
    /// How many snapshots it could keep.
    count: usize,
    pull: Pull,
    /// The types of the snapshots.
    rooms: Vec<ArrayType>,
    /// The types of the body's constants.
    consts: Vec<ArrayType>,
    /// The types of cotangents, of constants and of carries.
    const_tangents: Vec<ArrayType>,
    carry_tangents: Vec<ArrayType>,
}

impl<'l> Back<'l> {
    /// Through a loop that kept up to `count` snapshots, by the pullback of a trip, for cotangents of these types: of
    /// constants, and of carries.
    pub(super) fn new(
        looped: &'l While,
        count: usize,
        pull: Pull,
        const_tangents: &[ArrayType],
        carry_tangents: &[ArrayType],
    ) -> Back<'l> {
        let (_, consts, carries) = looped.types();
        Back {
            looped,
            count,
            pull,
            rooms: room(&carries, count),
            consts,
            const_tangents: const_tangents.to_vec(),
            carry_tangents: carry_tangents.to_vec(),
        }
    }

    /// From the record of the loop, its body's constants and the cotangents of carries to those of constants and carries.
    pub(super) fn adjoint(&self, cx: &Cx<'_>) -> Result<Arc<Graph>, RuleError> {
        let known = known(&self.rooms, &self.consts);
        let back = self.back(cx)?;
        built(cx.walks(), "while_adjoint", &[&known, &self.carry_tangents], |cx, inputs| {
            let (known, cotangents) = inputs.split_at(known.len());
            let [numbers, snapshots, consts] = parts(known, [3, self.rooms.len(), self.consts.len()]);
            let [trips, stride, held] = numbers else { unreachable!("three numbers") };
            let last = cx.bind(Sub {}, &[trips, &trip(1)])?;
            let at = self.places(cx, stride)?;
            let zeros: Vec<Atom> = self.const_tangents.iter().map(|ty| Atom::fill(ty, 0.0)).collect();
            let numbers = [last, held.clone(), at];
            let operands = [consts, &numbers, snapshots, &zeros, cotangents].concat();
            Ok(cx.bind_all(back, &operands)?.split_off(3 + snapshots.len()))
        })
    }

    /// The trips of the snapshots: multiples of the stride.
    fn places(&self, cx: &mut Cx<'_>, stride: &Atom) -> Result<Atom, RuleError> {
        let shape = self.places_type().shape;
        let count = cx.bind_all(Iota { dtype: DType::I64, shape: shape.clone(), axis: 0 }, &[])?;
        let stride = cx.bind(Broadcast { shape, axes: vec![] }, &[stride])?;
        cx.bind(Mul {}, &[&count[0], &stride])
    }

    fn places_type(&self) -> ArrayType {
        ArrayType::new(DType::I64, [self.count + 1])
    }

    /// The outer loop: carries the trip that is due, what is held, the trips of snapshots, the snapshots, and the
    /// cotangents of constants and carries.
    fn back(&self, cx: &Cx<'_>) -> Result<While, RuleError> {
        let numbers = [trips(), place(), self.places_type()];
        let carried: [&[ArrayType]; 4] = [&numbers, &self.rooms, &self.const_tangents, &self.carry_tangents];
        let carried = carried.concat();
        let cond = built(cx.walks(), "trips_due", &[&carried], |cx, inputs| {
            Ok(vec![cx.bind(Compare { comparison: Comparison::Ge }, &[&inputs[0], &trip(0)])?])
        })?;
        let (ahead, pulling) = (self.ahead(cx)?, self.pulling(cx)?);
        let body = built(cx.walks(), "back", &[&self.consts, &carried], |cx, inputs| {
            let (consts, carried) = inputs.split_at(self.consts.len());
            let cotangents = self.const_tangents.len() + self.carry_tangents.len();
            let [numbers, snapshots, cotangents] = parts(carried, [3, self.rooms.len(), cotangents]);
            let due = &numbers[..1];
            let operands = [due, due, consts, &numbers[1..], snapshots].concat();
            let stack = cx.bind_all(ahead, &operands)?;
            let [held, at, snapshots] = parts(&stack, [1, 1, self.rooms.len()]);
            let operands = [at, snapshots, consts, due, held, cotangents].concat();
            let pulled = cx.bind_all(pulling, &operands)?;
            let [numbers, cotangents] = parts(&pulled, [2, cotangents.len()]);
            Ok([numbers, at, snapshots, cotangents].concat())
        })?;
        Ok(While { cond, body, cond_consts: 0, body_consts: self.consts.len() })
    }

    /// The loop that pushes snapshots until the top is of the trip that is due, which is a constant: carries what is
    /// held, the trips of snapshots, and the snapshots.
    fn ahead(&self, cx: &Cx<'_>) -> Result<While, RuleError> {
        let (due, numbers) = ([trips()], [place(), self.places_type()]);
        let cond = built(cx.walks(), "way_to_go", &[&due, &numbers, &self.rooms], |cx, inputs| {
            let top = top(cx, &inputs[1])?;
            let at = load(cx, &inputs[2], &top)?;
            Ok(vec![less(cx, &at, &inputs[0])?])
        })?;
        let again = repeated(cx, self.looped)?;
        let inputs: [&[ArrayType]; 4] = [&due, &self.consts, &numbers, &self.rooms];
        let lengths = inputs.map(<[ArrayType]>::len);
        let body = built(cx.walks(), "ahead", &inputs, |cx, inputs| {
            let [due, consts, numbers, snapshots] = parts(inputs, lengths);
            let [held, at] = numbers else { unreachable!("two numbers") };
            let top = top(cx, held)?;
            let from = load(cx, at, &top)?;
            let way = cx.bind(Sub {}, &[&due[0], &from])?;
            let steps = self.steps(cx, &way, held)?;
            let mut x = vec![steps.clone()];
            for all in snapshots {
                x.push(load(cx, all, &top)?);
            }
            let x = cx.bind_all(again, &[consts, &x].concat())?;
            let reached = cx.bind(Add {}, &[&from, &steps])?;
            let mut results = vec![cx.bind(Add {}, &[held, &slot(1)])?, store(cx, at, &reached, held)?];
            for (all, x) in snapshots.iter().zip(&x[1..]) {
                results.push(store(cx, all, x, held)?);
            }
            Ok(results)
        })?;
        Ok(While { cond, body, cond_consts: 1, body_consts: 1 + self.consts.len() })
    }

    /// How far to go before the next snapshot: `ceil(2·way / (free + 1))`. With one place free that is all the way. With
    /// more it is farther than equal parts would be, for later parts will find more places free.
    fn steps(&self, cx: &mut Cx<'_>, way: &Atom, held: &Atom) -> Result<Atom, RuleError> {
        let free = cx.bind(Sub {}, &[&slot(self.count + 1), held])?;
        let free = as_trips(cx, &free)?;
        let twice = cx.bind(Mul {}, &[way, &trip(2)])?;
        let up = cx.bind(Add {}, &[&twice, &free])?;
        let parts = cx.bind(Add {}, &[&free, &trip(1)])?;
        cx.bind(Div {}, &[&up, &parts])
    }

    /// The loop that pulls cotangents back while the top is of the trip that is due: from the trips of snapshots, the
    /// snapshots and the body's constants; carries the trip, what is held, and cotangents.
    fn pulling(&self, cx: &Cx<'_>) -> Result<While, RuleError> {
        let (at, numbers) = ([self.places_type()], [trips(), place()]);
        let carried: [&[ArrayType]; 3] = [&numbers, &self.const_tangents, &self.carry_tangents];
        let carried = carried.concat();
        let cond = built(cx.walks(), "is_due", &[&at, &carried], |cx, inputs| {
            let top = top(cx, &inputs[2])?;
            let at = load(cx, &inputs[0], &top)?;
            Ok(vec![cx.bind(Compare { comparison: Comparison::Eq }, &[&at, &inputs[1]])?])
        })?;
        let inputs: [&[ArrayType]; 3] = [&self.rooms, &self.consts, &carried];
        let body = built(cx.walks(), "pulling", &inputs, |cx, inputs| {
            let [snapshots, consts, carried] =
                parts(inputs, [self.rooms.len(), self.consts.len(), carried.len()]);
            let [numbers, sums, cotangents] =
                parts(carried, [2, self.const_tangents.len(), self.carry_tangents.len()]);
            let top = top(cx, &numbers[1])?;
            let mut x = Vec::with_capacity(snapshots.len());
            for all in snapshots {
                x.push(load(cx, all, &top)?);
            }
            let operands = [consts, &x, cotangents].concat();
            let found = spread(inline_strictly(cx, &self.pull.graph, &operands)?, &self.pull.nonzero);
            let (of_consts, of_carries) = found.split_at(sums.len());
            let mut results = vec![cx.bind(Sub {}, &[&numbers[0], &trip(1)])?, top];
            for (sum, found) in sums.iter().zip(of_consts) {
                results.push(match found {
                    Some(found) => cx.bind(Add {}, &[sum, found])?,
                    None => sum.clone(),
                });
            }
            for (ty, found) in self.carry_tangents.iter().zip(of_carries) {
                results.push(found.clone().unwrap_or_else(|| Atom::fill(ty, 0.0)));
            }
            Ok(results)
        })?;
        Ok(While { cond, body, cond_consts: 1, body_consts: self.rooms.len() + self.consts.len() })
    }
}

/// The place of the top of a stack.
fn top(cx: &mut Cx<'_>, held: &Atom) -> Result<Atom, RuleError> {
    cx.bind(Sub {}, &[held, &slot(1)])
}
