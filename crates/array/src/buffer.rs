//! Bytes that remember where they came from.
//!
//! Invariant: the memory is valid for `bytes` bytes, aligned as asked, until the buffer is dropped, and is then given
//! back to its origin exactly once. A buffer promises nothing about the contents: they may be uninitialised.
#![allow(unsafe_code, reason = "this file owns raw memory")]

use crate::dtype::Element;
use crate::kept::{self, Block};
use crate::stats;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;
#[cfg(unix)]
use std::sync::LazyLock;

/// Fresh memory starts on a cache line, which is also the widest vector.
const ALIGN: usize = align_of::<CacheLine>();

/// From so many bytes on memory starts on a page of this size. A core tells a load from an earlier store by the last
/// twelve bits of their addresses: where results begin a little after operands, every load seems to wait for the store
/// before it, and a loop of long computations takes twice as long. Arrays that begin at the same bits never meet.
const PAGE: usize = 4096;

/// The most that allocators give for nothing. Asking one for more is several times slower than rounding up by
/// ourselves, and makes it clear memory that the system has just cleared.
const CHEAP_ALIGN: usize = 16;

/// The size of a large page, where the system has them.
const HUGE_PAGE: usize = 2 << 20;
/// From so many bytes on memory is taken in such pages: making it in small ones takes longer than filling it, and
/// finding them again takes longer than reading what is in them.
const HUGE: usize = HUGE_PAGE;

#[repr(align(64))]
struct CacheLine;

/// Bytes up to which memory is in the buffer itself, so that the allocator is asked once for both: calls on numbers are
/// so short that asking counts.
const SMALL: usize = 64;

/// As it is in the buffer, aligned for every dtype.
#[repr(align(16))]
struct Small([MaybeUninit<u8>; SMALL]);

/// Whether fresh memory ends before a protected page: `TRACEWELL_GUARD=1`, read once.
#[cfg(unix)]
static GUARD: LazyLock<bool> =
    LazyLock::new(|| std::env::var_os("TRACEWELL_GUARD").is_some_and(|value| value == "1"));

/// Whether every buffer is guarded.
#[inline]
pub(crate) fn is_guarded() -> bool {
    #[cfg(unix)]
    return *GUARD;
    #[cfg(not(unix))]
    false
}

/// A block of memory.
pub(crate) struct Buffer {
    /// Where it is, unless it is here.
    ptr: NonNull<u8>,
    bytes: usize,
    origin: Origin,
}

/// Who gave the memory and takes it back.
enum Origin {
    /// The buffer, which has room for little.
    Here(Small),
    /// The allocator, at our own request.
    Fresh { base: NonNull<u8>, layout: Layout },
    /// A `Vec` of the user's, taken over without a copy; its capacity may exceed `bytes`.
    Vec(Layout),
    /// A mapping of its own that ends in a protected page.
    #[cfg(unix)]
    Guarded(guard::Mapping),
}

// SAFETY: a buffer is the only owner of its memory, and no origin is tied to a thread.
unsafe impl Send for Buffer {}

// SAFETY: through a shared reference a buffer only hands out its address; whoever writes there must be unique.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Uninitialised memory, aligned to `align`, and to a cache line unless it is guarded.
    ///
    /// # Panics
    ///
    /// If the size exceeds the address space, which [`Shape::checked_len`](crate::Shape::checked_len) rules out
    /// up to the last cache line.
    #[inline]
    pub(crate) fn fresh(bytes: usize, align: usize) -> Buffer {
        debug_assert!(align <= ALIGN);
        #[cfg(unix)]
        if *GUARD {
            return Buffer::guarded(bytes, align);
        }
        if (1..=SMALL).contains(&bytes) {
            return Buffer::small(bytes, MaybeUninit::uninit());
        }
        let align = if bytes >= HUGE { HUGE_PAGE } else { CHEAP_ALIGN };
        let buffer = Buffer::from_allocator(bytes, align, |layout| {
            kept::take(layout).map_or_else(|| (allocated(layout), layout), Block::into_parts)
        });
        buffer.in_large_pages();
        buffer
    }

    /// Memory in the buffer itself, every byte of it like this one.
    #[inline]
    fn small(bytes: usize, byte: MaybeUninit<u8>) -> Buffer {
        Buffer::new(NonNull::dangling(), bytes, Origin::Here(Small([byte; SMALL])))
    }

    /// Asks the system to use large pages for memory that starts with one, if there is much of it.
    fn in_large_pages(&self) {
        #[cfg(target_os = "linux")]
        if self.bytes >= HUGE {
            let whole = self.bytes - self.bytes % HUGE_PAGE;
            // SAFETY: these pages are inside our memory, and the advice changes nothing but the time they take.
            // Where there are no large pages it is refused, and the memory is as good without.
            unsafe { libc::madvise(self.ptr.as_ptr().cast(), whole, libc::MADV_HUGEPAGE) };
        }
    }

    /// Memory filled with zeros, otherwise like [`Buffer::fresh`].
    pub(crate) fn zeroed(bytes: usize, align: usize) -> Buffer {
        debug_assert!(align <= ALIGN);
        #[cfg(unix)]
        if *GUARD {
            let mut buffer = Buffer::guarded(bytes, align);
            buffer.slots::<u8>().fill(MaybeUninit::new(0));
            return buffer;
        }
        if (1..=SMALL).contains(&bytes) {
            return Buffer::small(bytes, MaybeUninit::new(0));
        }
        Buffer::from_allocator(bytes, CHEAP_ALIGN, |layout| {
            // SAFETY: the caller passes only layouts of nonzero size.
            let base = unsafe { alloc_zeroed(layout) };
            (NonNull::new(base).unwrap_or_else(|| handle_alloc_error(layout)), layout)
        })
    }

    /// Memory that ends directly before a protected page, as close as `align` allows, filled with a poison byte.
    #[cfg(unix)]
    fn guarded(bytes: usize, align: usize) -> Buffer {
        if bytes == 0 {
            // Nothing to guard: the address of an empty allocation is itself never mapped.
            return Buffer::from_allocator(0, CHEAP_ALIGN, |layout| (allocated(layout), layout));
        }
        let mapping = guard::Mapping::new(bytes, align).unwrap_or_else(|| too_large(bytes));
        Buffer::new(mapping.start(), bytes, Origin::Guarded(mapping))
    }

    /// The elements of a `Vec`, without a copy.
    pub(crate) fn from_vec<T: Element>(vec: Vec<T>) -> Buffer {
        // Not by way of a slice: the pointer must reach all of the capacity when it is given back.
        let (ptr, len, capacity) = vec.into_raw_parts();
        let bytes = len * size_of::<T>();
        // A `Vec` never holds more than `isize::MAX` bytes, so its layout exists.
        let layout = Layout::array::<T>(capacity).unwrap_or_else(|_| too_large(bytes));
        let ptr = NonNull::new(ptr.cast()).expect("the pointer of a `Vec` is never null");
        Buffer::new(ptr, bytes, Origin::Vec(layout))
    }

    /// Memory from an allocator, which is asked for this alignment and for as much more as makes it a cache line or a page.
    /// It may give more, and says with which layout it takes it back. It is asked for nothing if `bytes` is 0.
    fn from_allocator(
        bytes: usize,
        align: usize,
        allocate: impl FnOnce(Layout) -> (NonNull<u8>, Layout),
    ) -> Buffer {
        if bytes == 0 {
            let nothing = NonNull::<CacheLine>::dangling().cast();
            return Buffer::new(nothing, 0, Origin::Fresh { base: nothing, layout: Layout::new::<()>() });
        }
        let start = if bytes >= PAGE { PAGE } else { ALIGN };
        let size = bytes.checked_add(start.saturating_sub(align)).unwrap_or_else(|| too_large(bytes));
        let layout = Layout::from_size_align(size, align).unwrap_or_else(|_| too_large(bytes));
        let (base, layout) = allocate(layout);
        let address = base.addr().get();
        // SAFETY: the next start is at most `start - align` bytes away, which were added to the size.
        let ptr = unsafe { base.add(address.next_multiple_of(start) - address) };
        Buffer::new(ptr, bytes, Origin::Fresh { base, layout })
    }

    #[inline]
    fn new(ptr: NonNull<u8>, bytes: usize, origin: Origin) -> Buffer {
        let buffer = Buffer { ptr, bytes, origin };
        stats::held(buffer.held(), !matches!(buffer.origin, Origin::Vec(_)));
        buffer
    }

    /// The bytes that are held from the origin, at least `bytes`.
    #[inline]
    fn held(&self) -> usize {
        match &self.origin {
            Origin::Here(_) => self.bytes,
            Origin::Fresh { layout, .. } | Origin::Vec(layout) => layout.size(),
            #[cfg(unix)]
            Origin::Guarded(mapping) => mapping.len(),
        }
    }

    /// The number of usable bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first byte, to be read. It stays there for as long as the buffer stays where it is.
    #[inline]
    pub(crate) fn as_ptr(&self) -> NonNull<u8> {
        match &self.origin {
            Origin::Here(Small(bytes)) => NonNull::from(bytes).cast(),
            _ => self.ptr,
        }
    }

    /// The same, to be written.
    #[inline]
    pub(crate) fn as_mut_ptr(&mut self) -> NonNull<u8> {
        match &mut self.origin {
            Origin::Here(Small(bytes)) => NonNull::from(bytes).cast(),
            _ => self.ptr,
        }
    }

    /// All of the memory as elements that may not have been written yet.
    ///
    /// # Panics
    ///
    /// If the memory is not aligned for `T` or not a whole number of them, which is a bug of the caller.
    pub(crate) fn slots<T: Element>(&mut self) -> &mut [MaybeUninit<T>] {
        let ptr = self.as_mut_ptr().cast::<MaybeUninit<T>>();
        assert!(ptr.is_aligned() && self.bytes.is_multiple_of(size_of::<T>()), "a buffer of another dtype");
        // SAFETY: the memory is valid, aligned and borrowed exclusively with `self`; slots need no initialisation.
        unsafe { slice::from_raw_parts_mut(ptr.as_ptr(), self.bytes / size_of::<T>()) }
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        stats::released(self.held());
        match &self.origin {
            Origin::Here(_) => {}
            Origin::Fresh { layout, .. } | Origin::Vec(layout) if layout.size() == 0 => {}
            Origin::Fresh { base, layout } => {
                // SAFETY: the global allocator gave us this memory with this layout, and its last user is dropped.
                kept::give(unsafe { Block::new(*base, *layout) });
            }
            Origin::Vec(layout) => {
                // SAFETY: the global allocator gave the `Vec` this memory with this layout.
                unsafe { dealloc(self.ptr.as_ptr(), *layout) }
            }
            // The mapping gives itself back.
            #[cfg(unix)]
            Origin::Guarded(_) => {}
        }
    }
}

/// Memory of a layout, whose size is not 0, from the global allocator.
fn allocated(layout: Layout) -> NonNull<u8> {
    assert_ne!(layout.size(), 0, "nothing is not allocated");
    // SAFETY: the size is not 0.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

#[cold]
fn too_large(bytes: usize) -> ! {
    panic!("a buffer of {bytes} bytes exceeds the address space")
}

/// Memory in which a stray access is a fault instead of a wrong result.
#[cfg(unix)]
mod guard {
    use std::alloc::{Layout, handle_alloc_error};
    use std::ptr::{self, NonNull};
    use std::slice;

    /// What the memory is filled with at first, so that reading before writing is noticed.
    pub(super) const POISON: u8 = 0xa5;

    /// A protected page, poisoned pages, a protected page. The usable bytes are the last of the poisoned ones;
    /// what lies before them must still be poison when the mapping is dropped.
    pub(super) struct Mapping {
        base: NonNull<u8>,
        len: usize,
        page: usize,
        start: NonNull<u8>,
    }

    impl Mapping {
        /// Maps room for `bytes`, or says `None` if that exceeds the address space.
        pub(super) fn new(bytes: usize, align: usize) -> Option<Mapping> {
            // SAFETY: `sysconf` only reads a constant of the system.
            let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
            // The usable bytes begin at a multiple of `align`, so up to `align - 1` bytes are lost after them.
            let usable = bytes.checked_next_multiple_of(align)?.checked_next_multiple_of(page)?;
            let len = usable.checked_add(2 * page)?;
            let layout = Layout::from_size_align(len, page).ok()?;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: a new anonymous mapping at an address of the system's choice touches no existing memory.
            let base = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
            if base == libc::MAP_FAILED {
                handle_alloc_error(layout);
            }
            let base = NonNull::new(base.cast::<u8>())?;
            // SAFETY: the mapping is `page + usable + page` bytes long.
            let first = unsafe { base.add(page) };
            // SAFETY: the pages lie inside the mapping, and nobody else knows it yet.
            let status =
                unsafe { libc::mprotect(first.as_ptr().cast(), usable, libc::PROT_READ | libc::PROT_WRITE) };
            if status != 0 {
                handle_alloc_error(layout);
            }
            // SAFETY: these pages have just been made writable.
            unsafe { first.write_bytes(POISON, usable) };
            // SAFETY: `bytes` rounded up to `align` is at most `usable`.
            let start = unsafe { first.add(usable - bytes.next_multiple_of(align)) };
            Some(Mapping { base, len, page, start })
        }

        /// The first usable byte.
        pub(super) fn start(&self) -> NonNull<u8> {
            self.start
        }

        /// The size of the whole mapping.
        pub(super) fn len(&self) -> usize {
            self.len
        }

        /// The poisoned bytes before the usable ones.
        fn head(&self) -> &[u8] {
            // SAFETY: the first page of the mapping is followed by the poisoned ones.
            let first = unsafe { self.base.add(self.page) };
            let len = self.start.addr().get() - first.addr().get();
            // SAFETY: these bytes were written when the mapping was made and belong to nobody else.
            unsafe { slice::from_raw_parts(first.as_ptr(), len) }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            let intact = self.head().iter().all(|&byte| byte == POISON);
            // SAFETY: the mapping is ours, and its last user is being dropped. Failure would only leak it.
            unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
            assert!(intact || std::thread::panicking(), "memory before a guarded buffer was overwritten");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(buffer: &mut Buffer) -> Vec<u8> {
        // SAFETY: the tests ask only buffers whose every byte has been written.
        buffer.slots::<u8>().iter().map(|slot| unsafe { slot.assume_init() }).collect()
    }

    #[test]
    fn fresh_memory_is_aligned() {
        for bytes in [0, 1, 8, 63, 64, 4096, 100_000] {
            let line = Buffer::from_allocator(bytes, CHEAP_ALIGN, |layout| (allocated(layout), layout));
            assert_eq!(line.as_ptr().addr().get() % 64, 0, "{bytes}");
            let mut buffer = Buffer::fresh(bytes, 8);
            assert_eq!(buffer.as_ptr().addr().get() % 8, 0, "{bytes}");
            assert_eq!(buffer.bytes(), bytes);
            buffer.slots::<u8>().fill(MaybeUninit::new(7));
            assert_eq!(contents(&mut buffer), vec![7; bytes]);
            assert_eq!(contents(&mut Buffer::zeroed(bytes, 8)), vec![0; bytes]);
        }
    }

    /// Little memory goes where its buffer goes, with what is in it.
    #[test]
    fn little_memory_is_in_the_buffer() {
        if *GUARD {
            return;
        }
        let mut buffer = Buffer::fresh(SMALL, 16);
        buffer.slots::<u8>().fill(MaybeUninit::new(7));
        let mut boxed = Box::new(buffer);
        let inside = boxed.as_ptr().addr().get() - std::ptr::from_ref(&*boxed).addr();
        assert!(inside + SMALL <= size_of::<Buffer>() && boxed.as_ptr().addr().get().is_multiple_of(16));
        assert_eq!(contents(&mut boxed), [7; SMALL]);
        assert_eq!(contents(&mut Buffer::zeroed(3, 1)), [0; 3]);
        assert!(matches!(Buffer::fresh(SMALL + 1, 16).origin, Origin::Fresh { .. }));
    }

    /// Much memory starts with a large page, and is given back as it was taken.
    #[test]
    fn much_memory_is_in_large_pages() {
        for bytes in [HUGE - 1, HUGE, HUGE + 100_001] {
            let mut buffer = Buffer::fresh(bytes, 8);
            let expected = if bytes < HUGE { ALIGN } else { HUGE_PAGE };
            assert!(*GUARD || buffer.as_ptr().addr().get().is_multiple_of(expected), "{bytes}");
            let slots = buffer.slots::<u8>();
            slots[0].write(1);
            slots[bytes - 1].write(2);
        }
    }

    #[test]
    fn a_vec_is_taken_over() {
        let mut vec = Vec::with_capacity(100);
        vec.extend([1u32, 2, 3]);
        let address = vec.as_ptr().addr();
        let mut buffer = Buffer::from_vec(vec);
        assert_eq!(buffer.as_ptr().addr().get(), address);
        assert_eq!((buffer.bytes(), buffer.held()), (12, 400));
        assert_eq!(buffer.slots::<u32>().len(), 3);
        assert_eq!(Buffer::from_vec(Vec::<f64>::new()).bytes(), 0);
    }

    /// Asks the system to read one byte, which fails politely where a read of our own would be a fault.
    #[cfg(unix)]
    fn readable(address: *const u8) -> bool {
        let mut ends = [0; 2];
        // SAFETY: there is room for two descriptors.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        // SAFETY: the system checks the address.
        let written = unsafe { libc::write(ends[1], address.cast(), 1) };
        for end in ends {
            // SAFETY: the descriptors are ours.
            unsafe { libc::close(end) };
        }
        written == 1
    }

    #[cfg(unix)]
    #[test]
    fn guarded_memory_ends_before_a_fault() {
        for (bytes, align) in [(1, 1), (12, 4), (4096, 8), (4104, 8), (5, 4)] {
            let mut buffer = Buffer::guarded(bytes, align);
            assert_eq!(contents(&mut buffer), vec![guard::POISON; bytes]);
            let start = buffer.as_ptr().as_ptr();
            assert_eq!(start.addr() % align, 0, "{bytes} {align}");
            let end = start.wrapping_add(bytes.next_multiple_of(align));
            assert!(readable(start.wrapping_add(bytes - 1)) && !readable(end), "{bytes} {align}");
        }
        assert_eq!(Buffer::guarded(0, 8).bytes(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn guarded_memory_notices_an_underrun() {
        let buffer = Buffer::guarded(8, 8);
        let before = buffer.as_ptr().as_ptr().wrapping_sub(1);
        // SAFETY: the byte is part of the mapping, though not of the usable part, which is the point.
        unsafe { before.write(0) };
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(buffer))).unwrap_err();
        let text =
            panic.downcast_ref::<&str>().map(ToString::to_string).or(panic.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_default();
        assert!(text.contains("memory before a guarded buffer was overwritten"), "{text}");
    }
}
