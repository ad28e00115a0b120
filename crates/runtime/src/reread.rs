//! Copies, one for each thread, of what all iterations of a launch read again.
//!
//! What a step before has just made is in the caches of the core that made it. Where another core and that one read it
//! over and over, it comes slowly to the other for some dozen times, on processors of which we have seen that; each a copy
//! of its own is near from the first time on.
#![allow(unsafe_code, reason = "machine code works on addresses")]

use std::cell::RefCell;
use std::mem;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use crate::cache::CompiledKernel;
use crate::copy::copy;
use crate::launch::Addresses;

/// Less is in the first cache of every core as soon as it was read once; more, together, would take the second cache for
/// itself.
const BYTES: RangeInclusive<usize> = 16 << 10..=256 << 10;
/// Nanoseconds that a launch takes on one thread for each byte that is copied, at least: copying is nothing beside it.
const WORTH: u64 = 4;

/// What a launch has copies of: parameters of its kernel, and how many bytes they are.
#[derive(Debug, Default)]
pub(crate) struct Copies(SmallVec<[(usize, usize); 1]>);

/// The run of a launch that copies are of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turn(u64);

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

thread_local! {
    /// Copies of a run that this thread has made, one behind the other.
    static COPIES: RefCell<(u64, Vec<Line>)> = const { RefCell::new((0, Vec::new())) };
}

impl Copies {
    /// What is worth it in a launch on these slots that takes so many nanoseconds; of a slot `made` says how many bytes
    /// it has if a step before made it.
    pub(crate) fn new(
        code: &CompiledKernel,
        slots: &[usize],
        nanoseconds: u64,
        made: impl Fn(usize) -> Option<usize>,
    ) -> Copies {
        // A call may run another launch on its thread.
        if !code.calls().is_empty() {
            return Copies::default();
        }
        let kernel = code.kernel();
        let is_written = |slot: usize| slots.iter().zip(&kernel.params).any(|(&s, p)| s == slot && p.written);
        let mut room = *BYTES.end();
        let found = kernel.reread().into_iter().filter_map(|param| {
            let bytes = made(slots[param]).filter(|&bytes| bytes >= *BYTES.start() && bytes <= room)?;
            let is_worth_it = nanoseconds >= WORTH * bytes as u64;
            let is_chosen = is_worth_it && !is_written(slots[param]);
            is_chosen.then(|| {
                room -= bytes;
                (param, bytes)
            })
        });
        Copies(found.collect())
    }

    /// The next run, if it has copies.
    pub(crate) fn turn(&self) -> Option<Turn> {
        static TURNS: AtomicU64 = AtomicU64::new(0);
        (!self.0.is_empty()).then(|| Turn(TURNS.fetch_add(1, Ordering::Relaxed) + 1))
    }

    /// The buffers of a launch with the calling thread's copies among them, which it makes if it has none of this run.
    ///
    /// # Safety
    ///
    /// The buffers are those of the launch, as large as it says. What is copied is initialised, and nobody writes to it
    /// during the run.
    pub(crate) unsafe fn near(&self, turn: Turn, buffers: &[*mut u8]) -> Addresses {
        let mut buffers = Addresses::from_slice(buffers);
        COPIES.with_borrow_mut(|(of, lines)| {
            let is_new = mem::replace(of, turn.0) != turn.0;
            let wanted = self.0.iter().map(|(_, bytes)| bytes.div_ceil(size_of::<Line>())).sum();
            if lines.len() < wanted {
                lines.resize(wanted, Line { _bytes: [0; 64] });
            }
            let mut rest = lines.as_mut_slice();
            for &(param, bytes) in &self.0 {
                let (own, others) = rest.split_at_mut(bytes.div_ceil(size_of::<Line>()));
                let to = own.as_mut_ptr().cast::<u8>();
                if is_new {
                    // SAFETY: the caller's promise; there is room for so many bytes, which are this thread's alone.
                    unsafe { copy(buffers[param], to, bytes) };
                }
                (buffers[param], rest) = (to, others);
            }
        });
        buffers
    }
}
