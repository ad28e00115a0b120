//! `pad[low=L, high=H, interior=I] x, value`: a scalar put before, after and between the elements of each axis.
//!
//! Negative numbers before and after take elements away, also such as were put between.

use tracewell_array::{DType, Literal, Shape, Tensor};

use super::elementwise::arity;
use super::shape_rules::{each_index, position};
use super::{Broadcast, ReduceSum, Select, Slice};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{AxisView, Batched, Cx, Example, Jvp, Lowering, Operand, Piece, Primitive};
use crate::ty::ArrayType;

params! {
    /// `pad[low=L, high=H, interior=I] x, value`: `x` with `value` before, after and between its elements.
    pub struct Pad {
        /// For each axis, how many are put before; negative to take away.
        low: Vec<i64>,
        /// For each axis, how many are put after; negative to take away.
        high: Vec<i64>,
        /// For each axis, how many are put between two elements.
        interior: Vec<usize>,
    }
}

/// Along one axis: which elements of the operand are in the result, and where.
#[derive(Clone, Copy)]
struct Reach {
    /// The first element that is.
    first: usize,
    /// How many are.
    count: usize,
    /// The place of the first in the result.
    start: usize,
    /// How far apart they are in the result.
    step: usize,
    /// The size of the result.
    size: usize,
}

impl Pad {
    /// The size of an axis after padding; `None` where it is negative or too large.
    fn padded(&self, axis: usize, size: usize) -> Option<usize> {
        let between = size.saturating_sub(1).checked_mul(self.interior[axis])?;
        let inner = i64::try_from(size.checked_add(between)?).ok()?;
        let padded = inner.checked_add(self.low[axis])?.checked_add(self.high[axis])?;
        usize::try_from(padded).ok()
    }

    fn reach(&self, axis: usize, from: usize) -> Reach {
        let size = self.padded(axis, from).expect("typed");
        let (step, low) = (self.interior[axis] as i64 + 1, self.low[axis]);
        let first = if low < 0 { (-low as usize).div_ceil(step as usize) } else { 0 };
        let start = (low + first as i64 * step) as usize;
        let room = size.saturating_sub(start).div_ceil(step as usize);
        let count = room.min(from.saturating_sub(first));
        Reach { first, count, start, step: step as usize, size }
    }

    fn reaches(&self, shape: &Shape) -> Vec<Reach> {
        shape.iter().enumerate().map(|(axis, size)| self.reach(axis, size)).collect()
    }

    /// Which elements of the result come from the operand: true there, by padding trues with false.
    fn mask(&self, cx: &mut Cx<'_>, shape: &Shape) -> Result<Atom, RuleError> {
        let all = Atom::fill(&ArrayType::new(DType::Bool, shape.clone()), 1.0);
        let none = Atom::fill(&ArrayType::new(DType::Bool, Shape::scalar()), 0.0);
        cx.bind(self.clone(), &[&all, &none])
    }

    /// Takes the operand out of what it was padded to; zeros for elements that padding took away.
    fn unpad(&self, cx: &mut Cx<'_>, padded: &Atom, ty: &ArrayType) -> Result<Atom, RuleError> {
        let reaches = self.reaches(&ty.shape);
        let last =
            |r: &Reach| if r.count == 0 { r.start.min(r.size) } else { r.start + (r.count - 1) * r.step + 1 };
        let taken = Slice {
            start: reaches.iter().map(|r| r.start.min(r.size)).collect(),
            limit: reaches.iter().map(last).collect(),
            step: reaches.iter().map(|r| r.step).collect(),
        };
        let taken = cx.bind(taken, &[padded])?;
        if cx.ty(&taken).shape == ty.shape {
            return Ok(taken);
        }
        let zero = Atom::fill(&ty.with_shape(Shape::scalar()), 0.0);
        let lost = Pad {
            low: reaches.iter().map(|r| r.first as i64).collect(),
            high: reaches
                .iter()
                .zip(ty.shape.iter())
                .map(|(r, n)| n as i64 - (r.first + r.count) as i64)
                .collect(),
            interior: vec![0; reaches.len()],
        };
        cx.bind(lost, &[&taken, &zero])
    }
}

impl Primitive for Pad {
    fn name(&self) -> &str {
        "pad"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("pad", inputs, 2)?;
        let [x, value] = inputs else { unreachable!("arity is checked above") };
        let fail = |why: String| Err(TypeError::new("pad", format!("cannot pad {x}: {why}")));
        if value.dtype != x.dtype || value.rank() != 0 {
            return fail(format!("the value put there must be {}[], found {value}", x.dtype));
        }
        if self.low.len() != x.rank() || self.high.len() != x.rank() || self.interior.len() != x.rank() {
            return fail(format!("low, high and interior need {} numbers each, one an axis", x.rank()));
        }
        let mut sizes = Vec::with_capacity(x.rank());
        for (axis, size) in x.shape.iter().enumerate() {
            let (low, high) = (self.low[axis], self.high[axis]);
            match self.padded(axis, size) {
                Some(padded) => sizes.push(padded),
                None => {
                    return fail(format!(
                        "axis {axis} of size {size} with {low} before and {high} after has no size"
                    ));
                }
            }
        }
        let shape = Shape::from(sizes);
        if shape.checked_len().is_none() {
            return fail("the result has too many elements".to_string());
        }
        Ok(vec![ArrayType { weak: x.weak && value.weak, ..x.with_shape(shape) }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let [x, value] = inputs else { unreachable!("typed") };
        let shape: Shape =
            x.shape().iter().enumerate().map(|(axis, n)| self.padded(axis, n).expect("typed")).collect();
        let mut literals: Vec<Literal> = vec![value.literal(0); shape.len()];
        each_index(x.shape(), |index| {
            let place = |(axis, &i): (usize, &usize)| {
                let at = self.low[axis] + (i * (self.interior[axis] + 1)) as i64;
                usize::try_from(at).ok().filter(|&at| at < shape.size(axis))
            };
            let to: Option<Vec<usize>> = index.iter().enumerate().map(place).collect();
            if let Some(to) = to {
                literals[position(&shape, &to)] = x.literal(position(x.shape(), index));
            }
        });
        Ok(vec![Tensor::from_literals(x.dtype(), shape, &literals).map_err(|e| e.to_string())?])
    }

    /// Linear in both operands.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind(self.clone(), &[&primals[0], &primals[1]])?;
        if tangents.iter().all(Option::is_none) {
            return Ok(Jvp::one(y, None));
        }
        let zero = |i: usize, cx: &Cx<'_>| cx.fill(&primals[i], 0.0);
        let dx = tangents[0].clone().unwrap_or_else(|| zero(0, cx));
        let dv = tangents[1].clone().unwrap_or_else(|| zero(1, cx));
        Ok(Jvp::one(y, Some(cx.bind(self.clone(), &[&dx, &dv])?)))
    }

    /// The operand's part of the cotangent goes to the operand, the sum of the rest to the scalar.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let shape = match &operands[0] {
            Operand::Linear(ty) => ty.shape.clone(),
            Operand::Known(atom) => cx.ty(atom).shape,
        };
        let dx = match &operands[0] {
            Operand::Linear(ty) => Some(self.unpad(cx, ct, ty)?),
            Operand::Known(_) => None,
        };
        let dv = match &operands[1] {
            Operand::Linear(_) => {
                let axes: Vec<usize> = (0..shape.rank()).collect();
                let mask = self.mask(cx, &shape)?;
                let zero = cx.fill(ct, 0.0);
                let rest = cx.bind(Select {}, &[&mask, &zero, ct])?;
                Some(cx.bind(ReduceSum { axes }, &[&rest])?)
            }
            Operand::Known(_) => None,
        };
        Ok(vec![dx, dv])
    }

    /// Another scalar for each element of the batch is put in by a choice.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let with = |rest: &[i64]| -> Vec<i64> { std::iter::once(0).chain(rest.iter().copied()).collect() };
        let interior = std::iter::once(0).chain(self.interior.iter().copied()).collect();
        let batched = Pad { low: with(&self.low), high: with(&self.high), interior };
        let (x, value) = (cx.batch_one(size, &operands[0])?, &operands[1]);
        if !value.batched {
            return Ok(vec![Batched::yes(cx.bind(batched, &[&x, &value.atom])?)]);
        }
        let ty = cx.ty(&x);
        let zero = Atom::fill(&ty.with_shape(Shape::scalar()), 0.0);
        let padded = cx.bind(batched.clone(), &[&x, &zero])?;
        let mask = batched.mask(cx, &ty.shape)?;
        let values = Broadcast { shape: cx.ty(&padded).shape, axes: vec![0] };
        let values = cx.bind(values, &[&value.atom])?;
        Ok(vec![Batched::yes(cx.bind(Select {}, &[&mask, &padded, &values])?)])
    }

    /// The elements of the operand, and boxes of the scalar around and between them.
    fn lower(&self, inputs: &[ArrayType], outputs: &[ArrayType]) -> Result<Lowering, RuleError> {
        let reaches = self.reaches(&inputs[0].shape);
        let mut pieces = vec![Piece {
            operand: 0,
            view: reaches
                .iter()
                .enumerate()
                .map(|(axis, r)| AxisView { axis: Some(axis), start: r.first as i64, step: 1 })
                .collect(),
            shape: reaches.iter().map(|r| r.count).collect(),
            start: reaches.iter().map(|r| r.start).collect(),
            step: reaches.iter().map(|r| r.step).collect(),
        }];
        // Axis by axis: what is outside along this one, where all axes before are inside and all after are whole.
        for (axis, reach) in reaches.iter().enumerate() {
            for (start, step, count) in reach.outside() {
                let piece = |i: usize| match i.cmp(&axis) {
                    std::cmp::Ordering::Less => (reaches[i].start, reaches[i].step, reaches[i].count),
                    std::cmp::Ordering::Equal => (start, step, count),
                    std::cmp::Ordering::Greater => (0, 1, outputs[0].shape.size(i)),
                };
                let all: Vec<(usize, usize, usize)> = (0..reaches.len()).map(piece).collect();
                pieces.push(Piece {
                    operand: 1,
                    view: Vec::new(),
                    shape: all.iter().map(|p| p.2).collect(),
                    start: all.iter().map(|p| p.0).collect(),
                    step: all.iter().map(|p| p.1).collect(),
                });
            }
        }
        Ok(Lowering::Pieces(pieces))
    }

    fn examples() -> Vec<Example> {
        let cases: [PadCase; 11] = [
            (&[], &[], &[], &[]),
            (&[4], &[2], &[1], &[0]),
            (&[4], &[0], &[0], &[2]),
            (&[5], &[-1], &[-2], &[0]),
            (&[4], &[-3], &[2], &[1]),
            (&[3], &[-4], &[5], &[0]),
            (&[0], &[2], &[1], &[3]),
            (&[2, 3], &[1, 0], &[0, 2], &[0, 1]),
            (&[3, 2], &[-1, 1], &[1, -1], &[1, 0]),
            (&[2, 1, 3], &[0, 1, 1], &[1, 0, -2], &[0, 4, 0]),
            (&[1, 2, 2, 2], &[1, 0, 0, 1], &[0, 1, 0, 0], &[0, 0, 1, 2]),
        ];
        super::examples_of(
            &cases.map(|(from, low, high, interior)| {
                let prim = Pad { low: low.to_vec(), high: high.to_vec(), interior: interior.to_vec() };
                (prim.into(), vec![Shape::from(from), Shape::scalar()])
            }),
            DType::ALL,
        )
    }
}

/// Shape, low, high and interior.
type PadCase = (&'static [usize], &'static [i64], &'static [i64], &'static [usize]);

impl Reach {
    /// What is outside: before, after, and the gaps between, each as start, step and count.
    fn outside(&self) -> Vec<(usize, usize, usize)> {
        if self.count == 0 {
            return vec![(0, 1, self.size)];
        }
        let end = self.start + (self.count - 1) * self.step + 1;
        let gaps = (1..self.step).map(|gap| (self.start + gap, self.step, self.count - 1));
        [(0, 1, self.start), (end, 1, self.size - end)].into_iter().chain(gaps).collect()
    }
}
