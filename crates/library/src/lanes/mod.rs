//! Vectors of 64 bytes of unsigned integers, of processors that have them.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no other processor has them"))]

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

/// An unsigned integer of 4 or 8 bytes, of which vectors are made.
pub(crate) trait Lane: Copy + Default + Ord + Send + Sync {
    /// Whether it has 8 bytes.
    const IS_WIDE: bool;
    /// How many a vector has.
    const COUNT: usize = if Self::IS_WIDE { 8 } else { 16 };
    /// It in all bits of 8 bytes: twice, if it has 4.
    fn filling(self) -> u64;
}

impl Lane for u32 {
    const IS_WIDE: bool = false;
    fn filling(self) -> u64 {
        u64::from(self) << 32 | u64::from(self)
    }
}

impl Lane for u64 {
    const IS_WIDE: bool = true;
    fn filling(self) -> u64 {
        self
    }
}

/// Whether the processor has such vectors.
pub(crate) fn is_able() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    false
}
