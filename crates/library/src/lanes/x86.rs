//! Vectors of unsigned integers in registers of 64 bytes: what sorting and choosing need of them.
//!
//! For processors that [are able](super::is_able). Invariant: memory is reached through slices only, so that nothing
//! beyond their ends is read or written.
#![allow(unsafe_code, reason = "vectors are loaded and stored by address")]

use std::arch::x86_64::{
    __m512i, _mm512_cmple_epu32_mask, _mm512_cmple_epu64_mask, _mm512_cmplt_epu32_mask,
    _mm512_cmplt_epu64_mask, _mm512_mask_loadu_epi32, _mm512_mask_loadu_epi64, _mm512_mask_max_epu32,
    _mm512_mask_max_epu64, _mm512_mask_permutexvar_epi32, _mm512_mask_permutexvar_epi64,
    _mm512_mask_storeu_epi32, _mm512_mask_storeu_epi64, _mm512_maskz_compress_epi32,
    _mm512_maskz_compress_epi64, _mm512_max_epu32, _mm512_max_epu64, _mm512_min_epu32, _mm512_min_epu64,
    _mm512_permutexvar_epi32, _mm512_permutexvar_epi64, _mm512_set1_epi64,
};

use super::Lane;

/// Which lanes: one bit for each.
pub(crate) type Mask = u16;

/// A function of vectors, by the width of their lanes.
macro_rules! by_width {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $Type:ty),*) -> $Result:ty: $narrow:expr, $wide:expr) => {
        $(#[$doc])*
        #[inline]
        #[target_feature(enable = "avx512f,bmi2,popcnt")]
        pub(crate) fn $name<T: Lane>($($arg: $Type),*) -> $Result {
            if T::IS_WIDE { $wide } else { $narrow }
        }
    };
}

by_width!(min(a: __m512i, b: __m512i) -> __m512i: _mm512_min_epu32(a, b), _mm512_min_epu64(a, b));
by_width!(max(a: __m512i, b: __m512i) -> __m512i: _mm512_max_epu32(a, b), _mm512_max_epu64(a, b));
by_width! {
    /// The smaller of two elements, in some lanes the larger.
    min_or_max(in_lanes: Mask, a: __m512i, b: __m512i) -> __m512i:
        _mm512_mask_max_epu32(_mm512_min_epu32(a, b), in_lanes, a, b),
        _mm512_mask_max_epu64(_mm512_min_epu64(a, b), in_lanes as u8, a, b)
}
by_width! {
    is_less(a: __m512i, b: __m512i) -> Mask: _mm512_cmplt_epu32_mask(a, b), Mask::from(_mm512_cmplt_epu64_mask(a, b))
}
by_width! {
    is_at_most(a: __m512i, b: __m512i) -> Mask:
        _mm512_cmple_epu32_mask(a, b), Mask::from(_mm512_cmple_epu64_mask(a, b))
}
by_width! {
    /// The elements of some lanes, one after the other.
    only(lanes: Mask, of: __m512i) -> __m512i:
        _mm512_maskz_compress_epi32(lanes, of), _mm512_maskz_compress_epi64(lanes as u8, of)
}
by_width! {
    /// The elements at some lanes.
    at(lanes: __m512i, of: __m512i) -> __m512i:
        _mm512_permutexvar_epi32(lanes, of), _mm512_permutexvar_epi64(lanes, of)
}
by_width! {
    /// The elements of one vector, in some lanes those at lanes of another.
    or_at(one: __m512i, in_lanes: Mask, lanes: __m512i, of: __m512i) -> __m512i:
        _mm512_mask_permutexvar_epi32(one, in_lanes, lanes, of),
        _mm512_mask_permutexvar_epi64(one, in_lanes as u8, lanes, of)
}

/// A vector of equal elements.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
pub(crate) fn splat<T: Lane>(x: T) -> __m512i {
    _mm512_set1_epi64(x.filling().cast_signed())
}

/// The first lanes.
pub(crate) fn first<T: Lane>(count: usize) -> Mask {
    // Shifting what is wider than a mask: all lanes are one more than there are bits to shift by.
    ((1u32 << count.min(T::COUNT)) - 1) as Mask
}

/// As many elements as a vector has; what a shorter slice lacks is the largest number.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
pub(crate) fn load<T: Lane>(from: &[T]) -> __m512i {
    let (lanes, address, largest) = (first::<T>(from.len()), from.as_ptr(), _mm512_set1_epi64(-1));
    if T::IS_WIDE {
        // SAFETY: only elements of the slice are read: that many lanes are chosen at most.
        unsafe { _mm512_mask_loadu_epi64(largest, lanes as u8, address.cast()) }
    } else {
        // SAFETY: as above.
        unsafe { _mm512_mask_loadu_epi32(largest, lanes, address.cast()) }
    }
}

/// Fills a slice with the first elements of a vector; a longer one only so far as they last.
#[inline]
#[target_feature(enable = "avx512f,bmi2,popcnt")]
pub(crate) fn store<T: Lane>(to: &mut [T], x: __m512i) {
    let (lanes, address) = (first::<T>(to.len()), to.as_mut_ptr());
    if T::IS_WIDE {
        // SAFETY: only elements of the slice are written: that many lanes are chosen at most.
        unsafe { _mm512_mask_storeu_epi64(address.cast(), lanes as u8, x) }
    } else {
        // SAFETY: as above.
        unsafe { _mm512_mask_storeu_epi32(address.cast(), lanes, x) }
    }
}
