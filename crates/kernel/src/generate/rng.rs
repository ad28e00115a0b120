//! Random numbers and literals, the same for ever on every machine.

use tracewell_array::{DType, Literal};

/// Splitmix64.
#[derive(Debug)]
pub(super) struct Rng(pub(super) u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Small numbers mostly, edge cases often.
    pub(super) fn literal(&mut self, dtype: DType) -> Literal {
        match self.below(8) {
            0 => {
                Literal::from_f64(dtype, self.pick(&[f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 1e30]))
            }
            1 => Literal::from_i64(dtype, self.pick(&[0, 1, -1, 31, 1 << 31, i64::MIN])),
            2 if !dtype.is_float() => Literal::from_bits(dtype, self.next().into()),
            _ => Literal::from_f64(dtype, self.below(1 << 12) as f64 / 256.0 - 8.0),
        }
    }
}
