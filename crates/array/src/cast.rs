//! Bytes seen as elements.
//!
//! Invariant: what is seen as elements is aligned, a whole number of them, and valid for the dtype.
#![allow(unsafe_code, reason = "elements are views of raw memory")]

use crate::dtype::Element;
use crate::{DType, DTypeError};

/// The elements of a dtype that these bytes are.
///
/// # Panics
///
/// If the bytes are not aligned for the dtype, not a whole number of elements, or not valid: a `bool` is 0 or 1.
pub fn cast_slice<T: Element>(dtype: DType, bytes: &[u8]) -> Result<&[T], DTypeError> {
    check::<T>(dtype, bytes)?;
    // SAFETY: a `bool` has just been checked, and for every other dtype all bits are valid.
    let (before, elements, after) = unsafe { bytes.align_to::<T>() };
    assert!(before.is_empty() && after.is_empty(), "bytes are not aligned elements of {dtype}");
    Ok(elements)
}

/// The elements of a dtype that these bytes are, for writing.
///
/// # Panics
///
/// As [`cast_slice`].
pub fn cast_slice_mut<T: Element>(dtype: DType, bytes: &mut [u8]) -> Result<&mut [T], DTypeError> {
    check::<T>(dtype, bytes)?;
    // SAFETY: as in `cast_slice`, and whatever is written through the elements is valid as bytes.
    let (before, elements, after) = unsafe { bytes.align_to_mut::<T>() };
    assert!(before.is_empty() && after.is_empty(), "bytes are not aligned elements of {dtype}");
    Ok(elements)
}

fn check<T: Element>(dtype: DType, bytes: &[u8]) -> Result<(), DTypeError> {
    if T::DTYPE != dtype {
        return Err(DTypeError { expected: T::DTYPE, found: dtype });
    }
    assert!(!dtype.is_bool() || bytes.iter().all(|&byte| byte <= 1), "bytes are not elements of {dtype}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    #[test]
    fn elements_and_bytes_agree() {
        let tensor = Tensor::from_slice(&[1.5f32, -2.0], [2]).unwrap();
        assert_eq!(cast_slice::<f32>(DType::F32, tensor.as_bytes()), Ok(&[1.5f32, -2.0][..]));
        let error = DTypeError { expected: DType::I32, found: DType::F32 };
        assert_eq!(cast_slice::<i32>(DType::F32, tensor.as_bytes()), Err(error));
        let mut bytes = [0u8, 1];
        cast_slice_mut::<bool>(DType::Bool, &mut bytes).unwrap()[0] = true;
        assert_eq!(bytes, [1, 1]);
    }

    /// What a function panics with.
    fn panic_of(f: impl FnOnce() + std::panic::UnwindSafe) -> String {
        let panic = std::panic::catch_unwind(f).unwrap_err();
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        text.or(panic.downcast_ref::<String>().cloned()).unwrap_or_default()
    }

    #[test]
    fn a_bool_is_0_or_1() {
        let text = panic_of(|| assert!(cast_slice::<bool>(DType::Bool, &[2]).is_err()));
        assert!(text.contains("bytes are not elements of bool"), "{text}");
    }

    #[test]
    fn a_part_of_an_element_is_none() {
        let one = Tensor::scalar(1f32);
        let text = panic_of(|| assert!(cast_slice::<f32>(DType::F32, &one.as_bytes()[..3]).is_err()));
        assert!(text.contains("bytes are not aligned elements of f32"), "{text}");
    }
}
