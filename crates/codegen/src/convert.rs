//! Conversions of four lanes from one dtype to another.
//!
//! Each lane's result is bit for bit that of the scalar conversion. Pairs that [`converts`] refuses are done
//! lane by lane: the machine has no vector instruction for `i64` to float or for `f64` to integer.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder as _, Value, types};
use tracewell_array::DType;

use crate::emit::Emit;
use crate::lanes::{Lanes, is_wide};

/// Whether a conversion has vector instructions.
pub(crate) fn converts(from: DType, to: DType) -> bool {
    let no_instruction = matches!(
        (from, to),
        (DType::I64, DType::F32 | DType::F64)
            | (DType::F32, DType::I64)
            | (DType::F64, DType::U8 | DType::U32 | DType::I32 | DType::I64)
    );
    !no_instruction
}

impl Emit<'_> {
    /// Converts four lanes; only for pairs that [`converts`] accepts.
    pub(crate) fn convert_lanes(&mut self, from: DType, to: DType, lanes: Lanes) -> Lanes {
        match (from, to) {
            _ if from == to => lanes,
            (DType::F32 | DType::F64, DType::Bool) => lanes.map(|vector| {
                let zero = self.zero_vector(self.type_of(vector));
                self.ins().fcmp(FloatCC::NotEqual, vector, zero)
            }),
            (_, DType::Bool) => self.nonzero(lanes),
            (DType::Bool, _) => self.mask_to(to, lanes),
            (DType::F32, DType::F64) => {
                let vector = lanes.parts()[0];
                let high = self.high_half(vector);
                let high = self.recast(types::F32X4, high);
                let first = self.ins().fvpromote_low(vector);
                Lanes::Wide([first, self.ins().fvpromote_low(high)])
            }
            (DType::F64, DType::F32) => {
                let halves = lanes.map(|vector| self.ins().fvdemote(vector));
                let joined = self.shuffle32(halves.parts()[0], halves.parts()[1], [0, 1, 4, 5]);
                Lanes::Narrow(self.recast(types::F32X4, joined))
            }
            (DType::F32, DType::I32) => lanes.map(|vector| self.ins().fcvt_to_sint_sat(types::I32X4, vector)),
            (DType::F32, DType::U32) => lanes.map(|vector| self.ins().fcvt_to_uint_sat(types::I32X4, vector)),
            (DType::F32, _) => {
                // To `u8`: through `i32`, whose range contains it.
                let wide = lanes.map(|vector| self.ins().fcvt_to_sint_sat(types::I32X4, vector));
                let zero = self.zero_vector(types::I32X4);
                let top = self.int(types::I32, 255);
                let top = self.ins().splat(types::I32X4, top);
                wide.map(|vector| {
                    let vector = self.ins().smax(vector, zero);
                    self.ins().smin(vector, top)
                })
            }
            (DType::U32, DType::F32) => lanes.map(|vector| self.ins().fcvt_from_uint(types::F32X4, vector)),
            (_, DType::F32) => lanes.map(|vector| self.ins().fcvt_from_sint(types::F32X4, vector)),
            (_, DType::F64) => {
                let vector = lanes.parts()[0];
                let high = self.high_half(vector);
                Lanes::Wide([vector, high].map(|half| match from {
                    DType::U32 => {
                        let wide = self.ins().uwiden_low(half);
                        self.ins().fcvt_from_uint(types::F64X2, wide)
                    }
                    _ => {
                        let wide = self.ins().swiden_low(half);
                        self.ins().fcvt_from_sint(types::F64X2, wide)
                    }
                }))
            }
            (DType::I32, DType::I64) => self.mask_for(to, lanes),
            (_, DType::I64) => {
                let vector = lanes.parts()[0];
                let first = self.ins().uwiden_low(vector);
                Lanes::Wide([first, self.ins().uwiden_high(vector)])
            }
            _ => {
                // Integers of at most 32 bits: the low bits.
                let narrow = Lanes::Narrow(self.narrow(lanes));
                self.wrap(to, narrow)
            }
        }
    }

    /// A mask to 0 and 1.
    fn mask_to(&mut self, to: DType, mask: Lanes) -> Lanes {
        let mask = self.mask_for(to, mask);
        let one = tracewell_array::Literal::one(to);
        let one = self.literal(one);
        let one = self.splat(to, one);
        let ints = if is_wide(to) { types::I64X2 } else { types::I32X4 };
        mask.zip(one, |mask, one| {
            let ty = self.type_of(one);
            let one = self.recast(ints, one);
            let bits = self.ins().band(mask, one);
            self.recast(ty, bits)
        })
    }

    /// The upper two 32-bit lanes in the place of the lower two.
    fn high_half(&mut self, vector: Value) -> Value {
        self.shuffle32(vector, vector, [2, 3, 2, 3])
    }
}
