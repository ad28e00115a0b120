//! Rewrites of elementwise functions.

use tracewell_array::{DType, Literal};
use tracewell_graph::prim::{Abs, Add, Mul, Prim};
use tracewell_graph::{Atom, Equation};
use tracewell_kernel::steps::{Fault, is_broken};

use super::{Rewrite, Scene, apply, same};

/// The rules about elementwise functions.
pub(super) fn arithmetic(scene: &Scene<'_>) -> Option<Rewrite> {
    let dtype = scene.ty.dtype;
    // A product of complex numbers is four, and has other zeros, infinities and NaN than one.
    if dtype.is_complex() || scene.operands.iter().any(|atom| scene.builder.ty(atom).dtype.is_complex()) {
        return None;
    }
    let is = |atom: &Atom, number: f64| atom.literal() == Some(Literal::from_f64(dtype, number));
    // Of integers only: an infinity times zero is not zero.
    let is_zero = |atom: &Atom| is(atom, 0.0) && !dtype.is_float();
    match (scene.prim, scene.operands) {
        (Prim::Mul(_), [x, one] | [one, x]) if is(one, 1.0) => same(x),
        (Prim::Mul(_), [zero, _] | [_, zero]) if is_zero(zero) => Some(scene.splat(Literal::zero(dtype))),
        (Prim::Div(_), [x, one]) if is(one, 1.0) => same(x),
        (Prim::Add(_), [x, zero] | [zero, x]) if is(zero, -0.0) => same(x),
        (Prim::Sub(_), [x, zero]) if is(zero, 0.0) => same(x),
        (Prim::Sub(_), [x, y]) if x == y && !dtype.is_float() => Some(scene.splat(Literal::zero(dtype))),
        // What is left of the two rounds once, as both did.
        (Prim::MulAdd(_), [x, one, c] | [one, x, c]) if is(one, 1.0) => apply(Add {}, &[x, c]),
        (Prim::MulAdd(_), [x, y, zero]) if is(zero, -0.0) => apply(Mul {}, &[x, y]),
        (Prim::Max(_) | Prim::Min(_), [x, y]) if x == y => same(x),
        (Prim::Select(_), [condition, a, b]) => match condition.literal() {
            Some(holds) => same(if holds == Literal::new(true) { a } else { b }),
            None if a == b => same(a),
            None => None,
        },
        (Prim::Neg(_), [x]) => match scene.definition(x) {
            Some(Equation { prim: Prim::Neg(_), .. }) if is_broken(Fault::Rewrite) => same(x),
            Some(Equation { prim: Prim::Neg(_), .. }) if is_broken(Fault::RewritePanics) => {
                panic!("two negations, broken on purpose")
            }
            Some(Equation { prim: Prim::Neg(_), inputs, .. }) => same(&inputs[0]),
            _ => None,
        },
        (Prim::Abs(_), [x]) => match scene.definition(x) {
            Some(Equation { prim: Prim::Abs(_), .. }) => same(x),
            // Of unsigned integers the magnitude is the number itself, and its negative wraps.
            Some(Equation { prim: Prim::Neg(_), inputs, .. }) if dtype.is_signed() => {
                apply(Abs {}, &[&inputs[0]])
            }
            _ => None,
        },
        (Prim::Floor(_) | Prim::Ceil(_) | Prim::Round(_), [x]) => match scene.definition(x) {
            Some(Equation { prim: Prim::Floor(_) | Prim::Ceil(_) | Prim::Round(_), .. }) => same(x),
            _ => None,
        },
        (Prim::Not(_), [x]) => match scene.definition(x) {
            Some(Equation { prim: Prim::Not(_), inputs, .. }) => same(&inputs[0]),
            _ => None,
        },
        (Prim::And(_) | Prim::Or(_), [x, y]) if x == y => same(x),
        (Prim::IntegerPow(power), [x]) if power.exponent == 1 => same(x),
        (Prim::Convert(_), [x]) => convert(scene, x),
        _ => None,
    }
}

fn convert(scene: &Scene<'_>, x: &Atom) -> Option<Rewrite> {
    if scene.builder.ty(x) == *scene.ty {
        return same(x);
    }
    match scene.definition(x) {
        // There and back again, if nothing is lost on the way.
        Some(Equation { prim: Prim::Convert(there), inputs, .. })
            if holds(there.dtype, scene.builder.ty(&inputs[0]).dtype)
                && scene.builder.ty(&inputs[0]) == *scene.ty =>
        {
            same(&inputs[0])
        }
        _ => None,
    }
}

/// Whether every value of one type is a value of another.
fn holds(wide: DType, narrow: DType) -> bool {
    use DType::{Bool, F32, F64, I32, I64, U8, U32};
    match (wide, narrow) {
        _ if wide == narrow => true,
        (_, Bool) => true,
        (U32 | I32 | I64 | F32 | F64, U8) => true,
        (I64 | F64, U32 | I32) => true,
        (F64, F32) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::simplify;
    use crate::testing::check;

    #[test]
    fn neutral_operands() {
        check(
            simplify,
            "(%0: f32[2], %1: i32[2]) -> (f32[2], f32[2], i32[2], i32[2], f32[2])",
            "%2: f32[2] = mul 1.0:f32[2], %0
            %3: f32[2] = add %2, -0.0:f32[2]
            %4: f32[2] = sub %3, 0.0:f32[2]
            %5: f32[2] = div %4, 1.0:f32[2]
            %6: f32[2] = exp %5
            %7: i32[2] = add %1, 0:i32[2]
            %8: i32[2] = neg %7
            %9: i32[2] = mul %1, 0:i32[2]
            %10: f32[2] = neg %0
            %11: f32[2] = neg %10
            %12: f32[2] = abs %10
            return %6, %11, %8, %9, %12",
            expect![[r#"
                %2: f32[2] = exp %0
                %3: i32[2] = neg %1
                %4: f32[2] = neg %0
                %5: f32[2] = abs %0
                return %2, %0, %3, 0:i32[2], %5
            "#]],
        );
    }

    #[test]
    fn the_sign_of_zero_and_infinities_matter() {
        check(
            simplify,
            "(%0: f32[2]) -> (f32[2], f32[2], f32[2], f32[2])",
            "%1: f32[2] = add %0, 0.0:f32[2]
            %2: f32[2] = sub %0, -0.0:f32[2]
            %3: f32[2] = mul %0, 0.0:f32[2]
            %4: f32[2] = sub %0, %0
            return %1, %2, %3, %4",
            expect![[r#"
                %1: f32[2] = add %0, 0.0:f32[2]
                %2: f32[2] = sub %0, -0.0:f32[2]
                %3: f32[2] = mul %0, 0.0:f32[2]
                %4: f32[2] = sub %0, %0
                return %1, %2, %3, %4
            "#]],
        );
    }

    #[test]
    fn half_of_a_fused_operation() {
        check(
            simplify,
            "(%0: f32[2], %1: f32[2]) -> (f32[2], f32[2], f32[2], f32[2])",
            "%2: f32[2] = mul_add %0, 1.0:f32[2], %1
            %3: f32[2] = mul_add 1.0:f32[2], %0, %2
            %4: f32[2] = mul_add %0, %1, -0.0:f32[2]
            %5: f32[2] = mul_add %0, %1, 0.0:f32[2]
            return %2, %3, %4, %5",
            expect![[r#"
                %2: f32[2] = add %0, %1
                %3: f32[2] = add %0, %2
                %4: f32[2] = mul %0, %1
                %5: f32[2] = mul_add %0, %1, 0.0:f32[2]
                return %2, %3, %4, %5
            "#]],
        );
    }

    #[test]
    fn what_changes_nothing_a_second_time() {
        check(
            simplify,
            "(%0: f32[2], %1: i32[2]) -> (f32[2], f32[2], i32[2], i32[2])",
            "%2: f32[2] = floor %0
            %3: f32[2] = round[to_even=true] %2
            %4: f32[2] = integer_pow[exponent=1] %0
            %5: i32[2] = not %1
            %6: i32[2] = not %5
            %7: i32[2] = and %1, %1
            return %3, %4, %6, %7",
            expect![[r#"
                %2: f32[2] = floor %0
                %3: i32[2] = not %1
                return %2, %0, %1, %1
            "#]],
        );
    }

    #[test]
    fn negative_unsigned_integers_wrap() {
        check(
            simplify,
            "(%0: u8[2], %1: i64[2]) -> (u8[2], i64[2])",
            "%2: u8[2] = neg %0
            %3: u8[2] = abs %2
            %4: i64[2] = neg %1
            %5: i64[2] = abs %4
            return %3, %5",
            expect![[r#"
                %2: u8[2] = neg %0
                %3: u8[2] = abs %2
                %4: i64[2] = neg %1
                %5: i64[2] = abs %1
                return %3, %5
            "#]],
        );
    }

    #[test]
    fn selections_and_conversions() {
        check(
            simplify,
            "(%0: f32[2], %1: f32[2], %2: bool[2]) -> (f32[2], f32[2], f32[2], f32[2])",
            "%3: f32[2] = select true:bool[2], %0, %1
            %4: f32[2] = select %2, %1, %1
            %5: f64[2] = convert[dtype=f64, weak=false] %0
            %6: f32[2] = convert[dtype=f32, weak=false] %5
            %7: i32[2] = convert[dtype=i32, weak=false] %0
            %8: f32[2] = convert[dtype=f32, weak=false] %7
            return %3, %4, %6, %8",
            expect![[r#"
                %3: f64[2] = convert[dtype=f64, weak=false] %0
                %4: i32[2] = convert[dtype=i32, weak=false] %0
                %5: f32[2] = convert[dtype=f32, weak=false] %4
                return %0, %1, %0, %5
            "#]],
        );
    }
}
