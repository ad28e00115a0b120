//! How large the second cache of a core is.

use std::arch::x86_64::{__cpuid, __cpuid_count};
use std::sync::LazyLock;

/// What is taken for granted if the processor does not say.
const USUAL: usize = 1 << 20;

/// Bytes of the second cache.
pub(crate) fn second_cache() -> usize {
    static BYTES: LazyLock<usize> = LazyLock::new(|| described().unwrap_or(USUAL));
    *BYTES
}

/// As the processor describes its caches, one in each part of leaf 4, or of the one that others than Intel have.
fn described() -> Option<usize> {
    const LEAF: u32 = 4;
    const LEAF_OF_OTHERS: u32 = 0x8000_001d;
    let has = |leaf: u32| __cpuid(leaf & 0x8000_0000).eax >= leaf;
    [LEAF, LEAF_OF_OTHERS].into_iter().filter(|&leaf| has(leaf)).find_map(second_in)
}

fn second_in(leaf: u32) -> Option<usize> {
    for part in 0..8 {
        let cache = __cpuid_count(leaf, part);
        // The bits of a field, from one to another.
        let field = |register: u32, from: u32, to: u32| (register << (31 - to) >> (31 - to + from)) as usize;
        let (kind, level) = (field(cache.eax, 0, 4), field(cache.eax, 5, 7));
        if kind == 0 {
            return None;
        }
        if level == 2 {
            let (ways, partitions) = (field(cache.ebx, 22, 31) + 1, field(cache.ebx, 12, 21) + 1);
            let (line, sets) = (field(cache.ebx, 0, 11) + 1, cache.ecx as usize + 1);
            return Some(ways * partitions * line * sets);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::second_cache;

    /// No processor with vectors of 64 bytes has less or more.
    #[test]
    fn a_second_cache_is_of_a_usual_size() {
        let bytes = second_cache();
        assert!((1 << 18..=1 << 25).contains(&bytes) && bytes.is_multiple_of(1 << 16), "{bytes} bytes");
    }
}
