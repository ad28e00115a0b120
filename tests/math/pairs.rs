//! Arguments of functions of two: there are too many to walk, so these are a lattice of special values and
//! samples.

/// How many pairs stand for all.
pub const PAIRS: u64 = 1 << 26;

/// Where functions change their behaviour; with both signs.
const SPECIAL: [f32; 24] = [
    0.0,
    f32::from_bits(1),
    f32::from_bits(0x007f_ffff),
    f32::MIN_POSITIVE,
    1e-20,
    f32::EPSILON,
    0.1,
    1.0 / 3.0,
    0.5,
    0.999_999_94,
    1.0,
    1.000_000_1,
    1.5,
    2.0,
    3.0,
    10.0,
    88.722_84,
    127.0,
    149.5,
    16_777_215.0,
    16_777_216.0,
    1e20,
    f32::MAX,
    f32::INFINITY,
];

const SIGNED: u64 = 2 * SPECIAL.len() as u64 + 1;

fn special(number: u64) -> f32 {
    let sign = if number.is_multiple_of(2) { 1.0 } else { -1.0 };
    SPECIAL.get(number as usize / 2).map_or(f32::NAN, |x| sign * x)
}

/// The bits of a pair by its number below [`PAIRS`], the first argument in the upper half.
///
/// Every special value meets every other; then a special value meets a random one, two random patterns meet,
/// and, where powers and angles have digits to lose, numbers of moderate size and neighbours of 1.
pub(super) fn pair(number: u64) -> u64 {
    let bits = mix(number);
    let (a, b) = ((bits >> 32) as u32, bits as u32);
    let (x, y) = if number < SIGNED * SIGNED {
        (special(number / SIGNED), special(number % SIGNED))
    } else {
        match number % 8 {
            0 => (special(u64::from(a) % SIGNED), f32::from_bits(b)),
            1 => (f32::from_bits(a), special(u64::from(b) % SIGNED)),
            2 | 3 => (f32::from_bits(a), f32::from_bits(b)),
            // A base of any size and an exponent that keeps the power in range.
            4 | 5 => {
                let base = f32::from_bits(a & 0x7fff_ffff);
                let log = f64::from(base).log2();
                (base, ((unit(b) - 0.5) * 310.0 / if log == 0.0 { 1.0 } else { log }) as f32)
            }
            6 => ((10.0 * unit(a)) as f32, (40.0 * (unit(b) - 0.5)) as f32),
            _ => {
                let near = 1.0 + (unit(a) - 0.5) / f64::from(1 << (b & 15));
                (near as f32, f32::from_bits(0x3f80_0000 + (b >> 4)))
            }
        }
    };
    u64::from(x.to_bits()) << 32 | u64::from(y.to_bits())
}

/// From 0 up to 1.
fn unit(bits: u32) -> f64 {
    f64::from(bits) / 4_294_967_296.0
}

/// A number that looks random, for each number (SplitMix64).
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
