//! What an operation of the kernel is in instructions.
//!
//! A value of 32 bits or less is one vector, one of 64 bits is two; a `u8` is held zero-extended. A bool is a
//! mask: a mask register at 512 bits, lanes of ones or zeros at 256. It has one part for lanes of 32 bits, or two
//! for lanes of 64, as it was compared from.

use smallvec::{SmallVec, smallvec};
use tracewell_array::DType;
use tracewell_kernel::Op;

use super::Level;
use super::inst::{Class, Form, Inst, Lanes, Line, Memory, Reg, Src, Steadies, Steady};
use super::opcode::{
    ABS_I, ADD_F, ADD_I, AND, BY_KIND, BYTES_TO_LANES, COMPARE_F, DIV_F, FMA_231, GATHER, GATHER_FAR,
    LANES_TO_BYTES, LEADING_ZEROS, LOAD, MASK_TEST, MAX_F, MAX_S, MAX_U, MIN_F, MIN_S, MIN_U, MOVE, MUL_F,
    MUL_HALVES, MUL_I, OR, Opcode, Pair, ROTATE, ROTATE_LEFT, ROUND, SAR, SCALE, SCATTER, SHIFT,
    SHIFT_ARITHMETIC, SHIFT_LEFT, SHIFT_RIGHT, SHIFT_SIGN, SHL, SHR, SPLAT_GENERAL, SQRT, STORE, SUB_F,
    SUB_I, TERNARY, TEST, XOR,
};
use crate::lanes::is_wide;

/// Four bits for each kind of number, quiet NaN first, then the other: these two become the quiet NaN, nothing else changes.
const ONLY_NAN: u64 = 0x22;

/// The vectors or masks of a value.
pub(crate) type Parts = SmallVec<[Src; 2]>;

/// An accumulator of a reduction, for one group of lanes.
#[derive(Clone, Debug)]
pub(crate) struct Accumulator {
    pub(crate) op: Op,
    pub(crate) dtype: DType,
    pub(crate) registers: SmallVec<[Reg; 2]>,
    /// For extremes of floats: which lanes met a NaN. The instruction forgets them, and is twice as fast for that.
    pub(crate) nans: SmallVec<[Reg; 2]>,
}

/// Instructions under construction.
pub(crate) struct Select<'a> {
    pub(crate) level: Level,
    pub(crate) line: Line,
    pub(crate) steadies: &'a mut Steadies,
    /// Whether some lanes may not be iterations.
    pub(crate) masked: bool,
    /// Which copy of the body this is, where masks tell copies apart.
    pub(crate) group: usize,
    /// Negated floats, and what of.
    pub(crate) negated: Vec<(Src, Src)>,
    /// Masks that say where one float is below another, with the two.
    pub(crate) below: Vec<(Src, [Src; 2])>,
    /// What was shifted by a constant, what of, how far, and whether to the left; zeros are shifted in.
    shifted: Vec<(Src, (Src, u8, bool))>,
    /// Results of bitwise operations, with the operation and its operands.
    bitwise: Vec<(Src, (Op, [Src; 2]))>,
    /// Whether differences are taken the other way round, for tests of what finds that.
    pub(crate) broken: bool,
}

impl Select<'_> {
    pub(crate) fn new(level: Level, steadies: &mut Steadies, masked: bool, broken: bool) -> Select<'_> {
        let (negated, below, shifted, bitwise) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let line = Line::default();
        Select { level, line, steadies, masked, group: 0, negated, below, shifted, bitwise, broken }
    }

    /// The instructions, without those whose results nobody reads.
    pub(crate) fn finish(mut self) -> Line {
        self.line.prune();
        if self.level == Level::Avx512 {
            self.line.choose_in_place(self.steadies);
        }
        self.line
    }

    pub(crate) fn steady(&mut self, steady: Steady) -> Src {
        Src::Steady(self.steadies.id(steady))
    }

    /// The same bits in every lane.
    pub(crate) fn bits(&mut self, wide: bool, bits: u64) -> Src {
        self.steady(if wide { Steady::Bits64(bits) } else { Steady::Bits32(bits as u32) })
    }

    pub(crate) fn push(
        &mut self,
        op: Opcode,
        form: Form,
        class: Class,
        srcs: SmallVec<[Src; 3]>,
        constant: Option<u8>,
        lanes: Lanes,
    ) -> Src {
        let out = self.line.reg(class);
        self.line.insts.push(Inst { op, form, out: Some(out), srcs, constant, lanes, memory: None });
        Src::Reg(out)
    }

    pub(crate) fn one(&mut self, op: Opcode, a: Src) -> Src {
        self.push(op, Form::One, Class::Vector, smallvec![a], None, Lanes::All)
    }

    pub(crate) fn one_by(&mut self, op: Opcode, a: Src, constant: u8) -> Src {
        self.push(op, Form::One, Class::Vector, smallvec![a], Some(constant), Lanes::All)
    }

    pub(crate) fn two(&mut self, op: Opcode, a: Src, b: Src) -> Src {
        self.push(op, Form::Two, Class::Vector, smallvec![a, b], None, Lanes::All)
    }

    pub(crate) fn two_by(&mut self, op: Opcode, a: Src, b: Src, constant: u8) -> Src {
        self.push(op, Form::Two, Class::Vector, smallvec![a, b], Some(constant), Lanes::All)
    }

    /// `b` where the mask is set, else `a`.
    pub(crate) fn two_masked(&mut self, op: Opcode, mask: Reg, a: Src, b: Src) -> Src {
        self.push(op, Form::Two, Class::Vector, smallvec![a, b], None, Lanes::Masked(mask))
    }

    pub(crate) fn digit(&mut self, op: Opcode, digit: u8, a: Src, constant: u8) -> Src {
        self.push(op, Form::Digit(digit), Class::Vector, smallvec![a], Some(constant), Lanes::All)
    }

    pub(crate) fn down(&mut self, op: Opcode, a: Src, constant: Option<u8>) -> Src {
        self.push(op, Form::Down, Class::Vector, smallvec![a], constant, Lanes::All)
    }

    pub(crate) fn choose_by_sign(&mut self, op: Opcode, mask: Src, a: Src, b: Src) -> Src {
        self.push(op, Form::Choose, Class::Vector, smallvec![b, a, mask], None, Lanes::All)
    }

    /// `a` where the mask is set, else zero.
    pub(crate) fn kept(&mut self, wide: bool, mask: Reg, a: Src) -> Src {
        self.push(MOVE.of(wide), Form::One, Class::Vector, smallvec![a], None, Lanes::Kept(mask))
    }

    /// A comparison to a mask.
    pub(crate) fn compared(&mut self, op: Opcode, a: Src, b: Src, constant: Option<u8>) -> Src {
        let class = self.mask_class();
        self.push(op, Form::Two, class, smallvec![a, b], constant, Lanes::All)
    }

    pub(crate) fn mask_class(&self) -> Class {
        if self.level == Level::Avx512 { Class::Mask } else { Class::Vector }
    }

    pub(crate) fn mask_two(&mut self, op: Opcode, a: Src, b: Src) -> Src {
        self.push(op, Form::Two, Class::Mask, smallvec![a, b], None, Lanes::All)
    }

    pub(crate) fn mask_one(&mut self, op: Opcode, a: Src, constant: Option<u8>) -> Src {
        self.push(op, Form::One, Class::Mask, smallvec![a], constant, Lanes::All)
    }

    /// The mask register that says which lanes of a part are iterations.
    pub(crate) fn iterations(&self, part: usize) -> Lanes {
        if self.masked { Lanes::Iterations((1 + 2 * self.group + part) as u8) } else { Lanes::All }
    }

    /// Neighbours in memory.
    pub(crate) fn load(&mut self, dtype: DType, memory: Memory) -> Option<Parts> {
        let parts = parts_of(dtype);
        let op = if dtype.size() == 1 { BYTES_TO_LANES } else { LOAD.of(is_wide(dtype)) };
        let loaded: Parts = (0..parts)
            .map(|part| {
                let out = self.line.reg(Class::Vector);
                let offset = memory.offset + (part * self.level.bytes()) as i32;
                // A whole part is masked by the iterations of its lanes.
                let lanes = self.iterations(part);
                self.line.insts.push(Inst {
                    op,
                    form: Form::Load,
                    out: Some(out),
                    srcs: smallvec![],
                    constant: None,
                    lanes,
                    memory: Some(Memory { offset, ..memory }),
                });
                Src::Reg(out)
            })
            .collect();
        if !dtype.is_bool() {
            return Some(loaded);
        }
        Some(smallvec![self.nonzero(false, loaded[0])])
    }

    /// To neighbours in memory.
    pub(crate) fn store(&mut self, dtype: DType, parts: &Parts, memory: Memory) -> Option<()> {
        let (op, parts): (Opcode, Parts) = match dtype {
            DType::Bool | DType::U8 if self.level == Level::Avx2 => return None,
            DType::Bool => (LANES_TO_BYTES, self.mask_to(DType::U8, parts)?),
            DType::U8 => (LANES_TO_BYTES, parts.clone()),
            _ => (STORE.of(is_wide(dtype)), parts.clone()),
        };
        for (part, &src) in parts.iter().enumerate() {
            let offset = memory.offset + (part * self.level.bytes()) as i32;
            let lanes = self.iterations(part);
            self.line.insts.push(Inst {
                op,
                form: Form::Store,
                out: None,
                srcs: smallvec![src],
                constant: None,
                lanes,
                memory: Some(Memory { offset, ..memory }),
            });
        }
        Some(())
    }

    /// Elements that are not neighbours: `index` is how far each lane is, in elements of the size of the dtype.
    pub(crate) fn gather(&mut self, dtype: DType, far: bool, index: &Parts, memory: &[Memory]) -> Parts {
        let wide = is_wide(dtype);
        let pair = if far { GATHER_FAR } else { GATHER };
        let gathered: Parts = index
            .iter()
            .zip(memory)
            .enumerate()
            .map(|(part, (&index, &memory))| {
                let out = self.line.reg(Class::Vector);
                let lanes = self.iterations(part);
                self.line.insts.push(Inst {
                    op: pair.of(wide),
                    form: Form::Gather,
                    out: Some(out),
                    srcs: smallvec![index],
                    constant: Some(dtype.size().trailing_zeros() as u8),
                    lanes,
                    memory: Some(memory),
                });
                Src::Reg(out)
            })
            .collect();
        // Offsets of 64 bits gather half a vector of 32 bits each.
        if far && !wide { smallvec![self.join(gathered[0], gathered[1])] } else { gathered }
    }

    /// To elements that are the same distance apart: `index` is how far each lane is from the first.
    pub(crate) fn scatter(
        &mut self,
        dtype: DType,
        index: Src,
        parts: &Parts,
        memory: &[Memory],
    ) -> Option<()> {
        // Masks would have to become bytes, which no scatter stores.
        if dtype.size() < 4 {
            return None;
        }
        for (part, (&value, &memory)) in parts.iter().zip(memory).enumerate() {
            let lanes = self.iterations(part);
            self.line.insts.push(Inst {
                op: SCATTER.of(is_wide(dtype)),
                form: Form::Scatter,
                out: None,
                srcs: smallvec![index, value],
                constant: Some(dtype.size().trailing_zeros() as u8),
                lanes,
                memory: Some(memory),
            });
        }
        Some(())
    }

    /// The numbers of the iterations, from `plus` on.
    pub(crate) fn ramp(&mut self, plus: i64) -> Parts {
        let variable = self.push(SPLAT_GENERAL, Form::Variable, Class::Vector, smallvec![], None, Lanes::All);
        let lanes = self.level.lanes() as i64 / 2;
        (0..2)
            .map(|part| {
                let steps = self.steady(Steady::Count64(plus + part * lanes));
                self.two(ADD_I.of(true), variable, steps)
            })
            .collect()
    }

    /// Combines an accumulator with a value, in the lanes that are iterations.
    pub(crate) fn accumulate(&mut self, sum: &Accumulator, value: &Parts) -> Option<()> {
        let Accumulator { op, dtype, .. } = *sum;
        // A mask is combined as lanes of ones or zeros.
        let value: Parts = if dtype.is_bool() { self.mask_to_lanes(value)? } else { value.clone() };
        let single = match op {
            Op::Min if dtype.is_float() => Some(MIN_F.of(is_wide(dtype))),
            Op::Max if dtype.is_float() => Some(MAX_F.of(is_wide(dtype))),
            _ => self.single(op, dtype),
        };
        for (part, (&accumulator, &value)) in sum.registers.iter().zip(&value).enumerate() {
            let lanes = self.iterations(part);
            if let Some(&nans) = sum.nans.get(part) {
                self.note_nan(is_wide(dtype), nans, value, lanes);
            }
            let (form, op, srcs): (Form, Opcode, SmallVec<[Src; 3]>) = match single {
                Some(op) => (Form::Two, op, smallvec![Src::Reg(accumulator), value]),
                None => {
                    let both: Vec<Parts> = vec![smallvec![Src::Reg(accumulator)], smallvec![value]];
                    let sum = self.op(op, &[dtype, dtype], &both)?[0];
                    let value = Src::Reg(accumulator);
                    (Form::Tied, MOVE.of(is_wide(dtype)), smallvec![value, value, sum])
                }
            };
            self.line.insts.push(Inst {
                op,
                form,
                out: Some(accumulator),
                srcs,
                constant: None,
                lanes,
                memory: None,
            });
        }
        Some(())
    }

    /// Sets the lanes in which a value is NaN to ones, for good.
    fn note_nan(&mut self, wide: bool, nans: Reg, value: Src, lanes: Lanes) {
        let mask = self.line.reg(self.mask_class());
        let mut push = |op: Opcode, form: Form, out: Reg, srcs, constant: Option<u8>, lanes: Lanes| {
            self.line.insts.push(Inst { op, form, out: Some(out), srcs, constant, lanes, memory: None });
        };
        push(COMPARE_F.of(wide), Form::Two, mask, smallvec![value, value], Some(3), lanes);
        let all = Src::Reg(nans);
        match self.level {
            Level::Avx512 => {
                let srcs = smallvec![all, all, all];
                push(TERNARY.of(wide), Form::Tied, nans, srcs, Some(0xff), Lanes::Masked(mask));
            }
            Level::Avx2 => {
                push(OR.of(wide), Form::Two, nans, smallvec![all, Src::Reg(mask)], None, Lanes::All);
            }
        }
    }

    /// The one instruction that an operation of two operands is, if there is one.
    pub(crate) fn single(&self, op: Op, dtype: DType) -> Option<Opcode> {
        let (float, wide) = (dtype.is_float(), is_wide(dtype));
        let new = self.level == Level::Avx512;
        let pair: Pair = match op {
            _ if dtype.is_bool() => match op {
                Op::And => AND,
                Op::Or => OR,
                Op::Xor => XOR,
                _ => return None,
            },
            Op::Add if float => ADD_F,
            Op::Sub if float => SUB_F,
            Op::Mul if float => MUL_F,
            Op::Div if float => DIV_F,
            Op::And => AND,
            Op::Or => OR,
            Op::Xor => XOR,
            Op::Add if dtype != DType::U8 => ADD_I,
            Op::Sub if dtype != DType::U8 => SUB_I,
            Op::Mul if dtype != DType::U8 && (new || !wide) => MUL_I,
            Op::Min | Op::Max if float || (wide && !new) => return None,
            Op::Min if dtype == DType::U32 => MIN_U,
            Op::Max if dtype == DType::U32 => MAX_U,
            Op::Min => MIN_S,
            Op::Max => MAX_S,
            _ => return None,
        };
        Some(pair.of(wide))
    }

    /// Leaves the function where a bool holds in a lane.
    pub(crate) fn leave(&mut self, condition: &Parts) {
        for mask in self.mask_for(false, condition) {
            self.line.insts.push(Inst {
                op: MASK_TEST,
                form: Form::Leave,
                out: None,
                srcs: smallvec![mask],
                constant: None,
                lanes: Lanes::All,
                memory: None,
            });
        }
    }

    /// `op args`; `None` for what is left to others. `dtypes` are the types of the operands.
    pub(crate) fn op(&mut self, op: Op, dtypes: &[DType], args: &[Parts]) -> Option<Parts> {
        let dtype = crate::vector::operand_dtype(op, dtypes);
        match (op, args) {
            (Op::Sub, [a, b]) if std::mem::take(&mut self.broken) => {
                let result = self.op(op, dtypes, &[b.clone(), a.clone()]);
                self.broken = true;
                return result;
            }
            (Op::Select, [condition, a, b]) => return self.select(dtype, condition, a, b),
            (Op::Compare(comparison), [a, b]) => return self.compare(comparison, dtype, a, b),
            (Op::Convert(to), [a]) => return self.convert(dtype, to, a),
            _ if dtype.is_bool() => return self.mask_op(op, args),
            _ => {}
        }
        let parts = args.iter().map(|parts| parts.len()).max()?;
        (0..parts)
            .map(|part| {
                let args: SmallVec<[Src; 3]> = args.iter().map(|parts| parts[part]).collect();
                self.lanewise(op, dtype, &args)
            })
            .collect()
    }

    /// An operation on one vector of each operand.
    fn lanewise(&mut self, op: Op, dtype: DType, args: &[Src]) -> Option<Src> {
        let (float, wide) = (dtype.is_float(), is_wide(dtype));
        let new = self.level == Level::Avx512;
        if let (Op::And | Op::Or | Op::Xor, &[a, b]) = (op, args)
            && new
            && dtype.size() >= 4
        {
            return Some(self.bitwise(op, dtype, a, b));
        }
        if let (Some(op), &[a, b]) = (self.single(op, dtype), args) {
            return Some(self.two(op, a, b));
        }
        let sign = 1u64 << (8 * dtype.size().max(4) - 1);
        Some(match (op, args) {
            (Op::Neg, &[a]) if float => {
                let sign = self.bits(wide, sign);
                let negated = self.two(XOR.of(wide), a, sign);
                self.negated.push((negated, a));
                negated
            }
            (Op::Neg, &[a]) => {
                let zero = self.bits(wide, 0);
                let negated = self.two(SUB_I.of(wide), zero, a);
                self.wrap(dtype, negated)
            }
            (Op::Abs, &[a]) if float => {
                let others = self.bits(wide, !sign);
                self.two(AND.of(wide), a, others)
            }
            (Op::Abs, &[a]) if dtype.is_signed() => match (wide, new) {
                (true, false) => return None,
                _ => self.one(ABS_I.of(wide), a),
            },
            (Op::Abs | Op::Bitcast(_), &[a]) => a,
            (Op::Sqrt, &[a]) => self.one(SQRT.of(wide), a),
            // With the mode comes the wish that nothing is said about inexact results.
            (Op::RoundEven, &[a]) => self.one_by(ROUND.of(wide), a, 8),
            (Op::Floor, &[a]) => self.one_by(ROUND.of(wide), a, 9),
            (Op::Ceil, &[a]) => self.one_by(ROUND.of(wide), a, 10),
            (Op::Trunc, &[a]) => self.one_by(ROUND.of(wide), a, 11),
            (Op::Not, &[a]) => {
                let ones = self.bits(wide, if dtype == DType::U8 { 255 } else { u64::MAX });
                self.two(XOR.of(wide), a, ones)
            }
            (Op::LeadingZeros, &[a]) if new && dtype != DType::U8 => self.one(LEADING_ZEROS.of(wide), a),
            (Op::Min, &[a, b]) if float => self.extreme(MIN_F, wide, a, b),
            (Op::Max, &[a, b]) if float => self.extreme(MAX_F, wide, a, b),
            (Op::Add | Op::Sub | Op::Mul, &[a, b]) if dtype == DType::U8 => {
                let pair = match op {
                    Op::Add => ADD_I,
                    Op::Sub => SUB_I,
                    _ => MUL_I,
                };
                let result = self.two(pair.of(false), a, b);
                self.wrap(dtype, result)
            }
            (Op::Min, &[a, b]) if wide => {
                let less = self.greater(true, b, a);
                self.choose(true, less, a, b)
            }
            (Op::Max, &[a, b]) if wide => {
                let greater = self.greater(true, a, b);
                self.choose(true, greater, a, b)
            }
            (Op::Mul, &[a, b]) if !float => self.multiply_wide(a, b),
            (Op::Shl | Op::Shr | Op::ShrLogical, &[a, amount]) => self.shift(op, dtype, a, amount)?,
            (Op::Fma, &[a, b, c]) => self.fma(wide, a, b, c),
            (Op::Scaled, &[_, x, k]) if new => self.two(SCALE.of(wide), x, k),
            (Op::Scaled, &[y, ..]) => y,
            _ => return None,
        })
    }

    /// `a * b + c`. There are instructions for negated operands, so that nobody may need the negated one itself.
    fn fma(&mut self, wide: bool, a: Src, b: Src, c: Src) -> Src {
        let opposite = |src: Src| self.negated.iter().find(|(negated, _)| *negated == src).map(|(_, a)| *a);
        let [(a, minus_a), (b, minus_b), (c, minus_c)] =
            [a, b, c].map(|src| opposite(src).map_or((src, false), |src| (src, true)));
        let mut op = FMA_231.of(wide);
        // Among the forms of one sum, bits 1 and 2 say what is negated: the addend, the product.
        op.byte |= u8::from(minus_c) << 1 | u8::from(minus_a != minus_b) << 2;
        self.push(op, Form::Fma, Class::Vector, smallvec![a, b, c], None, Lanes::All)
    }

    /// `a` where it is the extreme or NaN, else `b`. The instruction takes `b` where either is NaN.
    fn extreme(&mut self, pair: Pair, wide: bool, a: Src, b: Src) -> Src {
        // A constant is no NaN, and one that is not zero equals only itself: then the order does not matter.
        let number = |bits: u64| match wide {
            true => f64::from_bits(bits),
            false => f64::from(f32::from_bits(bits as u32)),
        };
        let [first, second] = [a, b].map(|src| self.constant(src).map_or(f64::NAN, number));
        if !first.is_nan() {
            return self.two(pair.of(wide), a, b);
        }
        if !second.is_nan() && second != 0.0 {
            return self.two(pair.of(wide), b, a);
        }
        let extreme = self.two(pair.of(wide), a, b);
        if self.level == Level::Avx512 {
            let kinds = self.bits(wide, ONLY_NAN);
            let srcs = smallvec![extreme, a, kinds];
            return self.push(BY_KIND.of(wide), Form::Tied, Class::Vector, srcs, Some(0), Lanes::All);
        }
        let unordered = self.compared(COMPARE_F.of(wide), a, a, Some(3));
        self.two(OR.of(wide), extreme, unordered)
    }

    /// The low 64 bits of products of 64 bits, from products of halves.
    fn multiply_wide(&mut self, a: Src, b: Src) -> Src {
        let [a_high, b_high] = [a, b].map(|src| self.digit(SHIFT.of(true), SHIFT_RIGHT, src, 32));
        let low = self.two(MUL_HALVES, a, b);
        let first = self.two(MUL_HALVES, a_high, b);
        let second = self.two(MUL_HALVES, a, b_high);
        let cross = self.two(ADD_I.of(true), first, second);
        let cross = self.digit(SHIFT.of(true), SHIFT_LEFT, cross, 32);
        self.two(ADD_I.of(true), low, cross)
    }

    /// Amounts that are too large give what the kernel language says, by the instructions' own rules.
    fn shift(&mut self, op: Op, dtype: DType, a: Src, amount: Src) -> Option<Src> {
        let wide = is_wide(dtype);
        let arithmetic = op == Op::Shr && dtype.is_signed();
        if let Some(known) = self.constant(amount)
            && known < 8 * dtype.size() as u64
        {
            let known = known as u8;
            let shifted = match op {
                Op::Shl => self.digit(SHIFT.of(wide), SHIFT_LEFT, a, known),
                _ if arithmetic && wide && self.level == Level::Avx2 => return None,
                _ if arithmetic => self.digit(SHIFT_ARITHMETIC.of(wide), SHIFT_SIGN, a, known),
                _ => self.digit(SHIFT.of(wide), SHIFT_RIGHT, a, known),
            };
            if !arithmetic {
                self.shifted.push((shifted, (a, known, op == Op::Shl)));
            }
            return Some(if op == Op::Shl { self.wrap(dtype, shifted) } else { shifted });
        }
        Some(match op {
            Op::Shl => {
                let shifted = self.two(SHL.of(wide), a, amount);
                self.wrap(dtype, shifted)
            }
            _ if arithmetic && wide && self.level == Level::Avx2 => return None,
            _ if arithmetic => self.two(SAR.of(wide), a, amount),
            _ => self.two(SHR.of(wide), a, amount),
        })
    }

    /// A bitwise operation at 512 bits, with what it is done to if that is one too: there is an instruction for any
    /// function of three bits. It replaces its first operand.
    fn bitwise(&mut self, op: Op, dtype: DType, a: Src, b: Src) -> Src {
        let wide = is_wide(dtype);
        if op == Op::Or
            && let Some(rotated) = self.rotated(dtype, a, b)
        {
            return rotated;
        }
        let known = |src: Src| self.bitwise.iter().find(|(known, _)| *known == src).map(|(_, of)| *of);
        let inner = known(b).map(|inner| (a, inner)).or_else(|| known(a).map(|inner| (b, inner)));
        if let Some((outer, (inner, [first, last]))) = inner {
            let table = |op: Op, a: u8, b: u8| match op {
                Op::And => a & b,
                Op::Or => a | b,
                _ => a ^ b,
            };
            let function = table(op, 0xf0, table(inner, 0xcc, 0xaa));
            let srcs = smallvec![outer, first, last];
            return self.push(TERNARY.of(wide), Form::Tied, Class::Vector, srcs, Some(function), Lanes::All);
        }
        let opcode = self.single(op, dtype).expect("a bitwise operation is one instruction");
        let result = self.two(opcode, a, b);
        self.bitwise.push((result, (op, [a, b])));
        result
    }

    /// The union of two values, if it is one that is rotated: what one shift drops, the other has kept.
    fn rotated(&mut self, dtype: DType, a: Src, b: Src) -> Option<Src> {
        let [a, b] =
            [a, b].map(|src| self.shifted.iter().find(|(known, _)| *known == src).map(|(_, of)| *of));
        let ((of, left, true), (other, right, false)) = (if a?.2 { (a?, b?) } else { (b?, a?) }) else {
            return None;
        };
        let is_whole = of == other && usize::from(left) + usize::from(right) == 8 * dtype.size();
        is_whole.then(|| self.digit(ROTATE.of(is_wide(dtype)), ROTATE_LEFT, of, left))
    }

    /// The bits of a constant.
    pub(crate) fn constant(&self, src: Src) -> Option<u64> {
        let Src::Steady(id) = src else { return None };
        match self.steadies.all[id.0 as usize] {
            Steady::Bits32(bits) => Some(u64::from(bits)),
            Steady::Bits64(bits) => Some(bits),
            _ => None,
        }
    }

    /// Brings lanes that hold a `u8` back to its range.
    pub(crate) fn wrap(&mut self, dtype: DType, a: Src) -> Src {
        if dtype != DType::U8 {
            return a;
        }
        let byte = self.bits(false, 255);
        self.two(AND.of(false), a, byte)
    }

    /// A mask of lanes that are not zero.
    pub(crate) fn nonzero(&mut self, wide: bool, a: Src) -> Src {
        match self.level {
            Level::Avx512 => self.compared(TEST.of(wide), a, a, None),
            Level::Avx2 => {
                let zero = self.bits(wide, 0);
                let equal = self.equal(wide, a, zero);
                self.complement(equal)
            }
        }
    }
}

/// How many vectors hold lanes of a dtype.
pub(crate) fn parts_of(dtype: DType) -> usize {
    if is_wide(dtype) { 2 } else { 1 }
}
