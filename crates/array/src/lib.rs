//! A concrete array: dtype, shape, buffer; to and from `ndarray` and `.npy`.
//!
//! Read [`DType`] and [`Literal`] (one element), then [`Shape`], then [`Tensor`] (a dense row-major array of known
//! values); [`promote()`] says what two dtypes meet in.
//!
//! Invariant: this crate knows values, never programs. Nothing in it depends on another crate of the workspace.

#[macro_use]
mod dtype;

mod buffer;
mod cast;
mod digits;
mod display;
mod error;
mod kept;
mod literal;
mod nd;
pub mod npy;
mod promote;
mod shape;
pub mod stats;
mod tensor;
mod together;

pub use cast::{cast_slice, cast_slice_mut};
pub use dtype::{DType, Element, elements};
pub use error::{DTypeError, ItemError, ShapeError};
pub use literal::Literal;
pub use npy::NpyError;
pub use num_complex::{Complex, Complex32, Complex64};
pub use promote::promote;
pub use shape::{Dim, Shape};
pub use tensor::{Blank, Identity, Tensor};
pub use together::Together;
