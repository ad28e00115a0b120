//! Elements as unsigned integers in the same order, and back.
//!
//! NaN is larger than any number, and zeros of both signs are equal. An order is a few masks, so that no element
//! costs a branch: signs of random numbers cannot be foretold.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use tracewell_array::DType;

use super::radix::Keyed;
use super::vector;

/// The bits of an element.
pub(super) trait Word:
    Keyed + Ord + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Its highest bit.
    const SIGN: Self;
    /// The infinity of the float of this width: there is none of a byte.
    const INFINITY: Self;
    /// All bits if the highest one is set, else none.
    fn signs(self) -> Self;
    /// Sorts, if the processor has vectors to do that by, and says whether it has.
    fn sort_by_vectors(data: &mut [Self]) -> bool;
}

macro_rules! words {
    ($($bits:ident, $infinity:expr, $sort_by_vectors:expr;)*) => {$(
        impl Word for $bits {
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            const INFINITY: $bits = $infinity;
            fn signs(self) -> $bits {
                (self.cast_signed() >> ($bits::BITS - 1)).cast_unsigned()
            }
            fn sort_by_vectors(data: &mut [$bits]) -> bool {
                $sort_by_vectors(data)
            }
        }
    )*};
}
words! {
    // Bytes have one digit.
    u8, u8::MAX, |_| false;
    u32, f32::INFINITY.to_bits(), vector::sort;
    u64, f64::INFINITY.to_bits(), vector::sort;
}

/// How the elements of a dtype are ordered.
#[derive(Clone, Copy)]
pub(super) struct Order<K> {
    /// The sign, if there is one: negative elements come first.
    sign: K,
    /// All bits if magnitudes of negative elements grow downwards, as those of floats do.
    float: K,
    /// All bits if the largest comes first.
    flip: K,
}

impl<K: Word> Order<K> {
    /// The order of a dtype of this width.
    pub(super) fn new(dtype: DType, descending: bool) -> Order<K> {
        let all = |is: bool| if is { !K::default() } else { K::default() };
        let is_float = matches!(dtype, DType::F32 | DType::F64);
        let is_signed = is_float || matches!(dtype, DType::I32 | DType::I64);
        Order { sign: all(is_signed) & K::SIGN, float: all(is_float), flip: all(descending) }
    }

    /// The key of an element.
    pub(super) fn key(self, element: K) -> K {
        let magnitude = element & !K::SIGN;
        let key = element ^ (element.signs() & self.float | self.sign);
        let is_float = self.float != K::default();
        let key = if is_float & (magnitude > K::INFINITY) { !K::default() } else { key };
        let key = if is_float & (magnitude == K::default()) { K::SIGN } else { key };
        key ^ self.flip
    }

    /// The element of a key; of elements of one key, any.
    pub(super) fn element(self, key: K) -> K {
        let key = key ^ self.flip;
        key ^ (!key.signs() & self.float | self.sign)
    }

    /// The keys of elements that can be told apart: zeros and NaNs.
    pub(super) fn alike(self) -> impl Iterator<Item = K> {
        let keys = [self.key(K::default()), self.key(!K::SIGN)];
        keys.into_iter().filter(move |_| self.float != K::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_ordered_as_floats_are_and_come_back() {
        let all =
            [f32::NEG_INFINITY, f32::MIN, -1.0, -1e-40, 0.0, 1e-40, f32::MIN_POSITIVE, 2.5, f32::INFINITY];
        let up = Order::<u32>::new(DType::F32, false);
        let down = Order::<u32>::new(DType::F32, true);
        let keys = all.map(|x| up.key(x.to_bits()));
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:x?}");
        assert!(all.map(|x| down.key(x.to_bits())).is_sorted_by(|a, b| a > b));
        for order in [up, down] {
            assert_eq!(all.map(|x| f32::from_bits(order.element(order.key(x.to_bits())))), all);
            assert_eq!(order.key((-0.0f32).to_bits()), order.key(0));
            let nans = [f32::NAN.to_bits(), (-f32::NAN).to_bits(), 0x7f80_0001].map(|x| order.key(x));
            assert!(nans.iter().all(|&x| x == nans[0]));
            assert!(order.alike().eq([order.key(0), nans[0]]));
        }
        assert!(up.key(f32::NAN.to_bits()) > keys[8]);
    }

    #[test]
    fn keys_are_ordered_as_integers_are_and_come_back() {
        let all = [i64::MIN, -7, -1, 0, 1, i64::MAX];
        for descending in [false, true] {
            let order = Order::<u64>::new(DType::I64, descending);
            let keys = all.map(|x| order.key(x as u64));
            assert!(keys.is_sorted_by(|a, b| if descending { a > b } else { a < b }));
            assert_eq!(keys.map(|key| order.element(key) as i64), all);
            assert_eq!(order.alike().count(), 0);
        }
        assert_eq!([0u8, 1, 255].map(|x| Order::<u8>::new(DType::U8, false).key(x)), [0, 1, 255]);
    }
}
