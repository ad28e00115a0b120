//! What the expansions are written in: arithmetic on one float type, its bit layout, and error-free sums.

use tracewell_array::{DType, Literal};

use crate::build::KernelBuilder;
use crate::ir::Value;
use crate::op::{Comparison, Op};

/// Arithmetic on `f32` or `f64` values under construction.
pub(super) struct Math<'a> {
    b: &'a mut KernelBuilder,
    dtype: DType,
}

/// An unevaluated sum `hi + lo` with `|lo|` far below `|hi|`: about twice the precision.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) hi: Value,
    pub(super) lo: Value,
}

impl<'a> Math<'a> {
    /// Arithmetic on the type of `x`.
    #[track_caller]
    pub(super) fn new(b: &'a mut KernelBuilder, x: Value) -> Math<'a> {
        let dtype = b.dtype(x);
        assert!(dtype.is_float(), "math functions are defined on floats, not on {dtype:?}");
        Math { b, dtype }
    }

    /// The first for `f32`, the second for `f64`.
    pub(super) fn pick<T>(&self, narrow: T, wide: T) -> T {
        if self.dtype == DType::F32 { narrow } else { wide }
    }

    /// Bits of the stored significand.
    pub(super) fn significand(&self) -> i64 {
        self.pick(23, 52)
    }

    /// A constant of the type.
    pub(super) fn c(&mut self, number: f64) -> Value {
        self.b.literal(Literal::from_f64(self.dtype, number))
    }

    /// A constant that is more precise than either type: the nearest number, and what is left of it for `f32`
    /// and `f64`.
    pub(super) fn split(&mut self, constant: Split) -> Pair {
        let (hi, lo) = self.pick(constant.narrow, constant.wide);
        Pair { hi: self.c(hi), lo: self.c(lo) }
    }

    pub(super) fn add(&mut self, x: Value, y: Value) -> Value {
        self.b.op(Op::Add, &[x, y])
    }

    pub(super) fn sub(&mut self, x: Value, y: Value) -> Value {
        self.b.op(Op::Sub, &[x, y])
    }

    pub(super) fn mul(&mut self, x: Value, y: Value) -> Value {
        self.b.op(Op::Mul, &[x, y])
    }

    pub(super) fn div(&mut self, x: Value, y: Value) -> Value {
        self.b.op(Op::Div, &[x, y])
    }

    /// `x * y + z`, rounded once.
    pub(super) fn fma(&mut self, x: Value, y: Value, z: Value) -> Value {
        self.b.op(Op::Fma, &[x, y, z])
    }

    /// `z - x * y`, rounded once.
    pub(super) fn fnma(&mut self, x: Value, y: Value, z: Value) -> Value {
        let negated = self.neg(x);
        self.fma(negated, y, z)
    }

    /// `x * number`
    pub(super) fn scale(&mut self, x: Value, number: f64) -> Value {
        let number = self.c(number);
        self.mul(x, number)
    }

    /// `x + number`
    pub(super) fn offset(&mut self, x: Value, number: f64) -> Value {
        let number = self.c(number);
        self.add(x, number)
    }

    pub(super) fn neg(&mut self, x: Value) -> Value {
        self.b.op(Op::Neg, &[x])
    }

    pub(super) fn abs(&mut self, x: Value) -> Value {
        self.b.op(Op::Abs, &[x])
    }

    pub(super) fn sqrt(&mut self, x: Value) -> Value {
        self.b.op(Op::Sqrt, &[x])
    }

    pub(super) fn floor(&mut self, x: Value) -> Value {
        self.b.op(Op::Floor, &[x])
    }

    pub(super) fn round_even(&mut self, x: Value) -> Value {
        self.b.op(Op::RoundEven, &[x])
    }

    pub(super) fn trunc(&mut self, x: Value) -> Value {
        self.b.op(Op::Trunc, &[x])
    }

    pub(super) fn lt(&mut self, x: Value, y: Value) -> Value {
        self.b.compare(Comparison::Lt, x, y)
    }

    pub(super) fn at_or_above(&mut self, x: Value, y: Value) -> Value {
        self.b.compare(Comparison::Ge, x, y)
    }

    /// Whether `x` is below a number.
    pub(super) fn below(&mut self, x: Value, number: f64) -> Value {
        let number = self.c(number);
        self.lt(x, number)
    }

    /// Whether `x` is above a number.
    pub(super) fn above(&mut self, x: Value, number: f64) -> Value {
        let number = self.c(number);
        self.lt(number, x)
    }

    /// The same condition, which hardly ever holds.
    pub(super) fn rarely(&mut self, condition: Value) -> Value {
        self.b.op(Op::Rarely, &[condition])
    }

    /// Whether `x` is a number; `0.0` and `-0.0` are one.
    pub(super) fn equals(&mut self, x: Value, number: f64) -> Value {
        let number = self.c(number);
        self.b.compare(Comparison::Eq, x, number)
    }

    /// Whether two numbers are the same.
    pub(super) fn same(&mut self, x: Value, y: Value) -> Value {
        self.b.compare(Comparison::Eq, x, y)
    }

    pub(super) fn select(&mut self, condition: Value, x: Value, y: Value) -> Value {
        self.b.select(condition, x, y)
    }

    /// `x`, or `number` where `x` is above it. NaN stays.
    pub(super) fn at_most(&mut self, x: Value, number: f64) -> Value {
        let number = self.c(number);
        let above = self.lt(number, x);
        self.select(above, number, x)
    }

    /// `x`, or `number` where `x` is below it. NaN stays.
    pub(super) fn at_least(&mut self, x: Value, number: f64) -> Value {
        let number = self.c(number);
        let below = self.lt(x, number);
        self.select(below, number, x)
    }

    // Bits: the integer type of the same width.

    /// The integer type of the same width.
    fn integer(&self) -> DType {
        self.pick(DType::I32, DType::I64)
    }

    /// An integer constant as wide as the float.
    pub(super) fn int(&mut self, number: i64) -> Value {
        let dtype = self.integer();
        self.b.literal(Literal::from_i64(dtype, number))
    }

    /// The bits of a float constant.
    pub(super) fn bits_of(&mut self, number: f64) -> Value {
        let bits = self.pick(i64::from((number as f32).to_bits()), number.to_bits() as i64);
        self.int(bits)
    }

    /// The bits of a float.
    pub(super) fn bits(&mut self, x: Value) -> Value {
        let dtype = self.integer();
        self.b.op(Op::Bitcast(dtype), &[x])
    }

    /// The float with these bits.
    pub(super) fn float(&mut self, bits: Value) -> Value {
        self.b.op(Op::Bitcast(self.dtype), &[bits])
    }

    pub(super) fn and(&mut self, x: Value, y: Value) -> Value {
        self.b.op(Op::And, &[x, y])
    }

    pub(super) fn or(&mut self, x: Value, y: Value) -> Value {
        self.b.op(Op::Or, &[x, y])
    }

    pub(super) fn xor(&mut self, x: Value, y: Value) -> Value {
        self.b.op(Op::Xor, &[x, y])
    }

    /// Left shift of bits by a constant.
    pub(super) fn shl(&mut self, x: Value, amount: i64) -> Value {
        let amount = self.int(amount);
        self.b.op(Op::Shl, &[x, amount])
    }

    /// Logical right shift of bits by a constant.
    pub(super) fn shr(&mut self, x: Value, amount: i64) -> Value {
        let amount = self.int(amount);
        self.b.op(Op::ShrLogical, &[x, amount])
    }

    /// Whether an integer is zero.
    pub(super) fn is_zero(&mut self, x: Value) -> Value {
        let zero = self.int(0);
        self.b.compare(Comparison::Eq, x, zero)
    }

    /// The sign bit of `x` and nothing else, as bits.
    pub(super) fn sign(&mut self, x: Value) -> Value {
        let bits = self.bits(x);
        let mask = self.pick(i64::from(i32::MIN), i64::MIN);
        let mask = self.int(mask);
        self.and(bits, mask)
    }

    /// Flips the sign of `x` where `sign`, bits of which only the highest may be set, has it.
    pub(super) fn flip(&mut self, x: Value, sign: Value) -> Value {
        let bits = self.bits(x);
        let bits = self.xor(bits, sign);
        self.float(bits)
    }

    // Integers inside floats.

    /// `x * factor` rounded to an integer, in two forms: the sum with `1.5 * 2^significand`, the low bits of
    /// which are that integer in two's complement, and the integer as a float.
    ///
    /// This is how a float becomes an integer without a conversion: those of `f64` do not vectorise.
    /// `|x * factor|` must stay below half of `2^significand`.
    pub(super) fn round(&mut self, x: Value, factor: f64) -> (Value, Value) {
        let shifted = self.shift(x, factor);
        let magic = self.magic();
        (shifted, self.sub(shifted, magic))
    }

    /// The same with the integer negated in its second form.
    pub(super) fn round_negated(&mut self, x: Value, factor: f64) -> (Value, Value) {
        let shifted = self.shift(x, factor);
        let magic = self.magic();
        (shifted, self.sub(magic, shifted))
    }

    /// The first form of [`Math::round`] alone.
    fn shift(&mut self, x: Value, factor: f64) -> Value {
        let (factor, magic) = (self.c(factor), self.magic());
        self.fma(x, factor, magic)
    }

    /// `1.5 * 2^significand`: the sum with a smaller number has a last place of 1.
    fn magic(&mut self) -> Value {
        let magic = self.pick(12_582_912.0, 6_755_399_441_055_744.0);
        self.c(magic)
    }

    /// `2^k` for the first result of [`Math::round`]; `k` must be the exponent of a normal number.
    pub(super) fn exp2_int(&mut self, shifted: Value) -> Value {
        let bits = self.bits(shifted);
        self.exp2_bits(bits)
    }

    /// The same times a power of two.
    pub(super) fn exp2_int_times(&mut self, shifted: Value, power: f64) -> Value {
        let bits = self.bits(shifted);
        self.exp2_bits_times(bits, power)
    }

    /// `2^k` for `k` in the low bits of an integer, the others being ignored.
    pub(super) fn exp2_bits(&mut self, k: Value) -> Value {
        self.exp2_bits_times(k, 1.0)
    }

    /// The same times a power of two.
    fn exp2_bits_times(&mut self, k: Value, power: f64) -> Value {
        let significand = self.significand();
        let exponent = self.shl(k, significand);
        let one = self.bits_of(power);
        let bits = self.add(exponent, one);
        self.float(bits)
    }

    /// `x * 2^k`, rounded once, for `k` in both forms of [`Math::round`] and any normal `x` near 1.
    ///
    /// Two steps of about `k / 2`, so that the result may be subnormal or overflow.
    pub(super) fn ldexp(&mut self, x: Value, (shifted, k): (Value, Value)) -> Value {
        let half = self.shift(k, 0.5);
        let (bits, half_bits) = (self.bits(shifted), self.bits(half));
        let rest = self.sub(bits, half_bits);
        let first = self.exp2_int(half);
        let second = self.exp2_bits(rest);
        let y = self.mul(x, first);
        let y = self.mul(y, second);
        self.b.op(Op::Scaled, &[y, x, k])
    }

    // Error-free transformations.

    /// `x + y` and its rounding error, where `x` is 0 or `|x| >= |y|`.
    pub(super) fn fast_two_sum(&mut self, x: Value, y: Value) -> Pair {
        let hi = self.add(x, y);
        let rounded = self.sub(hi, x);
        Pair { hi, lo: self.sub(y, rounded) }
    }

    /// `x + y` and its rounding error.
    pub(super) fn two_sum(&mut self, x: Value, y: Value) -> Pair {
        let hi = self.add(x, y);
        let y_part = self.sub(hi, x);
        let x_part = self.sub(hi, y_part);
        let y_error = self.sub(y, y_part);
        let x_error = self.sub(x, x_part);
        Pair { hi, lo: self.add(x_error, y_error) }
    }

    /// `x * y` and its rounding error.
    pub(super) fn two_product(&mut self, x: Value, y: Value) -> Pair {
        let hi = self.mul(x, y);
        let negated = self.neg(hi);
        Pair { hi, lo: self.fma(x, y, negated) }
    }

    /// `x / y` to about twice the precision, from one division.
    pub(super) fn quotient(&mut self, x: Pair, y: Pair) -> Pair {
        let one = self.c(1.0);
        let reciprocal = self.div(one, y.hi);
        let hi = self.mul(x.hi, reciprocal);
        // What `hi * y` falls short of `x`; the first `fma` is exact.
        let short = self.fnma(hi, y.hi, x.hi);
        let short = self.add(short, x.lo);
        let short = self.fnma(hi, y.lo, short);
        Pair { hi, lo: self.mul(short, reciprocal) }
    }

    pub(super) fn select_pair(&mut self, condition: Value, x: Pair, y: Pair) -> Pair {
        Pair { hi: self.select(condition, x.hi, y.hi), lo: self.select(condition, x.lo, y.lo) }
    }

    /// `x * y` to about twice the precision.
    pub(super) fn product(&mut self, x: Pair, y: Pair) -> Pair {
        let Pair { hi, lo } = self.two_product(x.hi, y.hi);
        let lo = self.fma(x.hi, y.lo, lo);
        Pair { hi, lo: self.fma(x.lo, y.hi, lo) }
    }

    /// Twice the sum; exact.
    pub(super) fn double(&mut self, x: Pair) -> Pair {
        Pair { hi: self.add(x.hi, x.hi), lo: self.add(x.lo, x.lo) }
    }

    /// The sum as one number.
    pub(super) fn join(&mut self, x: Pair) -> Value {
        self.add(x.hi, x.lo)
    }
}

/// A constant in two parts, for each type.
#[derive(Clone, Copy)]
pub(super) struct Split {
    narrow: (f64, f64),
    wide: (f64, f64),
}

impl Split {
    /// From the nearest `f64` and the remainder as bits.
    pub(super) const fn new(hi: u64, lo: u64) -> Split {
        let (hi, lo) = (f64::from_bits(hi), f64::from_bits(lo));
        let narrow = hi as f32 as f64;
        Split { narrow: (narrow, hi - narrow), wide: (hi, lo) }
    }

    /// The negated constant, for subtraction by fused multiply-add.
    pub(super) const fn negated(self) -> Split {
        let Split { narrow, wide } = self;
        Split { narrow: (-narrow.0, -narrow.1), wide: (-wide.0, -wide.1) }
    }
}

/// `ln 2`
pub(super) const LN_2: Split = Split::new(0x3fe6_2e42_fefa_39ef, 0x3c7a_bc9e_3b39_803f);

/// `log2 e`
pub(super) const LOG2_E: Split = Split::new(0x3ff7_1547_652b_82fe, 0x3c77_77d0_ffda_0d24);

/// `log10 e`
pub(super) const LOG10_E: Split = Split::new(0x3fdb_cb7b_1526_e50e, 0x3c69_5355_baaa_fad3);

/// `log10 2`
pub(super) const LOG10_2: Split = Split::new(0x3fd3_4413_509f_79ff, 0xbc49_dc1d_a994_fd21);

/// `2 / 3`
pub(super) const TWO_THIRDS: Split = Split::new(0x3fe5_5555_5555_5555, 0x3c85_5555_5555_5555);
