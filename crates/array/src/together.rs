//! Small tensors that share the memory of one buffer: asking an allocator for each would take longer than filling it.
#![allow(unsafe_code, reason = "addresses inside raw memory are handed out")]

use std::sync::Arc;

use crate::buffer::{Buffer, is_guarded};
use crate::{Blank, Tensor};

/// Bytes that each of them has, whatever its size: a cache line, so that no two threads write into one.
const ROOM: usize = 64;

/// Room for so many small tensors, given out one after the other. They are gone when the last of them is.
#[allow(missing_debug_implementations, reason = "lives while results are given memory")]
pub struct Together {
    buffer: Arc<Buffer>,
    /// The first byte of the buffer, asked for when nobody else knew it.
    base: *mut u8,
    used: usize,
}

impl Together {
    /// Whether an array is small enough. Under guard none is: each has pages of its own.
    #[inline]
    pub fn suits(blank: &Blank) -> bool {
        (1..=ROOM).contains(&blank.bytes()) && !is_guarded()
    }

    /// Room for so many tensors.
    pub fn new(count: usize) -> Together {
        let mut buffer = Arc::new(Buffer::fresh(count * ROOM, ROOM));
        let base = Arc::get_mut(&mut buffer).expect("fresh memory is not shared").as_mut_ptr().as_ptr();
        Together { buffer, base, used: 0 }
    }

    /// The next tensor, with its address; otherwise as [`Tensor::uninit`].
    ///
    /// # Safety
    ///
    /// As for [`Tensor::uninit`].
    ///
    /// # Panics
    ///
    /// If there is no room left, or not enough for this one.
    #[inline]
    pub unsafe fn uninit(&mut self, blank: &Blank) -> (Tensor, *mut u8) {
        let offset = self.used * ROOM;
        let has_room = blank.bytes() <= ROOM && offset < self.buffer.bytes();
        assert!(has_room, "no room for {}", blank.shape());
        self.used += 1;
        // SAFETY: the offset is inside the buffer, and so is as much room behind it.
        let address = unsafe { self.base.add(offset) };
        (Tensor::inside(blank, &self.buffer, offset), address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Shape};

    #[test]
    fn tensors_do_not_touch_and_share_one_buffer() {
        let shapes: [Shape; 3] = [Shape::scalar(), [16].into(), [2, 2].into()];
        let mut together = Together::new(3);
        let tensors: Vec<Tensor> = shapes
            .iter()
            .zip(1u8..)
            .map(|(shape, number)| {
                // SAFETY: it is written before it is read.
                let (tensor, address) = unsafe { together.uninit(&Blank::new(DType::F32, shape)) };
                let value = f32::from(number);
                for i in 0..shape.len() {
                    // SAFETY: so many elements are at this address.
                    unsafe { address.cast::<f32>().wrapping_add(i).write(value) };
                }
                tensor
            })
            .collect();
        drop(together);
        for (tensor, number) in tensors.iter().zip(1u8..) {
            assert!(tensor.as_slice::<f32>().expect("floats").iter().all(|&x| x == f32::from(number)));
            assert!(tensor.same_buffer(&tensors[0]));
            assert!(tensor.as_ptr().addr().is_multiple_of(ROOM));
        }
        let mut first = tensors[0].clone();
        drop(tensors);
        assert_eq!(first.unique_ptr(), None, "the memory of the others is not its own");
    }

    #[test]
    fn only_small_ones_that_are_something() {
        assert!(Together::suits(&Blank::new(DType::F64, [8])));
        assert!(!Together::suits(&Blank::new(DType::F64, [9])));
        assert!(!Together::suits(&Blank::new(DType::F64, [0])));
    }

    #[test]
    fn no_more_than_asked_for() {
        let panic = std::panic::catch_unwind(|| {
            let mut together = Together::new(1);
            for _ in 0..2 {
                // SAFETY: nobody reads it.
                let (tensor, _) = unsafe { together.uninit(&Blank::new(DType::F32, Shape::scalar())) };
                drop(tensor);
            }
        })
        .expect_err("there is room for one");
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("no room for []"));
    }
}
