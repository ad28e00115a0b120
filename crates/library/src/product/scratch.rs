//! Memory of a thread for copies of parts of operands, kept from one product to the next.

use std::cell::RefCell;

use super::vector::BYTES;

/// The most bytes of a copy of columns of the right operand: half of a large second cache.
pub(super) const RIGHT_BYTES: usize = 1 << 20;
/// Bytes of a copy of rows of the left operand.
pub(super) const LEFT_BYTES: usize = 1 << 18;
/// Bytes of a part of a result whose rows and columns are exchanged in the end.
pub(super) const TURNED_BYTES: usize = 1 << 19;

const ALL: usize = RIGHT_BYTES + LEFT_BYTES + TURNED_BYTES;

/// Addresses of the copies: aligned for vectors, initialised, and nobody else uses what is there.
#[derive(Clone, Copy)]
pub(super) struct Scratch<T> {
    pub(super) right: *mut T,
    pub(super) left: *mut T,
    pub(super) turned: *mut T,
}

thread_local! {
    static MEMORY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` with memory of this thread.
pub(super) fn with_scratch<T>(work: impl FnOnce(Scratch<T>)) {
    MEMORY.with_borrow_mut(|memory| {
        if memory.is_empty() {
            // Zeros come from the system: pages that are never used are never there.
            *memory = vec![0; ALL + BYTES];
        }
        let start = memory.as_mut_ptr();
        let start = start.wrapping_add(start.align_offset(BYTES));
        work(Scratch {
            right: start.cast(),
            left: start.wrapping_add(RIGHT_BYTES).cast(),
            turned: start.wrapping_add(RIGHT_BYTES + LEFT_BYTES).cast(),
        });
    });
}
