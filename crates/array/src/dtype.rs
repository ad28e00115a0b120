//! Element types: one table that everything else reads.
//!
//! Invariant: a fact about an element type (its Rust type, its name, its kind) is written in the `dtypes!` table
//! at the end of this file and nowhere else, so that a new type is a new row.

use num_complex::{Complex32, Complex64};
use std::fmt;

/// What the operations on a dtype look like, apart from its width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Unsigned,
    Signed,
    Float,
    Complex,
}

/// A Rust type that can be an element of a tensor.
///
/// The set is closed: it has one implementation per row of the dtype table.
pub trait Element: sealed::Number + Copy + Send + Sync + Default + PartialEq + fmt::Debug + 'static {
    /// The dtype whose elements are of this type.
    const DTYPE: DType;

    /// The bits of the value, zero-extended: two's complement of its own width for integers, 0 or 1 for `bool`,
    /// the imaginary part above the real one for complex numbers.
    fn to_bits(self) -> u128;

    /// The value with these bits. Bits beyond the width are ignored; any set bit makes a `bool` true.
    fn from_bits(bits: u128) -> Self;
}

pub(crate) mod sealed {
    /// Conversions that [`Literal`](crate::Literal) is made of; also what keeps [`Element`](super::Element) closed.
    pub trait Number: Sized {
        /// The bits of the one NaN that prints as `nan`, where there is one.
        const QUIET_NAN: Option<u128>;
        /// Rounds to a float, truncates and saturates to an integer (NaN is 0), `!= 0` for `bool`.
        fn from_f64(value: f64) -> Self;
        /// Rounds to a float, wraps to an integer, `!= 0` for `bool`. Wide enough for every integer dtype.
        fn from_i128(value: i128) -> Self;
        /// The nearest `f64`.
        fn to_f64(self) -> f64;
        /// The exact integer, or the truncated and saturated float.
        fn to_i128(self) -> i128;
        /// Reads what `Debug` prints. Finite text that rounds to infinity is refused.
        fn read(text: &str) -> Option<Self>;
    }
}

/// Implements the two element traits for one row of the table, by kind.
macro_rules! element {
    (Bool $rust:ident $dtype:ident) => {
        impl sealed::Number for $rust {
            const QUIET_NAN: Option<u128> = None;
            fn from_f64(value: f64) -> Self {
                value != 0.0
            }
            fn from_i128(value: i128) -> Self {
                value != 0
            }
            fn to_f64(self) -> f64 {
                f64::from(u8::from(self))
            }
            fn to_i128(self) -> i128 {
                i128::from(self)
            }
            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            fn to_bits(self) -> u128 {
                u128::from(self)
            }
            fn from_bits(bits: u128) -> Self {
                bits != 0
            }
        }
    };
    (Float $rust:ident $dtype:ident) => {
        impl sealed::Number for $rust {
            // The quiet bit and the whole exponent, sign and payload clear.
            const QUIET_NAN: Option<u128> =
                Some(<$rust>::INFINITY.to_bits() as u128 | 1 << (<$rust>::MANTISSA_DIGITS - 2));
            fn from_f64(value: f64) -> Self {
                value as $rust
            }
            fn from_i128(value: i128) -> Self {
                value as $rust
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn to_i128(self) -> i128 {
                self as i128
            }
            fn read(text: &str) -> Option<Self> {
                match text {
                    "inf" => Some(<$rust>::INFINITY),
                    "-inf" => Some(<$rust>::NEG_INFINITY),
                    // Rust also reads `infinity` and `NaN`; only one spelling of each is ours.
                    _ => text.parse().ok().filter(|value: &$rust| value.is_finite()),
                }
            }
        }
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            fn to_bits(self) -> u128 {
                <$rust>::to_bits(self) as u128
            }
            fn from_bits(bits: u128) -> Self {
                <$rust>::from_bits(bits as _)
            }
        }
    };
    (Complex $rust:ident $dtype:ident) => {
        impl sealed::Number for $rust {
            const QUIET_NAN: Option<u128> = None;
            fn from_f64(value: f64) -> Self {
                $rust::new(sealed::Number::from_f64(value), 0.0)
            }
            fn from_i128(value: i128) -> Self {
                $rust::new(sealed::Number::from_i128(value), 0.0)
            }
            fn to_f64(self) -> f64 {
                self.re.to_f64()
            }
            fn to_i128(self) -> i128 {
                self.re.to_i128()
            }
            fn read(_: &str) -> Option<Self> {
                unreachable!("a complex literal is read as two floats")
            }
        }
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            fn to_bits(self) -> u128 {
                Element::to_bits(self.re) | Element::to_bits(self.im) << (4 * size_of::<$rust>())
            }
            fn from_bits(bits: u128) -> Self {
                $rust::new(Element::from_bits(bits), Element::from_bits(bits >> (4 * size_of::<$rust>())))
            }
        }
    };
    (Unsigned $rust:ident $dtype:ident) => {
        element! { Integer $rust $dtype }
    };
    (Signed $rust:ident $dtype:ident) => {
        element! { Integer $rust $dtype }
    };
    (Integer $rust:ident $dtype:ident) => {
        impl sealed::Number for $rust {
            const QUIET_NAN: Option<u128> = None;
            fn from_f64(value: f64) -> Self {
                value as $rust
            }
            fn from_i128(value: i128) -> Self {
                value as $rust
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn to_i128(self) -> i128 {
                i128::from(self)
            }
            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
            fn to_bits(self) -> u128 {
                // Through the native bytes, so that a negative number is not sign-extended.
                let mut bytes = [0; 16];
                bytes[..size_of::<$rust>()].copy_from_slice(&self.to_le_bytes());
                u128::from_le_bytes(bytes)
            }
            fn from_bits(bits: u128) -> Self {
                bits as $rust
            }
        }
    };
}

/// Makes [`DType`], its facts, the [`Element`] implementations and `with_element!` from the table.
/// The leading token is a dollar sign: `with_element!` needs one of its own.
macro_rules! dtypes {
    ($d:tt $($(#[$doc:meta])* $variant:ident $rust:ident $name:literal $kind:ident;)*) => {
        /// The type of the elements of a tensor.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum DType {
            $($(#[$doc])* $variant,)*
        }

        impl DType {
            /// Every dtype, in the order of the table.
            pub const ALL: &[DType] = &[$(DType::$variant),*];

            /// Bytes per element.
            #[inline]
            pub const fn size(self) -> usize {
                match self { $(DType::$variant => size_of::<$rust>(),)* }
            }

            /// Alignment of an element in bytes.
            #[inline]
            pub const fn align(self) -> usize {
                match self { $(DType::$variant => align_of::<$rust>(),)* }
            }

            /// The name as it is printed and parsed: `f32`, `bool`.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }

            const fn kind(self) -> Kind {
                match self { $(DType::$variant => Kind::$kind,)* }
            }
        }

        $(element! { $kind $rust $variant })*

        /// Evaluates an expression with a type name bound to the Rust type of a dtype.
        ///
        /// ```
        /// use tracewell_array::{DType, with_element};
        /// let bytes = with_element!(DType::I64, T => size_of::<T>());
        /// assert_eq!(bytes, 8);
        /// ```
        #[macro_export]
        macro_rules! with_element {
            ($d dtype:expr, $d T:ident => $d body:expr) => {
                match $d dtype {
                    $($crate::DType::$variant => {
                        #[allow(dead_code, reason = "an expression may ignore the type")]
                        type $d T = $crate::elements::$rust;
                        $d body
                    })*
                }
            };
        }
    };
}

dtypes! { $
    /// A truth value, one byte that is 0 or 1.
    Bool bool "bool" Bool;
    /// An unsigned byte.
    U8 u8 "u8" Unsigned;
    /// An unsigned 32-bit integer.
    U32 u32 "u32" Unsigned;
    /// A signed 32-bit integer.
    I32 i32 "i32" Signed;
    /// A signed 64-bit integer.
    I64 i64 "i64" Signed;
    /// A 32-bit float.
    F32 f32 "f32" Float;
    /// A 64-bit float.
    F64 f64 "f64" Float;
    /// A complex number of two 32-bit floats, the real part first.
    C64 Complex32 "c64" Complex;
    /// A complex number of two 64-bit floats, the real part first.
    C128 Complex64 "c128" Complex;
}

/// The Rust type of each dtype, under the name that the table gives it.
#[doc(hidden)]
pub mod elements {
    pub use num_complex::{Complex32, Complex64};
    pub use std::primitive::{bool, f32, f64, i32, i64, u8, u32};
}

impl DType {
    /// Every dtype but the complex ones, which are last in the table: what a program computes with.
    pub const REAL: &[DType] = DType::ALL.split_at(DType::C64 as usize).0;

    /// The dtype with this name, if there is one.
    pub fn parse(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    /// Whether elements are real floating point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether elements are complex numbers.
    pub const fn is_complex(self) -> bool {
        matches!(self.kind(), Kind::Complex)
    }

    /// Whether elements are real or complex floating point numbers: what has derivatives.
    pub const fn is_inexact(self) -> bool {
        matches!(self.kind(), Kind::Float | Kind::Complex)
    }

    /// The dtype of a real or imaginary part; any other dtype is its own.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex dtype with parts of this float dtype; a complex one is its own.
    pub const fn complex(self) -> Option<DType> {
        match self {
            DType::F32 | DType::C64 => Some(DType::C64),
            DType::F64 | DType::C128 => Some(DType::C128),
            _ => None,
        }
    }

    /// Whether elements are integers. A `bool` is not one.
    pub const fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Unsigned | Kind::Signed)
    }

    /// Whether elements can be negative.
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Float | Kind::Complex)
    }

    /// Whether elements are truth values.
    pub const fn is_bool(self) -> bool {
        matches!(self.kind(), Kind::Bool)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use std::fmt::Write as _;

    #[test]
    fn facts() {
        let mut text = String::new();
        for &dtype in DType::ALL {
            let flags = [
                (dtype.is_bool(), "bool"),
                (dtype.is_integer(), "integer"),
                (dtype.is_float(), "float"),
                (dtype.is_complex(), "complex"),
                (dtype.is_signed(), "signed"),
            ];
            let flags: Vec<_> = flags.iter().filter(|(yes, _)| *yes).map(|(_, name)| *name).collect();
            let (size, align) = (dtype.size(), dtype.align());
            writeln!(text, "{dtype:>4} size {size} align {align} {}", flags.join(" "))
                .expect("writing to a string");
        }
        expect![[r#"
            bool size 1 align 1 bool
              u8 size 1 align 1 integer
             u32 size 4 align 4 integer
             i32 size 4 align 4 integer signed
             i64 size 8 align 8 integer signed
             f32 size 4 align 4 float signed
             f64 size 8 align 8 float signed
             c64 size 8 align 4 complex signed
            c128 size 16 align 8 complex signed
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn names_read_back() {
        for &dtype in DType::ALL {
            assert_eq!(DType::parse(dtype.name()), Some(dtype));
            assert_eq!(with_element!(dtype, T => T::DTYPE), dtype);
            assert_eq!(with_element!(dtype, T => size_of::<T>()), dtype.size());
        }
        for wrong in ["", "F32", "f32 ", "float"] {
            assert_eq!(DType::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn bits_are_zero_extended() {
        assert_eq!(Element::to_bits(-1i32), 0xffff_ffff);
        assert_eq!(Element::to_bits(-1i64), u128::from(u64::MAX));
        assert_eq!(Element::to_bits(Complex32::new(1.0, -0.0)), 0x8000_0000_3f80_0000);
        assert_eq!(Element::to_bits(Complex64::new(0.0, 1.0)), 0x3ff0_0000_0000_0000 << 64);
        assert_eq!(Element::to_bits(255u8), 0xff);
        assert_eq!(Element::to_bits(-0.0f32), 0x8000_0000);
        assert_eq!(Element::to_bits(true), 1);
        assert_eq!(<i32 as Element>::from_bits(0xffff_fffe), -2);
        assert_eq!(<u8 as Element>::from_bits(0x1ff), 255);
        assert!(<bool as Element>::from_bits(2));
    }
}
