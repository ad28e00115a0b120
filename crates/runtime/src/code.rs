//! Machine code in memory that can be run.
//!
//! Invariant: a page is writable or executable, never both, and holds the code of one kernel only, so that it
//! is given back when that kernel is dropped.
#![allow(unsafe_code, reason = "bytes become a function")]

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use memmap2::{Mmap, MmapMut};
use tracewell_codegen::{Code, Entry};

static LIVE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Memory comes in pages of this size, or of a multiple of it.
const PAGE: usize = 4096;

/// How many bytes of memory code takes now, in whole pages.
pub fn live_code_bytes() -> usize {
    LIVE_BYTES.load(Relaxed)
}

/// The code of one kernel, ready to run. Unmapped when dropped.
pub struct CodeMemory {
    map: Mmap,
}

impl CodeMemory {
    /// Copies code into pages of its own and writes the addresses of helpers into it.
    pub fn new(code: &Code) -> io::Result<CodeMemory> {
        // Mappings start at a page, which is more than any function asks for.
        debug_assert!(code.align <= PAGE, "code wants an alignment of {}", code.align);
        let mut map = MmapMut::map_anon(code.bytes.len().max(1))?;
        map[..code.bytes.len()].copy_from_slice(&code.bytes);
        for patch in &code.patches {
            let address = (patch.symbol.address() as u64).wrapping_add_signed(patch.addend);
            map[patch.offset..patch.offset + 8].copy_from_slice(&address.to_le_bytes());
        }
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: the bytes are mapped.
        unsafe { wasmtime_internal_jit_icache_coherence::clear_cache(map.as_ptr().cast(), map.len()) }
            .map_err(|error| io::Error::other(error.to_string()))?;
        let map = map.make_exec()?;
        #[cfg(not(target_arch = "x86_64"))]
        wasmtime_internal_jit_icache_coherence::pipeline_flush_mt()
            .map_err(|error| io::Error::other(error.to_string()))?;
        let memory = CodeMemory { map };
        LIVE_BYTES.fetch_add(memory.pages(), Relaxed);
        Ok(memory)
    }

    /// The function that the code is. Good for as long as this memory lives.
    pub fn entry(&self) -> Entry {
        // SAFETY: `compile` put the entry of a function with this signature at offset 0 of its bytes, the map
        // holds them unchanged apart from the patches they asked for, and it is executable.
        unsafe { std::mem::transmute::<*const u8, Entry>(self.map.as_ptr()) }
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// The number of bytes of the pages that hold the code.
    fn pages(&self) -> usize {
        self.map.len().next_multiple_of(PAGE)
    }

    /// Whether there is no code.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        LIVE_BYTES.fetch_sub(self.pages(), Relaxed);
    }
}

impl fmt::Debug for CodeMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CodeMemory({} bytes)", self.len())
    }
}
