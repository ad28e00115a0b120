//! The type of an array: what is known of it while tracing.

use std::fmt;

use tracewell_array::{DType, Shape, Tensor};

/// Element type and shape. A *weak* type came from a Rust literal and yields to any other in promotion.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ArrayType {
    /// The type of its elements.
    pub dtype: DType,
    /// Its axis sizes.
    pub shape: Shape,
    /// Whether it yields to other types in promotion.
    pub weak: bool,
}

impl ArrayType {
    /// A strong type.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> ArrayType {
        ArrayType { dtype, shape: shape.into(), weak: false }
    }

    /// The type of a concrete array.
    pub fn of(tensor: &Tensor) -> ArrayType {
        ArrayType { dtype: tensor.dtype(), shape: tensor.shape().clone(), weak: false }
    }

    /// The same elements under another shape.
    pub fn with_shape(&self, shape: impl Into<Shape>) -> ArrayType {
        ArrayType { dtype: self.dtype, shape: shape.into(), weak: self.weak }
    }

    /// The same shape with other elements; strong.
    pub fn with_dtype(&self, dtype: DType) -> ArrayType {
        ArrayType { dtype, shape: self.shape.clone(), weak: false }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// Equal but for weakness, which is a matter of promotion and not of values.
    pub fn matches(&self, other: &ArrayType) -> bool {
        self.dtype == other.dtype && self.shape == other.shape
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weak = if self.weak { "~" } else { "" };
        write!(f, "{weak}{}{}", self.dtype, self.shape)
    }
}

impl fmt::Debug for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
