//! Library calls: work on whole buffers that is not generated, but called.
//!
//! The built-in ones are a closed enum, implemented naively here (the reference) and well in `runtime`. A
//! user's is behind a pointer; it is identified by its name and its address.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use tracewell_array::{DType, DTypeError, Element, Shape};

use crate::conv::Conv;
use crate::fft::Fft;
use crate::linalg::Linalg;

/// A function of whole buffers together with the parameters of one call.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LibraryCall {
    /// Which function.
    pub library: Library,
    /// Types of the inputs, as the function sees them.
    pub inputs: Vec<(DType, Shape)>,
    /// Types of the outputs, as the function sees them.
    pub outputs: Vec<(DType, Shape)>,
}

impl LibraryCall {
    /// The types of the buffers of inputs and outputs: programs have no complex numbers, only their parts.
    pub fn memory(&self) -> impl Iterator<Item = (DType, Shape)> + '_ {
        self.inputs.iter().chain(&self.outputs).map(|(dtype, shape)| in_memory(*dtype, shape))
    }
}

/// What an array is in a program: a complex one is its real and imaginary parts side by side on a last axis of 2.
pub fn in_memory(dtype: DType, shape: &Shape) -> (DType, Shape) {
    let parts = || shape.insert(shape.rank(), 2);
    (dtype.real(), if dtype.is_complex() { parts() } else { shape.clone() })
}

/// The functions that can be called.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Library {
    /// `c[b,i,j] = Σ_k a[b,i,k] × b[b,k,j]` over strided operands.
    Gemm(Gemm),
    /// Rows in the order of their keys.
    Sort(SortRows),
    /// An array with updates added to some of its elements.
    AddAt(AddAt),
    /// A convolution, or its adjoint in the kernel.
    Conv(Conv),
    /// A Fourier transform.
    Fft(Fft),
    /// Factorizations of matrices and triangular systems.
    Linalg(Linalg),
    /// A user's function.
    Custom(Custom),
}

/// A batched matrix product. The result is dense `[batch, m, n]`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gemm {
    /// The element type of both operands and of the result.
    pub dtype: DType,
    /// Number of products, along two axes: those of one may lie otherwise than those of the other.
    pub batch: [usize; 2],
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Length of the contraction.
    pub k: usize,
    /// The left operand: its rows are those of the result.
    pub a: Matrices,
    /// The right operand: its columns are those of the result.
    pub b: Matrices,
}

/// Where the matrices of a batch lie in an array. Everything is in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Matrices {
    /// The first element of the first.
    pub start: usize,
    /// How far they are apart along each axis of the batch.
    pub batch: [usize; 2],
    /// How far rows are apart.
    pub row: usize,
    /// How far columns are apart.
    pub col: usize,
}

impl Matrices {
    /// Matrices of an array from its first element on, `batch` apart.
    pub fn new(batch: usize, row: usize, col: usize) -> Matrices {
        Matrices { start: 0, batch: [0, batch], row, col }
    }

    /// Where a matrix begins: its place along each axis of the batch is given. One without elements may begin anywhere,
    /// also where no number leads.
    pub fn begin(&self, [outer, inner]: [usize; 2]) -> usize {
        let along = |place: usize, stride: usize| place.wrapping_mul(stride);
        self.start.wrapping_add(along(outer, self.batch[0])).wrapping_add(along(inner, self.batch[1]))
    }

    /// How many elements the array has at least, if the batch and the matrices are so large; `None` if that is beyond
    /// all numbers.
    pub fn reach(&self, batch: [usize; 2], rows: usize, columns: usize) -> Option<usize> {
        let extents = [batch[0], batch[1], rows, columns];
        if extents.contains(&0) {
            return Some(0);
        }
        let strides = [self.batch[0], self.batch[1], self.row, self.col];
        let steps = extents.iter().zip(strides).map(|(extent, stride)| (extent - 1).checked_mul(stride));
        steps.into_iter().try_fold(self.start.checked_add(1)?, |sum, step| sum.checked_add(step?))
    }
}

impl Gemm {
    /// How many products there are.
    pub fn count(&self) -> usize {
        self.batch[0] * self.batch[1]
    }

    /// The place of a product along each axis of the batch.
    pub fn place(&self, number: usize) -> [usize; 2] {
        [number / self.batch[1], number % self.batch[1]]
    }

    /// The product as one of a matrix with a vector whose elements lie side by side, if it is that.
    pub fn with_vector(&self) -> Option<WithVector> {
        match (self.m, self.n) {
            _ if self.batch != [1, 1] => None,
            (count @ 2.., 1) if self.b.row == 1 => {
                Some(WithVector { matrix: 0, count, along: self.a.row, down: self.a.col })
            }
            (1, count @ 2..) if self.a.col == 1 => {
                Some(WithVector { matrix: 1, count, along: self.b.col, down: self.b.row })
            }
            _ => None,
        }
    }

    /// Whether this is a matrix, row by row, times a vector, and the other one the transposed matrix times a vector, if
    /// both are of the same array.
    pub fn is_one_side_of(&self, other: &Gemm) -> bool {
        let (Some(rows), Some(columns)) = (self.with_vector(), other.with_vector()) else { return false };
        let start = |gemm: &Gemm, side: WithVector| [gemm.a, gemm.b][side.matrix].start;
        self.dtype.is_float()
            && self.dtype == other.dtype
            && start(self, rows) == start(other, columns)
            && [rows.count, self.k] == [other.k, columns.count]
            && [rows.along, rows.down] == [columns.down, columns.along]
            // Rows that overlap may be taken for columns.
            && (rows.down == 1 && rows.along >= self.k)
    }
}

/// A product of a matrix with a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithVector {
    /// The number of the operand that is the matrix.
    pub matrix: usize,
    /// Elements of the result.
    pub count: usize,
    /// How far those of the matrix are apart that belong to two elements of the result.
    pub along: usize,
    /// And those that are added up.
    pub down: usize,
}

/// Columns of dense `[rows, len]`, each row put in the order of its keys, of which the first `kept` elements are
/// the result: `[rows, kept]` for each column.
///
/// The first columns are the keys, the most important first. Equal rows stay in order. NaN is larger than any number
/// and equal to itself, and zeros of both signs are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SortRows {
    /// How many of the columns are keys.
    pub keys: usize,
    /// Whether the largest comes first.
    pub descending: bool,
    /// Number of rows.
    pub rows: usize,
    /// Elements of a row; fewer than 2³².
    pub len: usize,
    /// Elements of a row of the result.
    pub kept: usize,
}

/// An array, updates of its type, and for each of them an integer that says to which element of the array it is
/// added, one after the other: the result has the array's type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AddAt {
    /// Whether negative indices count from the end.
    pub from_back: bool,
    /// Whether an update that is outside is left out; else it is added to the nearest element.
    pub drop: bool,
}

/// A function that a user supplied.
#[derive(Clone)]
pub struct Custom {
    function: Arc<dyn BufferFn>,
}

/// A Rust function on buffers: reads its inputs, fills its outputs, touches nothing else.
pub trait BufferFn: Send + Sync {
    /// Names it in texts and errors.
    fn name(&self) -> &str;

    /// Fills every output. An error stops the program that called it and reaches the caller.
    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError>;
}

/// Why a [`BufferFn`] failed: any error, a text among them. It reaches the caller as it is.
pub type CallError = Box<dyn std::error::Error + Send + Sync>;

/// An input of a [`BufferFn`].
#[derive(Clone, Copy, Debug)]
pub struct BufferRef<'a> {
    /// The type of its elements.
    pub dtype: DType,
    /// Its shape; dense and row-major.
    pub shape: &'a Shape,
    /// Its elements' bytes, aligned for `dtype`.
    pub bytes: &'a [u8],
}

/// An output of a [`BufferFn`].
#[derive(Debug)]
pub struct BufferMut<'a> {
    /// The type of its elements.
    pub dtype: DType,
    /// Its shape; dense and row-major.
    pub shape: &'a Shape,
    /// Its elements' bytes, aligned for `dtype`.
    pub bytes: &'a mut [u8],
}

impl<'a> BufferRef<'a> {
    /// The elements, if they are of this type.
    pub fn as_slice<T: Element>(&self) -> Result<&'a [T], DTypeError> {
        tracewell_array::cast_slice(self.dtype, self.bytes)
    }
}

impl BufferMut<'_> {
    /// The elements to fill, if they are of this type.
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T], DTypeError> {
        tracewell_array::cast_slice_mut(self.dtype, self.bytes)
    }
}

impl Custom {
    /// Makes a function callable from kernels.
    pub fn new(function: impl BufferFn + 'static) -> Custom {
        Custom { function: Arc::new(function) }
    }

    /// The function itself.
    pub fn function(&self) -> &dyn BufferFn {
        &*self.function
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.function).cast::<u8>() as usize
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Custom) -> bool {
        self.address() == other.address() && self.function.name() == other.function.name()
    }
}

impl Eq for Custom {}

impl Hash for Custom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
        self.function.name().hash(state);
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({})", self.function.name())
    }
}
