//! Random numbers: splitmix64, the same in every run and on every machine.

/// A stream of numbers from a seed.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`; 0 if there is nothing below it.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.bits() % n.max(1) as u64) as usize
    }

    /// True this often in a hundred.
    pub(crate) fn percent(&mut self, n: usize) -> bool {
        self.below(100) < n
    }

    /// Evenly in `[-1, 1)`.
    pub(crate) fn signed_unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// One of a list, if there is one.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// One of a list, those near its end more often: what was made last is used first, so graphs grow deep.
    pub(crate) fn pick_late<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let back = self.below(items.len()).min(self.below(items.len()));
        items.get(items.len().checked_sub(back + 1)?)
    }

    /// Puts a list in random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Some of the numbers below `n`, ascending; each with even chance.
    pub(crate) fn subset(&mut self, n: usize) -> Vec<usize> {
        (0..n).filter(|_| self.percent(50)).collect()
    }
}
