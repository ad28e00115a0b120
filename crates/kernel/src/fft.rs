//! Fourier transforms: what the library call means, and the sums that define it.
//!
//! The fast implementation is in `runtime`; this one adds up every term, and is what it is compared with.

use std::f64::consts::TAU;

use tracewell_array::{Complex64, Shape};

/// Which Fourier transform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FftKind {
    /// Complex to complex: `y[k] = Σ_j x[j] exp(-2πi jk/n)`.
    Forward,
    /// Complex to complex: `y[k] = Σ_j x[j] exp(2πi jk/n) / n`.
    Inverse,
    /// Real to complex: the first `n/2 + 1` results of `Forward` along the last axis, which tell the others.
    RealForward,
    /// Complex to real: `Inverse` of `n/2 + 1` elements along the last axis and of the conjugates that they tell.
    RealInverse,
}

/// A Fourier transform along the last axes of an array.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fft {
    /// Which.
    pub kind: FftKind,
    /// How many elements are transformed along each axis; for real arrays, those of the real one.
    pub lengths: Vec<usize>,
}

impl FftKind {
    /// Every kind.
    pub const ALL: [FftKind; 4] =
        [FftKind::Forward, FftKind::Inverse, FftKind::RealForward, FftKind::RealInverse];

    /// Its name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            FftKind::Forward => "fft",
            FftKind::Inverse => "ifft",
            FftKind::RealForward => "rfft",
            FftKind::RealInverse => "irfft",
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<FftKind> {
        FftKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the operand is real.
    pub const fn takes_real(self) -> bool {
        matches!(self, FftKind::RealForward)
    }

    /// Whether the result is real.
    pub const fn gives_real(self) -> bool {
        matches!(self, FftKind::RealInverse)
    }

    /// Whether the exponent is positive and the result divided by the length.
    pub const fn is_inverse(self) -> bool {
        matches!(self, FftKind::Inverse | FftKind::RealInverse)
    }
}

/// How many elements of a transform of `n` real numbers tell the others: those of no negative frequency.
pub const fn half_length(n: usize) -> usize {
    if n == 0 { 0 } else { n / 2 + 1 }
}

impl Fft {
    /// The sizes of the transformed axes of the operand and of the result.
    pub fn sizes(&self) -> [Vec<usize>; 2] {
        let half = || {
            let mut half = self.lengths.clone();
            half.last_mut().into_iter().for_each(|last| *last = half_length(*last));
            half
        };
        match self.kind {
            FftKind::Forward | FftKind::Inverse => [self.lengths.clone(), self.lengths.clone()],
            FftKind::RealForward => [self.lengths.clone(), half()],
            FftKind::RealInverse => [half(), self.lengths.clone()],
        }
    }

    /// The shape of the result for an operand of this shape, if its last axes have the sizes of the transform.
    pub fn result(&self, operand: &Shape) -> Option<Shape> {
        let [from, to] = self.sizes();
        let front = operand.rank().checked_sub(from.len())?;
        let sizes: Vec<usize> = operand.iter().collect();
        (sizes[front..] == from).then(|| sizes[..front].iter().chain(&to).copied().collect())
    }

    /// The transform of an array of this shape, by the sums that define it: axis by axis, in `f64`.
    pub fn naive(&self, shape: &Shape, values: &[Complex64]) -> Vec<Complex64> {
        let mut sizes: Vec<usize> = shape.iter().collect();
        let front = sizes.len() - self.lengths.len();
        let mut values = values.to_vec();
        let last = self.lengths.len().wrapping_sub(1);
        // The axis that is halved goes first where it is a result, and last where it is an operand.
        let mut order: Vec<usize> = (0..self.lengths.len()).collect();
        if self.kind.takes_real() {
            order.reverse();
        }
        for axis in order {
            let n = self.lengths[axis];
            let (takes_half, gives_half) =
                (self.kind.gives_real() && axis == last, self.kind.takes_real() && axis == last);
            let made = if gives_half { half_length(n) } else { n };
            let (rows, given) = (sizes[..front + axis].iter().product(), sizes[front + axis]);
            let inner: usize = sizes[front + axis + 1..].iter().product();
            let mut out = Vec::with_capacity(rows * made * inner);
            for row in 0..rows {
                for k in 0..made {
                    for column in 0..inner {
                        let at = |j: usize| values[(row * given + j) * inner + column];
                        let element = |j: usize| match takes_half {
                            // What has no partner is taken as real.
                            true if j == 0 || 2 * j == n => at(j).re.into(),
                            true if j >= given => at(n - j).conj(),
                            _ => at(j),
                        };
                        let sum = dft(n, k, self.kind.is_inverse(), element);
                        out.push(if takes_half { sum.re.into() } else { sum });
                    }
                }
            }
            sizes[front + axis] = made;
            values = out;
        }
        values
    }
}

/// Element `k` of one transform.
fn dft(n: usize, k: usize, inverse: bool, element: impl Fn(usize) -> Complex64) -> Complex64 {
    let sum: Complex64 = (0..n)
        .map(|j| {
            // Only the part of a turn matters, and only that has all digits.
            let turn = (j as u128 * k as u128 % n as u128) as f64 / n as f64;
            let (sin, cos) = (TAU * turn).sin_cos();
            element(j) * Complex64::new(cos, if inverse { sin } else { -sin })
        })
        .sum();
    if inverse { sum / n as f64 } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c(re: f64, im: f64) -> Complex64 {
        Complex64::new(re, im)
    }

    #[track_caller]
    fn near(found: &[Complex64], expected: &[Complex64]) {
        let same =
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).norm() < 1e-14);
        assert!(same, "{found:?}, expected {expected:?}");
    }

    #[test]
    fn known_transforms() {
        let fft = |kind, lengths: &[usize]| Fft { kind, lengths: lengths.to_vec() };
        let x = [c(1.0, 0.0), c(2.0, 0.0), c(4.0, 0.0), c(8.0, 0.0)];
        let y = [c(15.0, 0.0), c(-3.0, 6.0), c(-5.0, 0.0), c(-3.0, -6.0)];
        near(&fft(FftKind::Forward, &[4]).naive(&[4].into(), &x), &y);
        near(&fft(FftKind::Inverse, &[4]).naive(&[4].into(), &y), &x);
        near(&fft(FftKind::RealForward, &[4]).naive(&[4].into(), &x), &y[..3]);
        near(&fft(FftKind::RealInverse, &[4]).naive(&[3].into(), &y[..3]), &x);
        near(
            &fft(FftKind::RealForward, &[2, 2]).naive(&[2, 2].into(), &x),
            &[c(15.0, 0.0), c(-5.0, 0.0), c(-9.0, 0.0), c(3.0, 0.0)],
        );
        near(&fft(FftKind::RealForward, &[0]).naive(&[3, 0].into(), &[]), &[]);
    }

    #[test]
    fn shapes() {
        let fft = Fft { kind: FftKind::RealInverse, lengths: vec![3, 4] };
        assert_eq!(fft.result(&[5, 3, 3].into()), Some([5, 3, 4].into()));
        assert_eq!(fft.result(&[3, 4].into()), None);
        assert_eq!(fft.result(&[3].into()), None);
    }
}
