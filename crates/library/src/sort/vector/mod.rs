//! Sorting by vectors of 64 bytes, of processors that have them: around pivots, and at last in registers.
//!
//! Which of equal elements comes first cannot be seen, because they are nothing but their bits: there is one result.
#![allow(unsafe_code, reason = "code for newer processors is called after asking for them")]

#[cfg(target_arch = "x86_64")]
mod divide;
#[cfg(target_arch = "x86_64")]
mod network;
#[cfg(target_arch = "x86_64")]
mod partition;

use crate::lanes::{Lane, is_able};

/// Sorts if the processor [is able](is_able) to, and says whether it is.
pub(super) fn sort<T: Lane>(data: &mut [T]) -> bool {
    let is_able = is_able();
    #[cfg(target_arch = "x86_64")]
    if is_able && !data.is_sorted() {
        let depth = 2 * data.len().ilog2();
        // SAFETY: the processor has what the function is compiled for.
        unsafe { divide::divide_shared(data, depth) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
    is_able
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::radix::testing::numbers;

    /// Every number of elements that registers hold, and some that are divided; few and many different ones.
    #[test]
    fn sorts_as_the_standard_library_does() {
        if !is_able() {
            return;
        }
        for n in (0..1200).chain([5000, 1 << 14, 100_000]) {
            for below in [1, 2, 3, 100, u64::MAX] {
                let all = numbers(n, below);
                let narrow: Vec<u32> = all.iter().map(|&x| (x ^ x >> 32) as u32).collect();
                check(&narrow, below);
                check(&all, below);
            }
        }
    }

    /// Elements in orders that pivots of fixed places could be bad for.
    #[test]
    fn sorts_what_is_in_some_order() {
        if !is_able() {
            return;
        }
        for n in [300u32, 10_000, 70_001] {
            check(&(0..n).collect::<Vec<u32>>(), 0);
            check(&(0..n).rev().collect::<Vec<u32>>(), 1);
            check(&(0..n).map(|i| i.min(n - i)).collect::<Vec<u32>>(), 2);
            check(&(0..n).map(|i| i % 16).collect::<Vec<u32>>(), 3);
            check(&(0..n).map(|i| u64::from(i % 2) << 63 | u64::from(i)).collect::<Vec<u64>>(), 4);
            check(&vec![u64::MAX; n as usize], 5);
        }
    }

    fn check<T: Lane>(all: &[T], which: u64) {
        let (mut found, mut expected) = (all.to_vec(), all.to_vec());
        expected.sort_unstable();
        assert!(sort(&mut found));
        assert!(found == expected, "{} of {which}", all.len());
    }
}
