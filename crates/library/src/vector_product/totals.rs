//! The lanes of several vectors added up at once.

use std::arch::x86_64::{
    __m512, _mm512_add_pd, _mm512_add_ps, _mm512_castpd_ps, _mm512_castps_pd, _mm512_shuffle_f32x4,
    _mm512_unpackhi_pd, _mm512_unpackhi_ps, _mm512_unpacklo_pd, _mm512_unpacklo_ps,
};

use super::vector::Float;

/// How many vectors are added up at once.
pub(super) const AT_ONCE: usize = 8;

/// The sum of each vector, in the first lanes. The order is the same in each.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn totals<T: Float>([a, b, c, d, e, f, g, h]: [__m512; AT_ONCE]) -> __m512 {
    if T::IS_WIDE {
        let (ab, cd, ef, gh) = (twos::<T>(a, b), twos::<T>(c, d), twos::<T>(e, f), twos::<T>(g, h));
        quarters::<T>(quarters::<T>(ab, cd), quarters::<T>(ef, gh))
    } else {
        let (abcd, efgh) = (twos::<T>(ones(a, b), ones(c, d)), twos::<T>(ones(e, f), ones(g, h)));
        let halves = quarters::<T>(abcd, efgh);
        quarters::<T>(halves, halves)
    }
}

/// Lane by lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn add<T: Float>(a: __m512, b: __m512) -> __m512 {
    if T::IS_WIDE {
        _mm512_castpd_ps(_mm512_add_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)))
    } else {
        _mm512_add_ps(a, b)
    }
}

/// In each quarter, of 4 bytes each: `a₀ + a₂`, `b₀ + b₂`, `a₁ + a₃`, `b₁ + b₃`.
#[inline]
#[target_feature(enable = "avx512f")]
fn ones(a: __m512, b: __m512) -> __m512 {
    _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b))
}

/// In each quarter, of 8 bytes each: `a₀ + a₁`, `b₀ + b₁`.
#[inline]
#[target_feature(enable = "avx512f")]
fn twos<T: Float>(a: __m512, b: __m512) -> __m512 {
    let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
    add::<T>(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)))
}

/// Of quarters: `a₀ + a₁`, `a₂ + a₃`, `b₀ + b₁`, `b₂ + b₃`.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarters<T: Float>(a: __m512, b: __m512) -> __m512 {
    let even = _mm512_shuffle_f32x4::<0b10_00_10_00>(a, b);
    let odd = _mm512_shuffle_f32x4::<0b11_01_11_01>(a, b);
    add::<T>(even, odd)
}
