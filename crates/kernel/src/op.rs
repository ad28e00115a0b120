//! Scalar operations: everything a kernel can do to values.
//!
//! Closed, total and small. *Total*: no operation traps or is undefined, whatever its operands (see the rule
//! beside each), so generated code cannot fault. *Small*: functions such as `exp` are expansions into these
//! (`math`), so that the scalar tail of a loop and every vector width agree bit for bit.

use tracewell_array::{DType, Literal};

use crate::ir::{Size, SizeId};

/// An operation on scalars.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// A literal.
    Const(Literal),
    /// The value of a run-time size, as `i64`.
    Size(SizeId),
    /// `-x`: flips the sign bit of a float, wraps for integers.
    Neg,
    /// `|x|`: clears the sign bit of a float, wraps for integers.
    Abs,
    /// Square root of a float, correctly rounded.
    Sqrt,
    /// Largest integral float not above `x`.
    Floor,
    /// Smallest integral float not below `x`.
    Ceil,
    /// Integral float next to `x` towards zero.
    Trunc,
    /// Nearest integral float, ties to even.
    RoundEven,
    /// Bitwise complement of integers, negation of bools.
    Not,
    /// Number of one bits.
    PopCount,
    /// Number of leading zero bits.
    LeadingZeros,
    /// Sum; wraps for integers.
    Add,
    /// Difference; wraps for integers.
    Sub,
    /// Product; wraps for integers.
    Mul,
    /// Quotient. Integers truncate; `x/0` has all bits set; `MIN/-1` is `MIN`.
    Div,
    /// Remainder with the dividend's sign. Integers: `x%0` is `x`, `MIN%-1` is 0. Floats as C's `fmod`.
    Rem,
    /// `a` if `a < b` or `a` is NaN, else `b`: NaN wins on either side.
    Min,
    /// `a` if `a > b` or `a` is NaN, else `b`: NaN wins on either side.
    Max,
    /// Bitwise and of integers, conjunction of bools.
    And,
    /// Bitwise or of integers, disjunction of bools.
    Or,
    /// Bitwise exclusive or of integers and bools.
    Xor,
    /// Left shift of integers; zero when the amount is not in `0..width`.
    Shl,
    /// Arithmetic right shift; all sign bits when the amount is not in `0..width` (logical for unsigned types).
    Shr,
    /// Logical right shift; zero when the amount is not in `0..width`.
    ShrLogical,
    /// `a * b + c` of floats with one rounding.
    Fma,
    /// `scaled y, x, k`: the float `y`. It says that `y` is `x * 2^k` with one rounding, for a whole number `k`, so that a
    /// machine that has an instruction for this may use it. NaN is the only thing that may come of NaN.
    Scaled,
    /// Comparison of two values of one type; `bool` result. IEEE for floats: all but `Ne` are false on NaN.
    Compare(Comparison),
    /// The bool that it is given. It says that this hardly ever holds, so that code may be made for where it does not.
    Rarely,
    /// `select c, a, b`: `a` where the bool `c` holds, else `b`.
    Select,
    /// To another type: float to int saturates and takes NaN to 0; int to int wraps; to bool is `!= 0`.
    Convert(DType),
    /// The same bits as another type of the same width (not bool).
    Bitcast(DType),
    /// An `i32` or `i64` clamped to `0..size` (to 0 where `size` is 0): how a computed index is proved inside a buffer.
    Clamp(Size),
}

/// The six comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Comparison {
    /// `a == b`
    Eq,
    /// `a != b`
    Ne,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a > b`
    Gt,
    /// `a >= b`
    Ge,
}

impl Comparison {
    /// All six, in the order of their declaration.
    pub const ALL: [Comparison; 6] = [Self::Eq, Self::Ne, Self::Lt, Self::Le, Self::Gt, Self::Ge];

    /// The lower-case name used in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
        }
    }

    /// The comparison of that name.
    pub fn parse(name: &str) -> Option<Comparison> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }
}

/// An associative operation with an identity, by which a `reduce` combines its lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Combine {
    /// Sum, from 0.
    Add,
    /// Product, from 1.
    Mul,
    /// Minimum, from the largest value.
    Min,
    /// Maximum, from the smallest value.
    Max,
    /// And, from all ones.
    And,
    /// Or, from 0.
    Or,
    /// Exclusive or, from 0.
    Xor,
}

impl Combine {
    /// All of them.
    pub const ALL: [Combine; 7] =
        [Self::Add, Self::Mul, Self::Min, Self::Max, Self::And, Self::Or, Self::Xor];

    /// The scalar operation that combines two lanes.
    pub fn op(self) -> Op {
        match self {
            Self::Add => Op::Add,
            Self::Mul => Op::Mul,
            Self::Min => Op::Min,
            Self::Max => Op::Max,
            Self::And => Op::And,
            Self::Or => Op::Or,
            Self::Xor => Op::Xor,
        }
    }

    /// The value that every lane starts from; `None` where the operation has no meaning for the type.
    pub fn identity(self, dtype: DType) -> Option<Literal> {
        let op = self.op();
        op.result(&[dtype, dtype])?;
        Some(match self {
            Self::Add | Self::Or | Self::Xor => Literal::zero(dtype),
            Self::Mul => Literal::one(dtype),
            Self::And if dtype.is_bool() => Literal::one(dtype),
            Self::And => Literal::from_i64(dtype, -1),
            // `from_f64` saturates for integers, so infinity is the extreme value of every type.
            Self::Min => Literal::from_f64(dtype, f64::INFINITY),
            Self::Max => Literal::from_f64(dtype, f64::NEG_INFINITY),
        })
    }

    /// The lower-case name used in text.
    pub fn name(self) -> &'static str {
        self.op().name()
    }

    /// The combination of that name.
    pub fn parse(name: &str) -> Option<Combine> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }
}

/// Number of virtual lanes of a `reduce` whose widest accumulator has this many bytes.
///
/// Part of the numeric contract: element `i` is combined into lane `i % lanes`, then lanes are combined by
/// halving (`lane[i] ∘ lane[i + w]` for `w` = lanes/2, …, 1). Results therefore do not depend on the width of
/// the machine's vectors. 128 bytes are eight accumulators of 128 bits or two of 512.
pub fn reduce_lanes(widest: usize) -> usize {
    128 / widest.max(4)
}

impl Op {
    /// The operations without parameters, each with a name of its own.
    pub const PLAIN: [Op; 27] = [
        Op::Neg,
        Op::Abs,
        Op::Sqrt,
        Op::Floor,
        Op::Ceil,
        Op::Trunc,
        Op::RoundEven,
        Op::Not,
        Op::PopCount,
        Op::LeadingZeros,
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Rem,
        Op::Min,
        Op::Max,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::Shr,
        Op::ShrLogical,
        Op::Fma,
        Op::Scaled,
        Op::Rarely,
        Op::Select,
    ];

    /// How many operands it takes.
    pub fn arity(self) -> usize {
        match self {
            Op::Const(_) | Op::Size(_) => 0,
            Op::Neg
            | Op::Abs
            | Op::Sqrt
            | Op::Floor
            | Op::Ceil
            | Op::Trunc
            | Op::RoundEven
            | Op::Not
            | Op::PopCount
            | Op::LeadingZeros
            | Op::Rarely
            | Op::Convert(_)
            | Op::Bitcast(_)
            | Op::Clamp(_) => 1,
            Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::Rem
            | Op::Min
            | Op::Max
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Shl
            | Op::Shr
            | Op::ShrLogical
            | Op::Compare(_) => 2,
            Op::Fma | Op::Scaled | Op::Select => 3,
        }
    }

    /// The typing rule: the type of the result, or `None` for operands the operation is not defined on.
    pub fn result(self, args: &[DType]) -> Option<DType> {
        if args.len() != self.arity() {
            return None;
        }
        if args.iter().any(|dtype| dtype.is_complex()) {
            return None;
        }
        let same = args.windows(2).all(|w| w[0] == w[1]);
        let number = |t: DType| !t.is_bool();
        let result = match self {
            Op::Const(literal) => Some(literal.dtype()),
            Op::Size(_) => Some(DType::I64),
            Op::Neg | Op::Abs => number(args[0]).then_some(args[0]),
            Op::Sqrt | Op::Floor | Op::Ceil | Op::Trunc | Op::RoundEven => {
                args[0].is_float().then_some(args[0])
            }
            Op::Not => (!args[0].is_float()).then_some(args[0]),
            Op::PopCount | Op::LeadingZeros => args[0].is_integer().then_some(args[0]),
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem | Op::Min | Op::Max => {
                (same && number(args[0])).then_some(args[0])
            }
            Op::And | Op::Or | Op::Xor => (same && !args[0].is_float()).then_some(args[0]),
            Op::Shl | Op::Shr | Op::ShrLogical => (same && args[0].is_integer()).then_some(args[0]),
            Op::Fma | Op::Scaled => (same && args[0].is_float()).then_some(args[0]),
            Op::Compare(_) => same.then_some(DType::Bool),
            Op::Rarely => args[0].is_bool().then_some(args[0]),
            Op::Select => (args[0].is_bool() && args[1] == args[2]).then_some(args[1]),
            Op::Convert(to) => Some(to),
            Op::Bitcast(to) => (number(to) && number(args[0]) && to.size() == args[0].size()).then_some(to),
            Op::Clamp(_) => matches!(args[0], DType::I32 | DType::I64).then_some(args[0]),
        };
        result.filter(|dtype| !dtype.is_complex())
    }

    /// The name used in text, without parameters.
    pub fn name(self) -> &'static str {
        match self {
            Op::Const(_) => "const",
            Op::Size(_) => "size",
            Op::Neg => "neg",
            Op::Abs => "abs",
            Op::Sqrt => "sqrt",
            Op::Floor => "floor",
            Op::Ceil => "ceil",
            Op::Trunc => "trunc",
            Op::RoundEven => "round_even",
            Op::Not => "not",
            Op::PopCount => "popcount",
            Op::LeadingZeros => "clz",
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::Div => "div",
            Op::Rem => "rem",
            Op::Min => "min",
            Op::Max => "max",
            Op::And => "and",
            Op::Or => "or",
            Op::Xor => "xor",
            Op::Shl => "shl",
            Op::Shr => "shr",
            Op::ShrLogical => "shr_logical",
            Op::Fma => "fma",
            Op::Scaled => "scaled",
            Op::Compare(c) => c.name(),
            Op::Rarely => "rarely",
            Op::Select => "select",
            Op::Convert(_) => "convert",
            Op::Bitcast(_) => "bitcast",
            Op::Clamp(_) => "clamp",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changing them changes the results of every program.
    #[test]
    fn lanes_are_part_of_the_numeric_contract() {
        assert_eq!([1, 4, 8, 16].map(reduce_lanes), [32, 32, 16, 8]);
    }
}
