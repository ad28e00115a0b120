//! Blocks of memory that arrays gave back, kept for the next ones of about their size.
//!
//! The system makes pages one by one and clears each of them, which takes longer than most kernels take to fill
//! them. A loop that makes arrays of the same size again and again should pay for that once. What is not so large comes
//! from memory that the allocator has, but finding a place there and joining it with its neighbours afterwards takes as
//! long as dispatching a call: each thread keeps a few such blocks for itself.
//!
//! Invariant: a block is here or in a buffer, never both. At most [`limit`] bytes of large blocks are here, and [`FEW`]
//! blocks of a thread.
#![allow(unsafe_code, reason = "this file owns raw memory")]

use std::alloc::{Layout, dealloc};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex};

/// Blocks from this size on are kept for all threads.
const LARGE: usize = 1 << 20;

/// Smaller ones from this size on are kept for the thread that gave them back. Allocators have those that are smaller
/// still at hand.
const MIDDLING: usize = 1 << 10;

/// So many of them: a loop rarely makes more arrays in a turn, and each is looked at.
const FEW: usize = 8;

/// How much is kept unless `TRACEWELL_KEEP_MIB` says otherwise, in MiB.
const KEEP: usize = 256;

/// Memory of the global allocator's that nobody uses.
pub(crate) struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: a block is the only owner of its memory, which is not tied to a thread.
unsafe impl Send for Block {}

impl Block {
    /// Takes over memory.
    ///
    /// # Safety
    ///
    /// The global allocator gave it with this layout, whose size is not 0, and nobody else uses it or gives it back.
    pub(crate) unsafe fn new(base: NonNull<u8>, layout: Layout) -> Block {
        Block { base, layout }
    }

    /// The memory and its layout, which the caller gives back.
    pub(crate) fn into_parts(self) -> (NonNull<u8>, Layout) {
        let parts = (self.base, self.layout);
        std::mem::forget(self);
        parts
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the promise of `new`.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

/// The oldest come first.
static KEPT: Mutex<Vec<Block>> = Mutex::new(Vec::new());

thread_local! {
    /// The oldest come first.
    static OWN: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

fn limit() -> usize {
    static LIMIT: LazyLock<usize> = LazyLock::new(|| {
        let wanted = std::env::var("TRACEWELL_KEEP_MIB").ok().and_then(|text| text.parse().ok());
        wanted.unwrap_or(KEEP).saturating_mul(1 << 20)
    });
    *LIMIT
}

/// A kept block for this layout: of its alignment, and at most a quarter larger.
pub(crate) fn take(layout: Layout) -> Option<Block> {
    match layout.size() {
        ..MIDDLING => None,
        // A thread that ends has none any more.
        MIDDLING..LARGE => OWN.try_with(|own| take_from(&mut own.borrow_mut(), layout)).ok()?,
        // Rather fresh memory than waiting for the lock.
        LARGE.. => take_from(&mut *KEPT.try_lock().ok()?, layout),
    }
}

/// Keeps a block, or gives it back to the allocator if it is small or too large to be kept.
pub(crate) fn give(block: Block) {
    match block.layout.size() {
        ..MIDDLING => {}
        MIDDLING..LARGE => {
            if limit() > 0 {
                // What there is no room for any more is given back here, and all of it if the thread ends.
                let _ = OWN.try_with(|own| drop(give_to_few(&mut own.borrow_mut(), block)));
            }
        }
        LARGE.. => {
            if let Ok(mut kept) = KEPT.try_lock() {
                let dropped = give_to(&mut kept, block, limit());
                // Giving memory back takes time: others need not wait for it.
                drop(kept);
                drop(dropped);
            }
        }
    }
}

/// Keeps a block and says which one there is no room for any more.
fn give_to_few(kept: &mut Vec<Block>, block: Block) -> Option<Block> {
    let oldest = (kept.len() == FEW).then(|| kept.remove(0));
    kept.push(block);
    oldest
}

fn take_from(kept: &mut Vec<Block>, layout: Layout) -> Option<Block> {
    let most = layout.size() + layout.size() / 4;
    let fits = |block: &Block| {
        block.layout.align() >= layout.align() && (layout.size()..=most).contains(&block.layout.size())
    };
    // The one that was used last may still be in a cache.
    let at = kept.iter().rposition(fits)?;
    Some(kept.remove(at))
}

/// Keeps a block and says which ones there is no room for any more.
fn give_to(kept: &mut Vec<Block>, block: Block, limit: usize) -> Vec<Block> {
    kept.push(block);
    let mut bytes: usize = kept.iter().map(|block| block.layout.size()).sum();
    let count = kept.iter().take_while(|block| {
        let is_over = bytes > limit;
        bytes -= if is_over { block.layout.size() } else { 0 };
        is_over
    });
    let count = count.count();
    kept.drain(..count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::alloc;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 16).expect("a layout")
    }

    fn block(size: usize) -> Block {
        // SAFETY: the size is not 0.
        let base = NonNull::new(unsafe { alloc(layout(size)) }).expect("there is memory");
        // SAFETY: it was allocated like this and is nobody else's.
        unsafe { Block::new(base, layout(size)) }
    }

    fn sizes(kept: &[Block]) -> Vec<usize> {
        kept.iter().map(|block| block.layout.size()).collect()
    }

    #[test]
    fn a_block_fits_what_is_a_little_smaller() {
        let mut kept = vec![block(100), block(125), block(126)];
        assert!(take_from(&mut kept, layout(127)).is_none());
        let aligned = Layout::from_size_align(100, 64).expect("a layout");
        assert!(take_from(&mut kept, aligned).is_none());
        let fitting = take_from(&mut kept, layout(100)).expect("two fit");
        assert_eq!(fitting.into_parts().1.size(), 125, "the last of them");
        assert_eq!(sizes(&kept), [100, 126]);
    }

    #[test]
    fn a_thread_keeps_the_blocks_that_it_gave_back_last() {
        let mut kept = Vec::new();
        let dropped: Vec<Option<usize>> = (0..FEW + 2)
            .map(|number| give_to_few(&mut kept, block(100 + number)).map(|block| block.layout.size()))
            .collect();
        assert_eq!(dropped[FEW - 1..], [None, Some(100), Some(101)]);
        assert_eq!(sizes(&kept), (102..102 + FEW).collect::<Vec<_>>());
    }

    #[test]
    fn blocks_go_back_to_who_gave_them() {
        // On a thread of its own: nobody else gives or takes there.
        let here = || {
            let block = block(MIDDLING + 100);
            let at = block.base;
            give(block);
            assert!(take(layout(MIDDLING - 1)).is_none(), "small blocks are the allocator's");
            let elsewhere = std::thread::spawn(|| take(layout(MIDDLING + 1)).is_none());
            assert!(elsewhere.join().expect("it ends"), "another thread has its own");
            let again = take(layout(MIDDLING + 1)).expect("it was kept");
            assert_eq!(again.base, at);
            assert!(take(layout(MIDDLING + 1)).is_none(), "a block is handed out once");
        };
        std::thread::spawn(here).join().expect("it holds");
    }

    #[test]
    fn the_oldest_make_room() {
        let mut kept = Vec::new();
        for size in [40, 50, 60] {
            assert!(give_to(&mut kept, block(size), 150).is_empty());
        }
        assert_eq!(sizes(&give_to(&mut kept, block(80), 150)), [40, 50]);
        assert_eq!(sizes(&kept), [60, 80]);
        assert_eq!(sizes(&give_to(&mut kept, block(200), 150)), [60, 80, 200], "more than is ever kept");
        assert!(kept.is_empty());
    }
}
