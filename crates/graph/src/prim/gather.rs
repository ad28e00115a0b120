//! `gather[…] x, i…`: windows of `x` that start where arrays of integers say.

use tracewell_array::{DType, Literal, Tensor};

use super::places::{Places, batched_indices, place_examples};
use super::sheet::Sheet;
use super::window::known_starts;
use super::{Scatter, ScatterOp};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params::{Param, ParamValue};
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;
use crate::{params, prim::Prim};

params! {
    /// `gather[follows=F, sizes=W, along=A, index_axes=I, from_back=B, outside=O] x, i…`: windows of `x`. Each array of
    /// indices says where they start along its axis of `x`; one of size 1 along an axis is repeated along it.
    pub struct Gather {
        /// For each axis of `x`, the axis of the result that it follows; -1 where windows have one element.
        follows: Vec<i64>,
        /// For each axis of `x`, how many elements a window has.
        sizes: Vec<usize>,
        /// For each array of indices, the axis of `x` along which it says where windows start.
        along: Vec<usize>,
        /// For each axis of the indices, the axis of the result that it is.
        index_axes: Vec<usize>,
        /// Whether negative indices count from the back.
        from_back: bool,
        /// What is read by a window that would not be inside.
        outside: Outside,
    }
}

/// What is read by a window that would not be inside its array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outside {
    /// The nearest window that is inside.
    Clip,
    /// This value, everywhere.
    Fill(Literal),
}

impl Outside {
    /// The same of one part of complex numbers.
    fn part(self, part: fn(Literal) -> Literal) -> Outside {
        match self {
            Outside::Clip => Outside::Clip,
            Outside::Fill(value) => Outside::Fill(part(value)),
        }
    }

    /// The same of tangents, which are zero where values are fixed.
    fn of_tangents(self) -> Outside {
        match self {
            Outside::Clip => Outside::Clip,
            Outside::Fill(value) => Outside::Fill(Literal::zero(value.dtype())),
        }
    }
}

impl Param for Outside {
    /// `"clip"`, or `"f32 0.0"`.
    fn to_value(&self) -> ParamValue {
        ParamValue::Text(match self {
            Outside::Clip => "clip".to_string(),
            Outside::Fill(value) => format!("{} {value}", value.dtype()),
        })
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let ParamValue::Text(text) = value else { return None };
        if text == "clip" {
            return Some(Outside::Clip);
        }
        let (dtype, value) = text.split_once(' ')?;
        Literal::parse(DType::parse(dtype)?, value).map(Outside::Fill)
    }
}

impl Gather {
    /// Of these windows.
    pub fn new(places: Places, outside: Outside) -> Gather {
        let Places { follows, sizes, along, index_axes, from_back } = places;
        Gather { follows, sizes, along, index_axes, from_back, outside }
    }

    fn places(&self) -> Places {
        let Gather { follows, sizes, along, index_axes, from_back, .. } = self.clone();
        Places { follows, sizes, along, index_axes, from_back }
    }

    pub(super) fn bind(self, cx: &mut Cx<'_>, x: &Atom, indices: &[Atom]) -> Result<Atom, RuleError> {
        let inputs: Vec<&Atom> = std::iter::once(x).chain(indices).collect();
        cx.bind(self, &inputs)
    }
}

impl Primitive for Gather {
    fn name(&self) -> &str {
        "gather"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let Some((x, indices)) = inputs.split_first() else {
            return Err(TypeError::new("gather", "`gather` takes an array and indices, found no operands"));
        };
        if let Outside::Fill(value) = self.outside
            && value.dtype() != x.dtype
        {
            let message = format!("`gather` of {x}: what is put outside is of {}", value.dtype());
            return Err(TypeError::new("gather", message));
        }
        Ok(vec![x.with_shape(self.places().shape("gather", x, indices)?)])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (x, indices) = (&inputs[0], &inputs[1..]);
        let types: Vec<ArrayType> = inputs.iter().map(ArrayType::of).collect();
        let shape = self.places().shape("gather", &types[0], &types[1..]).map_err(|e| e.message)?;
        let mut literals: Vec<Literal> = Vec::with_capacity(shape.len());
        self.places().each(x.shape(), &shape, indices, |_, from, inside| {
            literals.push(match self.outside {
                Outside::Fill(value) if !inside => value,
                _ => x.literal(from),
            });
        });
        Ok(vec![Tensor::from_literals(x.dtype(), shape, &literals).map_err(|e| e.to_string())?])
    }

    /// Linear in the array, but for what is put outside; the indices are integers.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = self.clone().bind(cx, &primals[0], &primals[1..])?;
        let of_tangents = Gather { outside: self.outside.of_tangents(), ..self.clone() };
        let dy = tangents[0].as_ref().map(|dx| of_tangents.bind(cx, dx, &primals[1..])).transpose()?;
        Ok(Jvp::one(y, dy))
    }

    /// The adjoint adds the windows to zeros.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let mut found = vec![None; operands.len()];
        if let (Operand::Linear(ty), Some(ct)) = (&operands[0], &cotangents[0]) {
            let indices = known_starts("gather", &operands[1..])?;
            let add = Scatter::new(self.places(), ScatterOp::Add, self.outside != Outside::Clip);
            found[0] = Some(add.bind(cx, &Atom::fill(ty, 0.0), ct, &indices)?);
        }
        Ok(found)
    }

    /// One more axis of the windows: of the array, of the indices or of both.
    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let x = &operands[0];
        let (indices, any) = batched_indices(cx, &operands[1..])?;
        let batched = Gather::new(self.places().batched(size, x.batched, any), self.outside);
        Ok(vec![Batched::yes(batched.bind(cx, &x.atom, &indices)?)])
    }

    /// Elements of the array wherever they are needed, without memory for all of them.
    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        if inputs[0].dtype.is_complex() {
            return Ok(Sheet::lowering("gather", inputs, |s, operands| {
                let (re, im) = s.parts(&operands[0]);
                let mut of = |part: Atom, outside: Outside| {
                    let operands: Vec<Atom> =
                        std::iter::once(part).chain(operands[1..].iter().cloned()).collect();
                    s.bind(Gather { outside, ..self.clone() }, &operands)
                };
                let (re, im) =
                    (of(re, self.outside.part(Literal::re)), of(im, self.outside.part(Literal::im)));
                s.complex(&re, &im)
            }));
        }
        let outside = match self.outside {
            Outside::Clip => None,
            Outside::Fill(value) => Some(value),
        };
        Ok(Lowering::Lookup(self.places().lookup(&inputs[0].shape, &inputs[1..], outside)))
    }

    fn examples() -> Vec<Example> {
        let prim = |places: Places, dtype: DType, number: usize| -> Prim {
            let fill = Outside::Fill(Literal::from_f64(dtype, 1.0));
            Gather::new(places, if number.is_multiple_of(2) { Outside::Clip } else { fill }).into()
        };
        place_examples(DType::ALL, prim, |_| true, false)
    }
}
