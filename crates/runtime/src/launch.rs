//! Running one kernel, on one thread or on several.
//!
//! Invariant: every iteration of the outermost `each` runs exactly once, whatever the number of threads and whichever
//! way they are walked.
#![allow(unsafe_code, reason = "machine code works on addresses")]

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use smallvec::SmallVec;
use tracewell_codegen::Entry;
use tracewell_kernel::LibraryCall;

use crate::cache::CompiledKernel;
use crate::error::{RunError, StepResult};
use crate::library::Context;
use crate::reread::{Copies, Turn};
use crate::split;
use crate::stop::{STOPPED, Stop};
use tracewell_library::{pool, walk};

/// The address of each of some buffers.
pub(crate) type Addresses = SmallVec<[*mut u8; FEW]>;

/// Most buffers of a program or launch that allocates no list of them.
pub(crate) const FEW: usize = 24;

/// A kernel with what it is launched on.
#[derive(Debug)]
pub(crate) struct Launch {
    /// Its number in the program.
    pub(crate) kernel: usize,
    entry: Entry,
    slots: SmallVec<[usize; 8]>,
    /// The same, if they follow each other: then their addresses lie as the kernel wants them.
    in_order: Option<Range<usize>>,
    sizes: SmallVec<[i64; 4]>,
    /// How many iterations may be split, and those of each part.
    extent: i64,
    parts: Box<[(i64, i64)]>,
    /// The size of all slots.
    bytes: usize,
    /// How many iterations of a part are done in one go on the way back, if it is walked both ways.
    stage: Option<i64>,
    /// What threads have copies of.
    copies: Copies,
}

impl Launch {
    /// `cost` is the estimate for one iteration, in nanoseconds; `bytes` the size of all slots. Of a slot `made` says how
    /// many bytes it has if the program makes it.
    pub(crate) fn new(
        kernel: usize,
        code: &CompiledKernel,
        slots: SmallVec<[usize; 8]>,
        (sizes, cost): (&[i64], u32),
        bytes: usize,
        made: impl Fn(usize) -> Option<usize>,
    ) -> Launch {
        let extent = code.kernel().parallel_extent().map_or(0, |extent| extent.get(sizes).max(0));
        let nanoseconds = u64::from(cost).saturating_mul(extent as u64);
        let parts: Box<[(i64, i64)]> =
            split::ranges(extent, split::parts(nanoseconds, extent, pool::threads())).collect();
        let copies =
            if parts.len() > 1 { Copies::new(code, &slots, nanoseconds, made) } else { Copies::default() };
        let first = slots.first().copied().unwrap_or(0);
        let in_order =
            (first..first + slots.len()).eq(slots.iter().copied()).then_some(first..first + slots.len());
        // Of calls that fail the first one counts.
        let is_walked = code.calls().is_empty() && walk::is_long(bytes);
        let stage = is_walked.then(|| split::stage(bytes, extent, cost)).filter(|stage| *stage < extent);
        let (entry, sizes) = (code.entry(), sizes.into());
        Launch { kernel, entry, slots, in_order, sizes, extent, parts, bytes, stage, copies }
    }

    /// The iterations of one go, if this run goes back.
    fn way_back(&self) -> Option<i64> {
        self.stage.filter(|_| walk::turns_back(self.bytes))
    }

    /// Into how many parts it is split.
    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Runs the kernel so many times on the slots with these addresses.
    ///
    /// # Safety
    ///
    /// `code` is what the launch was made for, in a program that verified, and `addresses` are those of its slots:
    /// as long as the program says, aligned, initialised where they are read, not used by anybody else where they
    /// are written.
    pub(crate) unsafe fn run(
        &self,
        code: &CompiledKernel,
        addresses: &[*mut u8],
        stop: &Stop,
        times: usize,
    ) -> StepResult {
        if let Some(slots) = self.in_order.clone() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_on(code, &addresses[slots], stop, times) };
        }
        // Where it is: a vector that is collected is moved, which takes as long as a small kernel.
        let mut few = [std::ptr::null_mut(); FEW];
        let many: Vec<*mut u8>;
        let buffers = match few.get_mut(..self.slots.len()) {
            Some(few) => {
                few.iter_mut().zip(&self.slots).for_each(|(to, &slot)| *to = addresses[slot]);
                &*few
            }
            None => {
                many = self.slots.iter().map(|&slot| addresses[slot]).collect();
                &many
            }
        };
        // SAFETY: the caller's promise.
        unsafe { self.run_on(code, buffers, stop, times) }
    }

    /// Runs the kernel so many times on these buffers.
    ///
    /// # Safety
    ///
    /// As for [`Launch::run`]; the buffers are those of the slots, in their order.
    unsafe fn run_on(
        &self,
        code: &CompiledKernel,
        buffers: &[*mut u8],
        stop: &Stop,
        times: usize,
    ) -> StepResult {
        let running = Running { launch: self, buffers, calls: code.calls(), stop };
        let is_whole = self.parts.len() == 1;
        if is_whole {
            // What divides itself inside is cheap on a thread of the pool only.
            if code.divides_work() && pool::threads() > 1 {
                let running = &running;
                return pool::run(move || running.part(0, self.extent, times));
            }
            if self.stage.is_none() {
                return running.part(0, self.extent, times);
            }
        }
        let all = || if is_whole { running.walk(0, self.extent, self.way_back()) } else { running.shared() };
        (0..times).try_for_each(|_| stop.check().and_then(|()| all()))
    }
}

/// A launch while it runs. Made by [`Launch::run`] only, under its promise.
#[derive(Clone, Copy)]
struct Running<'a> {
    launch: &'a Launch,
    buffers: &'a [*mut u8],
    calls: &'a [LibraryCall],
    stop: &'a Stop,
}

// SAFETY: the parts of a launch run different iterations of an `each`, and those touch no common element that one
// of them writes: a rule of the verifier. The addresses outlive the scope in which threads share them.
unsafe impl Sync for Running<'_> {}

impl Running<'_> {
    /// Runs all iterations, in parts that threads share.
    fn shared(self) -> StepResult {
        let (ranges, back) = (&self.launch.parts, self.launch.way_back());
        let turn = self.launch.copies.turn();
        // The first part that failed, whoever was there first.
        let failed: Mutex<Option<(usize, Box<RunError>)>> = Mutex::new(None);
        let report = &failed;
        pool::share_walk(ranges.len(), back.is_some(), move |part| {
            let (start, end) = ranges[part];
            if let Err(error) = self.near(turn, |near| near.walk(start, end, back)) {
                let mut failed = report.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(earlier, _)| part < *earlier) {
                    *failed = Some((part, error));
                }
            }
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Does something on this thread's copies of what is read again, if it has any in this turn.
    fn near(self, turn: Option<Turn>, work: impl FnOnce(Running<'_>) -> StepResult) -> StepResult {
        let Some(turn) = turn else { return work(self) };
        // SAFETY: `Launch::run` was promised that these are the buffers of the launch, which writes to none of the
        // parameters that are copied.
        let buffers = unsafe { self.launch.copies.near(turn, self.buffers) };
        work(Running { buffers: &buffers, ..self })
    }

    /// Runs iterations `start..end` of the outermost `each`, or the last ones first, so many in one go.
    fn walk(&self, start: i64, end: i64, back: Option<i64>) -> StepResult {
        let Some(stage) = back else { return self.part(start, end, 1) };
        let mut end = end;
        while end > start {
            let from = ((end - 1) / stage * stage).max(start);
            self.part(from, end, 1)?;
            end = from;
        }
        Ok(())
    }

    /// Runs iterations `start..end` of the outermost `each`, or the whole of a kernel that has none, so many times.
    fn part(&self, start: i64, end: i64, times: usize) -> StepResult {
        let mut context = Context::new(self.calls, self.stop.byte());
        let (buffers, sizes) = (self.buffers.as_ptr(), self.launch.sizes.as_ptr());
        for time in 0..times {
            if time > 0 {
                self.stop.check()?;
            }
            let context_address = (&raw mut context).cast::<u8>();
            // SAFETY: the entry is machine code of this kernel, which `Launch::run` borrows. The launch verified: it
            // gives as many buffers and sizes as the kernel has, of the right lengths, so every access is inside.
            let status = unsafe { (self.launch.entry)(buffers, sizes, start, end, context_address) };
            match (status, context.error.take()) {
                (0, _) => {}
                (STOPPED, None) => return Err(Box::new(self.stop.reason())),
                (_, error) => return error.map_or(Ok(()), Err),
            }
        }
        Ok(())
    }
}
