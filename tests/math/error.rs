//! Errors in units in the last place.
//!
//! A unit is the distance of neighbours in the binade of the exact result, of the smallest normal numbers for
//! results below them. Infinity stands for the number after the largest one, where the exact result is finite
//! and too large: rounding it up is no worse than rounding it down. An error is infinite where no distance
//! makes sense: NaN against a number, a pole that was missed, a zero with the wrong sign.

/// The number after the largest `f32`.
const END: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

/// The error of an `f32`, in units of the exact result, or of `floor` where that is larger.
#[inline]
pub fn error_f32(got: f32, exact: f64, floor: f64) -> f64 {
    let value = f64::from(got);
    if is_ordinary(value, exact) {
        distance_f32(value, exact, floor)
    } else {
        special_f32(value, exact, floor)
    }
}

/// The errors of many; faster than one by one.
#[inline(always)]
pub(super) fn errors_f32(got: &[f32], exact: &[f64], floor: Option<&[f64]>, errors: &mut [f64]) {
    match floor {
        None => {
            for ((&got, &exact), error) in got.iter().zip(exact).zip(errors.iter_mut()) {
                let value = f64::from(got);
                let distance = distance_f32(value, exact, 0.0);
                *error = if is_ordinary(value, exact) { distance } else { -1.0 };
            }
        }
        Some(floor) => {
            for (((&got, &exact), &floor), error) in got.iter().zip(exact).zip(floor).zip(errors.iter_mut()) {
                let value = f64::from(got);
                let distance = distance_f32(value, exact, floor);
                *error = if is_ordinary(value, exact) { distance } else { -1.0 };
            }
        }
    }
    // Seldom in a stretch, or everywhere.
    if errors.iter().fold(false, |any, error| any | (*error < 0.0)) {
        special_errors(got, exact, floor, errors);
    }
}

#[cold]
fn special_errors(got: &[f32], exact: &[f64], floor: Option<&[f64]>, errors: &mut [f64]) {
    for (i, error) in errors.iter_mut().enumerate() {
        if *error < 0.0 {
            *error = special_f32(f64::from(got[i]), exact[i], floor.map_or(0.0, |floor| floor[i]));
        }
    }
}

/// Whether both are neither zero nor NaN and the exact result not infinite.
#[inline(always)]
fn is_ordinary(value: f64, exact: f64) -> bool {
    (value.abs() > 0.0) & (exact.abs() > 0.0) & (exact.abs() < f64::INFINITY)
}

#[inline(always)]
fn distance_f32(value: f64, exact: f64, floor: f64) -> f64 {
    let (value, nearest) = (value.max(-END).min(END), exact.max(-END).min(END));
    let magnitude = nearest.abs().max(floor).max(f64::from(f32::MIN_POSITIVE)).min(f64::from(f32::MAX));
    let exponent = magnitude.to_bits() & 0x7ff0_0000_0000_0000;
    let per_unit = f64::from_bits(((2 * 1023 + 23) << 52) - exponent);
    (value - nearest).abs() * per_unit
}

fn special_f32(value: f64, exact: f64, floor: f64) -> f64 {
    if exact.is_nan() || value.is_nan() {
        return if exact.is_nan() && value.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact == value && exact.is_sign_negative() == value.is_sign_negative() {
        return 0.0;
    }
    // A zero of the right sign may stand for a result below all numbers, or below the floor.
    let sign = value.is_sign_negative() == exact.is_sign_negative() || floor > 0.0;
    let rounded = value == 0.0 && exact != 0.0 && exact.is_finite() && sign;
    if rounded { distance_f32(value, exact, floor) } else { f64::INFINITY }
}

/// The error of an `f64` where the exact result is `rest` units further from zero than `exact`; in units of the
/// exact result, or of `floor` where that is larger.
pub fn error_f64(got: f64, exact: f64, rest: f64, floor: f64) -> f64 {
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let zero = (got == 0.0 && floor == 0.0) || exact == 0.0;
    if zero && got.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    if exact.is_infinite() {
        return if got == exact { 0.0 } else { f64::INFINITY };
    }
    let unit = unit(exact);
    let away = if got.is_infinite() {
        if (got < 0.0) != (exact < 0.0) {
            return f64::INFINITY;
        }
        // Neighbours have neighbouring bits, infinity too.
        (f64::INFINITY.to_bits() - exact.abs().to_bits()) as f64
    } else {
        (got - exact) / unit * exact.signum()
    };
    (away - rest).abs() * (unit / self::unit(exact.abs().max(floor)))
}

/// The distance of neighbours in the binade of a number.
fn unit(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff).max(1);
    if exponent > 52 { f64::from_bits((exponent - 52) << 52) } else { f64::from_bits(1 << (exponent - 1)) }
}
