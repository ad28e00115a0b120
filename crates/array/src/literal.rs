//! One element of known value: a dtype and its bits.
//!
//! Invariant: the bits beyond the width of the dtype are zero and a `bool` is 0 or 1, so that equal bits mean an
//! equal literal and the other way round. Floats therefore compare by bits: `-0.0` is not `0.0`, a NaN is itself.

use crate::DType;
use crate::dtype::{Element, sealed::Number as _};
use num_complex::Complex64;
use std::fmt;

/// One element of known value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Literal {
    dtype: DType,
    bits: u128,
}

impl Literal {
    /// The literal of a Rust value.
    pub fn new<T: Element>(value: T) -> Literal {
        Literal { dtype: T::DTYPE, bits: value.to_bits() }
    }

    /// Rounds to a float, truncates and saturates to an integer (NaN becomes 0), `!= 0` for `bool`.
    pub fn from_f64(dtype: DType, value: f64) -> Literal {
        with_element!(dtype, T => Literal::new(T::from_f64(value)))
    }

    /// Rounds to a float, wraps to an integer, `!= 0` for `bool`.
    pub fn from_i64(dtype: DType, value: i64) -> Literal {
        with_element!(dtype, T => Literal::new(T::from_i128(i128::from(value))))
    }

    /// The literal with these bits; those beyond the width are ignored, any set bit makes a `bool` true.
    pub fn from_bits(dtype: DType, bits: u128) -> Literal {
        with_element!(dtype, T => Literal::new(<T as Element>::from_bits(bits)))
    }

    /// The complex number with these parts, each rounded once.
    ///
    /// # Panics
    ///
    /// If the dtype is not complex.
    pub fn from_complex(dtype: DType, value: Complex64) -> Literal {
        let part = |x| Literal::from_f64(dtype.real(), x);
        Literal::of_parts(part(value.re), part(value.im))
    }

    /// The complex number with these parts, bit for bit.
    ///
    /// # Panics
    ///
    /// If they are not floats of one dtype.
    pub fn of_parts(re: Literal, im: Literal) -> Literal {
        assert!(re.dtype == im.dtype && re.dtype.is_float(), "{re:?} and {im:?} are no parts");
        let dtype = re.dtype.complex().expect("floats have complex numbers");
        Literal { dtype, bits: re.bits | im.bits << (8 * re.dtype.size()) }
    }

    /// The real part of a complex number; any other literal is its own.
    pub fn re(self) -> Literal {
        Literal::from_bits(self.dtype.real(), self.bits)
    }

    /// The imaginary part of a complex number; zero of any other.
    pub fn im(self) -> Literal {
        let dtype = self.dtype.real();
        if self.dtype.is_complex() {
            Literal::from_bits(dtype, self.bits >> (8 * dtype.size()))
        } else {
            Literal::zero(dtype)
        }
    }

    /// Zero, or false.
    pub fn zero(dtype: DType) -> Literal {
        Literal { dtype, bits: 0 }
    }

    /// One, or true.
    pub fn one(dtype: DType) -> Literal {
        Literal::from_i64(dtype, 1)
    }

    /// The dtype.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// The bits, zero-extended; an imaginary part lies above the real one.
    pub fn bits(self) -> u128 {
        self.bits
    }

    /// The value, if it is of type `T`.
    pub fn get<T: Element>(self) -> Option<T> {
        (T::DTYPE == self.dtype).then(|| T::from_bits(self.bits))
    }

    /// Both parts as the nearest `f64`.
    pub fn as_complex(self) -> Complex64 {
        Complex64::new(self.as_f64(), self.im().as_f64())
    }

    /// The nearest `f64`; of a complex number, its real part.
    pub fn as_f64(self) -> f64 {
        with_element!(self.dtype, T => <T as Element>::from_bits(self.bits).to_f64())
    }

    /// The integer; a float is truncated and saturates, NaN is 0.
    pub fn as_i64(self) -> i64 {
        let wide = self.as_i128();
        i64::try_from(wide).unwrap_or(if wide < 0 { i64::MIN } else { i64::MAX })
    }

    fn as_i128(self) -> i128 {
        with_element!(self.dtype, T => <T as Element>::from_bits(self.bits).to_i128())
    }

    /// Converts to another dtype: float to integer truncates and saturates (NaN becomes 0), integer to integer
    /// wraps, to `bool` is `!= 0`, to float rounds once to nearest, ties to even. A real number has no imaginary part,
    /// and a complex one loses it on the way to a real one. Its own dtype keeps every bit.
    pub fn convert(self, dtype: DType) -> Literal {
        if dtype == self.dtype {
            self
        } else if self.dtype.is_complex() {
            match (dtype.is_complex(), dtype.is_bool()) {
                (true, _) => {
                    Literal::of_parts(self.re().convert(dtype.real()), self.im().convert(dtype.real()))
                }
                (_, true) => Literal::new(self.as_complex() != Complex64::ZERO),
                _ => self.re().convert(dtype),
            }
        } else if self.dtype.is_float() {
            Literal::from_f64(dtype, self.as_f64())
        } else {
            with_element!(dtype, T => Literal::new(T::from_i128(self.as_i128())))
        }
    }

    /// Reads what `Display` prints for this dtype.
    ///
    /// Other decimal spellings of a number are accepted too, text that would round to infinity is not.
    pub fn parse(dtype: DType, text: &str) -> Option<Literal> {
        if dtype.is_complex() {
            return parse_complex(dtype.real(), text);
        }
        if dtype.is_float() && text == "nan" {
            return quiet_nan(dtype);
        }
        if let Some(hex) = text.strip_prefix("nan:0x") {
            let bits = u128::from_str_radix(hex, 16).ok()?;
            let literal = Literal::from_bits(dtype, bits);
            return (literal.bits == bits && literal.as_f64().is_nan()).then_some(literal);
        }
        with_element!(dtype, T => T::read(text).map(Literal::new))
    }
}

/// Reads `re+imi` or `re-imi`. A sign may also belong to an exponent: the one that divides two numbers is taken.
fn parse_complex(part: DType, text: &str) -> Option<Literal> {
    let parts = text.strip_suffix('i')?;
    parts.char_indices().filter(|&(at, sign)| at > 0 && matches!(sign, '+' | '-')).find_map(|(at, sign)| {
        let (re, im) = parts.split_at(at);
        let im = if sign == '+' { &im[1..] } else { im };
        // A sign of its own after the dividing plus would be another spelling.
        let im = Literal::parse(part, im).filter(|_| sign == '-' || !im.starts_with(['+', '-']))?;
        Some(Literal::of_parts(Literal::parse(part, re)?, im))
    })
}

fn quiet_nan(dtype: DType) -> Option<Literal> {
    with_element!(dtype, T => T::QUIET_NAN).map(|bits| Literal { dtype, bits })
}

impl fmt::Display for Literal {
    /// The shortest decimal text that reads back as the same bits; a NaN other than the usual one shows its bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = if self.dtype.is_complex() {
            let im = self.im().to_string();
            let sign = if im.starts_with('-') { "" } else { "+" };
            format!("{}{sign}{im}i", self.re())
        } else if Some(*self) == quiet_nan(self.dtype) {
            "nan".to_owned()
        } else if self.as_f64().is_nan() {
            format!("nan:{:#x}", self.bits)
        } else {
            with_element!(self.dtype, T => format!("{:?}", <T as Element>::from_bits(self.bits)))
        };
        f.pad(&text)
    }
}

impl fmt::Debug for Literal {
    /// The text with the dtype as a suffix, as Rust writes it: `1.5f32`. Truth values need none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            DType::Bool => write!(f, "{self}"),
            dtype if self.as_f64().is_finite() && !dtype.is_complex() => write!(f, "{self}{dtype}"),
            // Without the bar the suffix would read as more letters or more hexadecimal digits.
            dtype => write!(f, "{self}_{dtype}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use proptest::prelude::*;

    fn dtypes() -> impl Strategy<Value = DType> {
        proptest::sample::select(DType::ALL)
    }

    #[test]
    fn text() {
        let literals = [
            Literal::new(true),
            Literal::new(255u8),
            Literal::new(-7i32),
            Literal::new(i64::MIN),
            Literal::new(1.5f32),
            Literal::new(0.1f32),
            Literal::new(0.1f64),
            Literal::new(-0.0f64),
            Literal::new(1e300f64),
            Literal::new(f32::MIN_POSITIVE),
            Literal::new(f32::INFINITY),
            Literal::new(f64::NEG_INFINITY),
            Literal::from_bits(DType::F32, 0x7fc0_0000),
            Literal::from_bits(DType::F64, 0x7ff8_0000_0000_0000),
            Literal::from_bits(DType::F32, 0x7fc0_0001),
            Literal::from_bits(DType::F32, 0xffc0_0000),
            Literal::from_bits(DType::F32, 0x7f80_0001),
        ];
        let lines: Vec<_> = literals.iter().map(|literal| format!("{literal} | {literal:?}")).collect();
        expect![[r#"
            true | true
            255 | 255u8
            -7 | -7i32
            -9223372036854775808 | -9223372036854775808i64
            1.5 | 1.5f32
            0.1 | 0.1f32
            0.1 | 0.1f64
            -0.0 | -0.0f64
            1e300 | 1e300f64
            1.1754944e-38 | 1.1754944e-38f32
            inf | inf_f32
            -inf | -inf_f64
            nan | nan_f32
            nan | nan_f64
            nan:0x7fc00001 | nan:0x7fc00001_f32
            nan:0xffc00000 | nan:0xffc00000_f32
            nan:0x7f800001 | nan:0x7f800001_f32"#]]
        .assert_eq(&lines.join("\n"));
        for literal in literals {
            assert_eq!(Literal::parse(literal.dtype, &literal.to_string()), Some(literal));
        }
    }

    #[test]
    fn refused_text() {
        let cases = [
            (DType::F32, "1e39"),
            (DType::F32, "NaN"),
            (DType::F32, "infinity"),
            (DType::F32, "nan:0x7f800000"),
            (DType::F32, "nan:0x7ff8000000000000"),
            (DType::F32, "nan:0x17fc00001"),
            (DType::F64, "nan:0x"),
            (DType::I32, "nan"),
            (DType::I32, "nan:0x0"),
            (DType::I32, "2147483648"),
            (DType::I32, "1.0"),
            (DType::U8, "-1"),
            (DType::Bool, "1"),
            (DType::F64, ""),
            (DType::F64, " 1"),
        ];
        for (dtype, text) in cases {
            assert_eq!(Literal::parse(dtype, text), None, "{dtype} {text}");
        }
        assert_eq!(Literal::parse(DType::F32, "3"), Some(Literal::new(3f32)));
    }

    #[test]
    fn conversions() {
        let big = (1i64 << 24) + 1;
        // Halfway between two f32 only after a detour through f64: one rounding must decide.
        let tricky = (1i64 << 60) + (1 << 36) + 1;
        let cases: &[(Literal, Literal)] = &[
            (Literal::new(2.9f32), Literal::new(2i32)),
            (Literal::new(-2.9f64), Literal::new(-2i64)),
            (Literal::new(f32::NAN), Literal::new(0i32)),
            (Literal::new(f64::INFINITY), Literal::new(i32::MAX)),
            (Literal::new(-1.0f32), Literal::new(0u8)),
            (Literal::new(300.0f32), Literal::new(255u8)),
            (Literal::new(1e30f64), Literal::new(i64::MAX)),
            (Literal::new(300i32), Literal::new(44u8)),
            (Literal::new(-1i32), Literal::new(u32::MAX)),
            (Literal::new(-1i32), Literal::new(-1i64)),
            (Literal::new(u32::MAX), Literal::new(-1i32)),
            (Literal::new(0.5f32), Literal::new(true)),
            (Literal::new(-0.0f32), Literal::new(false)),
            (Literal::new(f32::NAN), Literal::new(true)),
            (Literal::new(256i32), Literal::new(true)),
            (Literal::new(true), Literal::new(1.0f64)),
            (Literal::new(big), Literal::new(16_777_216f32)),
            (Literal::new(tricky), Literal::new(tricky as f32)),
            (Literal::new(1e300f64), Literal::new(f32::INFINITY)),
        ];
        for &(from, to) in cases {
            assert_eq!(from.convert(to.dtype), to, "{from:?} to {}", to.dtype);
        }
        assert_ne!(tricky as f32, tricky as f64 as f32, "the case has lost its point");
        let signalling = Literal::from_bits(DType::F32, 0x7f80_0001);
        assert_eq!(signalling.convert(DType::F32), signalling);
    }

    #[test]
    fn accessors() {
        assert_eq!(Literal::new(1.5f32).get::<f32>(), Some(1.5));
        assert_eq!(Literal::new(1.5f32).get::<f64>(), None);
        assert_eq!(Literal::new(f64::INFINITY).as_i64(), i64::MAX);
        assert_eq!(Literal::new(f64::NEG_INFINITY).as_i64(), i64::MIN);
        assert_eq!(Literal::from_i64(DType::U8, -1), Literal::new(255u8));
        assert_eq!(Literal::from_bits(DType::Bool, 6), Literal::new(true));
        assert_eq!(Literal::from_bits(DType::U8, 0x101), Literal::new(1u8));
        for &dtype in DType::ALL {
            assert_eq!(Literal::zero(dtype), Literal::from_i64(dtype, 0));
            assert_eq!(Literal::one(dtype).as_f64(), 1.0);
        }
    }

    proptest! {
        #[test]
        fn text_reads_back(dtype in dtypes(), bits in any::<u128>()) {
            let literal = Literal::from_bits(dtype, bits);
            prop_assert_eq!(Literal::parse(dtype, &literal.to_string()), Some(literal));
        }

        #[test]
        fn parse_never_panics(dtype in dtypes(), text in "(nan:0x|inf|-)?[0-9a-fA-F.e+-]{0,24}") {
            if let Some(literal) = Literal::parse(dtype, &text) {
                prop_assert_eq!(Literal::parse(dtype, &literal.to_string()), Some(literal));
            }
        }
    }
}
