//! What every scalar operation means: the reference that generated code is measured against.
//!
//! [`eval`] is the rule beside each variant of [`Op`] and nothing more. It is total, as the operations are:
//! the only panics are for operands that [`Op::result`] refuses.

use tracewell_array::{DType, Element, Literal};

use crate::op::{Comparison, Op};

/// The value of an operation on literals, under the run-time sizes of a launch.
///
/// # Panics
///
/// If the operation is not defined on the types of the operands, or a size it names was not given.
pub fn eval(op: Op, args: &[Literal], sizes: &[i64]) -> Literal {
    match (op, args) {
        (Op::Const(literal), []) => literal,
        (Op::Size(id), []) => Literal::new(sizes[id.0 as usize]),
        (Op::Select, &[condition, a, b]) => {
            if get(op, condition) {
                a
            } else {
                b
            }
        }
        (Op::Convert(to), &[x]) => x.convert(to),
        (Op::Bitcast(to), &[x]) => Literal::from_bits(to, x.bits()),
        (Op::Clamp(size), &[x]) => {
            let last = size.get(sizes).saturating_sub(1);
            Literal::from_i64(x.dtype(), x.as_i64().min(last).max(0))
        }
        (_, [first, ..]) => match first.dtype() {
            DType::Bool => boolean(op, args),
            DType::U8 => <u8 as Operand>::eval(op, args),
            DType::U32 => <u32 as Operand>::eval(op, args),
            DType::I32 => <i32 as Operand>::eval(op, args),
            DType::I64 => <i64 as Operand>::eval(op, args),
            DType::F32 => <f32 as Operand>::eval(op, args),
            DType::F64 => <f64 as Operand>::eval(op, args),
            DType::C64 | DType::C128 => undefined(op, args),
        },
        (_, []) => undefined(op, args),
    }
}

/// The operand as a Rust value.
fn get<T: Element>(op: Op, literal: Literal) -> T {
    literal.get().unwrap_or_else(|| undefined(op, &[literal]))
}

fn undefined(op: Op, args: &[Literal]) -> ! {
    panic!("kernel operation `{}` is not defined on {args:?}", op.name())
}

fn compare<T: PartialOrd>(comparison: Comparison, a: T, b: T) -> Literal {
    Literal::new(match comparison {
        Comparison::Eq => a == b,
        Comparison::Ne => a != b,
        Comparison::Lt => a < b,
        Comparison::Le => a <= b,
        Comparison::Gt => a > b,
        Comparison::Ge => a >= b,
    })
}

fn boolean(op: Op, args: &[Literal]) -> Literal {
    let arg = |i: usize| get::<bool>(op, args[i]);
    match (op, args.len()) {
        (Op::Not, 1) => Literal::new(!arg(0)),
        (Op::Rarely, 1) => Literal::new(arg(0)),
        (Op::And, 2) => Literal::new(arg(0) & arg(1)),
        (Op::Or, 2) => Literal::new(arg(0) | arg(1)),
        (Op::Xor, 2) => Literal::new(arg(0) ^ arg(1)),
        (Op::Compare(c), 2) => compare(c, arg(0), arg(1)),
        _ => undefined(op, args),
    }
}

/// A type on which the operations that depend on the type are defined.
trait Operand: Element {
    fn eval(op: Op, args: &[Literal]) -> Literal;
}

/// Integers. `$abs` and `$beyond` (a right shift by the width or more) are what differs between signed and
/// unsigned types.
macro_rules! integer {
    ($t:ident, $unsigned:ident, abs: $abs:expr, beyond: $beyond:expr) => {
        impl Operand for $t {
            fn eval(op: Op, args: &[Literal]) -> Literal {
                let arg = |i: usize| get::<$t>(op, args[i]);
                // The amount of a shift, if it is in `0..width`.
                let amount = || u32::try_from(arg(1)).ok().filter(|&n| n < $t::BITS);
                let value: $t = match (op, args.len()) {
                    (Op::Neg, 1) => arg(0).wrapping_neg(),
                    (Op::Abs, 1) => $abs(arg(0)),
                    (Op::Not, 1) => !arg(0),
                    (Op::PopCount, 1) => arg(0).count_ones() as $t,
                    (Op::LeadingZeros, 1) => arg(0).leading_zeros() as $t,
                    (Op::Add, 2) => arg(0).wrapping_add(arg(1)),
                    (Op::Sub, 2) => arg(0).wrapping_sub(arg(1)),
                    (Op::Mul, 2) => arg(0).wrapping_mul(arg(1)),
                    (Op::Div, 2) if arg(1) == 0 => !0,
                    (Op::Div, 2) => arg(0).wrapping_div(arg(1)),
                    (Op::Rem, 2) if arg(1) == 0 => arg(0),
                    (Op::Rem, 2) => arg(0).wrapping_rem(arg(1)),
                    (Op::Min, 2) => arg(0).min(arg(1)),
                    (Op::Max, 2) => arg(0).max(arg(1)),
                    (Op::And, 2) => arg(0) & arg(1),
                    (Op::Or, 2) => arg(0) | arg(1),
                    (Op::Xor, 2) => arg(0) ^ arg(1),
                    (Op::Shl, 2) => amount().map_or(0, |n| arg(0) << n),
                    (Op::Shr, 2) => amount().map_or_else(|| $beyond(arg(0)), |n| arg(0) >> n),
                    (Op::ShrLogical, 2) => amount().map_or(0, |n| (arg(0) as $unsigned >> n) as $t),
                    (Op::Compare(c), 2) => return compare(c, arg(0), arg(1)),
                    _ => undefined(op, args),
                };
                Literal::new(value)
            }
        }
    };
}

integer!(u8, u8, abs: std::convert::identity, beyond: |_| 0);
integer!(u32, u32, abs: std::convert::identity, beyond: |_| 0);
integer!(i32, u32, abs: i32::wrapping_abs, beyond: |x: i32| x >> 31);
integer!(i64, u64, abs: i64::wrapping_abs, beyond: |x: i64| x >> 63);

macro_rules! float {
    ($t:ident) => {
        impl Operand for $t {
            fn eval(op: Op, args: &[Literal]) -> Literal {
                let arg = |i: usize| get::<$t>(op, args[i]);
                let value: $t = match (op, args.len()) {
                    (Op::Neg, 1) => -arg(0),
                    (Op::Abs, 1) => arg(0).abs(),
                    (Op::Sqrt, 1) => arg(0).sqrt(),
                    (Op::Floor, 1) => arg(0).floor(),
                    (Op::Ceil, 1) => arg(0).ceil(),
                    (Op::Trunc, 1) => arg(0).trunc(),
                    (Op::RoundEven, 1) => arg(0).round_ties_even(),
                    (Op::Add, 2) => arg(0) + arg(1),
                    (Op::Sub, 2) => arg(0) - arg(1),
                    (Op::Mul, 2) => arg(0) * arg(1),
                    (Op::Div, 2) => arg(0) / arg(1),
                    // Rust's `%` on floats is C's `fmod`.
                    (Op::Rem, 2) => arg(0) % arg(1),
                    // Not `f32::min`, which drops a NaN.
                    (Op::Min, 2) if arg(0) < arg(1) || arg(0).is_nan() => arg(0),
                    (Op::Max, 2) if arg(0) > arg(1) || arg(0).is_nan() => arg(0),
                    (Op::Min | Op::Max, 2) => arg(1),
                    (Op::Scaled, 3) => arg(0),
                    (Op::Fma, 3) => arg(0).mul_add(arg(1), arg(2)),
                    (Op::Compare(c), 2) => return compare(c, arg(0), arg(1)),
                    _ => undefined(op, args),
                };
                Literal::new(value)
            }
        }
    };
}

float!(f32);
float!(f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Size, SizeId};

    fn l<T: Element>(value: T) -> Literal {
        Literal::new(value)
    }

    /// One row a cell: operation, operands, result. NaN results are compared as NaN, everything else by bits.
    fn check(rows: &[(Op, &[Literal], Literal)]) {
        for (op, args, expected) in rows {
            let got = eval(*op, args, &[5, 0, -3]);
            let both_nan = got.dtype().is_float() && got.as_f64().is_nan() && expected.as_f64().is_nan();
            assert!(
                got == *expected || both_nan && got.dtype() == expected.dtype(),
                "{} {args:?} = {got:?}, not {expected:?}",
                op.name()
            );
        }
    }

    #[test]
    fn integers_wrap() {
        check(&[
            (Op::Neg, &[l(i32::MIN)], l(i32::MIN)),
            (Op::Neg, &[l(1u8)], l(255u8)),
            (Op::Abs, &[l(i64::MIN)], l(i64::MIN)),
            (Op::Abs, &[l(-5i32)], l(5i32)),
            (Op::Abs, &[l(200u8)], l(200u8)),
            (Op::Add, &[l(i32::MAX), l(1i32)], l(i32::MIN)),
            (Op::Add, &[l(250u8), l(10u8)], l(4u8)),
            (Op::Sub, &[l(0u32), l(1u32)], l(u32::MAX)),
            (Op::Sub, &[l(i64::MIN), l(1i64)], l(i64::MAX)),
            (Op::Mul, &[l(i32::MIN), l(-1i32)], l(i32::MIN)),
            (Op::Mul, &[l(1i64 << 40), l(1i64 << 40)], l(0i64)),
            (Op::Min, &[l(-1i32), l(1i32)], l(-1i32)),
            (Op::Max, &[l(u32::MAX), l(1u32)], l(u32::MAX)),
            (Op::Not, &[l(0u8)], l(255u8)),
            (Op::Not, &[l(false)], l(true)),
            (Op::And, &[l(true), l(false)], l(false)),
            (Op::Or, &[l(6i32), l(9i32)], l(15i32)),
            (Op::Xor, &[l(true), l(true)], l(false)),
            (Op::PopCount, &[l(-1i64)], l(64i64)),
            (Op::LeadingZeros, &[l(0u8)], l(8u8)),
            (Op::LeadingZeros, &[l(1i32)], l(31i32)),
        ]);
    }

    #[test]
    fn division_is_total() {
        check(&[
            (Op::Div, &[l(7i32), l(0i32)], l(-1i32)),
            (Op::Div, &[l(0i64), l(0i64)], l(-1i64)),
            (Op::Div, &[l(7u8), l(0u8)], l(255u8)),
            (Op::Div, &[l(7u32), l(0u32)], l(u32::MAX)),
            (Op::Div, &[l(i32::MIN), l(-1i32)], l(i32::MIN)),
            (Op::Div, &[l(i64::MIN), l(-1i64)], l(i64::MIN)),
            (Op::Div, &[l(-7i32), l(2i32)], l(-3i32)),
            (Op::Rem, &[l(7i32), l(0i32)], l(7i32)),
            (Op::Rem, &[l(7u8), l(0u8)], l(7u8)),
            (Op::Rem, &[l(i32::MIN), l(-1i32)], l(0i32)),
            (Op::Rem, &[l(i64::MIN), l(-1i64)], l(0i64)),
            (Op::Rem, &[l(-7i32), l(2i32)], l(-1i32)),
            (Op::Rem, &[l(7i32), l(-2i32)], l(1i32)),
            (Op::Div, &[l(1f32), l(-0f32)], l(f32::NEG_INFINITY)),
            (Op::Div, &[l(0f64), l(0f64)], l(f64::NAN)),
            (Op::Rem, &[l(-5.5f64), l(2f64)], l(-1.5f64)),
            (Op::Rem, &[l(-4f32), l(2f32)], l(-0f32)),
            (Op::Rem, &[l(5f32), l(f32::INFINITY)], l(5f32)),
            (Op::Rem, &[l(5f32), l(0f32)], l(f32::NAN)),
        ]);
    }

    #[test]
    fn shifts_are_total() {
        check(&[
            (Op::Shl, &[l(1i32), l(31i32)], l(i32::MIN)),
            (Op::Shl, &[l(1i32), l(32i32)], l(0i32)),
            (Op::Shl, &[l(1i32), l(-1i32)], l(0i32)),
            (Op::Shl, &[l(1u8), l(8u8)], l(0u8)),
            (Op::Shl, &[l(1i64), l(i64::MAX)], l(0i64)),
            (Op::Shr, &[l(-8i32), l(2i32)], l(-2i32)),
            (Op::Shr, &[l(-8i32), l(32i32)], l(-1i32)),
            (Op::Shr, &[l(8i32), l(32i32)], l(0i32)),
            (Op::Shr, &[l(-8i64), l(-1i64)], l(-1i64)),
            (Op::Shr, &[l(-8i64), l(1i64 << 32)], l(-1i64)),
            (Op::Shr, &[l(0x80u8), l(7u8)], l(1u8)),
            (Op::Shr, &[l(u32::MAX), l(32u32)], l(0u32)),
            (Op::ShrLogical, &[l(-1i32), l(28i32)], l(15i32)),
            (Op::ShrLogical, &[l(-1i32), l(32i32)], l(0i32)),
            (Op::ShrLogical, &[l(-1i64), l(-1i64)], l(0i64)),
            (Op::ShrLogical, &[l(-1i64), l(63i64)], l(1i64)),
            (Op::ShrLogical, &[l(0x80u8), l(7u8)], l(1u8)),
        ]);
    }

    #[test]
    fn floats_follow_ieee() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        check(&[
            (Op::Min, &[l(nan), l(1f32)], l(nan)),
            (Op::Min, &[l(1f32), l(nan)], l(nan)),
            (Op::Max, &[l(nan), l(1f32)], l(nan)),
            (Op::Max, &[l(1f32), l(nan)], l(nan)),
            (Op::Max, &[l(f64::NAN), l(1f64)], l(f64::NAN)),
            (Op::Min, &[l(1f64), l(f64::NAN)], l(f64::NAN)),
            // Neither zero is below the other: the second one is taken.
            (Op::Min, &[l(-0f32), l(0f32)], l(0f32)),
            (Op::Min, &[l(0f32), l(-0f32)], l(-0f32)),
            (Op::Max, &[l(0f32), l(-0f32)], l(-0f32)),
            (Op::Max, &[l(-0f32), l(0f32)], l(0f32)),
            (Op::Neg, &[l(0f32)], l(-0f32)),
            (Op::Abs, &[l(-0f64)], l(0f64)),
            (Op::Abs, &[l(-inf)], l(inf)),
            (Op::Sqrt, &[l(-0f32)], l(-0f32)),
            (Op::Sqrt, &[l(-1f32)], l(nan)),
            (Op::Floor, &[l(-0.5f32)], l(-1f32)),
            (Op::Ceil, &[l(-0.5f32)], l(-0f32)),
            (Op::Trunc, &[l(-1.5f64)], l(-1f64)),
            (Op::RoundEven, &[l(2.5f32)], l(2f32)),
            (Op::RoundEven, &[l(3.5f64)], l(4f64)),
            (Op::RoundEven, &[l(-0.5f64)], l(-0f64)),
            (Op::RoundEven, &[l(1e30f32)], l(1e30f32)),
            // One rounding: the product alone would round to 1.
            (
                Op::Fma,
                &[l(1.0 + f64::EPSILON), l(1.0 - f64::EPSILON), l(-1f64)],
                l(-f64::EPSILON * f64::EPSILON),
            ),
            (Op::Fma, &[l(inf), l(0f32), l(1f32)], l(nan)),
            (Op::Compare(Comparison::Eq), &[l(nan), l(nan)], l(false)),
            (Op::Compare(Comparison::Ne), &[l(nan), l(nan)], l(true)),
            (Op::Compare(Comparison::Lt), &[l(nan), l(1f32)], l(false)),
            (Op::Compare(Comparison::Le), &[l(nan), l(1f32)], l(false)),
            (Op::Compare(Comparison::Gt), &[l(nan), l(1f32)], l(false)),
            (Op::Compare(Comparison::Ge), &[l(nan), l(1f32)], l(false)),
            (Op::Compare(Comparison::Eq), &[l(-0f32), l(0f32)], l(true)),
        ]);
        // The sign of a NaN counts where only bits are moved.
        let negated = eval(Op::Neg, &[Literal::from_bits(DType::F32, 0x7fc0_0000)], &[]);
        assert_eq!(negated.bits(), 0xffc0_0000);
        assert_eq!(eval(Op::Abs, &[negated], &[]).bits(), 0x7fc0_0000);
    }

    #[test]
    fn conversions_saturate_from_floats_and_wrap_from_integers() {
        check(&[
            (Op::Convert(DType::I32), &[l(f32::NAN)], l(0i32)),
            (Op::Convert(DType::I64), &[l(f64::NAN)], l(0i64)),
            (Op::Convert(DType::I32), &[l(3e9f32)], l(i32::MAX)),
            (Op::Convert(DType::I32), &[l(f64::NEG_INFINITY)], l(i32::MIN)),
            (Op::Convert(DType::I64), &[l(1e300f64)], l(i64::MAX)),
            (Op::Convert(DType::U8), &[l(-1f32)], l(0u8)),
            (Op::Convert(DType::U8), &[l(300f64)], l(255u8)),
            (Op::Convert(DType::U32), &[l(-0.9f64)], l(0u32)),
            (Op::Convert(DType::I32), &[l(-1.9f32)], l(-1i32)),
            (Op::Convert(DType::I32), &[l(1i64 << 32)], l(0i32)),
            (Op::Convert(DType::U8), &[l(-1i32)], l(255u8)),
            (Op::Convert(DType::I64), &[l(u32::MAX)], l(i64::from(u32::MAX))),
            (Op::Convert(DType::I32), &[l(u32::MAX)], l(-1i32)),
            (Op::Convert(DType::Bool), &[l(-0f32)], l(false)),
            (Op::Convert(DType::Bool), &[l(f32::NAN)], l(true)),
            (Op::Convert(DType::Bool), &[l(256i32)], l(true)),
            (Op::Convert(DType::F32), &[l(true)], l(1f32)),
            (Op::Convert(DType::F32), &[l(1e300f64)], l(f32::INFINITY)),
            (Op::Convert(DType::F32), &[l(16_777_217i64)], l(16_777_216f32)),
            (Op::Bitcast(DType::I32), &[l(-0f32)], l(i32::MIN)),
            (Op::Bitcast(DType::F64), &[l(0x3ff0_0000_0000_0000i64)], l(1f64)),
            (Op::Bitcast(DType::U32), &[l(-1i32)], l(u32::MAX)),
        ]);
    }

    #[test]
    fn sizes_select_and_clamp() {
        let param = |i| Size::Param(SizeId(i));
        check(&[
            (Op::Const(l(3i32)), &[], l(3i32)),
            (Op::Size(SizeId(0)), &[], l(5i64)),
            (Op::Select, &[l(true), l(1f32), l(2f32)], l(1f32)),
            (Op::Select, &[l(false), l(1f32), l(2f32)], l(2f32)),
            (Op::Clamp(Size::Const(4)), &[l(4i64)], l(3i64)),
            (Op::Clamp(Size::Const(4)), &[l(2i64)], l(2i64)),
            (Op::Clamp(param(0)), &[l(-1i64)], l(0i64)),
            (Op::Clamp(param(0)), &[l(i64::MAX)], l(4i64)),
            (Op::Clamp(param(1)), &[l(7i64)], l(0i64)),
            (Op::Clamp(param(2)), &[l(7i64)], l(0i64)),
            (Op::Clamp(Size::Const(i64::MIN)), &[l(7i64)], l(0i64)),
            (Op::Clamp(Size::Const(4)), &[l(i32::MAX)], l(3i32)),
            (Op::Clamp(Size::Const(4)), &[l(i32::MIN)], l(0i32)),
            (Op::Clamp(Size::Const(i64::MAX)), &[l(i32::MAX)], l(i32::MAX)),
        ]);
    }

    /// `eval` and the typing rule agree on what is defined and on the type of the result.
    #[test]
    fn agrees_with_the_typing_rule() {
        let unary = [
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
        ];
        let binary = [
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
            Op::Compare(Comparison::Lt),
            Op::Fma,
        ];
        for &dtype in DType::ALL {
            let one = Literal::one(dtype);
            for op in unary.into_iter().chain(binary) {
                let args = vec![one; op.arity()];
                if let Some(result) = op.result(&vec![dtype; op.arity()]) {
                    assert_eq!(eval(op, &args, &[]).dtype(), result, "{} {dtype}", op.name());
                } else {
                    let outcome = std::panic::catch_unwind(|| eval(op, &args, &[]));
                    assert!(outcome.is_err(), "{} {dtype} is not defined", op.name());
                }
            }
        }
    }
}
