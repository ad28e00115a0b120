//! Where an element is read: the row-major position as an affine function of loop variables.
//!
//! One representation for every access. A reshape keeps it as it is; a view that names axes needs the position
//! taken apart into one index an axis ([`Affine::axes`]), which is possible where the loops are fine enough.
//! Where splitting a loop would make it possible, the error says which loop and where.
//!
//! Deliberately absent: buffers and run-time sizes. Coefficients are plain numbers until a kernel is emitted.

use smallvec::{SmallVec, smallvec};
use tracewell_array::Shape;

/// `offset + Σ coefficient × loop variable`, the loops counted from the outermost.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Affine {
    pub(crate) offset: i64,
    pub(crate) coefficients: SmallVec<[i64; 4]>,
}

/// Why a position cannot be taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Apart {
    /// It could be, if this loop were two, the inner one of that many iterations.
    Split { of: usize, inner: i64 },
    /// It is not affine in any loops.
    Never,
}

impl Affine {
    /// A fixed place.
    pub(crate) fn constant(offset: i64, loops: usize) -> Affine {
        Affine { offset, coefficients: smallvec![0; loops] }
    }

    /// The row-major position in an array of these sizes, axis `i` of which is walked by loop `loops[i]`.
    pub(crate) fn dense(sizes: &[i64], loops: &[usize], count: usize) -> Affine {
        let mut position = Affine::constant(0, count);
        let mut stride = 1;
        for (&size, &l) in sizes.iter().zip(loops).rev() {
            position.coefficients[l] += stride;
            stride *= size;
        }
        position
    }

    /// Adds `factor` times another.
    pub(crate) fn add(&mut self, factor: i64, other: &Affine) {
        self.offset += factor * other.offset;
        for (mine, theirs) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *mine += factor * theirs;
        }
    }

    /// The index along each axis of an array of this shape, outermost first.
    pub(crate) fn axes(&self, shape: &Shape, extents: &[i64]) -> Result<SmallVec<[Affine; 4]>, Apart> {
        let mut rest = self.clone();
        let mut axes: SmallVec<[Affine; 4]> = SmallVec::with_capacity(shape.rank());
        for axis in (1..shape.rank()).rev() {
            let (quotient, remainder) = rest.divide(shape.size(axis) as i64, extents)?;
            axes.push(remainder);
            rest = quotient;
        }
        if shape.rank() > 0 {
            axes.push(rest);
        }
        axes.reverse();
        Ok(axes)
    }

    /// Quotient and remainder by a size: terms that are multiples belong to the one, all others to the other,
    /// which must stay inside `0..size`.
    fn divide(&self, size: i64, extents: &[i64]) -> Result<(Affine, Affine), Apart> {
        let count = self.coefficients.len();
        let mut quotient = Affine::constant(self.offset.div_euclid(size), count);
        let mut remainder = Affine::constant(self.offset.rem_euclid(size), count);
        for (l, &c) in self.coefficients.iter().enumerate() {
            if c % size == 0 {
                quotient.coefficients[l] = c / size;
            } else {
                remainder.coefficients[l] = c;
            }
        }
        let (low, high) = remainder.range(extents);
        if low >= 0 && high < size {
            return Ok((quotient, remainder));
        }
        let splits = |l: usize, c: i64| {
            let inner = size / c;
            let fits = c > 0 && size % c == 0 && inner < extents[l] && extents[l] % inner == 0;
            fits.then_some(Apart::Split { of: l, inner })
        };
        let split = remainder.coefficients.iter().enumerate().filter(|(_, c)| **c > 0);
        Err(split.filter_map(|(l, &c)| splits(l, c)).next().unwrap_or(Apart::Never))
    }

    /// The smallest and largest value.
    pub(crate) fn range(&self, extents: &[i64]) -> (i64, i64) {
        let (mut low, mut high) = (self.offset, self.offset);
        for (&c, &n) in self.coefficients.iter().zip(extents) {
            let reach = c * (n - 1).max(0);
            low += reach.min(0);
            high += reach.max(0);
        }
        (low, high)
    }

    /// The innermost loop it depends on, counted from 1; 0 if it depends on none.
    pub(crate) fn level(&self) -> usize {
        self.coefficients.iter().rposition(|&c| c != 0).map_or(0, |l| l + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affine(offset: i64, coefficients: &[i64]) -> Affine {
        Affine { offset, coefficients: coefficients.into() }
    }

    #[test]
    fn positions_come_apart() {
        // Loops of the array's own axes.
        let axes = affine(0, &[12, 4, 1]).axes(&Shape::from([2, 3, 4]), &[2, 3, 4]);
        assert_eq!(axes.unwrap().to_vec(), [affine(0, &[1, 0, 0]), affine(0, &[0, 1, 0]), affine(0, &[0, 0, 1])]);
        // Finer loops than axes: the last two make one.
        let axes = affine(0, &[12, 4, 1]).axes(&Shape::from([2, 12]), &[2, 3, 4]);
        assert_eq!(axes.unwrap().to_vec(), [affine(0, &[1, 0, 0]), affine(0, &[0, 4, 1])]);
        // Backwards, with an offset.
        let axes = affine(5, &[-1]).axes(&Shape::from([1, 6]), &[6]);
        assert_eq!(axes.unwrap().to_vec(), [affine(0, &[0]), affine(5, &[-1])]);
        // A loop over both axes must be split where the inner one ends; one over neither cannot be.
        let split = Apart::Split { of: 0, inner: 4 };
        assert_eq!(affine(0, &[1]).axes(&Shape::from([3, 4]), &[12]), Err(split));
        assert_eq!(affine(0, &[1]).axes(&Shape::from([2, 5]), &[12]), Err(Apart::Never));
    }
}
