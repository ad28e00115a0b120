//! A dense row-major array of known values.
//!
//! Invariant: the elements lie at `offset` in the buffer, contiguous, in row-major order, aligned for the dtype,
//! inside the buffer; the shape has a [`Shape::checked_len`]; and every element is initialised and valid for its
//! dtype (a `bool` is 0 or 1), except between [`Tensor::uninit`] and the writes that its caller owes.
#![allow(unsafe_code, reason = "elements are views of raw memory")]

use crate::buffer::Buffer;
use crate::dtype::Element;
use crate::error::{DTypeError, ItemError, ShapeError};
use crate::{DType, Literal, Shape};
use std::hash::{Hash, Hasher};
use std::slice;
use std::sync::{Arc, Weak};

/// A dense row-major array of known values. Cheap to clone; several tensors may share one buffer.
///
/// Equality and hash look at dtype, shape and bits: a NaN equals itself, `-0.0` is not `0.0`.
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    shape: Shape,
    buffer: Arc<Buffer>,
    /// In bytes.
    offset: usize,
}

/// Where a tensor's elements are, without keeping them: the same for tensors that begin at one place of one buffer, and
/// another for every buffer made while this is kept, also after the first is gone.
#[derive(Clone, Debug)]
pub struct Identity {
    buffer: Weak<Buffer>,
    offset: usize,
}

impl PartialEq for Identity {
    fn eq(&self, other: &Identity) -> bool {
        self.buffer.ptr_eq(&other.buffer) && self.offset == other.offset
    }
}

impl Eq for Identity {}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.buffer.as_ptr().hash(state);
        self.offset.hash(state);
    }
}

/// Making tensors.
impl Tensor {
    /// The elements of a `Vec`, in row-major order, without a copy.
    pub fn from_vec<T: Element>(values: Vec<T>, shape: impl Into<Shape>) -> Result<Tensor, ShapeError> {
        let shape = fitting(values.len(), shape.into())?;
        Ok(Tensor::of(T::DTYPE, shape, Buffer::from_vec(values)))
    }

    /// A copy of a slice, in row-major order.
    pub fn from_slice<T: Element>(values: &[T], shape: impl Into<Shape>) -> Result<Tensor, ShapeError> {
        let shape = fitting(values.len(), shape.into())?;
        let mut buffer = Buffer::fresh(size_of_val(values), align_of::<T>());
        buffer.slots().write_copy_of_slice(values);
        Ok(Tensor::of(T::DTYPE, shape, buffer))
    }

    /// Elements computed from their row-major index.
    ///
    /// # Panics
    ///
    /// If the shape has no [`Shape::checked_len`].
    pub fn from_fn<T: Element>(shape: impl Into<Shape>, mut value: impl FnMut(usize) -> T) -> Tensor {
        let shape = shape.into();
        let mut buffer = Buffer::fresh(possible(&shape) * size_of::<T>(), align_of::<T>());
        for (index, slot) in buffer.slots().iter_mut().enumerate() {
            slot.write(value(index));
        }
        Tensor::of(T::DTYPE, shape, buffer)
    }

    /// A tensor of rank 0.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor::from_fn(Shape::scalar(), |_| value)
    }

    /// The same element everywhere.
    ///
    /// # Panics
    ///
    /// If the shape has no [`Shape::checked_len`].
    pub fn full(value: Literal, shape: impl Into<Shape>) -> Tensor {
        with_element!(value.dtype(), T => {
            let element = <T as Element>::from_bits(value.bits());
            Tensor::from_fn(shape, |_| element)
        })
    }

    /// Zeros, or false everywhere.
    ///
    /// # Panics
    ///
    /// If the shape has no [`Shape::checked_len`].
    pub fn zeros(dtype: DType, shape: impl Into<Shape>) -> Tensor {
        let shape = shape.into();
        let buffer = Buffer::zeroed(possible(&shape) * dtype.size(), dtype.align());
        Tensor::of(dtype, shape, buffer)
    }

    /// Elements given one by one, in row-major order; those of another dtype are converted.
    pub fn from_literals(
        dtype: DType,
        shape: impl Into<Shape>,
        literals: &[Literal],
    ) -> Result<Tensor, ShapeError> {
        let shape = fitting(literals.len(), shape.into())?;
        Ok(with_element!(dtype, T => {
            Tensor::from_fn(shape, |index| <T as Element>::from_bits(literals[index].convert(dtype).bits()))
        }))
    }

    /// A copy of bytes that are elements of this dtype, in row-major order.
    ///
    /// # Panics
    ///
    /// If the bytes are not aligned for the dtype, or not valid: a `bool` is 0 or 1.
    pub fn from_bytes(dtype: DType, shape: impl Into<Shape>, bytes: &[u8]) -> Result<Tensor, ShapeError> {
        with_element!(dtype, T => {
            let elements = crate::cast_slice::<T>(dtype, bytes).expect("the type is that of the dtype");
            Tensor::from_slice(elements, shape)
        })
    }

    /// Fresh memory that nobody has written yet, with its address: the result of a kernel that is about to run.
    ///
    /// # Safety
    ///
    /// Every element must be written through the address, with bits that are valid for the dtype, before the tensor is
    /// read, cloned, compared, hashed, printed or given to code that may do so.
    ///
    /// # Panics
    ///
    /// If the shape has no [`Shape::checked_len`].
    #[inline]
    pub unsafe fn uninit(dtype: DType, shape: impl Into<Shape>) -> (Tensor, *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { Blank::new(dtype, shape).uninit() }
    }

    /// A tensor that spans a buffer of its own.
    #[inline]
    fn of(dtype: DType, shape: Shape, buffer: Buffer) -> Tensor {
        debug_assert_eq!(shape.len() * dtype.size(), buffer.bytes());
        Tensor { dtype, shape, buffer: Arc::new(buffer), offset: 0 }
    }

    /// A tensor at a place of a buffer that others are in too. Checks that it lies inside.
    #[inline]
    pub(crate) fn inside(blank: &Blank, buffer: &Arc<Buffer>, offset: usize) -> Tensor {
        let Blank { dtype, ref shape, bytes } = *blank;
        let is_inside = offset <= buffer.bytes() && bytes <= buffer.bytes() - offset;
        assert!(is_inside && offset.is_multiple_of(dtype.align()), "a tensor of {shape} leaves its buffer");
        Tensor { dtype, shape: shape.clone(), buffer: Arc::clone(buffer), offset }
    }

    /// Part of the buffer of this tensor, `skip` elements further in. Checks that the part lies inside.
    pub(crate) fn view(&self, skip: usize, shape: Shape) -> Tensor {
        assert!(
            skip <= self.len() && shape.len() <= self.len() - skip,
            "a view of {shape} leaves its tensor"
        );
        let offset = self.offset + skip * self.dtype.size();
        Tensor { dtype: self.dtype, shape, buffer: Arc::clone(&self.buffer), offset }
    }
}

/// What a tensor is but for its memory, found to be possible: for results that are made again and again.
#[derive(Clone, Debug)]
pub struct Blank {
    dtype: DType,
    shape: Shape,
    bytes: usize,
}

impl Blank {
    /// # Panics
    ///
    /// If the shape has no [`Shape::checked_len`].
    #[inline]
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Blank {
        let shape = shape.into();
        let bytes = possible(&shape) * dtype.size();
        Blank { dtype, shape, bytes }
    }

    /// The type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The size of every axis.
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of bytes that the elements take.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A tensor in fresh memory, with its address.
    ///
    /// # Safety
    ///
    /// As for [`Tensor::uninit`].
    #[inline]
    pub unsafe fn uninit(&self) -> (Tensor, *mut u8) {
        let buffer = Buffer::fresh(self.bytes, self.dtype.align());
        let tensor = Tensor::of(self.dtype, self.shape.clone(), buffer);
        // Asked of the buffer where it stays, without looking for others who may have it, as `unique_ptr` does: there are
        // none yet, and looking takes as long as a small kernel.
        let buffer = Arc::as_ptr(&tensor.buffer).cast_mut();
        // SAFETY: the buffer is alive, and the `Arc` was made just now: there is no clone and no `Weak` through which
        // anybody else could look at it. What `as_ptr` gives may be written through, as `from_raw` could get it back.
        let address = unsafe { &mut *buffer }.as_mut_ptr().as_ptr();
        (tensor, address)
    }
}

/// Looking at tensors.
impl Tensor {
    /// The type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The size of every axis.
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.shape.len()
    }

    /// Whether there are no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.shape.is_empty()
    }

    /// The number of bytes that the elements take.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.len() * self.dtype.size()
    }

    /// The elements in row-major order, without a copy.
    pub fn as_slice<T: Element>(&self) -> Result<&[T], DTypeError> {
        if T::DTYPE != self.dtype {
            return Err(DTypeError { expected: T::DTYPE, found: self.dtype });
        }
        // SAFETY: by the invariant there are `len` initialised elements of this dtype, aligned, at this address.
        // They do not change while `self` is borrowed: writing takes `&mut` of a tensor that shares with nobody.
        Ok(unsafe { slice::from_raw_parts(self.as_ptr().cast::<T>(), self.len()) })
    }

    /// A copy of the elements in row-major order.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, DTypeError> {
        Ok(self.as_slice()?.to_vec())
    }

    /// The bytes of the elements as they lie in memory.
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the elements are initialised and no dtype has padding; see `as_slice`.
        unsafe { slice::from_raw_parts(self.as_ptr(), self.size_bytes()) }
    }

    /// The address of the first element, for kernels. Not to be written to.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        let base = self.buffer.as_ptr().as_ptr().cast_const();
        // SAFETY: by the invariant the offset lies inside the buffer or at its end.
        unsafe { base.add(self.offset) }
    }

    /// One element by its row-major index.
    ///
    /// # Panics
    ///
    /// If there is no such element.
    pub fn literal(&self, index: usize) -> Literal {
        with_element!(self.dtype, T => Literal::new(self.elements::<T>()[index]))
    }

    /// All elements in row-major order.
    pub fn literals(&self) -> impl ExactSizeIterator<Item = Literal> + '_ {
        (0..self.len()).map(|index| self.literal(index))
    }

    /// The value of the only element.
    pub fn item<T: Element>(&self) -> Result<T, ItemError> {
        match self.as_slice()? {
            [value] => Ok(*value),
            _ => Err(ItemError::Count { shape: self.shape.clone() }),
        }
    }

    /// `as_slice` after a match on the dtype.
    fn elements<T: Element>(&self) -> &[T] {
        self.as_slice().expect("the dtype was matched")
    }
}

/// Sharing.
impl Tensor {
    /// The same elements in another shape, in the same memory.
    pub fn reshape(&self, shape: impl Into<Shape>) -> Result<Tensor, ShapeError> {
        Ok(self.view(0, fitting(self.len(), shape.into())?))
    }

    /// A complex tensor as its real and imaginary parts side by side on a new last axis of size 2, in the same memory.
    /// Any other is itself.
    pub fn as_parts(&self) -> Tensor {
        if !self.dtype.is_complex() {
            return self.clone();
        }
        let shape = self.shape.insert(self.rank(), 2);
        Tensor { dtype: self.dtype.real(), shape, ..self.clone() }
    }

    /// The complex tensor whose real and imaginary parts lie side by side on the last axis, in the same memory.
    ///
    /// # Panics
    ///
    /// If these are no floats, or there is no last axis of size 2.
    pub fn from_parts(parts: Tensor) -> Tensor {
        let dtype = parts.dtype.complex().filter(|_| parts.dtype.is_float());
        let axis = parts.rank().checked_sub(1).filter(|&axis| parts.shape.size(axis) == 2);
        let (Some(dtype), Some(axis)) = (dtype, axis) else {
            panic!("{}{} are no parts of complex numbers", parts.dtype, parts.shape)
        };
        Tensor { dtype, shape: parts.shape.remove(axis), ..parts }
    }

    /// `len` rows from row `start`, in the same memory. A row is what has one index on the leading axis.
    pub fn slice_leading(&self, start: usize, len: usize) -> Result<Tensor, ShapeError> {
        let rows = self.shape.dims().first().map(|dim| dim.size());
        match (rows, start.checked_add(len)) {
            (Some(rows), Some(end)) if end <= rows => {
                let row = self.len() / rows.max(1);
                Ok(self.view(start * row, self.shape.with(0, len)))
            }
            _ => Err(ShapeError::Range { start, len, shape: self.shape.clone() }),
        }
    }

    /// The rows one by one, without the leading axis, in the same memory. A tensor of rank 0 has none.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Tensor> + '_ {
        let rows = self.shape.dims().first().map_or(0, |dim| dim.size());
        let shape = if self.rank() == 0 { Shape::scalar() } else { self.shape.remove(0) };
        let row = shape.len();
        (0..rows).map(move |index| self.view(index * row, shape.clone()))
    }

    /// Whether this is the only reference to its buffer and spans it whole.
    ///
    /// Advice: another thread may be just about to drop its clone. [`Tensor::unique_ptr`] decides.
    pub fn is_unique(&self) -> bool {
        self.spans_buffer() && Arc::strong_count(&self.buffer) == 1
    }

    /// The address of the elements for writing, if this is the only reference to its buffer and spans it whole.
    ///
    /// What is written must be valid for the dtype. The address is good until the tensor is next used.
    #[inline]
    pub fn unique_ptr(&mut self) -> Option<*mut u8> {
        if !self.spans_buffer() {
            return None;
        }
        // `get_mut` also waits for the last reads of clones that other threads have dropped.
        Arc::get_mut(&mut self.buffer).map(|buffer| buffer.as_mut_ptr().as_ptr())
    }

    fn spans_buffer(&self) -> bool {
        self.size_bytes() == self.buffer.bytes()
    }

    /// Whether both tensors look into the same buffer.
    pub fn same_buffer(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.buffer, &other.buffer)
    }

    /// A number that living tensors have in common if and only if they share a buffer.
    pub fn buffer_id(&self) -> usize {
        Arc::as_ptr(&self.buffer).addr()
    }

    /// Where its elements are. While this is kept, the memory is not taken over by results.
    pub fn identity(&self) -> Identity {
        Identity { buffer: Arc::downgrade(&self.buffer), offset: self.offset }
    }

    /// Whether dtype, shape and all bits are the same.
    pub fn bits_eq(&self, other: &Tensor) -> bool {
        self.dtype == other.dtype && self.shape == other.shape && self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Tensor) -> bool {
        self.bits_eq(other)
    }
}

impl Eq for Tensor {}

impl Hash for Tensor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dtype.hash(state);
        self.shape.hash(state);
        self.as_bytes().hash(state);
    }
}

/// The shape, if it can exist and holds this many elements.
fn fitting(elements: usize, shape: Shape) -> Result<Shape, ShapeError> {
    match shape.checked_len() {
        Some(len) if len == elements => Ok(shape),
        Some(_) => Err(ShapeError::Count { elements, shape }),
        None => Err(ShapeError::TooLarge { shape }),
    }
}

/// The number of elements of a shape that the caller has checked.
#[inline]
fn possible(shape: &Shape) -> usize {
    shape.checked_len().unwrap_or_else(|| panic!("{}", ShapeError::TooLarge { shape: shape.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn counted(shape: impl Into<Shape>) -> Tensor {
        Tensor::from_fn(shape, |index| index as i32)
    }

    #[test]
    fn a_vec_moves_in() {
        let values = vec![1f32, 2.0, 3.0];
        let address = values.as_ptr().addr();
        let tensor = Tensor::from_vec(values, [3]).expect("three elements");
        assert_eq!(tensor.as_ptr().addr(), address);
        assert_eq!(tensor.as_slice::<f32>(), Ok(&[1.0, 2.0, 3.0][..]));
    }

    #[test]
    fn errors() {
        let tensor = counted([2, 3]);
        let cases: Vec<(Box<dyn std::error::Error>, &str)> = vec![
            (Box::new(tensor.reshape([2, 2]).expect_err("too few")), "6 elements do not fit shape [2,2]"),
            (
                Box::new(Tensor::from_vec(vec![1u8], [2]).expect_err("too many")),
                "1 element does not fit shape [2]",
            ),
            (
                Box::new(tensor.reshape([0, 1 << 40, 1 << 40]).expect_err("no room")),
                "shape [0,1099511627776,1099511627776] is too large",
            ),
            (Box::new(tensor.as_slice::<f32>().expect_err("integers")), "expected f32, found i32"),
            (Box::new(tensor.item::<i32>().expect_err("six")), "expected one element, found shape [2,3]"),
            (Box::new(tensor.item::<bool>().expect_err("integers")), "expected bool, found i32"),
            (
                Box::new(tensor.slice_leading(1, 2).expect_err("two rows")),
                "2 rows from row 1 are out of range for shape [2,3]",
            ),
            (
                Box::new(Tensor::scalar(1u8).slice_leading(0, 0).expect_err("no axis")),
                "0 rows from row 0 are out of range for shape []",
            ),
        ];
        for (error, text) in cases {
            assert_eq!(error.to_string(), text);
        }
        assert!(tensor.slice_leading(1, usize::MAX).is_err());
    }

    #[test]
    fn constructors_agree() {
        for &dtype in DType::ALL {
            let (zero, one) = (Literal::zero(dtype), Literal::one(dtype));
            assert_eq!(Tensor::zeros(dtype, [2, 3]), Tensor::full(zero, [2, 3]));
            let mixed = Tensor::from_literals(dtype, [2], &[Literal::new(0i64), one]).expect("two elements");
            assert_eq!(mixed.literals().collect::<Vec<_>>(), [zero, one]);
            assert_eq!((mixed.dtype(), mixed.size_bytes()), (dtype, 2 * dtype.size()));
            assert_eq!(mixed.literal(1), one);
        }
        assert_eq!(Tensor::scalar(2.5f64).item(), Ok(2.5f64));
        assert_eq!(Tensor::from_slice(&[true], []).expect("one element").item(), Ok(true));
        assert!(Tensor::zeros(DType::F64, [3, 0]).is_empty());
    }

    #[test]
    fn an_impossible_shape() {
        let panic = std::panic::catch_unwind(|| Tensor::zeros(DType::U8, [1 << 62, 4])).unwrap_err();
        let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
        assert!(text.contains("shape [4611686018427387904,4] is too large"), "{text}");
    }

    #[test]
    fn views_share() {
        let tensor = counted([3, 2, 2]);
        let flat = tensor.reshape([12]).expect("twelve elements");
        assert!(flat.same_buffer(&tensor) && flat.buffer_id() == tensor.buffer_id());
        assert_ne!(tensor.buffer_id(), counted([3]).buffer_id());
        let cases: &[(usize, usize, &[i32])] = &[(0, 1, &[0, 1, 2, 3]), (2, 1, &[8, 9, 10, 11]), (3, 0, &[])];
        for &(start, len, expected) in cases {
            let view = tensor.slice_leading(start, len).expect("inside");
            assert_eq!(*view.shape(), [len, 2, 2]);
            assert_eq!(view.as_slice::<i32>(), Ok(expected));
            assert!(view.same_buffer(&tensor));
        }
        let inner = tensor.slice_leading(1, 2).and_then(|view| view.slice_leading(1, 1)).expect("inside");
        assert_eq!(inner.to_vec::<i32>(), Ok(vec![8, 9, 10, 11]));
        let rows: Vec<_> = tensor.rows().map(|row| (row.rank(), row.literal(0).as_i64())).collect();
        assert_eq!(rows, [(2, 0), (2, 4), (2, 8)]);
        assert_eq!(Tensor::scalar(1u8).rows().len(), 0);
        assert_eq!(counted([2, 0]).rows().map(|row| row.len()).collect::<Vec<_>>(), [0, 0]);
    }

    #[test]
    fn only_a_sole_whole_reference_is_written() {
        let mut tensor = counted([4]);
        assert!(tensor.is_unique() && tensor.unique_ptr().is_some());
        let other = tensor.clone();
        assert!(!tensor.is_unique() && tensor.unique_ptr().is_none());
        drop(other);
        let ptr = tensor.unique_ptr().expect("the clone is gone");
        // SAFETY: the tensor is unique and begins with an `i32`.
        unsafe { ptr.cast::<i32>().write(7) };
        assert_eq!(tensor.literal(0), Literal::new(7i32));
        let mut part = tensor.slice_leading(0, 2).expect("inside");
        drop(tensor);
        assert!(!part.is_unique() && part.unique_ptr().is_none(), "half of the buffer is not all of it");
        let mut flat = counted([2, 2]).reshape([4]).expect("four elements");
        assert!(flat.is_unique() && flat.unique_ptr().is_some());
    }

    #[test]
    fn equality_is_by_bits() {
        let tensor = |bits: u128| Tensor::full(Literal::from_bits(DType::F32, bits), [1]);
        assert_eq!(tensor(0x7fc0_0000), tensor(0x7fc0_0000));
        assert_ne!(tensor(0x7fc0_0000), tensor(0x7fc0_0001));
        assert_ne!(tensor(0), tensor(0x8000_0000));
        assert_ne!(Tensor::zeros(DType::F32, [2]), Tensor::zeros(DType::I32, [2]));
        assert_ne!(Tensor::zeros(DType::F32, [2]), Tensor::zeros(DType::F32, [2, 1]));
        let set: HashSet<Tensor> = [tensor(1), tensor(1), tensor(2)].into_iter().collect();
        assert_eq!(set.len(), 2);
    }

    #[test]
    fn tensors_cross_threads() {
        let tensor = counted([100]);
        let total: i64 = std::thread::scope(|scope| {
            let sum = || tensor.literals().map(Literal::as_i64).sum::<i64>();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(sum)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert_eq!(total, 4 * 4950);
    }

    /// The environment is read once per process, so the question is asked in processes of their own, which
    /// run this same test.
    #[cfg(unix)]
    #[test]
    fn guard_is_read_from_the_environment() {
        if std::env::var_os("TRACEWELL_TEST_GUARD").is_some() {
            let tensor = counted([3]);
            let end = tensor.as_ptr().addr() + tensor.size_bytes();
            assert_eq!(end % 4096, 0);
            assert_eq!(Tensor::zeros(DType::I32, [3]).to_vec::<i32>(), Ok(vec![0; 3]));
            return;
        }
        let tests = std::env::current_exe().expect("a running test");
        for (value, passes) in [("1", true), ("0", false)] {
            let output = std::process::Command::new(&tests)
                .args(["--exact", "tensor::tests::guard_is_read_from_the_environment"])
                .env("TRACEWELL_TEST_GUARD", "1")
                .env("TRACEWELL_GUARD", value)
                .output()
                .expect("the same test binary");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("running 1 test"), "{text}");
            assert_eq!(output.status.success(), passes, "{text}");
        }
    }
}
