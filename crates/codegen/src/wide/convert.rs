//! Conversions from one dtype to another.
//!
//! Each lane's result is bit for bit that of the scalar conversion: towards zero, saturating, NaN to 0.

use smallvec::smallvec;
use tracewell_array::DType;

use super::Level;
use super::inst::Src;
use super::opcode::{
    AND, COMPARE_F, EXTRACT_HALF, EXTRACT_HALF_VEX, F32_TO_F64, F32_TO_I32, F32_TO_I64, F32_TO_U32,
    F64_TO_F32, F64_TO_I32, F64_TO_I64, F64_TO_U32, I32_TO_F32, I32_TO_F64, I64_TO_F32, I64_TO_F64,
    INSERT_HALF, INSERT_HALF_VEX, MAX_F, MAX_S, MIN_F, MIN_S, NARROW, Opcode, SIGN_EXTEND, U32_TO_F32,
    U32_TO_F64, ZERO_EXTEND,
};
use super::select::{Parts, Select};
use crate::lanes::is_wide;

impl Select<'_> {
    pub(crate) fn convert(&mut self, from: DType, to: DType, a: &Parts) -> Option<Parts> {
        let new = self.level == Level::Avx512;
        let wide = is_wide(from);
        Some(match (from, to) {
            _ if from == to => a.clone(),
            (DType::F32 | DType::F64, DType::Bool) => {
                let zero = self.bits(wide, 0);
                a.iter().map(|&a| self.compared(COMPARE_F.of(wide), a, zero, Some(4))).collect()
            }
            (_, DType::Bool) => a.iter().map(|&a| self.nonzero(wide, a)).collect(),
            (DType::Bool, _) => self.mask_to(to, a)?,
            (DType::F32, DType::F64) => self.widen(F32_TO_F64, a[0]),
            (DType::F64, DType::F32) => self.halve(F64_TO_F32, a),
            (DType::F32, DType::I32) => smallvec![self.saturate(from, to, F32_TO_I32, a[0])],
            (DType::F32, DType::U8) => {
                let wide = self.saturate(from, DType::I32, F32_TO_I32, a[0]);
                smallvec![self.byte_of(wide)]
            }
            (DType::F32, DType::U32) if new => {
                // Too large is all ones already; NaN and what is below zero become zero.
                let zero = self.bits(false, 0);
                let above = self.two(MAX_F.of(false), a[0], zero);
                smallvec![self.one(F32_TO_U32, above)]
            }
            (DType::U32, DType::F32) if new => smallvec![self.one(U32_TO_F32, a[0])],
            (DType::I32 | DType::U8, DType::F32) => smallvec![self.one(I32_TO_F32, a[0])],
            (DType::U32, DType::F64) if new => self.widen(U32_TO_F64, a[0]),
            (DType::I32 | DType::U8, DType::F64) => self.widen(I32_TO_F64, a[0]),
            (DType::I64, DType::F64) if new => a.iter().map(|&a| self.one(I64_TO_F64, a)).collect(),
            (DType::I64, DType::F32) if new => self.halve(I64_TO_F32, a),
            (DType::F64, DType::I64) if new => {
                a.iter().map(|&a| self.saturate(from, to, F64_TO_I64, a)).collect()
            }
            (DType::F32, DType::I64) if new => {
                let halves = self.halves(a[0]);
                let from_f32 = |this: &mut Self, half: Src| {
                    let converted = this.one(F32_TO_I64, half);
                    let value = this.one(F32_TO_F64, half);
                    this.corrected(DType::F64, to, value, converted)
                };
                halves.iter().map(|&half| from_f32(self, half)).collect()
            }
            (DType::F64, DType::I32 | DType::U8) if new => {
                // Clamped in the wider type, where the ends are exact; NaN becomes zero afterwards.
                let clamped: Parts = a.iter().map(|&a| self.clamp_to_i32(a)).collect();
                let joined = self.halve(F64_TO_I32, &clamped)[0];
                if to == DType::U8 { smallvec![self.byte_of(joined)] } else { smallvec![joined] }
            }
            (DType::F64, DType::U32) if new => {
                let zero = self.bits(true, 0);
                let above: Parts = a.iter().map(|&a| self.two(MAX_F.of(true), a, zero)).collect();
                self.halve(F64_TO_U32, &above)
            }
            (DType::I32, DType::I64) => self.widen(SIGN_EXTEND, a[0]),
            (DType::U8 | DType::U32, DType::I64) => self.widen(ZERO_EXTEND, a[0]),
            (DType::I64, DType::I32 | DType::U32 | DType::U8) => {
                let low = match self.level {
                    Level::Avx512 => {
                        let halves: Parts = a.iter().map(|&a| self.down(NARROW, a, None)).collect();
                        self.join(halves[0], halves[1])
                    }
                    Level::Avx2 => self.join_halves(a[0], a[1]),
                };
                smallvec![self.wrap(to, low)]
            }
            (DType::I32 | DType::U32 | DType::U8, DType::I32 | DType::U32 | DType::U8) => {
                smallvec![self.wrap(to, a[0])]
            }
            _ => return None,
        })
    }

    /// Half a vector beside another.
    pub(crate) fn join(&mut self, low: Src, high: Src) -> Src {
        let op = if self.level == Level::Avx512 { INSERT_HALF } else { INSERT_HALF_VEX };
        self.two_by(op, low, high, 1)
    }

    /// The lower half of a vector, and the upper half in its place.
    fn halves(&mut self, a: Src) -> Parts {
        let op = if self.level == Level::Avx512 { EXTRACT_HALF } else { EXTRACT_HALF_VEX };
        smallvec![a, self.down(op, a, Some(1))]
    }

    /// Lanes of 32 bits to lanes of 64.
    fn widen(&mut self, op: Opcode, a: Src) -> Parts {
        self.halves(a).iter().map(|&half| self.one(op, half)).collect()
    }

    /// Lanes of 64 bits to lanes of 32.
    fn halve(&mut self, op: Opcode, a: &Parts) -> Parts {
        let halves: Parts = a.iter().map(|&a| self.one(op, a)).collect();
        smallvec![self.join(halves[0], halves[1])]
    }

    /// The instruction gives the smallest number for everything that does not fit.
    fn saturate(&mut self, from: DType, to: DType, op: Opcode, a: Src) -> Src {
        let converted = self.one(op, a);
        self.corrected(from, to, a, converted)
    }

    /// What was converted, but the largest number where `a` is too large and 0 where it is NaN.
    fn corrected(&mut self, from: DType, to: DType, a: Src, converted: Src) -> Src {
        let wide = is_wide(from);
        let end = if to == DType::I64 { 2f64.powi(63) } else { 2f64.powi(31) };
        let bits = if wide { end.to_bits() } else { u64::from((end as f32).to_bits()) };
        let end = self.bits(wide, bits);
        let largest = self.bits(wide, if to == DType::I64 { i64::MAX as u64 } else { i32::MAX as u64 });
        let above = self.compared(COMPARE_F.of(wide), a, end, Some(0x1d));
        let converted = self.choose(wide, above, largest, converted);
        let ordered = self.compared(COMPARE_F.of(wide), a, a, Some(7));
        match self.level {
            Level::Avx512 => {
                let mask = self.mask_register(ordered);
                self.kept(wide, mask, converted)
            }
            Level::Avx2 => self.two(AND.of(wide), converted, ordered),
        }
    }

    /// An `f64` in the range of `i32`; 0 for NaN.
    fn clamp_to_i32(&mut self, a: Src) -> Src {
        let ordered = self.compared(COMPARE_F.of(true), a, a, Some(7));
        let mask = self.mask_register(ordered);
        let a = self.kept(true, mask, a);
        let [least, most] = [i32::MIN, i32::MAX].map(|end| self.bits(true, f64::from(end).to_bits()));
        let a = self.two(MAX_F.of(true), a, least);
        self.two(MIN_F.of(true), a, most)
    }

    /// An `i32` in the range of `u8`.
    fn byte_of(&mut self, a: Src) -> Src {
        let (zero, most) = (self.bits(false, 0), self.bits(false, 255));
        let a = self.two(MAX_S.of(false), a, zero);
        self.two(MIN_S.of(false), a, most)
    }
}
