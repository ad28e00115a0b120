//! What can be wrong with a request for a tensor.
//!
//! Invariant: every error carries both sides of the disagreement, so that a caller can say more than we do.

use crate::{DType, Shape};
use std::error::Error;
use std::fmt;

/// Elements and a shape do not belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShapeError {
    /// The shape wants another number of elements.
    Count {
        /// The number of elements there are.
        elements: usize,
        /// The shape they were to take.
        shape: Shape,
    },
    /// No machine has room for so many elements.
    TooLarge {
        /// The shape.
        shape: Shape,
    },
    /// A range along the leading axis leaves it, or there is no leading axis.
    Range {
        /// The first index of the range.
        start: usize,
        /// The number of indices.
        len: usize,
        /// The shape.
        shape: Shape,
    },
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::Count { elements: 1, shape } => write!(f, "1 element does not fit shape {shape}"),
            ShapeError::Count { elements, shape } => {
                write!(f, "{elements} elements do not fit shape {shape}")
            }
            ShapeError::TooLarge { shape } => write!(f, "shape {shape} is too large"),
            ShapeError::Range { start, len, shape } => {
                write!(f, "{len} rows from row {start} are out of range for shape {shape}")
            }
        }
    }
}

impl Error for ShapeError {}

/// Elements were asked for as another type than theirs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DTypeError {
    /// The dtype that was asked for.
    pub expected: DType,
    /// The dtype of the tensor.
    pub found: DType,
}

impl fmt::Display for DTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl Error for DTypeError {}

/// A tensor was asked for its only element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ItemError {
    /// The element is of another type.
    DType(DTypeError),
    /// There is not exactly one element.
    Count {
        /// The shape of the tensor.
        shape: Shape,
    },
}

impl fmt::Display for ItemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ItemError::DType(error) => error.fmt(f),
            ItemError::Count { shape } => write!(f, "expected one element, found shape {shape}"),
        }
    }
}

impl Error for ItemError {}

impl From<DTypeError> for ItemError {
    fn from(error: DTypeError) -> ItemError {
        ItemError::DType(error)
    }
}
