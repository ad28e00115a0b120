//! Operations on four lanes.
//!
//! Each lane's result is bit for bit that of `scalar`. What the machine has no vector instruction for is done
//! lane by lane; [`is_native`] says which, so that a loop of such operations can stay scalar.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder as _, Type, Value, types};
use tracewell_array::DType;
use tracewell_kernel::{Comparison, Op};

use crate::convert::converts;
use crate::emit::{Emit, scalar_type};
use crate::lanes::{LANES, Lanes, is_wide, vector_type};
use crate::scalar::int_code;
use crate::target::Features;

/// What a value of the kernel is while code is generated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    /// A scalar: the same in every lane.
    One(Value),
    /// An `i64` that is one more in each lane. Lane 0 is the scalar plus the constant, which becomes part of
    /// addresses for nothing.
    Ramp(Value, i64),
    /// A value for each lane.
    Lanes(Lanes),
}

/// Whether an operation has vector instructions. `uniform_last` says that its last operand is a scalar.
pub(crate) fn is_native(op: Op, dtype: DType, uniform_last: bool, features: Features) -> bool {
    match op {
        Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven => features.round,
        Op::Fma => features.fma,
        Op::Div => dtype.is_float(),
        Op::Rem | Op::PopCount | Op::LeadingZeros => false,
        Op::Shl | Op::Shr | Op::ShrLogical => uniform_last,
        Op::Convert(to) => converts(dtype, to),
        _ => true,
    }
}

impl Emit<'_> {
    /// A value as lanes.
    pub(crate) fn lanes(&mut self, dtype: DType, bound: Bound) -> Lanes {
        match bound {
            Bound::One(value) => self.splat(dtype, value),
            Bound::Ramp(base, plus) => self.ramp(base, plus),
            Bound::Lanes(lanes) => lanes,
        }
    }

    /// One lane of a value as a scalar.
    pub(crate) fn lane(&mut self, dtype: DType, bound: Bound, lane: usize) -> Value {
        match bound {
            Bound::One(value) => value,
            Bound::Ramp(base, plus) => self.add_const(base, plus + lane as i64),
            Bound::Lanes(lanes) => self.extract(dtype, lanes, lane),
        }
    }

    /// `op args` in each lane. `dtypes` are the types of the operands; at least one operand is not a scalar.
    pub(crate) fn vector(&mut self, op: Op, dtypes: &[DType], args: &[Bound]) -> Bound {
        if let Some(ramp) = self.ramp_op(op, args) {
            return ramp;
        }
        let dtype = operand_dtype(op, dtypes);
        let uniform_last = matches!(args.last(), Some(Bound::One(_)));
        if !is_native(op, dtype, uniform_last, self.features) {
            return Bound::Lanes(self.lane_by_lane(op, dtypes, args));
        }
        Bound::Lanes(match (op, args) {
            (Op::Shl | Op::Shr | Op::ShrLogical, &[a, Bound::One(amount)]) => {
                let a = self.lanes(dtype, a);
                self.shift_lanes(op, dtype, a, amount)
            }
            (Op::Select, &[condition, a, b]) => {
                let mask = self.lanes(DType::Bool, condition);
                let zeros = [a, b].map(|bound| self.is_zero(bound));
                let (a, b) = (self.lanes(dtype, a), self.lanes(dtype, b));
                match zeros {
                    // A choice by a mask is three operations; one of its sides is often 0.
                    [_, true] => self.keep(dtype, mask, a, true),
                    [true, _] => self.keep(dtype, mask, b, false),
                    _ => self.select_lanes(dtype, mask, a, b),
                }
            }
            (Op::Scaled, &[a, ..]) => self.lanes(dtype, a),
            (_, &[a]) => {
                let a = self.lanes(dtype, a);
                self.unary(op, dtype, a)
            }
            (_, &[a, b]) => {
                let (a, b) = (self.lanes(dtype, a), self.lanes(dtype, b));
                self.binary_lanes(op, dtype, a, b)
            }
            (Op::Fma, &[a, b, c]) => {
                let (a, b, c) = (self.lanes(dtype, a), self.lanes(dtype, b), self.lanes(dtype, c));
                let parts: Vec<Value> = (0..a.parts().len())
                    .map(|k| self.ins().fma(a.parts()[k], b.parts()[k], c.parts()[k]))
                    .collect();
                Lanes::from_parts(&parts)
            }
            _ => unreachable!("`{}` with {} operands", op.name(), args.len()),
        })
    }

    /// A ramp plus or minus a scalar is a ramp.
    fn ramp_op(&mut self, op: Op, args: &[Bound]) -> Option<Bound> {
        match (op, args) {
            (Op::Add, &[Bound::Ramp(a, plus), Bound::One(b)] | &[Bound::One(b), Bound::Ramp(a, plus)]) => {
                Some(Bound::Ramp(self.ins().iadd(a, b), plus))
            }
            (Op::Sub, &[Bound::Ramp(a, plus), Bound::One(b)]) => {
                Some(Bound::Ramp(self.ins().isub(a, b), plus))
            }
            _ => None,
        }
    }

    fn lane_by_lane(&mut self, op: Op, dtypes: &[DType], args: &[Bound]) -> Lanes {
        let dtype = operand_dtype(op, dtypes);
        let result = op.result(dtypes).expect("the kernel verified");
        let lanes: [Value; LANES] = std::array::from_fn(|lane| {
            let args: Vec<Value> =
                args.iter().zip(dtypes).map(|(&arg, &dtype)| self.lane(dtype, arg, lane)).collect();
            self.scalar(op, dtype, &args)
        });
        self.gather(result, lanes)
    }

    fn unary(&mut self, op: Op, dtype: DType, a: Lanes) -> Lanes {
        let float = dtype.is_float();
        match op {
            Op::Neg if float => a.map(|a| self.ins().fneg(a)),
            Op::Neg => {
                let negated = a.map(|a| self.ins().ineg(a));
                self.wrap(dtype, negated)
            }
            Op::Abs if float => a.map(|a| self.ins().fabs(a)),
            Op::Abs if dtype.is_signed() => a.map(|a| self.ins().iabs(a)),
            Op::Abs | Op::Rarely => a,
            Op::Sqrt => a.map(|a| self.ins().sqrt(a)),
            Op::Floor => a.map(|a| self.ins().floor(a)),
            Op::Ceil => a.map(|a| self.ins().ceil(a)),
            Op::Trunc => a.map(|a| self.ins().trunc(a)),
            Op::RoundEven => a.map(|a| self.ins().nearest(a)),
            Op::Not => {
                let complement = a.map(|a| self.ins().bnot(a));
                self.wrap(dtype, complement)
            }
            Op::Convert(to) => self.convert_lanes(dtype, to, a),
            Op::Bitcast(to) => a.map(|a| self.recast(vector_type(to), a)),
            Op::Clamp(size) => {
                let last = self.last_of(dtype, size);
                let last = self.splat(dtype, last);
                let zero = self.int(scalar_type(dtype), 0);
                let zero = self.splat(dtype, zero);
                let below = self.binary_lanes(Op::Min, dtype, a, last);
                self.binary_lanes(Op::Max, dtype, below, zero)
            }
            _ => unreachable!("`{}` is not unary", op.name()),
        }
    }

    /// A binary operation with vector instructions, apart from shifts.
    pub(crate) fn binary_lanes(&mut self, op: Op, dtype: DType, a: Lanes, b: Lanes) -> Lanes {
        if dtype.is_bool() {
            return self.binary_masks(op, a, b);
        }
        let float = dtype.is_float();
        match op {
            Op::Add if float => a.zip(b, |a, b| self.ins().fadd(a, b)),
            Op::Sub if float => a.zip(b, |a, b| self.ins().fsub(a, b)),
            Op::Mul if float => a.zip(b, |a, b| self.ins().fmul(a, b)),
            Op::Div => a.zip(b, |a, b| self.ins().fdiv(a, b)),
            Op::Min | Op::Max if float => self.extreme_floats(op == Op::Min, a, b),
            Op::Min => self.extreme_ints(dtype, Comparison::Lt, a, b),
            Op::Max => self.extreme_ints(dtype, Comparison::Gt, a, b),
            Op::Compare(comparison) if float => a.zip(b, |a, b| self.compare_floats(comparison, a, b)),
            Op::Compare(comparison) => self.compare_ints(comparison, dtype, a, b),
            Op::And => a.zip(b, |a, b| self.ins().band(a, b)),
            Op::Or => a.zip(b, |a, b| self.ins().bor(a, b)),
            Op::Xor => a.zip(b, |a, b| self.ins().bxor(a, b)),
            Op::Add | Op::Sub | Op::Mul => {
                let wide = a.zip(b, |a, b| match op {
                    Op::Add => self.ins().iadd(a, b),
                    Op::Sub => self.ins().isub(a, b),
                    _ => self.ins().imul(a, b),
                });
                self.wrap(dtype, wide)
            }
            _ => unreachable!("`{}` is not binary", op.name()),
        }
    }

    /// Operations on bools, brought to one width. A mask is 0 or -1: as signed numbers in reverse order.
    fn binary_masks(&mut self, op: Op, a: Lanes, b: Lanes) -> Lanes {
        let (a, b) = match (a, b) {
            (Lanes::Wide(_), Lanes::Wide(_)) | (Lanes::Narrow(_), Lanes::Narrow(_)) => (a, b),
            _ => (Lanes::Narrow(self.narrow(a)), Lanes::Narrow(self.narrow(b))),
        };
        a.zip(b, |a, b| match op {
            Op::And => self.ins().band(a, b),
            Op::Or => self.ins().bor(a, b),
            Op::Xor => self.ins().bxor(a, b),
            Op::Compare(comparison) => self.ins().icmp(int_code(comparison, true), b, a),
            _ => unreachable!("`{}` is not defined on bools", op.name()),
        })
    }

    pub(crate) fn select_lanes(&mut self, dtype: DType, mask: Lanes, a: Lanes, b: Lanes) -> Lanes {
        if dtype.is_bool() {
            let narrow = [mask, a, b].map(|lanes| self.narrow(lanes));
            return Lanes::Narrow(self.ins().bitselect(narrow[0], narrow[1], narrow[2]));
        }
        let mask = self.mask_for(dtype, mask);
        let parts: Vec<Value> =
            (0..a.parts().len()).map(|k| self.choose(mask.parts()[k], a.parts()[k], b.parts()[k])).collect();
        Lanes::from_parts(&parts)
    }

    /// Lanes where the mask is as wanted, else 0.
    fn keep(&mut self, dtype: DType, mask: Lanes, lanes: Lanes, wanted: bool) -> Lanes {
        let (mask, lanes) = if dtype.is_bool() {
            (Lanes::Narrow(self.narrow(mask)), Lanes::Narrow(self.narrow(lanes)))
        } else {
            (self.mask_for(dtype, mask), lanes)
        };
        lanes.zip(mask, |lanes, mask| {
            let mask = self.recast(self.type_of(lanes), mask);
            if wanted { self.ins().band(lanes, mask) } else { self.ins().band_not(lanes, mask) }
        })
    }

    /// Lanes of `a` where the mask is set, else of `b`.
    fn choose(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let mask = self.recast(self.type_of(a), mask);
        self.ins().bitselect(mask, a, b)
    }

    /// `a` where the comparison holds or `a` is NaN, else `b`.
    fn extreme_floats(&mut self, min: bool, a: Lanes, b: Lanes) -> Lanes {
        a.zip(b, |a, b| {
            // A comparison and a choice by it are one instruction, but it takes `b` where `a` is NaN. All bits
            // set are a NaN too, and cheaper than a second choice.
            let comparison = if min { Comparison::Lt } else { Comparison::Gt };
            let wins = self.compare_floats(comparison, a, b);
            let other = self.choose(wins, a, b);
            let nan = self.ins().fcmp(FloatCC::Unordered, a, a);
            let nan = self.recast(self.type_of(a), nan);
            self.ins().bor(other, nan)
        })
    }

    fn extreme_ints(&mut self, dtype: DType, comparison: Comparison, a: Lanes, b: Lanes) -> Lanes {
        if is_wide(dtype) {
            let wins = self.compare_ints(comparison, dtype, a, b);
            return self.select_lanes(dtype, wins, a, b);
        }
        a.zip(b, |a, b| match (comparison, dtype == DType::U32) {
            (Comparison::Lt, false) => self.ins().smin(a, b),
            (Comparison::Lt, true) => self.ins().umin(a, b),
            (_, false) => self.ins().smax(a, b),
            (_, true) => self.ins().umax(a, b),
        })
    }

    fn compare_ints(&mut self, comparison: Comparison, dtype: DType, a: Lanes, b: Lanes) -> Lanes {
        // A `u8` is held zero-extended, so it compares as a signed number too.
        let code = int_code(comparison, dtype != DType::U32);
        a.zip(b, |a, b| self.ins().icmp(code, a, b))
    }

    /// A shift of every lane by one amount.
    fn shift_lanes(&mut self, op: Op, dtype: DType, a: Lanes, amount: Value) -> Lanes {
        let width = 8 * dtype.size() as i64;
        let arithmetic = op == Op::Shr && dtype.is_signed();
        let known = self.constant(amount);
        let inside = self.icmp_const(IntCC::UnsignedLessThan, amount, width);
        let amount = match known {
            Some(known) if !arithmetic || (0..width).contains(&known) => amount,
            _ => {
                let last = self.int(self.type_of(amount), width - 1);
                self.ins().select(inside, amount, last)
            }
        };
        let shifted = a.map(|a| match op {
            Op::Shl => self.ins().ishl(a, amount),
            _ if arithmetic => self.ins().sshr(a, amount),
            _ => self.ins().ushr(a, amount),
        });
        if arithmetic {
            return shifted;
        }
        let shifted = if op == Op::Shl { self.wrap(dtype, shifted) } else { shifted };
        match known {
            Some(known) if (0..width).contains(&known) => shifted,
            Some(_) => shifted.map(|vector| self.zero_vector(self.type_of(vector))),
            None => {
                let mask = self.splat(DType::Bool, inside);
                let mask = self.mask_for(dtype, mask);
                shifted.zip(mask, |a, mask| self.ins().band(a, mask))
            }
        }
    }

    /// Brings lanes that hold a `u8` back to its range after they may have left it.
    pub(crate) fn wrap(&mut self, dtype: DType, lanes: Lanes) -> Lanes {
        if dtype != DType::U8 {
            return lanes;
        }
        let byte = self.int(types::I32, 255);
        let byte = self.ins().splat(types::I32X4, byte);
        lanes.map(|lanes| self.ins().band(lanes, byte))
    }

    /// Whether all bits of a value are known to be 0.
    fn is_zero(&self, bound: Bound) -> bool {
        matches!(bound, Bound::One(value) if self.constant_bits(value) == Some(0))
    }

    /// The value of an integer constant.
    fn constant(&self, value: Value) -> Option<i64> {
        self.constant_bits(value).filter(|_| self.type_of(value).is_int()).map(|bits| bits as i64)
    }

    /// The types of the vectors that lanes of a dtype arrive in at a block.
    pub(crate) fn lane_types(dtype: DType) -> Vec<Type> {
        vec![vector_type(dtype); if is_wide(dtype) { 2 } else { 1 }]
    }
}

/// The type that an operation works on: that of its operands, apart from the condition of a `Select`.
pub(crate) fn operand_dtype(op: Op, dtypes: &[DType]) -> DType {
    match op {
        Op::Select => dtypes[1],
        _ => dtypes.first().copied().unwrap_or(DType::I64),
    }
}
