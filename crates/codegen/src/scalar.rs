//! Operations on one lane.
//!
//! Every operation is total, as the kernel language says beside each. Results equal the kernel's own evaluation
//! bit for bit, except for the sign and payload of a NaN: where arithmetic yields one they are the machine's
//! choice, and where `Min` or `Max` hand on their first operand all bits are set.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder as _, MemFlagsData, Value, types};
use tracewell_array::{DType, Literal};
use tracewell_kernel::{Comparison, Op, Size};

use crate::abi::Symbol;
use crate::emit::{Emit, scalar_type};

impl Emit<'_> {
    /// `op args`, where `dtype` is the type of the first operand that is not the condition of a `Select`.
    pub(crate) fn scalar(&mut self, op: Op, dtype: DType, args: &[Value]) -> Value {
        let float = dtype.is_float();
        match op {
            Op::Const(literal) => self.literal(literal),
            Op::Size(id) => self.sizes[id.0 as usize],
            Op::Neg if float => self.ins().fneg(args[0]),
            Op::Neg => self.ins().ineg(args[0]),
            Op::Abs if float => self.ins().fabs(args[0]),
            Op::Abs if dtype.is_signed() => self.ins().iabs(args[0]),
            Op::Abs => args[0],
            Op::Sqrt => self.ins().sqrt(args[0]),
            Op::Floor => self.ins().floor(args[0]),
            Op::Ceil => self.ins().ceil(args[0]),
            Op::Trunc => self.ins().trunc(args[0]),
            Op::RoundEven => self.ins().nearest(args[0]),
            Op::Not if dtype.is_bool() => {
                let one = self.int(types::I8, 1);
                self.ins().bxor(args[0], one)
            }
            Op::Not => self.ins().bnot(args[0]),
            Op::PopCount => self.ins().popcnt(args[0]),
            Op::LeadingZeros => self.ins().clz(args[0]),
            Op::Add if float => self.ins().fadd(args[0], args[1]),
            Op::Add => self.ins().iadd(args[0], args[1]),
            Op::Sub if float => self.ins().fsub(args[0], args[1]),
            Op::Sub => self.ins().isub(args[0], args[1]),
            Op::Mul if float => self.ins().fmul(args[0], args[1]),
            Op::Mul => self.ins().imul(args[0], args[1]),
            Op::Div if float => self.ins().fdiv(args[0], args[1]),
            Op::Div => self.divide(dtype, args[0], args[1]),
            Op::Rem if dtype == DType::F32 => self.call_helper(Symbol::RemF32, args),
            Op::Rem if float => self.call_helper(Symbol::RemF64, args),
            Op::Rem => self.remainder(dtype, args[0], args[1]),
            Op::Min => self.extreme(dtype, Comparison::Lt, args[0], args[1]),
            Op::Max => self.extreme(dtype, Comparison::Gt, args[0], args[1]),
            Op::And => self.ins().band(args[0], args[1]),
            Op::Or => self.ins().bor(args[0], args[1]),
            Op::Xor => self.ins().bxor(args[0], args[1]),
            Op::Shl | Op::Shr | Op::ShrLogical => self.shift(op, dtype, args[0], args[1]),
            Op::Fma => self.ins().fma(args[0], args[1], args[2]),
            Op::Compare(comparison) => self.compare(comparison, dtype, args[0], args[1]),
            Op::Rarely | Op::Scaled => args[0],
            Op::Select => self.ins().select(args[0], args[1], args[2]),
            Op::Convert(to) => self.convert(dtype, to, args[0]),
            Op::Bitcast(to) => self.bitcast(to, args[0]),
            Op::Clamp(size) => self.clamp(dtype, size, args[0]),
        }
    }

    /// A divisor that the machine divides by without a trap: 1 in place of 0 and -1. With it, whether the
    /// divisor is 0, and whether it is -1 (`None` for unsigned types).
    fn safe_divisor(&mut self, dtype: DType, divisor: Value) -> (Value, Value, Option<Value>) {
        let one = self.int(scalar_type(dtype), 1);
        let zero = self.icmp_const(IntCC::Equal, divisor, 0);
        let safe = self.ins().select(zero, one, divisor);
        if !dtype.is_signed() {
            return (safe, zero, None);
        }
        let minus_one = self.icmp_const(IntCC::Equal, divisor, -1);
        (self.ins().select(minus_one, one, safe), zero, Some(minus_one))
    }

    fn divide(&mut self, dtype: DType, a: Value, b: Value) -> Value {
        let (safe, zero, minus_one) = self.safe_divisor(dtype, b);
        let quotient = match minus_one {
            None => self.ins().udiv(a, safe),
            Some(minus_one) => {
                let quotient = self.ins().sdiv(a, safe);
                let negated = self.ins().ineg(a);
                self.ins().select(minus_one, negated, quotient)
            }
        };
        let ones = self.int(scalar_type(dtype), -1);
        self.ins().select(zero, ones, quotient)
    }

    fn remainder(&mut self, dtype: DType, a: Value, b: Value) -> Value {
        let (safe, zero, minus_one) = self.safe_divisor(dtype, b);
        // By 1 in place of -1 leaves 0, which is right.
        let remainder = match minus_one {
            None => self.ins().urem(a, safe),
            Some(_) => self.ins().srem(a, safe),
        };
        self.ins().select(zero, a, remainder)
    }

    /// `a` if the comparison holds or `a` is NaN, else `b`.
    fn extreme(&mut self, dtype: DType, comparison: Comparison, a: Value, b: Value) -> Value {
        let wins = self.compare(comparison, dtype, a, b);
        let other = self.ins().select(wins, a, b);
        if !dtype.is_float() {
            return other;
        }
        // The same NaN as in vectors, where setting all bits is cheapest.
        let ones = self.literal(Literal::from_bits(dtype, u128::MAX));
        let nan = self.is_nan(a);
        self.ins().select(nan, ones, other)
    }

    fn shift(&mut self, op: Op, dtype: DType, a: Value, amount: Value) -> Value {
        let ty = scalar_type(dtype);
        let inside = self.icmp_const(IntCC::UnsignedLessThan, amount, i64::from(ty.bits()));
        if op == Op::Shr && dtype.is_signed() {
            // One less than the width leaves only sign bits.
            let last = self.int(ty, i64::from(ty.bits()) - 1);
            let amount = self.ins().select(inside, amount, last);
            return self.ins().sshr(a, amount);
        }
        let shifted = match op {
            Op::Shl => self.ins().ishl(a, amount),
            _ => self.ins().ushr(a, amount),
        };
        let zero = self.int(ty, 0);
        self.ins().select(inside, shifted, zero)
    }

    fn compare(&mut self, comparison: Comparison, dtype: DType, a: Value, b: Value) -> Value {
        if dtype.is_float() {
            self.compare_floats(comparison, a, b)
        } else {
            self.ins().icmp(int_code(comparison, dtype.is_signed()), a, b)
        }
    }

    /// A comparison of float scalars or vectors. Greater is less with the sides exchanged: Cranelift knows a
    /// minimum or maximum by a choice after `less` only.
    pub(crate) fn compare_floats(&mut self, comparison: Comparison, a: Value, b: Value) -> Value {
        match comparison {
            Comparison::Eq => self.ins().fcmp(FloatCC::Equal, a, b),
            // Also true where an operand is NaN.
            Comparison::Ne => self.ins().fcmp(FloatCC::NotEqual, a, b),
            Comparison::Lt => self.ins().fcmp(FloatCC::LessThan, a, b),
            Comparison::Le => self.ins().fcmp(FloatCC::LessThanOrEqual, a, b),
            Comparison::Gt => self.ins().fcmp(FloatCC::LessThan, b, a),
            Comparison::Ge => self.ins().fcmp(FloatCC::LessThanOrEqual, b, a),
        }
    }

    fn convert(&mut self, from: DType, to: DType, value: Value) -> Value {
        let ty = scalar_type(to);
        match (from.is_float(), to.is_float()) {
            _ if from == to => value,
            (true, true) if from.size() < to.size() => self.ins().fpromote(ty, value),
            (true, true) => self.ins().fdemote(ty, value),
            (true, false) if to.is_bool() => {
                let zero = self.literal(Literal::zero(from));
                self.ins().fcmp(FloatCC::NotEqual, value, zero)
            }
            (true, false) if to == DType::U8 => {
                let wide = self.ins().fcvt_to_uint_sat(types::I32, value);
                let top = self.int(types::I32, 255);
                let capped = self.ins().umin(wide, top);
                self.ins().ireduce(types::I8, capped)
            }
            (true, false) if to.is_signed() => self.ins().fcvt_to_sint_sat(ty, value),
            (true, false) => self.ins().fcvt_to_uint_sat(ty, value),
            (false, true) if from.size() == 1 => {
                let wide = self.ins().uextend(types::I32, value);
                self.ins().fcvt_from_sint(ty, wide)
            }
            (false, true) if from.is_signed() => self.ins().fcvt_from_sint(ty, value),
            (false, true) => self.ins().fcvt_from_uint(ty, value),
            (false, false) if to.is_bool() => self.icmp_const(IntCC::NotEqual, value, 0),
            (false, false) if from.size() > to.size() => self.ins().ireduce(ty, value),
            (false, false) if from.size() == to.size() => value,
            (false, false) if from.is_signed() => self.ins().sextend(ty, value),
            (false, false) => self.ins().uextend(ty, value),
        }
    }

    fn bitcast(&mut self, to: DType, value: Value) -> Value {
        let ty = scalar_type(to);
        if self.type_of(value) == ty { value } else { self.ins().bitcast(ty, MemFlagsData::new(), value) }
    }

    fn clamp(&mut self, dtype: DType, size: Size, value: Value) -> Value {
        let last = self.last_of(dtype, size);
        let below = self.ins().smin(value, last);
        let zero = self.int(scalar_type(dtype), 0);
        self.ins().smax(below, zero)
    }

    /// The last index below a size as a type has it, 0 where there is none.
    pub(crate) fn last_of(&mut self, dtype: DType, size: Size) -> Value {
        let largest = if dtype == DType::I32 { i64::from(i32::MAX) } else { i64::MAX };
        if let Size::Const(n) = size {
            return self.int(scalar_type(dtype), (n.max(1) - 1).min(largest));
        }
        let size = self.size(size);
        let one = self.int(types::I64, 1);
        let size = self.ins().smax(size, one);
        let last = self.add_const(size, -1);
        if dtype == DType::I64 {
            return last;
        }
        let largest = self.int(types::I64, largest);
        let last = self.ins().smin(last, largest);
        self.ins().ireduce(scalar_type(dtype), last)
    }
}

/// Cranelift's name for a comparison of integers or bools.
pub(crate) fn int_code(comparison: Comparison, signed: bool) -> IntCC {
    match (comparison, signed) {
        (Comparison::Eq, _) => IntCC::Equal,
        (Comparison::Ne, _) => IntCC::NotEqual,
        (Comparison::Lt, true) => IntCC::SignedLessThan,
        (Comparison::Lt, false) => IntCC::UnsignedLessThan,
        (Comparison::Le, true) => IntCC::SignedLessThanOrEqual,
        (Comparison::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (Comparison::Gt, true) => IntCC::SignedGreaterThan,
        (Comparison::Gt, false) => IntCC::UnsignedGreaterThan,
        (Comparison::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (Comparison::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}
