//! Comparisons, masks and choices by them.

use smallvec::smallvec;
use tracewell_array::DType;
use tracewell_kernel::{Comparison, Op};

use super::Level;
use super::inst::{Reg, Src};
use super::opcode::{
    AND, AND_NOT, BLEND, CHOOSE_NARROW, CHOOSE_WIDE, COMPARE_F, COMPARE_S, COMPARE_U, EQUAL_NARROW,
    EQUAL_WIDE, EXTRACT_HALF_VEX, GREATER_NARROW, GREATER_WIDE, MASK_AND, MASK_AND_NOT, MASK_JOIN, MASK_NOT,
    MASK_OR, MASK_SHIFT, MASK_TO_LANES, MASK_XNOR, MASK_XOR, MAX_F, MIN_F, OR, PERMUTE_QUARTERS, Pair,
    SHUFFLE, SIGN_EXTEND, XOR,
};
use super::select::{Parts, Select};
use crate::lanes::is_wide;

impl Select<'_> {
    pub(crate) fn compare(
        &mut self,
        comparison: Comparison,
        dtype: DType,
        a: &Parts,
        b: &Parts,
    ) -> Option<Parts> {
        if dtype.is_bool() {
            return self.compare_masks(comparison, a, b);
        }
        Some(a.iter().zip(b).map(|(&a, &b)| self.compare_vectors(comparison, dtype, a, b)).collect())
    }

    fn compare_vectors(&mut self, comparison: Comparison, dtype: DType, a: Src, b: Src) -> Src {
        let wide = is_wide(dtype);
        if dtype.is_float() {
            let code = match comparison {
                Comparison::Eq => 0,
                Comparison::Lt => 1,
                Comparison::Le => 2,
                Comparison::Ne => 4,
                Comparison::Ge => 0x1d,
                Comparison::Gt => 0x1e,
            };
            let mask = self.compared(COMPARE_F.of(wide), a, b, Some(code));
            match comparison {
                Comparison::Lt => self.below.push((mask, [a, b])),
                Comparison::Gt => self.below.push((mask, [b, a])),
                _ => {}
            }
            return mask;
        }
        // A `u8` is held zero-extended, so it compares as a signed number too.
        let unsigned = dtype == DType::U32;
        if self.level == Level::Avx512 {
            let code = match comparison {
                Comparison::Eq => 0,
                Comparison::Lt => 1,
                Comparison::Le => 2,
                Comparison::Ne => 4,
                Comparison::Ge => 5,
                Comparison::Gt => 6,
            };
            let pair = if unsigned { COMPARE_U } else { COMPARE_S };
            return self.compared(pair.of(wide), a, b, Some(code));
        }
        let [a, b] = [a, b].map(|src| {
            if !unsigned {
                return src;
            }
            // Unsigned numbers in the order of signed ones.
            let sign = self.bits(false, 1 << 31);
            self.two(XOR.of(false), src, sign)
        });
        match comparison {
            Comparison::Eq => self.equal(wide, a, b),
            Comparison::Ne => {
                let equal = self.equal(wide, a, b);
                self.complement(equal)
            }
            Comparison::Gt => self.greater(wide, a, b),
            Comparison::Lt => self.greater(wide, b, a),
            Comparison::Le => {
                let greater = self.greater(wide, a, b);
                self.complement(greater)
            }
            Comparison::Ge => {
                let greater = self.greater(wide, b, a);
                self.complement(greater)
            }
        }
    }

    /// 256 bits: lanes of ones where two are equal.
    pub(crate) fn equal(&mut self, wide: bool, a: Src, b: Src) -> Src {
        self.compared(if wide { EQUAL_WIDE } else { EQUAL_NARROW }, a, b, None)
    }

    /// 256 bits: lanes of ones where the first is greater.
    pub(crate) fn greater(&mut self, wide: bool, a: Src, b: Src) -> Src {
        self.compared(if wide { GREATER_WIDE } else { GREATER_NARROW }, a, b, None)
    }

    /// The opposite of a mask.
    pub(crate) fn complement(&mut self, mask: Src) -> Src {
        match self.level {
            Level::Avx512 => self.mask_one(MASK_NOT, mask, None),
            Level::Avx2 => {
                let ones = self.bits(false, u64::MAX);
                self.two(XOR.of(false), mask, ones)
            }
        }
    }

    /// A mask with lanes as wide as the dtype's.
    pub(crate) fn mask_for(&mut self, wide: bool, mask: &Parts) -> Parts {
        match (mask.as_slice(), wide) {
            (&[narrow], true) => {
                let narrow = self.as_mask(narrow);
                match self.level {
                    Level::Avx512 => smallvec![narrow, self.mask_one(MASK_SHIFT, narrow, Some(8))],
                    Level::Avx2 => {
                        let upper = self.down(EXTRACT_HALF_VEX, narrow, Some(1));
                        smallvec![self.one(SIGN_EXTEND, narrow), self.one(SIGN_EXTEND, upper)]
                    }
                }
            }
            (&[low, high], false) => match self.level {
                Level::Avx512 => smallvec![self.mask_two(MASK_JOIN, high, low)],
                Level::Avx2 => smallvec![self.join_halves(low, high)],
            },
            _ => mask.iter().map(|&part| self.as_mask(part)).collect(),
        }
    }

    /// 256 bits: the lower halves of lanes of 64 bits, of two vectors.
    pub(crate) fn join_halves(&mut self, low: Src, high: Src) -> Src {
        let joined = self.two_by(SHUFFLE, low, high, 0b10_00_10_00);
        self.one_by(PERMUTE_QUARTERS, joined, 0b11_01_10_00)
    }

    /// A steady bool is lanes of ones or zeros: the mask of it.
    fn as_mask(&mut self, part: Src) -> Src {
        match (part, self.level) {
            (Src::Steady(_), Level::Avx512) => self.nonzero(false, part),
            _ => part,
        }
    }

    /// Both masks in one width.
    fn aligned(&mut self, a: &Parts, b: &Parts) -> (Parts, Parts) {
        let wide = a.len() == 2 && b.len() == 2;
        (self.mask_for(wide, a), self.mask_for(wide, b))
    }

    fn compare_masks(&mut self, comparison: Comparison, a: &Parts, b: &Parts) -> Option<Parts> {
        let (a, b) = self.aligned(a, b);
        Some(
            a.iter()
                .zip(&b)
                .map(|(&a, &b)| match comparison {
                    Comparison::Ne => self.mask_binary(Op::Xor, a, b),
                    Comparison::Eq => match self.level {
                        Level::Avx512 => self.mask_two(MASK_XNOR, a, b),
                        Level::Avx2 => self.equal(false, a, b),
                    },
                    Comparison::Lt => self.mask_without(b, a),
                    Comparison::Gt => self.mask_without(a, b),
                    Comparison::Le => {
                        let greater = self.mask_without(a, b);
                        self.complement(greater)
                    }
                    Comparison::Ge => {
                        let less = self.mask_without(b, a);
                        self.complement(less)
                    }
                })
                .collect(),
        )
    }

    /// `a & !b`
    fn mask_without(&mut self, a: Src, b: Src) -> Src {
        match self.level {
            Level::Avx512 => self.mask_two(MASK_AND_NOT, b, a),
            Level::Avx2 => self.two(AND_NOT.of(false), b, a),
        }
    }

    fn mask_binary(&mut self, op: Op, a: Src, b: Src) -> Src {
        let (new, old) = match op {
            Op::And => (MASK_AND, AND),
            Op::Or => (MASK_OR, OR),
            _ => (MASK_XOR, XOR),
        };
        match self.level {
            Level::Avx512 => self.mask_two(new, a, b),
            Level::Avx2 => self.two(old.of(false), a, b),
        }
    }

    /// Operations on bools.
    pub(crate) fn mask_op(&mut self, op: Op, args: &[Parts]) -> Option<Parts> {
        match (op, args) {
            (Op::Not, [a]) => {
                let a = self.mask_for(a.len() == 2, a);
                Some(a.iter().map(|&a| self.complement(a)).collect())
            }
            (Op::And | Op::Or | Op::Xor, [a, b]) => {
                let (a, b) = self.aligned(a, b);
                Some(a.iter().zip(&b).map(|(&a, &b)| self.mask_binary(op, a, b)).collect())
            }
            _ => None,
        }
    }

    /// `a` where the condition holds, else `b`.
    pub(crate) fn select(&mut self, dtype: DType, condition: &Parts, a: &Parts, b: &Parts) -> Option<Parts> {
        if dtype.is_bool() {
            let [condition, a, b] = [condition, a, b].map(|mask| self.mask_for(false, mask)[0]);
            let yes = self.mask_binary(Op::And, a, condition);
            let no = self.mask_without(b, condition);
            return Some(smallvec![self.mask_binary(Op::Or, yes, no)]);
        }
        let wide = is_wide(dtype);
        let condition = self.mask_for(wide, condition);
        let parts = condition.iter().zip(a.iter().zip(b));
        let choice = |(&mask, (&a, &b)): (&Src, (&Src, &Src))| match self.extreme_of(mask, a, b) {
            Some(pair) if dtype.is_float() => self.two(pair.of(wide), a, b),
            _ => self.choose(wide, mask, a, b),
        };
        Some(parts.map(choice).collect())
    }

    /// Which extreme of two floats a choice between them is. The instructions take the second where either is NaN or
    /// both are zero, as a choice does whose condition is that the first is strictly beyond the second.
    fn extreme_of(&self, mask: Src, a: Src, b: Src) -> Option<Pair> {
        let (_, [less, more]) = *self.below.iter().find(|(known, _)| *known == mask)?;
        match [a, b] {
            both if both == [less, more] => Some(MIN_F),
            both if both == [more, less] => Some(MAX_F),
            _ => None,
        }
    }

    /// Lanes of `a` where the mask is set, else of `b`.
    pub(crate) fn choose(&mut self, wide: bool, mask: Src, a: Src, b: Src) -> Src {
        match (self.level, mask) {
            (Level::Avx512, Src::Reg(mask)) if self.constant(b) == Some(0) => self.kept(wide, mask, a),
            (Level::Avx512, Src::Reg(mask)) => self.two_masked(BLEND.of(wide), mask, b, a),
            _ => self.choose_by_sign(if wide { CHOOSE_WIDE } else { CHOOSE_NARROW }, mask, a, b),
        }
    }

    /// A mask to 0 and 1.
    pub(crate) fn mask_to(&mut self, to: DType, mask: &Parts) -> Option<Parts> {
        let wide = is_wide(to);
        let mask = self.mask_for(wide, mask);
        let one = tracewell_array::Literal::one(to).bits() as u64;
        let one = self.bits(wide, one);
        Some(
            mask.iter()
                .map(|&mask| match (self.level, mask) {
                    (Level::Avx512, Src::Reg(mask)) => self.kept(wide, mask, one),
                    _ => self.two(AND.of(wide), mask, one),
                })
                .collect(),
        )
    }

    /// A mask to lanes of 32 ones or zeros.
    pub(crate) fn mask_to_lanes(&mut self, mask: &Parts) -> Option<Parts> {
        let mask = self.mask_for(false, mask);
        Some(match self.level {
            Level::Avx512 => smallvec![self.one(MASK_TO_LANES, mask[0])],
            Level::Avx2 => mask,
        })
    }

    /// The register of a mask.
    pub(crate) fn mask_register(&mut self, mask: Src) -> Reg {
        match self.as_mask(mask) {
            Src::Reg(reg) => reg,
            Src::Steady(_) => unreachable!("a mask that is steady has been made a register"),
        }
    }
}
