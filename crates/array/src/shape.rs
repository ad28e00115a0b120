//! Shapes: the size of every axis, row-major.
//!
//! Invariant: a shape is only a list of sizes. Whether so many elements can exist is asked with
//! [`Shape::checked_len`] by whoever is about to make them; until then nothing here overflows or panics.

use smallvec::SmallVec;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The size of one axis. A type of its own, so that symbolic sizes can come later.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct Dim(usize);

impl Dim {
    /// An axis of known size.
    pub const fn new(size: usize) -> Dim {
        Dim(size)
    }

    /// The number of elements along the axis.
    #[inline]
    pub const fn size(self) -> usize {
        self.0
    }
}

impl From<usize> for Dim {
    fn from(size: usize) -> Dim {
        Dim(size)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Axes for which nothing is allocated.
const FEW: usize = 4;

/// The sizes of all axes, outermost first. Rank 0, a scalar, is the default.
#[derive(Clone)]
pub struct Shape(Dims);

/// The sizes of few axes are all there, so that a shape is cloned and moved as it lies in memory: every result of a call
/// has one.
#[derive(Clone)]
enum Dims {
    Few { rank: u8, dims: [Dim; FEW] },
    Many(Box<[Dim]>),
}

impl Default for Shape {
    #[inline]
    fn default() -> Shape {
        Shape(Dims::Few { rank: 0, dims: [Dim(0); FEW] })
    }
}

impl PartialEq for Shape {
    #[inline]
    fn eq(&self, other: &Shape) -> bool {
        self.dims() == other.dims()
    }
}

impl Eq for Shape {}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dims().hash(state);
    }
}

impl Shape {
    /// The shape with these sizes.
    pub fn new(sizes: impl IntoIterator<Item = usize>) -> Shape {
        sizes.into_iter().collect()
    }

    /// Rank 0: one element, no axes.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// The number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// The axes.
    #[inline]
    pub fn dims(&self) -> &[Dim] {
        match &self.0 {
            // The rank is never more; said so that no way out for that is made.
            Dims::Few { rank, dims } => &dims[..usize::from(*rank).min(FEW)],
            Dims::Many(dims) => dims,
        }
    }

    /// The size of one axis.
    ///
    /// # Panics
    ///
    /// If there is no such axis.
    #[inline]
    pub fn size(&self, axis: usize) -> usize {
        self.dims()[axis].size()
    }

    /// The sizes of all axes.
    pub fn sizes(&self) -> SmallVec<[usize; 4]> {
        self.iter().collect()
    }

    /// The sizes of all axes, one by one.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + Clone + '_ {
        self.dims().iter().map(|dim| dim.size())
    }

    /// The number of elements; saturates where [`Shape::checked_len`] says `None`.
    #[inline]
    pub fn len(&self) -> usize {
        self.iter().fold(1, usize::saturating_mul)
    }

    /// Whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.iter().any(|size| size == 0)
    }

    /// The limit of [`Shape::checked_len`], for whoever tells a user.
    pub const LIMIT: &str = "an array has less than 2^59 elements: look for a size that grew by mistake";

    /// The number of elements, if so many of the widest dtype can be addressed.
    ///
    /// Empty axes count as 1 in the check, as in NumPy: the strides of an accepted shape do not overflow either.
    #[inline]
    pub fn checked_len(&self) -> Option<usize> {
        let spread = self.iter().try_fold(16usize, |bytes, size| bytes.checked_mul(size.max(1)))?;
        isize::try_from(spread).is_ok().then(|| self.len())
    }

    /// The distance in elements between neighbours along each axis.
    pub fn strides(&self) -> SmallVec<[usize; 4]> {
        let mut strides: SmallVec<[usize; 4]> = smallvec::smallvec![1; self.rank()];
        for axis in (1..self.rank()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(self.size(axis));
        }
        strides
    }

    /// The shape with a new axis before `axis`, which may be the rank.
    ///
    /// # Panics
    ///
    /// If `axis` is beyond the rank.
    #[must_use]
    pub fn insert(&self, axis: usize, size: usize) -> Shape {
        let (before, after) = self.dims().split_at(axis);
        before.iter().copied().chain([Dim(size)]).chain(after.iter().copied()).collect()
    }

    /// The shape without one axis.
    ///
    /// # Panics
    ///
    /// If there is no such axis.
    #[must_use]
    pub fn remove(&self, axis: usize) -> Shape {
        let (before, after) = (&self.dims()[..axis], &self.dims()[axis + 1..]);
        before.iter().chain(after).copied().collect()
    }

    /// The shape with another size for one axis.
    ///
    /// # Panics
    ///
    /// If there is no such axis.
    #[must_use]
    pub fn with(&self, axis: usize, size: usize) -> Shape {
        let (before, after) = (&self.dims()[..axis], &self.dims()[axis + 1..]);
        before.iter().copied().chain([Dim(size)]).chain(after.iter().copied()).collect()
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(sizes: I) -> Shape {
        sizes.into_iter().map(Dim).collect()
    }
}

impl FromIterator<Dim> for Shape {
    fn from_iter<I: IntoIterator<Item = Dim>>(dims: I) -> Shape {
        let dims: SmallVec<[Dim; FEW]> = dims.into_iter().collect();
        let mut few = [Dim(0); FEW];
        few.iter_mut().zip(&dims).for_each(|(few, dim)| *few = *dim);
        match u8::try_from(dims.len()) {
            Ok(rank) if dims.len() <= FEW => Shape(Dims::Few { rank, dims: few }),
            _ => Shape(Dims::Many(dims.into_boxed_slice())),
        }
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(sizes: [usize; N]) -> Shape {
        sizes.into_iter().collect()
    }
}

impl<const N: usize> From<&[usize; N]> for Shape {
    fn from(sizes: &[usize; N]) -> Shape {
        sizes.iter().copied().collect()
    }
}

impl From<&[usize]> for Shape {
    fn from(sizes: &[usize]) -> Shape {
        sizes.iter().copied().collect()
    }
}

impl From<Vec<usize>> for Shape {
    fn from(sizes: Vec<usize>) -> Shape {
        sizes.into_iter().collect()
    }
}

impl From<&Shape> for Shape {
    #[inline]
    fn from(shape: &Shape) -> Shape {
        shape.clone()
    }
}

impl PartialEq<[usize]> for Shape {
    fn eq(&self, other: &[usize]) -> bool {
        self.iter().eq(other.iter().copied())
    }
}

impl<const N: usize> PartialEq<[usize; N]> for Shape {
    fn eq(&self, other: &[usize; N]) -> bool {
        *self == other[..]
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (axis, dim) in self.dims().iter().enumerate() {
            let comma = if axis == 0 { "" } else { "," };
            write!(f, "{comma}{dim}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_strides() {
        let cases: &[(&[usize], usize, &[usize], &str)] = &[
            (&[], 1, &[], "[]"),
            (&[3], 3, &[1], "[3]"),
            (&[2, 3], 6, &[3, 1], "[2,3]"),
            (&[2, 3, 4], 24, &[12, 4, 1], "[2,3,4]"),
            (&[2, 0, 4], 0, &[0, 4, 1], "[2,0,4]"),
            (&[1, 1, 1, 1, 5], 5, &[5, 5, 5, 5, 1], "[1,1,1,1,5]"),
        ];
        for &(sizes, len, strides, text) in cases {
            let shape = Shape::from(sizes);
            assert_eq!(shape.len(), len, "{text}");
            assert_eq!(shape.checked_len(), Some(len), "{text}");
            assert_eq!(shape.strides().as_slice(), strides, "{text}");
            assert_eq!(shape.to_string(), text);
            assert_eq!(shape.is_empty(), len == 0);
            assert_eq!(shape, *sizes);
            assert_eq!(shape.sizes().as_slice(), sizes);
        }
    }

    #[test]
    fn too_large() {
        let limit = isize::MAX as usize / 16;
        assert_eq!(Shape::from([limit]).checked_len(), Some(limit));
        for sizes in [vec![limit + 1], vec![usize::MAX, 2], vec![1 << 40, 1 << 40], vec![0, 1 << 40, 1 << 40]]
        {
            let shape = Shape::from(sizes);
            assert_eq!(shape.checked_len(), None, "{shape}");
            // Still total, only not exact.
            assert!(
                shape.strides().len() == shape.rank() && (shape.is_empty() || shape.len() > limit),
                "{shape}"
            );
        }
    }

    #[test]
    fn axes() {
        let shape = Shape::from([2, 3]);
        assert_eq!(shape.insert(0, 5), [5, 2, 3]);
        assert_eq!(shape.insert(2, 5), [2, 3, 5]);
        assert_eq!(shape.remove(0), [3]);
        assert_eq!(shape.with(1, 7), [2, 7]);
        assert_ne!(shape, [2, 3, 1]);
        assert_ne!(shape, [3, 2]);
        assert_eq!(Shape::scalar(), []);
        assert_eq!(shape.dims(), &[Dim::new(2), Dim::from(3)]);
    }
}
