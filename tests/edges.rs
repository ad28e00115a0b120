//! The edges of every elementwise primitive, one test each: what it gives where arithmetic has no obvious answer.
//!
//! The results are those of XLA, which for floats are those of IEEE 754 and C. Each cell is evaluated, compiled and
//! folded as a constant.

use tests::differential::{Compiled, WAYS};
use tracewell_array::{DType, Element, Literal, Tensor};
use tracewell_graph::prim::*;
use tracewell_graph::{ArrayType, Atom, GraphBuilder, Splat, eval};

/// More than a vector of every width, with a rest.
const LENGTH: usize = 19;

/// Checks a cell in every way to compute it.
fn check(prim: impl Into<Prim>, inputs: &[Literal], expected: Literal) {
    let prim = prim.into();
    for known in [false, true] {
        let mut builder = GraphBuilder::new();
        let atom = |literal: &Literal| {
            let ty = ArrayType::new(literal.dtype(), [LENGTH]);
            if known {
                Atom::Splat(Splat { literal: *literal, shape: ty.shape, weak: false })
            } else {
                builder.input(ty).into()
            }
        };
        let operands: Vec<Atom> = inputs.iter().map(atom).collect();
        let output = builder.bind1(prim.clone(), &operands).expect("the cell is well-typed");
        let graph = builder.finish("cell", vec![output]);
        let given = if known { &[] } else { inputs };
        let given: Vec<Tensor> = given.iter().map(|&literal| Tensor::full(literal, [LENGTH])).collect();
        judge("evaluated", &prim, inputs, expected, eval(&graph, &given));
        for way in WAYS {
            let found = Compiled::new(&graph, way).and_then(|compiled| compiled.run(&given));
            judge(&way.to_string(), &prim, inputs, expected, found);
        }
    }
}

/// Every element must have the bits expected, or be NaN if that is.
fn judge(way: &str, prim: &Prim, inputs: &[Literal], expected: Literal, found: Result<Vec<Tensor>, String>) {
    let found = found.unwrap_or_else(|error| panic!("{prim:?} of {inputs:?}, {way}: {error}"));
    for x in found[0].literals() {
        let same = x == expected || (x.as_f64().is_nan() && expected.as_f64().is_nan());
        assert!(same, "{prim:?} of {inputs:?}, {way}, is {x:?}, expected {expected:?}");
    }
}

fn l<T: Element>(value: T) -> Literal {
    Literal::new(value)
}

fn to(dtype: DType) -> Convert {
    Convert { dtype, weak: false }
}

/// One test for each cell: `name: primitive, operands => result`.
macro_rules! cells {
    ($($name:ident: $prim:expr, $($x:expr),* => $y:expr;)*) => {$(
        #[test]
        fn $name() {
            check($prim, &[$(l($x)),*], l($y));
        }
    )*};
}

macro_rules! signed {
    ($($module:ident $t:ident)*) => {$(mod $module {
        use super::*;
        const MIN: $t = $t::MIN;
        const MAX: $t = $t::MAX;
        const WIDTH: $t = $t::BITS as $t;
        cells! {
            quotient_by_zero: Div {}, 7 as $t, 0 as $t => -1 as $t;
            quotient_of_zero_by_zero: Div {}, 0 as $t, 0 as $t => -1 as $t;
            quotient_of_min_by_minus_one: Div {}, MIN, -1 as $t => MIN;
            quotient_truncates: Div {}, -7 as $t, 2 as $t => -3 as $t;
            remainder_by_zero: Rem {}, -7 as $t, 0 as $t => -7 as $t;
            remainder_of_min_by_minus_one: Rem {}, MIN, -1 as $t => 0 as $t;
            remainder_has_sign_of_dividend: Rem {}, -7 as $t, 2 as $t => -1 as $t;
            remainder_ignores_sign_of_divisor: Rem {}, 7 as $t, -2 as $t => 1 as $t;
            sum_wraps: Add {}, MAX, 1 as $t => MIN;
            difference_wraps: Sub {}, MIN, 1 as $t => MAX;
            product_wraps: Mul {}, MAX, 2 as $t => -2 as $t;
            abs_of_min: Abs {}, MIN => MIN;
            neg_of_min: Neg {}, MIN => MIN;
            sign_of_min: Sign {}, MIN => -1 as $t;
            sign_of_zero: Sign {}, 0 as $t => 0 as $t;
            left_shift_to_the_sign: ShiftLeft {}, 1 as $t, WIDTH - 1 => MIN;
            left_shift_by_the_width: ShiftLeft {}, 1 as $t, WIDTH => 0 as $t;
            left_shift_by_a_negative: ShiftLeft {}, 1 as $t, -1 as $t => 0 as $t;
            left_shift_by_max: ShiftLeft {}, -1 as $t, MAX => 0 as $t;
            arithmetic_shift: ShiftRightArithmetic {}, -8 as $t, 2 as $t => -2 as $t;
            arithmetic_shift_by_the_width: ShiftRightArithmetic {}, -8 as $t, WIDTH => -1 as $t;
            arithmetic_shift_of_positive_by_the_width: ShiftRightArithmetic {}, 8 as $t, WIDTH => 0 as $t;
            arithmetic_shift_by_a_negative: ShiftRightArithmetic {}, -8 as $t, -1 as $t => -1 as $t;
            arithmetic_shift_by_min: ShiftRightArithmetic {}, 8 as $t, MIN => 0 as $t;
            logical_shift: ShiftRightLogical {}, -1 as $t, WIDTH - 4 => 15 as $t;
            logical_shift_by_the_width: ShiftRightLogical {}, -1 as $t, WIDTH => 0 as $t;
            logical_shift_by_a_negative: ShiftRightLogical {}, -1 as $t, -1 as $t => 0 as $t;
            power_wraps: IntegerPow { exponent: 3 }, MAX => MAX;
            power_of_two_wraps: IntegerPow { exponent: 64 }, 2 as $t => 0 as $t;
            power_zero: IntegerPow { exponent: 0 }, 0 as $t => 1 as $t;
            large_power: IntegerPow { exponent: i32::MAX }, -1 as $t => -1 as $t;
            ones_of_zero: PopulationCount {}, 0 as $t => 0 as $t;
            ones_of_minus_one: PopulationCount {}, -1 as $t => WIDTH;
            leading_zeros_of_zero: Clz {}, 0 as $t => WIDTH;
            leading_zeros_of_one: Clz {}, 1 as $t => WIDTH - 1;
            leading_zeros_of_minus_one: Clz {}, -1 as $t => 0 as $t;
            not_zero: Not {}, 0 as $t => -1 as $t;
            and_of_negatives: And {}, -2 as $t, -3 as $t => -4 as $t;
            or_with_min: Or {}, MIN, 1 as $t => MIN + 1;
            xor_with_itself: Xor {}, -5 as $t, -5 as $t => 0 as $t;
            clamp_between_extremes: Clamp {}, MIN, -1 as $t, MAX => -1 as $t;
            clamp_with_crossed_bounds: Clamp {}, 5 as $t, 7 as $t, 3 as $t => 3 as $t;
            nan_of_f32: to($t::DTYPE), f32::NAN => 0 as $t;
            nan_of_f64: to($t::DTYPE), f64::NAN => 0 as $t;
            infinity_of_f32: to($t::DTYPE), f32::INFINITY => MAX;
            infinity_of_f64: to($t::DTYPE), f64::INFINITY => MAX;
            minus_infinity_of_f32: to($t::DTYPE), f32::NEG_INFINITY => MIN;
            minus_infinity_of_f64: to($t::DTYPE), f64::NEG_INFINITY => MIN;
            too_large_f32: to($t::DTYPE), 1e30f32 => MAX;
            too_small_f64: to($t::DTYPE), -1e30f64 => MIN;
            just_too_large: to($t::DTYPE), MAX as f64 + 1.0 => MAX;
            minus_a_half: to($t::DTYPE), -0.5f32 => 0 as $t;
            almost_minus_two: to($t::DTYPE), -1.9f64 => -1 as $t;
            of_true: to($t::DTYPE), true => 1 as $t;
            of_u8: to($t::DTYPE), 255u8 => 255 as $t;
            to_bool: to(DType::Bool), MIN => true;
            low_byte_zero_to_bool: to(DType::Bool), 256 as $t => true;
            zero_to_bool: to(DType::Bool), 0 as $t => false;
            to_u8_wraps: to(DType::U8), -1 as $t => 255u8;
            to_u8_keeps_the_low_byte: to(DType::U8), 300 as $t => 44u8;
            to_u32_wraps: to(DType::U32), -1 as $t => u32::MAX;
            to_f32_rounds: to(DType::F32), 16_777_217 as $t => 16_777_216f32;
            to_f32_rounds_to_even: to(DType::F32), 16_777_219 as $t => 16_777_220f32;
            max_to_f32: to(DType::F32), MAX => MAX as f32;
            max_to_f64: to(DType::F64), MAX => MAX as f64;
        }
    })*};
}
signed!(of_i32 i32 of_i64 i64);

macro_rules! unsigned {
    ($($module:ident $t:ident)*) => {$(mod $module {
        use super::*;
        const MAX: $t = $t::MAX;
        const WIDTH: $t = $t::BITS as $t;
        cells! {
            quotient_by_zero: Div {}, 7 as $t, 0 as $t => MAX;
            remainder_by_zero: Rem {}, 7 as $t, 0 as $t => 7 as $t;
            difference_wraps: Sub {}, 0 as $t, 1 as $t => MAX;
            sum_wraps: Add {}, MAX, 1 as $t => 0 as $t;
            neg_wraps: Neg {}, 1 as $t => MAX;
            abs_of_max: Abs {}, MAX => MAX;
            sign_of_max: Sign {}, MAX => 1 as $t;
            left_shift_by_the_width: ShiftLeft {}, MAX, WIDTH => 0 as $t;
            left_shift_by_max: ShiftLeft {}, MAX, MAX => 0 as $t;
            arithmetic_shift_copies_the_highest_bit: ShiftRightArithmetic {}, MAX, 3 as $t => MAX;
            arithmetic_shift_of_a_low_number: ShiftRightArithmetic {}, MAX / 2, 3 as $t => MAX / 16;
            arithmetic_shift_by_the_width: ShiftRightArithmetic {}, MAX - 1, WIDTH => MAX;
            arithmetic_shift_by_max: ShiftRightArithmetic {}, MAX / 2, MAX => 0 as $t;
            logical_shift: ShiftRightLogical {}, MAX, WIDTH - 4 => 15 as $t;
            logical_shift_by_the_width: ShiftRightLogical {}, MAX, WIDTH => 0 as $t;
            power_wraps: IntegerPow { exponent: 2 }, MAX => 1 as $t;
            power_of_two_wraps: IntegerPow { exponent: 32 }, 2 as $t => 0 as $t;
            ones_of_zero: PopulationCount {}, 0 as $t => 0 as $t;
            ones_of_max: PopulationCount {}, MAX => WIDTH;
            leading_zeros_of_zero: Clz {}, 0 as $t => WIDTH;
            leading_zeros_of_max: Clz {}, MAX => 0 as $t;
            not_zero: Not {}, 0 as $t => MAX;
            maximum_is_unsigned: Max {}, MAX, 1 as $t => MAX;
            minimum_is_unsigned: Min {}, MAX, 1 as $t => 1 as $t;
            quotient_is_unsigned: Div {}, MAX, 2 as $t => MAX / 2;
            nan_of_f32: to($t::DTYPE), f32::NAN => 0 as $t;
            nan_of_f64: to($t::DTYPE), f64::NAN => 0 as $t;
            infinity_of_f32: to($t::DTYPE), f32::INFINITY => MAX;
            infinity_of_f64: to($t::DTYPE), f64::INFINITY => MAX;
            minus_infinity_of_f64: to($t::DTYPE), f64::NEG_INFINITY => 0 as $t;
            negative_f32: to($t::DTYPE), -1f32 => 0 as $t;
            negative_f64: to($t::DTYPE), -1e10f64 => 0 as $t;
            minus_a_half: to($t::DTYPE), -0.5f32 => 0 as $t;
            too_large_f32: to($t::DTYPE), 1e30f32 => MAX;
            just_too_large: to($t::DTYPE), MAX as f64 + 1.0 => MAX;
            largest: to($t::DTYPE), MAX as f64 + 0.5 => MAX;
            negative_i32_wraps: to($t::DTYPE), -1i32 => MAX;
            min_of_i64_wraps: to($t::DTYPE), i64::MIN => 0 as $t;
            of_true: to($t::DTYPE), true => 1 as $t;
            max_to_bool: to(DType::Bool), MAX => true;
            max_to_f32: to(DType::F32), MAX => MAX as f32;
            max_to_i64: to(DType::I64), MAX => MAX as i64;
        }
    })*};
}
unsigned!(of_u8 u8 of_u32 u32);

mod narrowing {
    use super::*;
    cells! {
        i64_to_i32_keeps_low_bits: to(DType::I32), 1i64 << 32 => 0i32;
        i64_max_to_i32: to(DType::I32), i64::MAX => -1i32;
        u32_to_i32: to(DType::I32), u32::MAX => -1i32;
        i32_to_i64_keeps_the_sign: to(DType::I64), -1i32 => -1i64;
        // One rounding: by way of `f64` it would be halfway and go to the other neighbour.
        i64_to_f32_rounds_once: to(DType::F32),
            (1i64 << 60) + (1 << 36) + 1 => ((1i64 << 60) + (1 << 37)) as f32;
        f64_to_f32_overflows: to(DType::F32), 1e300f64 => f32::INFINITY;
        f64_to_f32_underflows: to(DType::F32), -1e-300f64 => -0f32;
        f64_to_f32_subnormal: to(DType::F32), 1e-45f64 => f32::from_bits(1);
        bits_of_minus_zero: Bitcast { dtype: DType::I32 }, -0f32 => i32::MIN;
        bits_of_one: Bitcast { dtype: DType::F64 }, 0x3ff0_0000_0000_0000i64 => 1f64;
        bits_of_minus_one: Bitcast { dtype: DType::U32 }, -1i32 => u32::MAX;
    }
}

mod of_bool {
    use super::*;
    cells! {
        and_holds: And {}, true, true => true;
        and_fails: And {}, true, false => false;
        or_holds: Or {}, false, true => true;
        or_fails: Or {}, false, false => false;
        xor_of_both: Xor {}, true, true => false;
        xor_of_one: Xor {}, false, true => true;
        not_true: Not {}, true => false;
        not_false: Not {}, false => true;
        of_nan: to(DType::Bool), f32::NAN => true;
        of_minus_zero: to(DType::Bool), -0f64 => false;
        of_a_fraction: to(DType::Bool), 0.25f32 => true;
        of_a_subnormal: to(DType::Bool), f64::from_bits(1) => true;
        of_infinity: to(DType::Bool), f32::NEG_INFINITY => true;
        to_f32: to(DType::F32), true => 1f32;
        to_f64: to(DType::F64), false => 0f64;
    }
}

macro_rules! floats {
    ($($module:ident $t:ident)*) => {$(mod $module {
        use super::*;
        const NAN: $t = $t::NAN;
        const INF: $t = $t::INFINITY;
        const MAX: $t = $t::MAX;
        const PI: $t = std::$t::consts::PI;
        const TINY: $t = $t::from_bits(1);
        const EPSILON: $t = $t::EPSILON;
        const ABOVE_ONE: $t = 1.0 + EPSILON;
        cells! {
            max_of_nan_first: Max {}, NAN, 1.0 as $t => NAN;
            max_of_nan_second: Max {}, 1.0 as $t, NAN => NAN;
            min_of_nan_first: Min {}, NAN, 1.0 as $t => NAN;
            min_of_nan_second: Min {}, 1.0 as $t, NAN => NAN;
            max_of_zeros: Max {}, 0.0 as $t, -0.0 as $t => -0.0 as $t;
            max_of_zeros_swapped: Max {}, -0.0 as $t, 0.0 as $t => 0.0 as $t;
            min_of_zeros: Min {}, -0.0 as $t, 0.0 as $t => 0.0 as $t;
            min_of_zeros_swapped: Min {}, 0.0 as $t, -0.0 as $t => -0.0 as $t;
            max_of_infinities: Max {}, -INF, INF => INF;
            sign_of_nan: Sign {}, NAN => NAN;
            sign_of_minus_zero: Sign {}, -0.0 as $t => -0.0 as $t;
            sign_of_zero: Sign {}, 0.0 as $t => 0.0 as $t;
            sign_of_minus_infinity: Sign {}, -INF => -1.0 as $t;
            sign_of_a_subnormal: Sign {}, TINY => 1.0 as $t;
            abs_of_minus_zero: Abs {}, -0.0 as $t => 0.0 as $t;
            neg_of_zero: Neg {}, 0.0 as $t => -0.0 as $t;
            quotient_by_zero: Div {}, 1.0 as $t, -0.0 as $t => -INF;
            quotient_of_zeros: Div {}, 0.0 as $t, 0.0 as $t => NAN;
            quotient_of_infinities: Div {}, INF, INF => NAN;
            round_half: Round { to_even: true }, 0.5 as $t => 0.0 as $t;
            round_one_and_a_half: Round { to_even: true }, 1.5 as $t => 2.0 as $t;
            round_two_and_a_half: Round { to_even: true }, 2.5 as $t => 2.0 as $t;
            round_minus_half: Round { to_even: true }, -0.5 as $t => -0.0 as $t;
            round_nan: Round { to_even: true }, NAN => NAN;
            round_large: Round { to_even: true }, MAX => MAX;
            round_half_away: Round { to_even: false }, 0.5 as $t => 1.0 as $t;
            round_below_half_away: Round { to_even: false }, (0.5 as $t).next_down() => 0.0 as $t;
            round_two_and_a_half_away: Round { to_even: false }, 2.5 as $t => 3.0 as $t;
            round_minus_half_away: Round { to_even: false }, -0.5 as $t => -1.0 as $t;
            round_minus_quarter_away: Round { to_even: false }, -0.25 as $t => -0.0 as $t;
            round_infinity_away: Round { to_even: false }, -INF => -INF;
            round_nan_away: Round { to_even: false }, NAN => NAN;
            round_large_away: Round { to_even: false }, MAX => MAX;
            floor_of_minus_zero: Floor {}, -0.0 as $t => -0.0 as $t;
            ceil_of_minus_half: Ceil {}, -0.5 as $t => -0.0 as $t;
            remainder_positive: Rem {}, 5.5 as $t, 2.0 as $t => 1.5 as $t;
            remainder_has_sign_of_dividend: Rem {}, -5.5 as $t, 2.0 as $t => -1.5 as $t;
            remainder_ignores_sign_of_divisor: Rem {}, 5.5 as $t, -2.0 as $t => 1.5 as $t;
            remainder_zero_keeps_sign: Rem {}, -4.0 as $t, 2.0 as $t => -0.0 as $t;
            remainder_by_infinity: Rem {}, -5.0 as $t, INF => -5.0 as $t;
            remainder_of_infinity: Rem {}, INF, 2.0 as $t => NAN;
            remainder_by_zero: Rem {}, 5.0 as $t, 0.0 as $t => NAN;
            remainder_by_nan: Rem {}, 5.0 as $t, NAN => NAN;
            remainder_of_nan: Rem {}, NAN, 5.0 as $t => NAN;
            remainder_of_zero: Rem {}, -0.0 as $t, 5.0 as $t => -0.0 as $t;
            remainder_is_exact: Rem {}, MAX, 3.0 as $t => MAX % 3.0;
            next_after_zero: Nextafter {}, 0.0 as $t, 1.0 as $t => TINY;
            next_below_zero: Nextafter {}, 0.0 as $t, -1.0 as $t => -TINY;
            next_of_zeros: Nextafter {}, 0.0 as $t, -0.0 as $t => -0.0 as $t;
            next_of_minus_zero_up: Nextafter {}, -0.0 as $t, INF => TINY;
            next_of_tiny_down: Nextafter {}, TINY, -1.0 as $t => 0.0 as $t;
            next_of_minus_tiny_up: Nextafter {}, -TINY, 1.0 as $t => -0.0 as $t;
            next_after_max: Nextafter {}, MAX, INF => INF;
            next_below_infinity: Nextafter {}, INF, 0.0 as $t => MAX;
            next_above_minus_infinity: Nextafter {}, -INF, 0.0 as $t => -MAX;
            next_of_infinities: Nextafter {}, INF, INF => INF;
            next_of_nan: Nextafter {}, NAN, 1.0 as $t => NAN;
            next_to_nan: Nextafter {}, 1.0 as $t, NAN => NAN;
            next_above_one: Nextafter {}, 1.0 as $t, 2.0 as $t => 1.0 + $t::EPSILON;
            next_of_minus_one_down: Nextafter {}, -1.0 as $t, -INF => -1.0 - $t::EPSILON;
            next_of_equals: Nextafter {}, 3.0 as $t, 3.0 as $t => 3.0 as $t;
            pow_of_anything_to_zero: Pow {}, NAN, 0.0 as $t => 1.0 as $t;
            pow_of_infinity_to_minus_zero: Pow {}, INF, -0.0 as $t => 1.0 as $t;
            pow_of_one_to_nan: Pow {}, 1.0 as $t, NAN => 1.0 as $t;
            pow_of_one_to_infinity: Pow {}, 1.0 as $t, -INF => 1.0 as $t;
            pow_of_nan: Pow {}, NAN, 1.0 as $t => NAN;
            pow_to_nan: Pow {}, 2.0 as $t, NAN => NAN;
            pow_of_minus_one_to_infinity: Pow {}, -1.0 as $t, INF => 1.0 as $t;
            pow_of_minus_one_to_minus_infinity: Pow {}, -1.0 as $t, -INF => 1.0 as $t;
            pow_of_zero_to_negative_odd: Pow {}, 0.0 as $t, -3.0 as $t => INF;
            pow_of_minus_zero_to_negative_odd: Pow {}, -0.0 as $t, -3.0 as $t => -INF;
            pow_of_minus_zero_to_negative_even: Pow {}, -0.0 as $t, -2.0 as $t => INF;
            pow_of_minus_zero_to_negative_fraction: Pow {}, -0.0 as $t, -0.5 as $t => INF;
            pow_of_zero_to_minus_infinity: Pow {}, -0.0 as $t, -INF => INF;
            pow_of_minus_zero_to_odd: Pow {}, -0.0 as $t, 3.0 as $t => -0.0 as $t;
            pow_of_minus_zero_to_even: Pow {}, -0.0 as $t, 2.0 as $t => 0.0 as $t;
            pow_of_minus_zero_to_fraction: Pow {}, -0.0 as $t, 0.5 as $t => 0.0 as $t;
            pow_of_zero_to_infinity: Pow {}, 0.0 as $t, INF => 0.0 as $t;
            pow_of_small_to_infinity: Pow {}, -0.5 as $t, INF => 0.0 as $t;
            pow_of_small_to_minus_infinity: Pow {}, 0.5 as $t, -INF => INF;
            pow_of_large_to_infinity: Pow {}, -2.0 as $t, INF => INF;
            pow_of_large_to_minus_infinity: Pow {}, 2.0 as $t, -INF => 0.0 as $t;
            pow_of_negative_to_fraction: Pow {}, -2.0 as $t, 0.5 as $t => NAN;
            pow_of_negative_to_odd: Pow {}, -2.0 as $t, 3.0 as $t => -8.0 as $t;
            pow_of_negative_to_even: Pow {}, -2.0 as $t, 2.0 as $t => 4.0 as $t;
            pow_of_infinity_to_negative: Pow {}, INF, -1.0 as $t => 0.0 as $t;
            pow_of_infinity_to_positive: Pow {}, INF, 0.5 as $t => INF;
            pow_of_minus_infinity_to_negative_odd: Pow {}, -INF, -3.0 as $t => -0.0 as $t;
            pow_of_minus_infinity_to_negative_even: Pow {}, -INF, -2.0 as $t => 0.0 as $t;
            pow_of_minus_infinity_to_odd: Pow {}, -INF, 3.0 as $t => -INF;
            pow_of_minus_infinity_to_even: Pow {}, -INF, 2.0 as $t => INF;
            pow_of_minus_infinity_to_fraction: Pow {}, -INF, 0.5 as $t => INF;
            pow_overflows: Pow {}, MAX, 2.0 as $t => INF;
            pow_overflows_below: Pow {}, -MAX, 3.0 as $t => -INF;
            pow_underflows: Pow {}, MAX, -2.0 as $t => 0.0 as $t;
            integer_pow_of_nan_to_zero: IntegerPow { exponent: 0 }, NAN => 1.0 as $t;
            integer_pow_of_minus_zero: IntegerPow { exponent: -3 }, -0.0 as $t => -INF;
            integer_pow_of_minus_infinity: IntegerPow { exponent: -3 }, -INF => -0.0 as $t;
            integer_pow_overflows: IntegerPow { exponent: 2 }, MAX => INF;
            integer_pow_of_one: IntegerPow { exponent: i32::MIN }, -1.0 as $t => 1.0 as $t;
            integer_pow_of_three: IntegerPow { exponent: 5 }, -3.0 as $t => -243.0 as $t;
            angle_of_zeros: Atan2 {}, 0.0 as $t, 0.0 as $t => 0.0 as $t;
            angle_of_zero_and_minus_zero: Atan2 {}, 0.0 as $t, -0.0 as $t => PI;
            angle_of_minus_zero_and_zero: Atan2 {}, -0.0 as $t, 0.0 as $t => -0.0 as $t;
            angle_of_minus_zeros: Atan2 {}, -0.0 as $t, -0.0 as $t => -PI;
            angle_of_zero_and_negative: Atan2 {}, 0.0 as $t, -1.0 as $t => PI;
            angle_of_minus_zero_and_negative: Atan2 {}, -0.0 as $t, -1.0 as $t => -PI;
            angle_of_one_and_zero: Atan2 {}, 1.0 as $t, -0.0 as $t => PI / 2.0;
            angle_of_minus_one_and_zero: Atan2 {}, -1.0 as $t, 0.0 as $t => -PI / 2.0;
            angle_of_infinities: Atan2 {}, INF, INF => PI / 4.0;
            angle_of_infinity_and_minus_infinity: Atan2 {}, -INF, -INF => -3.0 * (PI / 4.0);
            angle_of_infinity: Atan2 {}, INF, 1.0 as $t => PI / 2.0;
            angle_by_infinity: Atan2 {}, -1.0 as $t, INF => -0.0 as $t;
            angle_by_minus_infinity: Atan2 {}, 1.0 as $t, -INF => PI;
            angle_of_nan: Atan2 {}, NAN, 1.0 as $t => NAN;
            root_of_minus_zero: Sqrt {}, -0.0 as $t => -0.0 as $t;
            root_of_negative: Sqrt {}, -1.0 as $t => NAN;
            root_of_infinity: Sqrt {}, INF => INF;
            inverse_root_of_zero: Rsqrt {}, 0.0 as $t => INF;
            inverse_root_of_minus_zero: Rsqrt {}, -0.0 as $t => -INF;
            inverse_root_of_infinity: Rsqrt {}, INF => 0.0 as $t;
            inverse_root_of_negative: Rsqrt {}, -1.0 as $t => NAN;
            cube_root_of_minus_zero: Cbrt {}, -0.0 as $t => -0.0 as $t;
            cube_root_of_minus_infinity: Cbrt {}, -INF => -INF;
            cube_root_of_minus_eight: Cbrt {}, -8.0 as $t => -2.0 as $t;
            log_of_zero: Log {}, 0.0 as $t => -INF;
            log_of_minus_zero: Log {}, -0.0 as $t => -INF;
            log_of_negative: Log {}, -1.0 as $t => NAN;
            log_of_infinity: Log {}, INF => INF;
            log_of_one: Log {}, 1.0 as $t => 0.0 as $t;
            log2_of_a_power: Log2 {}, 1024.0 as $t => 10.0 as $t;
            log2_of_zero: Log2 {}, 0.0 as $t => -INF;
            log10_of_zero: Log10 {}, 0.0 as $t => -INF;
            log1p_of_minus_one: Log1p {}, -1.0 as $t => -INF;
            log1p_below_minus_one: Log1p {}, -2.0 as $t => NAN;
            log1p_of_minus_zero: Log1p {}, -0.0 as $t => -0.0 as $t;
            exp_of_minus_infinity: Exp {}, -INF => 0.0 as $t;
            exp_of_infinity: Exp {}, INF => INF;
            exp_of_zero: Exp {}, -0.0 as $t => 1.0 as $t;
            exp2_of_an_integer: Exp2 {}, -3.0 as $t => 0.125 as $t;
            exp2_overflows: Exp2 {}, MAX => INF;
            expm1_of_minus_infinity: Expm1 {}, -INF => -1.0 as $t;
            expm1_of_infinity: Expm1 {}, INF => INF;
            expm1_of_minus_zero: Expm1 {}, -0.0 as $t => -0.0 as $t;
            sine_of_minus_zero: Sin {}, -0.0 as $t => -0.0 as $t;
            sine_of_infinity: Sin {}, INF => NAN;
            tangent_of_infinity: Tan {}, -INF => NAN;
            tangent_of_minus_zero: Tan {}, -0.0 as $t => -0.0 as $t;
            arcsine_beyond_one: Asin {}, 2.0 as $t => NAN;
            arcsine_of_minus_zero: Asin {}, -0.0 as $t => -0.0 as $t;
            arccosine_of_one: Acos {}, 1.0 as $t => 0.0 as $t;
            arccosine_of_minus_one: Acos {}, -1.0 as $t => PI;
            arctangent_of_infinity: Atan {}, -INF => -PI / 2.0;
            tanh_of_infinity: Tanh {}, -INF => -1.0 as $t;
            sinh_of_minus_infinity: Sinh {}, -INF => -INF;
            cosh_of_minus_infinity: Cosh {}, -INF => INF;
            asinh_of_minus_infinity: Asinh {}, -INF => -INF;
            acosh_of_one: Acosh {}, 1.0 as $t => 0.0 as $t;
            acosh_below_one: Acosh {}, 0.5 as $t => NAN;
            atanh_of_one: Atanh {}, 1.0 as $t => INF;
            atanh_of_minus_one: Atanh {}, -1.0 as $t => -INF;
            atanh_beyond_one: Atanh {}, 1.5 as $t => NAN;
            logistic_of_minus_infinity: Logistic {}, -INF => 0.0 as $t;
            logistic_of_infinity: Logistic {}, INF => 1.0 as $t;
            logistic_of_zero: Logistic {}, 0.0 as $t => 0.5 as $t;
            erf_of_infinity: Erf {}, -INF => -1.0 as $t;
            erfc_of_infinity: Erfc {}, INF => 0.0 as $t;
            erfc_of_minus_infinity: Erfc {}, -INF => 2.0 as $t;
            erf_inv_of_one: ErfInv {}, 1.0 as $t => INF;
            erf_inv_beyond_one: ErfInv {}, -1.5 as $t => NAN;
            lgamma_of_zero: Lgamma {}, 0.0 as $t => INF;
            lgamma_of_a_negative_integer: Lgamma {}, -2.0 as $t => INF;
            lgamma_of_minus_infinity: Lgamma {}, -INF => INF;
            digamma_of_zero: Digamma {}, 0.0 as $t => -INF;
            digamma_of_a_negative_integer: Digamma {}, -2.0 as $t => NAN;
            trigamma_of_a_negative_integer: Trigamma {}, -2.0 as $t => INF;
            clamp_of_nan: Clamp {}, 0.0 as $t, NAN, 1.0 as $t => NAN;
            clamp_by_nan_below: Clamp {}, NAN, 0.5 as $t, 1.0 as $t => NAN;
            clamp_by_nan_above: Clamp {}, 0.0 as $t, 0.5 as $t, NAN => NAN;
            clamp_of_infinity: Clamp {}, -1.0 as $t, -INF, 1.0 as $t => -1.0 as $t;
            clamp_with_crossed_bounds: Clamp {}, 1.0 as $t, 0.0 as $t, -1.0 as $t => -1.0 as $t;
            mul_add_rounds_once: MulAdd {}, ABOVE_ONE, ABOVE_ONE, -ABOVE_ONE => EPSILON * ABOVE_ONE;
            mul_add_does_not_overflow_on_the_way: MulAdd {}, MAX, 2.0 as $t, -MAX => MAX;
            mul_add_of_infinity_and_zero: MulAdd {}, INF, 0.0 as $t, 1.0 as $t => NAN;
            mul_add_of_opposite_infinities: MulAdd {}, INF, 1.0 as $t, -INF => NAN;
            mul_add_of_infinity: MulAdd {}, MAX, MAX, -INF => -INF;
            mul_add_of_opposite_zeros: MulAdd {}, -0.0 as $t, 1.0 as $t, 0.0 as $t => 0.0 as $t;
            mul_add_of_equal_zeros: MulAdd {}, -0.0 as $t, 1.0 as $t, -0.0 as $t => -0.0 as $t;
            mul_add_by_nan: MulAdd {}, NAN, 0.0 as $t, 1.0 as $t => NAN;
            one_is_finite: IsFinite {}, 1.0 as $t => true;
            zero_is_finite: IsFinite {}, -0.0 as $t => true;
            max_is_finite: IsFinite {}, -MAX => true;
            subnormal_is_finite: IsFinite {}, TINY => true;
            infinity_is_not_finite: IsFinite {}, INF => false;
            minus_infinity_is_not_finite: IsFinite {}, -INF => false;
            nan_is_not_finite: IsFinite {}, NAN => false;
        }
    })*};
}
floats!(of_f32 f32 of_f64 f64);
