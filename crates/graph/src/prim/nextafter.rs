//! `nextafter a, b`: the float next to `a` on the way to `b`, as in C.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::{Comparison, KernelBuilder, Op, Value};

use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

params! {
    /// `nextafter a, b`: the float next to `a` towards `b`; `b` where they are equal, NaN where either is. It has
    /// no derivative.
    pub struct Nextafter {}
}

impl Primitive for Nextafter {
    fn name(&self) -> &str {
        "nextafter"
    }

    fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
        arity("nextafter", inputs, 2)?;
        Ok(vec![same_type("nextafter", Domain::Float, inputs)?])
    }

    fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
        let dtype = inputs[0].dtype();
        Ok(vec![map_literals(dtype, inputs[0].shape(), inputs, |x| {
            let (a, b) = (x[0].as_f64(), x[1].as_f64());
            if dtype == DType::F32 {
                Literal::new(libm::nextafterf(a as f32, b as f32))
            } else {
                Literal::new(libm::nextafter(a, b))
            }
        })])
    }

    fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<Jvp, RuleError> {
        if tangents.iter().any(Option::is_some) {
            return Err(RuleError::not_differentiable("nextafter", "it is made of steps"));
        }
        Ok(Jvp::one(cx.bind(Nextafter {}, &[&primals[0], &primals[1]])?, None))
    }

    fn transpose(
        &self,
        _: &mut Cx<'_>,
        _: &[Operand],
        _: &[Option<Atom>],
    ) -> Result<Vec<Option<Atom>>, RuleError> {
        Err(RuleError::not_linear("nextafter"))
    }

    fn batch(&self, cx: &mut Cx<'_>, size: usize, operands: &[Batched]) -> Result<Vec<Batched>, RuleError> {
        batch_elementwise(cx, Nextafter {}, size, operands)
    }

    fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
        Ok(Lowering::map(lower_nextafter))
    }

    fn examples() -> Vec<Example> {
        elementwise::examples(Nextafter {}, Domain::Float, 2)
    }
}

/// The bits of floats of one sign count up with their magnitude.
fn lower_nextafter(k: &mut KernelBuilder, x: &[Value]) -> Value {
    let (a, b) = (x[0], x[1]);
    let float = k.dtype(a);
    let int = if float == DType::F32 { DType::I32 } else { DType::I64 };
    let zero = k.like(a, 0.0);
    // Away from zero where `b` is above a positive `a` or below a negative one.
    let rises = k.compare(Comparison::Lt, a, b);
    let positive = k.compare(Comparison::Gt, a, zero);
    let differ = k.op(Op::Xor, &[rises, positive]);
    let [up, down] = [1, -1].map(|step| k.literal(Literal::from_i64(int, step)));
    let step = k.select(differ, down, up);
    let bits = k.op(Op::Bitcast(int), &[a]);
    let bits = k.op(Op::Add, &[bits, step]);
    let stepped = k.op(Op::Bitcast(float), &[bits]);
    // From zero, the smallest number with the sign of the other.
    let [least, most] = [1, -1].map(|sign| {
        let least = Literal::from_bits(float, 1).as_f64();
        k.like(a, f64::from(sign) * least)
    });
    let smallest = k.select(rises, least, most);
    let from_zero = k.compare(Comparison::Eq, a, zero);
    let moved = k.select(from_zero, smallest, stepped);
    let arrived = k.compare(Comparison::Eq, a, b);
    let y = k.select(arrived, b, moved);
    // A NaN is not equal to itself.
    let b_is_number = k.compare(Comparison::Eq, b, b);
    let y = k.select(b_is_number, y, b);
    let a_is_number = k.compare(Comparison::Eq, a, a);
    k.select(a_is_number, y, a)
}
