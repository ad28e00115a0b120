//! `linear_recurrence[axis=A, reverse=R] a, b`: `h_i = a_i × h_{i-1} + b_i` along an axis, from 0 on.

use tracewell_array::{DType, Literal, Shape, Tensor};
use tracewell_kernel::{KernelBuilder, Op, Value};

use super::cumulative::shifted;
use super::elementwise::{Domain, arity, same_type};
use super::running::{Running, Walk};
use super::shape_rules::{check_axes, each_index, position};
use super::{Add, Mul};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `linear_recurrence[axis=A, reverse=R] a, b`: `h` with `h_i = a_i × h_{i-1} + b_i` along axis `A`, where nothing
    /// comes before the first element; if `R`, from the last element on.
    pub struct LinearRecurrence {
        /// The axis.
        axis: usize,
        /// Whether from the last element on.
        reverse: bool,
    }
}

impl Primitive for LinearRecurrence {
    fn name(&self) -> &str {
        "linear_recurrence"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("linear_recurrence", inputs, 2)?;
        check_axes("linear_recurrence", &[self.axis], &inputs[0])?;
        Ok(vec![same_type("linear_recurrence", Domain::Float, inputs)?])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let (a, b) = (&inputs[0], &inputs[1]);
        let (shape, dtype) = (a.shape(), a.dtype());
        let size = shape.size(self.axis);
        let mut literals = vec![Literal::zero(dtype); shape.len()];
        each_index(&shape.with(self.axis, size.min(1)), |index| {
            let mut h = 0.0;
            for i in 0..size {
                let mut index = index.to_vec();
                index[self.axis] = if self.reverse { size - 1 - i } else { i };
                let at = position(shape, &index);
                // Rounded as it is computed: what overflows on the way stays so.
                let product = Literal::from_f64(dtype, a.literal(at).as_f64() * h).as_f64();
                literals[at] = Literal::from_f64(dtype, product + b.literal(at).as_f64());
                h = literals[at].as_f64();
            }
        });
        Ok(vec![Tensor::from_literals(dtype, shape.clone(), &literals).map_err(|e| e.to_string())?])
    }

    /// Tangents follow the same recurrence.
    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        let (a, b) = (&primals[0], &primals[1]);
        let h = cx.bind(self.clone(), &[a, b])?;
        let by_factor = match &tangents[0] {
            None => None,
            Some(da) => {
                let before = shifted(cx, &h, self.axis, !self.reverse, 0.0)?;
                Some(cx.bind(Mul {}, &[da, &before])?)
            }
        };
        let own = match (by_factor, &tangents[1]) {
            (None, None) => return Ok(Jvp::one(h, None)),
            (Some(x), None) => x,
            (None, Some(db)) => db.clone(),
            (Some(x), Some(db)) => cx.bind(Add {}, &[&x, db])?,
        };
        let dh = cx.bind(self.clone(), &[a, &own])?;
        Ok(Jvp::one(h, Some(dh)))
    }

    /// Linear in what is added: the recurrence backwards, each step with the factor of the next one.
    fn transpose(
        &self,
        cx: &mut Cx<'_>,
        operands: &[Operand],
        cotangents: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        let Operand::Known(a) = &operands[0] else { return Err(RuleError::not_linear("linear_recurrence")) };
        let Some(ct) = &cotangents[0] else { return Ok(vec![None, None]) };
        let a = shifted(cx, a, self.axis, self.reverse, 0.0)?;
        let back = LinearRecurrence { axis: self.axis, reverse: !self.reverse };
        Ok(vec![None, Some(cx.bind(back, &[&a, ct])?)])
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        let operands = cx.batch_all(size, operands)?;
        let batched = LinearRecurrence { axis: self.axis + 1, ..self.clone() };
        Ok(vec![Batched::yes(cx.bind(batched, &[&operands[0], &operands[1]])?)])
    }

    fn lower(&self, inputs: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        let walk = Walk::new(&inputs[0].shape, self.axis, self.reverse);
        let start = Literal::zero(inputs[0].dtype);
        let step = |b: &mut KernelBuilder, h: Value, x: &[Value]| {
            let product = b.op(Op::Mul, &[x[0], h]);
            b.op(Op::Add, &[product, x[1]])
        };
        let join: Option<fn(&mut KernelBuilder, Value, Value) -> Value> = None;
        Ok(walk.lowering(Running { start, step, join, is_quick: true }))
    }

    fn examples() -> Vec<Example> {
        let cases: [(&[usize], usize); 9] = [
            (&[1], 0),
            (&[7], 0),
            (&[0], 0),
            (&[3, 4], 1),
            (&[4, 3], 0),
            (&[2, 0, 3], 2),
            (&[2, 1, 3], 1),
            (&[2, 1, 3, 2, 2], 2),
            (&[3, 520], 0),
        ];
        let floats: Vec<DType> = DType::ALL.iter().copied().filter(|d| d.is_float()).collect();
        [false, true]
            .into_iter()
            .flat_map(|reverse| {
                super::examples_of(
                    &cases.map(|(shape, axis)| {
                        let shape = Shape::from(shape);
                        (LinearRecurrence { axis, reverse }.into(), vec![shape.clone(), shape])
                    }),
                    &floats,
                )
            })
            .collect()
    }
}
