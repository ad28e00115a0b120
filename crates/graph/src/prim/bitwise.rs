//! Functions of the bits of integers and bools. None of them has a derivative: their operands have no tangents.

use tracewell_array::{DType, Literal, Tensor};
use tracewell_kernel::{KernelBuilder, Op, Value};

use super::elementwise::{self, Domain, arity, batch_elementwise, map_literals, same_type};
use crate::error::{RuleError, TypeError};
use crate::graph::Atom;
use crate::params;
use crate::primitive::{Batched, Cx, Example, Jvp, Lowering, Operand, Primitive};
use crate::ty::ArrayType;

/// One entry a function: how many operands, its element types, its meaning, its expansion.
macro_rules! bitwise {
    ($($(#[doc = $doc:literal])* $Name:ident $name:literal $arity:literal $domain:ident
        eval $eval:expr, lower $lower:expr;)*) => {$(
        params! { $(#[doc = $doc])* pub struct $Name {} }

        impl Primitive for $Name {
            fn name(&self) -> &str { $name }

            fn type_rule(&self, inputs: &[ArrayType]) -> Result<Vec<ArrayType>, TypeError> {
                arity($name, inputs, $arity)?;
                Ok(vec![same_type($name, Domain::$domain, inputs)?])
            }

            fn eval(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, String> {
                let eval: fn(&[Literal]) -> Literal = $eval;
                Ok(vec![map_literals(inputs[0].dtype(), inputs[0].shape(), inputs, eval)])
            }

            fn jvp(&self, cx: &mut Cx<'_>, primals: &[Atom], _: &[Option<Atom>]) -> Result<Jvp, RuleError> {
                let primals: Vec<&Atom> = primals.iter().collect();
                Ok(Jvp::one(cx.bind($Name {}, &primals)?, None))
            }

            fn transpose(
                &self,
                _: &mut Cx<'_>,
                _: &[Operand],
                _: &[Option<Atom>],
            ) -> Result<Vec<Option<Atom>>, RuleError> {
                Err(RuleError::not_linear($name))
            }

            fn batch(
                &self,
                cx: &mut Cx<'_>,
                size: usize,
                operands: &[Batched],
            ) -> Result<Vec<Batched>, RuleError> {
                batch_elementwise(cx, $Name {}, size, operands)
            }

            fn lower(&self, _: &[ArrayType], _: &[ArrayType]) -> Result<Lowering, RuleError> {
                let lower: fn(&mut KernelBuilder, &[Value]) -> Value = $lower;
                Ok(Lowering::map(lower))
            }

            fn examples() -> Vec<Example> {
                elementwise::examples($Name {}, Domain::$domain, $arity)
            }
        }
    )*};
}

bitwise! {
    /// `and a, b`: the bits that both have; of bools, whether both hold.
    And "and" 2 Bits
        eval |x| Literal::from_bits(x[0].dtype(), x[0].bits() & x[1].bits()),
        lower |k, x| k.op(Op::And, x);
    /// `clz x`: how many bits are zero before the first that is not.
    Clz "clz" 1 Integer
        eval |x| {
            let unused = 128 - width(x[0].dtype());
            Literal::from_i64(x[0].dtype(), i64::from(x[0].bits().leading_zeros()) - unused)
        },
        lower |k, x| k.op(Op::LeadingZeros, x);
    /// `not x`: the bits that it has not; of a bool, whether it does not hold.
    Not "not" 1 Bits
        eval |x| {
            let ones = if x[0].dtype().is_bool() { 1 } else { u128::MAX };
            Literal::from_bits(x[0].dtype(), x[0].bits() ^ ones)
        },
        lower |k, x| k.op(Op::Not, x);
    /// `or a, b`: the bits that one of them has; of bools, whether one holds.
    Or "or" 2 Bits
        eval |x| Literal::from_bits(x[0].dtype(), x[0].bits() | x[1].bits()),
        lower |k, x| k.op(Op::Or, x);
    /// `population_count x`: how many bits are set.
    PopulationCount "population_count" 1 Integer
        eval |x| Literal::from_i64(x[0].dtype(), i64::from(x[0].bits().count_ones())),
        lower |k, x| k.op(Op::PopCount, x);
    /// `shift_left a, b`: bits move up by `b`; 0 where `b` is negative or all bits are moved out.
    ShiftLeft "shift_left" 2 Integer
        eval |x| Literal::from_i64(x[0].dtype(), amount(x).map_or(0, |n| x[0].as_i64() << n)),
        lower |k, x| k.op(Op::Shl, x);
    /// `shift_right_arithmetic a, b`: bits move down by `b` and copies of the highest follow, also in unsigned
    /// types; nothing but copies where `b` is negative or all bits are moved out.
    ShiftRightArithmetic "shift_right_arithmetic" 2 Integer
        eval |x| {
            let unused = 64 - width(x[0].dtype());
            let signed = ((x[0].bits() as u64) << unused) as i64 >> unused;
            Literal::from_i64(x[0].dtype(), signed >> amount(x).unwrap_or(63))
        },
        lower lower_arithmetic;
    /// `shift_right_logical a, b`: bits move down by `b` and zeros follow; 0 where `b` is negative or all bits are
    /// moved out.
    ShiftRightLogical "shift_right_logical" 2 Integer
        eval |x| Literal::from_bits(x[0].dtype(), amount(x).map_or(0, |n| x[0].bits() >> n)),
        lower |k, x| k.op(Op::ShrLogical, x);
    /// `xor a, b`: the bits that only one of them has; of bools, whether only one holds.
    Xor "xor" 2 Bits
        eval |x| Literal::from_bits(x[0].dtype(), x[0].bits() ^ x[1].bits()),
        lower |k, x| k.op(Op::Xor, x);
}

/// Bits of an element.
fn width(dtype: DType) -> i64 {
    8 * dtype.size() as i64
}

/// By how much the second shifts the first, if not all bits are moved out.
fn amount(x: &[Literal]) -> Option<i64> {
    let amount = x[1].as_i64();
    (0..width(x[0].dtype())).contains(&amount).then_some(amount)
}

/// The kernel's shift follows the sign of the type, so unsigned numbers are shifted as signed ones.
fn lower_arithmetic(k: &mut KernelBuilder, x: &[Value]) -> Value {
    match k.dtype(x[0]) {
        DType::U32 => {
            let [a, n] = [x[0], x[1]].map(|x| k.op(Op::Bitcast(DType::I32), &[x]));
            let shifted = k.op(Op::Shr, &[a, n]);
            k.op(Op::Bitcast(DType::U32), &[shifted])
        }
        DType::U8 => {
            let [a, n] = [x[0], x[1]].map(|x| k.op(Op::Convert(DType::I32), &[x]));
            // 128 to 255 become -128 to -1.
            let sign = k.constant(0x80i32);
            let flipped = k.op(Op::Xor, &[a, sign]);
            let signed = k.op(Op::Sub, &[flipped, sign]);
            let shifted = k.op(Op::Shr, &[signed, n]);
            k.op(Op::Convert(DType::U8), &[shifted])
        }
        _ => k.op(Op::Shr, x),
    }
}
