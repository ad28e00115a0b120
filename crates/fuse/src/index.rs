//! Where an element is read: the row-major position as an affine function of loop variables.
//!
//! One representation for every access. A reshape keeps it as it is; a view that names axes needs the position
//! taken apart into one index an axis ([`Affine::axes`]), which is possible where the loops are fine enough.
//! Where splitting a loop would make it possible, the error says which loop and where.
//!
//! Deliberately absent: buffers and run-time sizes. Coefficients are plain numbers until a kernel is emitted.

use smallvec::SmallVec;
use tracewell_array::Shape;

use crate::loops::{LoopId, Loops};

/// `offset + Σ coefficient × loop variable`. Terms are in the order of their loops' numbers, none is zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Affine {
    pub(crate) offset: i64,
    pub(crate) terms: SmallVec<[(LoopId, i64); 3]>,
}

/// Why a position cannot be taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Apart {
    /// It could be, if this loop were two, the inner one of that many iterations.
    Split { of: LoopId, inner: i64 },
    /// It is not affine in any loops.
    Never,
}

impl Affine {
    /// A fixed place.
    pub(crate) fn constant(offset: i64) -> Affine {
        Affine { offset, terms: SmallVec::new() }
    }

    /// A loop variable.
    pub(crate) fn var(id: LoopId) -> Affine {
        Affine { offset: 0, terms: SmallVec::from_slice(&[(id, 1)]) }
    }

    /// The coefficient of a loop.
    pub(crate) fn coefficient(&self, id: LoopId) -> i64 {
        self.terms.iter().find(|(l, _)| *l == id).map_or(0, |(_, c)| *c)
    }

    /// Sets the coefficient of a loop.
    pub(crate) fn set(&mut self, id: LoopId, coefficient: i64) {
        match self.terms.binary_search_by_key(&id, |(l, _)| *l) {
            Ok(at) if coefficient == 0 => {
                self.terms.remove(at);
            }
            Ok(at) => self.terms[at].1 = coefficient,
            Err(_) if coefficient == 0 => {}
            Err(at) => self.terms.insert(at, (id, coefficient)),
        }
    }

    /// Adds `factor` times another.
    pub(crate) fn add(&mut self, factor: i64, other: &Affine) {
        self.offset += factor * other.offset;
        for &(l, c) in &other.terms {
            self.set(l, self.coefficient(l) + factor * c);
        }
    }

    /// What it is after a loop became two.
    pub(crate) fn split(&mut self, of: LoopId, inner: i64, new: LoopId) {
        let c = self.coefficient(of);
        self.set(of, c * inner);
        self.set(new, c);
    }

    /// The innermost loop that it depends on.
    pub(crate) fn innermost(&self, loops: &Loops) -> Option<LoopId> {
        loops.innermost(self.terms.iter().map(|&(l, _)| l))
    }

    /// The index along each axis of an array of this shape, outermost first.
    pub(crate) fn axes(&self, shape: &Shape, loops: &Loops) -> Result<SmallVec<[Affine; 4]>, Apart> {
        let mut rest = self.clone();
        let mut axes: SmallVec<[Affine; 4]> = SmallVec::with_capacity(shape.rank());
        for axis in (1..shape.rank()).rev() {
            let (quotient, remainder) = rest.divide(shape.size(axis) as i64, loops)?;
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
    fn divide(&self, size: i64, loops: &Loops) -> Result<(Affine, Affine), Apart> {
        let mut quotient = Affine::constant(self.offset.div_euclid(size));
        let mut remainder = Affine::constant(self.offset.rem_euclid(size));
        for &(l, c) in &self.terms {
            if c % size == 0 {
                quotient.terms.push((l, c / size));
            } else {
                remainder.terms.push((l, c));
            }
        }
        let (low, high) = remainder.range(loops);
        if low >= 0 && high < size {
            return Ok((quotient, remainder));
        }
        let split = |&(of, c): &(LoopId, i64)| {
            if c <= 0 || size % c != 0 {
                return None;
            }
            let (inner, extent) = (size / c, loops.extent(of));
            (inner < extent && extent % inner == 0).then_some(Apart::Split { of, inner })
        };
        Err(remainder.terms.iter().find_map(split).unwrap_or(Apart::Never))
    }

    /// The smallest and largest value.
    pub(crate) fn range(&self, loops: &Loops) -> (i64, i64) {
        let (mut low, mut high) = (self.offset, self.offset);
        for &(l, c) in &self.terms {
            let reach = c * (loops.extent(l) - 1).max(0);
            low += reach.min(0);
            high += reach.max(0);
        }
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(extents: &[i64]) -> Loops {
        let mut loops = Loops::default();
        for &extent in extents {
            let parent = loops.each.last().copied();
            let id = loops.add(extent, parent);
            loops.each.push(id);
        }
        loops
    }

    fn affine(offset: i64, coefficients: &[i64]) -> Affine {
        let mut affine = Affine::constant(offset);
        coefficients.iter().enumerate().for_each(|(l, &c)| affine.set(l as LoopId, c));
        affine
    }

    #[test]
    fn positions_come_apart() {
        let apart = |at: Affine, shape: &[usize], extents: &[i64]| {
            at.axes(&Shape::from(shape), &loops(extents)).map(|axes| axes.to_vec())
        };
        // Loops of the array's own axes.
        assert_eq!(
            apart(affine(0, &[12, 4, 1]), &[2, 3, 4], &[2, 3, 4]),
            Ok(vec![affine(0, &[1]), affine(0, &[0, 1]), affine(0, &[0, 0, 1])])
        );
        // Finer loops than axes: the last two make one.
        assert_eq!(
            apart(affine(0, &[12, 4, 1]), &[2, 12], &[2, 3, 4]),
            Ok(vec![affine(0, &[1]), affine(0, &[0, 4, 1])])
        );
        // Backwards, with an offset.
        assert_eq!(apart(affine(5, &[-1]), &[1, 6], &[6]), Ok(vec![affine(0, &[]), affine(5, &[-1])]));
        // A loop over both axes must be split where the inner one ends; some loops never fit.
        assert_eq!(apart(affine(0, &[1]), &[3, 4], &[12]), Err(Apart::Split { of: 0, inner: 4 }));
        assert_eq!(apart(affine(0, &[1]), &[2, 5], &[12]), Err(Apart::Never));
        // One element beyond the inner axis is one too many.
        assert_eq!(apart(affine(0, &[1]), &[2, 4], &[5]), Err(Apart::Never));
    }

    #[test]
    fn splitting_keeps_what_is_inside() {
        let mut loops = loops(&[6, 5]);
        let reduced = loops.add(7, Some(0));
        let new = loops.split(0, 3);
        assert_eq!((loops.extent(0), loops.extent(new)), (2, 3));
        assert_eq!(loops.each, [0, new, 1]);
        assert_eq!(
            (loops.parent(1), loops.parent(reduced), loops.parent(new)),
            (Some(new), Some(new), Some(0))
        );
        assert_eq!(loops.trips(Some(reduced)), 42.0);
        let mut at = affine(1, &[5, 1]);
        at.split(0, 3, new);
        assert_eq!((at.coefficient(0), at.coefficient(1), at.coefficient(new)), (15, 1, 5));
    }
}
