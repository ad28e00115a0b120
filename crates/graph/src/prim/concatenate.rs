//! `concatenate[axis=A] x, y, …`: arrays one after the other along the axis `A`.

use tracewell_array::{DType, Literal, Shape, Tensor};

use super::Slice;
use super::shape_rules::{each_index, position};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{AxisView, Batched, Cx, Example, Jvp, Lowering, Operand, Piece, Primitive};
use crate::rows::{OfRows, of_same_rows};
use crate::ty::ArrayType;

params! {
    /// `concatenate[axis=A] x, y, …`: the operands one after the other along axis `A`.
    pub struct Concatenate {
        /// The axis along which they follow each other; all others are equal.
        axis: usize,
    }
}

impl Primitive for Concatenate {
    fn name(&self) -> &str {
        "concatenate"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        let fail = |why: String| Err(TypeError::new("concatenate", why));
        let Some(first) = inputs.first() else {
            return fail("`concatenate` expects at least one array, found none".to_string());
        };
        if self.axis >= first.rank() {
            return fail(format!(
                "cannot concatenate along axis {} of {first}: it has {} axes",
                self.axis,
                first.rank()
            ));
        }
        let mut size = 0usize;
        for ty in inputs {
            let fits = ty.dtype == first.dtype
                && ty.rank() == first.rank()
                && ty.shape.with(self.axis, 0) == first.shape.with(self.axis, 0);
            if !fits {
                return fail(format!(
                    "cannot concatenate {first} and {ty} along axis {}: all other axes and the element type must be equal",
                    self.axis
                ));
            }
            size = match size.checked_add(ty.shape.size(self.axis)) {
                Some(size) => size,
                None => return fail("the result has too many elements".to_string()),
            };
        }
        let shape = first.shape.with(self.axis, size);
        if shape.checked_len().is_none() {
            return fail("the result has too many elements".to_string());
        }
        Ok(vec![ArrayType { weak: inputs.iter().all(|ty| ty.weak), ..first.with_shape(shape) }])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let size = inputs.iter().map(|x| x.shape().size(self.axis)).sum();
        let shape = inputs[0].shape().with(self.axis, size);
        let mut literals: Vec<Literal> = Vec::with_capacity(shape.len());
        each_index(&shape, |index| {
            let (mut from, mut operand) = (index.to_vec(), 0);
            while from[self.axis] >= inputs[operand].shape().size(self.axis) {
                from[self.axis] -= inputs[operand].shape().size(self.axis);
                operand += 1;
            }
            literals.push(inputs[operand].literal(position(inputs[operand].shape(), &from)));
        });
        Ok(vec![Tensor::from_literals(inputs[0].dtype(), shape, &literals).map_err(|e| e.to_string())?])
    }

    /// Linear in all operands.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let y = cx.bind_all(self.clone(), primals)?.remove(0);
        if tangents.iter().all(Option::is_none) {
            return Ok(Jvp::one(y, None));
        }
        let filled = primals.iter().zip(tangents);
        let filled: Vec<Atom> = filled.map(|(x, dx)| dx.clone().unwrap_or_else(|| cx.fill(x, 0.0))).collect();
        Ok(Jvp::one(y, Some(cx.bind_all(self.clone(), &filled)?.remove(0))))
    }

    /// Each operand gets its part of the cotangent.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Some(ct) = &cotangents[0] else { return Ok(vec![None; operands.len()]) };
        let (shape, mut start) = (cx.ty(ct).shape, 0);
        let mut parts = Vec::with_capacity(operands.len());
        for operand in operands {
            let (size, linear) = match operand {
                Operand::Linear(ty) => (ty.shape.size(self.axis), true),
                Operand::Known(atom) => (cx.ty(atom).shape.size(self.axis), false),
            };
            let part = Slice::along(&shape, self.axis, start, start + size);
            parts.push(linear.then(|| cx.bind(part, &[ct])).transpose()?);
            start += size;
        }
        Ok(parts)
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let atoms = cx.batch_all(size, operands)?;
        let result = cx.bind_all(Concatenate { axis: self.axis + 1 }, &atoms)?.remove(0);
        Ok(vec![Batched::yes(result)])
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let mut at = 0;
        let mut piece = |(operand, ty): (usize, &ArrayType)| {
            let mut start = vec![0; ty.rank()];
            start[self.axis] = at;
            at += ty.shape.size(self.axis);
            let view = (0..ty.rank()).map(AxisView::follow).collect();
            Piece { operand, view, shape: ty.shape.clone(), start, step: vec![1; ty.rank()] }
        };
        Ok(Lowering::Pieces(inputs.iter().enumerate().map(&mut piece).collect()))
    }

    /// Rows are made longer, not more.
    fn of_rows(&self, inputs: &[ArrayType], out: &ArrayType, _: usize) -> Option<OfRows> {
        of_same_rows(self.axis != 0, inputs, out)
    }

    fn examples() -> Vec<Example> {
        let cases: [(usize, &[&[usize]]); 7] = [
            (0, &[&[3]]),
            (0, &[&[3], &[2]]),
            (0, &[&[2], &[0], &[1]]),
            (1, &[&[2, 3], &[2, 1]]),
            (0, &[&[1, 3], &[2, 3], &[1, 3]]),
            (1, &[&[0, 2], &[0, 3]]),
            (2, &[&[2, 1, 3, 2], &[2, 1, 1, 2]]),
        ];
        super::examples_of(
            &cases.map(|(axis, shapes)| {
                (Concatenate { axis }.into(), shapes.iter().map(|&shape| Shape::from(shape)).collect())
            }),
            DType::ALL,
        )
    }
}
