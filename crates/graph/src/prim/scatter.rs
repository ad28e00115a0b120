//! `scatter[op=O, …] x, u, i…`: `x` with elements of `u` combined into it where arrays of integers say.

use std::sync::Arc;

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::{AddAt, Library, LibraryCall, Op};

use super::elementwise::{Domain, difference};
use super::places::{PlaceLoops, Places, batched_indices, place_examples};
use super::scatter_jvp::{add_tangent, extreme_tangent, product_tangent, set_tangent};
use super::window::known_starts;
use super::{Gather, Outside, Prim};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::params::{Param, ParamValue};
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `scatter[op=O, follows=F, sizes=W, along=A, index_axes=I, from_back=B, drop=D] x, u, i…`: `x`, the elements of
    /// the windows that `gather` would read combined with those of `u`, one after the other in the order of `u`.
    pub struct Scatter {
        /// How an element is combined with its update.
        op: ScatterOp,
        /// For each axis of `x`, the axis of `u` that it follows; -1 where windows have one element.
        follows: Vec<i64>,
        /// For each axis of `x`, how many elements a window has.
        sizes: Vec<usize>,
        /// For each array of indices, the axis of `x` along which it says where windows start.
        along: Vec<usize>,
        /// For each axis of the indices, the axis of `u` that it is.
        index_axes: Vec<usize>,
        /// Whether negative indices count from the back.
        from_back: bool,
        /// Whether a window that would not be inside is left out; else it is the nearest one that is.
        drop: bool,
    }
}

/// Bytes of an array that fits a cache: adding to its elements in any order does not wait for memory.
const LARGE: usize = 1 << 18;
/// A call copies the array. If updates are fewer than this part of its elements, they are added to it where it is.
const FEW: usize = 4;

/// How an element is combined with its update.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScatterOp {
    /// The update takes its place; the last one stays.
    Set,
    /// Their sum.
    Add,
    /// Their product.
    Mul,
    /// The smaller one; NaN if either is.
    Min,
    /// The larger one; NaN if either is.
    Max,
}

impl ScatterOp {
    /// All of them.
    pub const ALL: [ScatterOp; 5] = [Self::Set, Self::Add, Self::Mul, Self::Min, Self::Max];

    /// The lower-case name used in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Add => "add",
            Self::Mul => "mul",
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// The operation of the kernel language; none where the update takes the element's place.
    fn op(self) -> Option<Op> {
        match self {
            Self::Set => None,
            Self::Add => Some(Op::Add),
            Self::Mul => Some(Op::Mul),
            Self::Min => Some(Op::Min),
            Self::Max => Some(Op::Max),
        }
    }

    fn domain(self) -> Domain {
        match self {
            Self::Set => Domain::Any,
            Self::Add => Domain::Field,
            Self::Mul | Self::Min | Self::Max => Domain::Number,
        }
    }

    /// An element combined with an update.
    fn combine(self, x: Literal, update: Literal) -> Literal {
        let dtype = x.dtype();
        if self == Self::Set {
            return update;
        }
        if dtype.is_complex() {
            return Literal::from_complex(dtype, x.as_complex() + update.as_complex());
        }
        if dtype.is_float() {
            let (a, b) = (x.as_f64(), update.as_f64());
            let first = |a_first: bool| if b.is_nan() || (!a.is_nan() && !a_first) { b } else { a };
            return Literal::from_f64(
                dtype,
                match self {
                    Self::Add => a + b,
                    Self::Mul => a * b,
                    Self::Min => first(a < b),
                    Self::Max | Self::Set => first(a > b),
                },
            );
        }
        let (a, b) = (x.as_i64(), update.as_i64());
        Literal::from_i64(
            dtype,
            match self {
                Self::Add => a.wrapping_add(b),
                Self::Mul => a.wrapping_mul(b),
                Self::Min => a.min(b),
                Self::Max | Self::Set => a.max(b),
            },
        )
    }
}

impl Param for ScatterOp {
    fn to_value(&self) -> ParamValue {
        ParamValue::Text(self.name().to_string())
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let ParamValue::Text(text) = value else { return None };
        Self::ALL.into_iter().find(|op| op.name() == text)
    }
}

impl Scatter {
    /// Into these windows.
    pub fn new(places: Places, op: ScatterOp, drop: bool) -> Scatter {
        let Places { follows, sizes, along, index_axes, from_back } = places;
        Scatter { op, follows, sizes, along, index_axes, from_back, drop }
    }

    fn places(&self) -> Places {
        let Scatter { follows, sizes, along, index_axes, from_back, .. } = self.clone();
        Places { follows, sizes, along, index_axes, from_back }
    }

    /// A sum of many elements of a large array as a call, which knows how to share that between threads: elements
    /// that one array of indices names in the order of the updates.
    fn as_call(&self, inputs: &[ArrayType]) -> Option<LibraryCall> {
        let ([x, updates, indices], [axis]) = (inputs, self.along.as_slice()) else { return None };
        let (len, count) = (x.shape.len(), updates.shape.len());
        let is_plain =
            x.shape.size(*axis) == len && indices.shape.len() == count && self.index_axes.is_sorted();
        let is_worth_it = len * x.dtype.size() >= LARGE && len <= i32::MAX as usize && count >= len / FEW;
        if self.op != ScatterOp::Add || !is_plain || !is_worth_it {
            return None;
        }
        let is_signed = matches!(indices.dtype, DType::I32 | DType::I64);
        let add_at = AddAt { from_back: self.from_back && is_signed, drop: self.drop };
        let inputs: Vec<_> = inputs.iter().map(|ty| (ty.dtype, ty.shape.clone())).collect();
        let outputs = vec![inputs[0].clone()];
        Some(LibraryCall { library: Library::AddAt(add_at), inputs, outputs })
    }

    /// The same places with another operation.
    pub(super) fn with(&self, op: ScatterOp) -> Scatter {
        Scatter { op, ..self.clone() }
    }

    /// What is at the places; 0 where nothing is put.
    pub(super) fn read(&self, cx: &mut Cx<'_>, x: &Atom, indices: &[Atom]) -> Result<Atom, RuleError> {
        let zero = Outside::Fill(Literal::zero(cx.ty(x).dtype));
        let outside = if self.drop { zero } else { Outside::Clip };
        Gather::new(self.places(), outside).bind(cx, x, indices)
    }

    pub(super) fn bind(
        self,
        cx: &mut Cx<'_>,
        x: &Atom,
        updates: &Atom,
        indices: &[Atom],
    ) -> Result<Atom, RuleError> {
        let inputs: Vec<&Atom> = [x, updates].into_iter().chain(indices).collect();
        cx.bind(self, &inputs)
    }
}

impl Primitive for Scatter {
    fn name(&self) -> &str {
        "scatter"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let fail = |why: String| Err(TypeError::new("scatter", why));
        let [x, updates, indices @ ..] = inputs else {
            return fail(format!(
                "`scatter` takes an array, updates and indices, found {} operands",
                inputs.len()
            ));
        };
        let windows = x.with_shape(self.places().shape("scatter", x, indices)?);
        if let Some(why) = difference(&windows, updates) {
            return fail(format!("`scatter` into {x} needs updates {windows}, found {updates}: {why}"));
        }
        if !self.op.domain().holds(x.dtype) {
            return Err(self.op.domain().refuse("scatter", &format!("scatter` by `{}", self.op.name()), x));
        }
        Ok(vec![ArrayType { weak: x.weak && updates.weak, ..x.clone() }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (x, updates) = (&inputs[0], &inputs[1]);
        let mut literals: Vec<Literal> = x.literals().collect();
        self.places().each(x.shape(), updates.shape(), &inputs[2..], |from, to, inside| {
            if inside || !self.drop {
                literals[to] = self.op.combine(literals[to], updates.literal(from));
            }
        });
        let updated = Tensor::from_literals(x.dtype(), x.shape(), &literals);
        Ok(vec![updated.map_err(|e| e.to_string())?])
    }

    /// A sum is linear in both operands; the others are differentiated by what they do to an element.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let [x, updates, indices @ ..] = primals else { unreachable!("typed") };
        let y = self.clone().bind(cx, x, updates, indices)?;
        let moves = (tangents[0].as_ref(), tangents[1].as_ref());
        if let (None, None) = moves {
            return Ok(Jvp::one(y, None));
        }
        let dy = match self.op {
            ScatterOp::Add => add_tangent(cx, self, (x, updates), moves, indices)?,
            ScatterOp::Set => set_tangent(cx, self, (x, updates), moves, indices)?,
            ScatterOp::Mul => product_tangent(cx, self, (x, updates), moves, indices)?,
            ScatterOp::Min | ScatterOp::Max => extreme_tangent(cx, self, (x, updates), moves, (&y, indices))?,
        };
        Ok(Jvp::one(y, dy))
    }

    /// A sum passes its cotangent on to the array, and what is at the places to the updates.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let mut found = vec![None; operands.len()];
        let Some(ct) = &cotangents[0] else { return Ok(found) };
        if self.op != ScatterOp::Add {
            return Err(RuleError::not_linear("scatter"));
        }
        let indices = known_starts("scatter", &operands[2..])?;
        found[0] = operands[0].is_linear().then(|| ct.clone());
        if operands[1].is_linear() {
            found[1] = Some(self.read(cx, ct, &indices)?);
        }
        Ok(found)
    }

    /// One more axis of the array and of the updates, and of the indices if they have it.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let arrays = cx.batch_all(size, &operands[..2])?;
        let (indices, any) = batched_indices(cx, &operands[2..])?;
        let batched = Scatter::new(self.places().batched(size, true, any), self.op, self.drop);
        Ok(vec![Batched::yes(batched.bind(cx, &arrays[0], &arrays[1], &indices)?)])
    }

    /// In place where nobody needs the array any more: only the places are written.
    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Lowering::Parts);
        }
        if let Some(call) = self.as_call(inputs) {
            return Ok(Lowering::Library(call));
        }
        let (op, shapes) = (self.op.op(), (&inputs[0].shape, &inputs[1].shape));
        let loops = PlaceLoops::new(&self.places(), shapes, &inputs[2..], self.drop);
        Ok(Lowering::Update(Arc::new(move |b, operands, results| {
            loops.build(b, &operands[1..], &|b, to, from| {
                let mut element = b.load(operands[0], from);
                if let Some(op) = op {
                    let before = b.load(results[0], to.clone());
                    element = b.op(op, &[before, element]);
                }
                b.store(results[0], to, element);
            });
        })))
    }

    fn examples() -> Vec<Example> {
        let of = |(k, op): (usize, ScatterOp)| {
            let dtypes: Vec<DType> = DType::ALL.iter().copied().filter(|&d| op.domain().holds(d)).collect();
            let prim = move |places: Places, _: DType, number: usize| -> Prim {
                Scatter::new(places, op, number.is_multiple_of(4)).into()
            };
            place_examples(&dtypes, prim, |number| (number + k).is_multiple_of(2), true)
        };
        ScatterOp::ALL.into_iter().enumerate().flat_map(of).collect()
    }
}
