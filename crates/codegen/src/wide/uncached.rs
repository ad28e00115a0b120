//! Results that no cache holds are stored past them.
//!
//! A store to memory that is in no cache first reads what it overwrites, which is a third of the traffic of a kernel
//! with one operand. There are stores that do not; but what they have stored is in no cache for the next kernel either,
//! so they are for what is larger than caches anyway. They want whole vectors at addresses of whole vectors, and must
//! not go where the same kernel has just read. Kernels that are one loop, and need nothing of Cranelift, have them.

/// Elements of a result from which on it is stored past caches: twice what those of a core hold, and more.
pub(crate) const MANY: i64 = 4 << 20;
/// Most instructions of a loop that is written a second time for this.
pub(crate) const LONGEST: usize = 200;
/// The opcode of such a store, where that of the common one was. All else about the two is the same.
pub(crate) const STORE_UNCACHED: u8 = 0x2b;

/// A pointer through which whole vectors are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub(crate) stream: usize,
    /// The size of an element.
    pub(crate) size: i64,
}
