//! Vectors of floats in registers of 64 bytes: what a matrix product needs of them.
//!
//! For processors that have AVX-512. Both widths share one type of register, so that code is written once.
#![allow(unsafe_code, reason = "vectors are loaded and stored by address")]

use std::arch::x86_64::{
    __m512, _MM_HINT_T0, _mm_loadu_ps, _mm_prefetch, _mm512_castpd_ps, _mm512_castps_pd,
    _mm512_castps128_ps512, _mm512_fmadd_pd, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_mask_broadcast_f32x4,
    _mm512_mask_storeu_pd, _mm512_mask_storeu_ps, _mm512_maskz_loadu_pd, _mm512_maskz_loadu_ps,
    _mm512_set1_pd, _mm512_set1_ps, _mm512_storeu_ps, _mm512_unpackhi_pd, _mm512_unpackhi_ps,
    _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

/// Bytes of a vector, and of a line of a cache.
pub(crate) const BYTES: usize = 64;

/// Which lanes: one bit for each.
pub(crate) type Mask = u16;

/// A float of 4 or 8 bytes.
pub(crate) trait Float: Copy + 'static {
    /// Whether it has 8 bytes.
    const IS_WIDE: bool = size_of::<Self>() == 8;
    /// How many a vector has.
    const LANES: usize = BYTES / size_of::<Self>();
    /// Nothing: what a sum starts with.
    const ZERO: Self;
    /// It, rounded to 4 bytes if it has 8.
    fn narrow(self) -> f32;
    /// It in 8 bytes.
    fn wide(self) -> f64;
}

impl Float for f32 {
    const ZERO: f32 = 0.0;
    #[inline(always)]
    fn narrow(self) -> f32 {
        self
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Float for f64 {
    const ZERO: f64 = 0.0;
    #[inline(always)]
    fn narrow(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

/// The first lanes.
#[inline(always)]
pub(crate) fn first<T: Float>(count: usize) -> Mask {
    // Shifting what is wider than a mask: all lanes are one more than there are bits to shift by.
    ((1u32 << count.min(T::LANES)) - 1) as Mask
}

/// A vector of equal elements.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn splat<T: Float>(x: T) -> __m512 {
    if T::IS_WIDE { _mm512_castpd_ps(_mm512_set1_pd(x.wide())) } else { _mm512_set1_ps(x.narrow()) }
}

/// `a × b + sum`, rounded once.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn multiply_add<T: Float>(a: __m512, b: __m512, sum: __m512) -> __m512 {
    if T::IS_WIDE {
        let (a, b, sum) = (_mm512_castps_pd(a), _mm512_castps_pd(b), _mm512_castps_pd(sum));
        _mm512_castpd_ps(_mm512_fmadd_pd(a, b, sum))
    } else {
        _mm512_fmadd_ps(a, b, sum)
    }
}

/// # Safety
///
/// A vector of elements may be read from the address.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn load<T: Float>(from: *const T) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe { _mm512_loadu_ps(from.cast()) }
}

/// The elements of some lanes, zero in others.
///
/// # Safety
///
/// The elements of these lanes may be read.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn load_lanes<T: Float>(lanes: Mask, from: *const T) -> __m512 {
    if T::IS_WIDE {
        // SAFETY: the caller's promise.
        _mm512_castpd_ps(unsafe { _mm512_maskz_loadu_pd(lanes as u8, from.cast()) })
    } else {
        // SAFETY: the caller's promise.
        unsafe { _mm512_maskz_loadu_ps(lanes, from.cast()) }
    }
}

/// # Safety
///
/// A vector of elements may be written to the address.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn store<T: Float>(to: *mut T, x: __m512) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_ps(to.cast(), x) }
}

/// Writes the elements of some lanes.
///
/// # Safety
///
/// The elements of these lanes may be written.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn store_lanes<T: Float>(to: *mut T, lanes: Mask, x: __m512) {
    if T::IS_WIDE {
        let x = _mm512_castps_pd(x);
        // SAFETY: the caller's promise.
        unsafe { _mm512_mask_storeu_pd(to.cast(), lanes as u8, x) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mask_storeu_ps(to.cast(), lanes, x) }
    }
}

/// Quarters of 16 bytes from four addresses, side by side.
///
/// # Safety
///
/// 16 bytes may be read from each address.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) unsafe fn load_quarters<T: Float>(from: [*const T; 4]) -> __m512 {
    // SAFETY: the caller's promise.
    let mut all = _mm512_castps128_ps512(unsafe { _mm_loadu_ps(from[0].cast()) });
    for (quarter, from) in from.into_iter().enumerate().skip(1) {
        // SAFETY: the caller's promise.
        let one = unsafe { _mm_loadu_ps(from.cast()) };
        all = _mm512_mask_broadcast_f32x4(all, 0xf << (4 * quarter), one);
    }
    all
}

/// Four vectors with rows and columns changed in each quarter: that of result `i` are the elements `i` of that quarter
/// of each vector.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn turn_quarters(x: [__m512; 4]) -> [__m512; 4] {
    let [a, b, c, d] = x;
    let wide = |low: bool, x: __m512, y: __m512| {
        let (x, y) = (_mm512_castps_pd(x), _mm512_castps_pd(y));
        _mm512_castpd_ps(if low { _mm512_unpacklo_pd(x, y) } else { _mm512_unpackhi_pd(x, y) })
    };
    let (ab_low, ab_high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    let (cd_low, cd_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    [
        wide(true, ab_low, cd_low),
        wide(false, ab_low, cd_low),
        wide(true, ab_high, cd_high),
        wide(false, ab_high, cd_high),
    ]
}

/// The same for two vectors of elements of 8 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn turn_wide_quarters(x: [__m512; 2]) -> [__m512; 2] {
    let (a, b) = (_mm512_castps_pd(x[0]), _mm512_castps_pd(x[1]));
    [_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b))]
}

/// Asks for the line of an address to be in the first cache soon. Any address will do.
#[inline(always)]
pub(crate) fn fetch<T>(address: *const T) {
    // SAFETY: this instruction never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}
