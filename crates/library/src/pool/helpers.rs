//! Threads that help whoever calls with one piece of work at a time.
//!
//! In a program one piece follows another within microseconds, and a thread that sleeps takes longer to wake than many
//! a kernel to run: a helper stays awake for a while. It may be late all the same, on a machine that others use too, so
//! whoever calls takes parts as well, and waits for those only that a helper has begun.
//!
//! Invariant: when [`share`] returns every part was done. Then, and if it unwinds, no helper refers to the work any more.
#![allow(unsafe_code, reason = "helpers borrow from the stack of the thread that they help")]

use std::any::Any;
use std::cell::Cell;
use std::hint::spin_loop;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::threads;
use crate::walk::walk;

/// How long a thread that has nothing to do stays awake: longer than the steps between two that are shared.
const AWAKE: Duration = Duration::from_micros(200);
/// How often it looks for work before it looks at the clock.
const LOOKS: usize = 32;

thread_local! {
    static HELPS: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is a helper.
pub(super) fn helps() -> bool {
    HELPS.get()
}

static HELPERS: LazyLock<Vec<&'static Helper>> =
    LazyLock::new(|| (1..threads()).map_while(Helper::start).collect());

/// Runs `work` on every number below `parts`, on the calling thread and on helpers that are free.
///
/// A thread begins with parts that follow each other, the same ones for the same number of parts, for what it has
/// made of them before is in its caches; then it takes what others have left.
pub fn share(parts: usize, work: impl Fn(usize) + Sync) {
    share_walk(parts, false, work);
}

/// The same; if it goes back, every thread begins with the last of its parts.
pub fn share_walk<F: Fn(usize) + Sync>(parts: usize, back: bool, work: F) {
    let wanted = parts.saturating_sub(1).min(threads() - 1).min(MOST_TAKERS - 1);
    if wanted == 0 {
        return walk(0..parts, back, work);
    }
    let mut job = Job {
        head: Head {
            run: Job::<F>::run_at,
            parts: Parts { count: parts, stretches: (wanted + 1).min(MOST_STRETCHES), back },
            panicked: Mutex::new(None),
            caller: OnceLock::new(),
        },
        work,
        taken: [const { MaybeUninit::uninit() }; MOST_STRETCHES],
    };
    // No more of them than there have to be: to write to all their lines would take as long as all else here.
    let stretches = 0..job.head.parts.stretches;
    for stretch in stretches.filter(|&stretch| job.head.parts.others(stretch) > 0) {
        job.taken[stretch].write(Taken(AtomicUsize::new(0)));
    }
    let called = Called(&job.head);
    // It reaches all of the job.
    let begin = ptr::from_ref(&job).cast::<Head>();
    let mut takers = 1;
    for helper in HELPERS.iter() {
        takers += usize::from(takers <= wanted && helper.call(begin, takers));
    }
    job.run(0);
    // Those for whom nobody came, or came in time.
    (takers..job.head.parts.stretches).for_each(|stretch| job.begin(stretch));
    HELPERS.iter().filter_map(|helper| helper.recall(&job.head)).for_each(|taker| job.begin(taker));
    drop(called);
    let panicked = job.head.panicked.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(payload) = panicked {
        resume_unwind(payload);
    }
}

/// The same on every one of some things.
pub fn share_out<T: Send>(things: Vec<T>, work: impl Fn(T) + Sync) {
    let things: Vec<Mutex<Option<T>>> = things.into_iter().map(|thing| Mutex::new(Some(thing))).collect();
    share(things.len(), |part| {
        let thing = things[part].lock().unwrap_or_else(PoisonError::into_inner).take();
        thing.into_iter().for_each(&work);
    });
}

/// A piece of work. What a helper reads to begin is in lines of the caches that nobody writes to meanwhile, and it knows
/// from the address of the job where they are: that they come from another core one after the other, each with the address
/// of the next, would take as long as a small part. So the work is here, and should have in it what it needs.
///
/// The first part of a stretch is its thread's without a word: a line that two threads count in goes to and fro
/// between them, which takes as long.
#[repr(C, align(512))]
struct Job<F> {
    head: Head,
    work: F,
    /// Of stretches that have others than the first.
    taken: [MaybeUninit<Taken>; MOST_STRETCHES],
}

/// What a job begins with, whatever its work is.
struct Head {
    /// Takes parts of the job that begins with this, as thread number so and so.
    run: unsafe fn(*const Head, usize),
    parts: Parts,
    /// What a helper panicked with.
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
    /// Who has to be woken, once it sleeps.
    caller: OnceLock<Thread>,
}

/// How many parts of a stretch were taken after its first, in a line of the caches of its own: as long as nobody else has
/// come to the end of theirs it stays with who works on the stretch.
#[repr(align(64))]
struct Taken(AtomicUsize);

impl Taken {
    /// The next of so many, and whether it is the last. To see that there is none takes the line from nobody.
    fn next(&self, of: usize) -> Option<(usize, bool)> {
        if self.0.load(Ordering::Relaxed) >= of {
            return None;
        }
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        (number < of).then_some((number, number + 1 == of))
    }
}

impl<F: Fn(usize) + Sync> Job<F> {
    /// [`Job::run`] of the job that begins there.
    ///
    /// # Safety
    ///
    /// It is the address of a whole job of this type, which stays there.
    unsafe fn run_at(head: *const Head, taker: usize) {
        // SAFETY: the caller's promise.
        let job = unsafe { &*head.cast::<Job<F>>() };
        job.run(taker);
    }

    /// Takes parts until there are none, as thread number `taker`.
    fn run(&self, taker: usize) {
        self.begin(taker);
        let stretches = self.head.parts.stretches;
        for stretch in (0..stretches).map(|next| (taker + next) % stretches) {
            self.go_on(stretch);
        }
    }

    /// Takes what is left of a stretch after its first part.
    fn go_on(&self, stretch: usize) {
        let others = self.head.parts.others(stretch);
        if others == 0 {
            return;
        }
        // SAFETY: whoever made the job wrote it for stretches that have others.
        let taken = unsafe { self.taken[stretch].assume_init_ref() };
        while let Some((number, is_last)) = taken.next(others) {
            self.head.parts.of(stretch, 1 + number).into_iter().for_each(&self.work);
            if is_last {
                return;
            }
        }
    }

    /// Does the first part of a stretch; a thread beyond them has none.
    fn begin(&self, taker: usize) {
        if taker < self.head.parts.stretches {
            self.head.parts.of(taker, 0).into_iter().for_each(&self.work);
        }
    }
}

/// Most stretches of parts: beyond, threads have one together.
const MOST_STRETCHES: usize = 16;

/// Parts in as many stretches as there are threads.
#[derive(Clone, Copy)]
struct Parts {
    count: usize,
    stretches: usize,
    /// Whether a stretch begins with its last part.
    back: bool,
}

impl Parts {
    /// Where a stretch begins.
    fn edge(self, stretch: usize) -> usize {
        self.count * stretch / self.stretches
    }

    /// How many parts a stretch has after its first.
    fn others(self, stretch: usize) -> usize {
        (self.edge(stretch + 1) - self.edge(stretch)).saturating_sub(1)
    }

    /// The part of a stretch that is taken as number `taken`.
    fn of(self, stretch: usize, taken: usize) -> Option<usize> {
        let (start, end) = (self.edge(stretch), self.edge(stretch + 1));
        (taken < end - start).then(|| if self.back { end - 1 - taken } else { start + taken })
    }
}

/// A job that helpers are called to. Nobody leaves it before they have.
struct Called<'a>(&'a Head);

impl Drop for Called<'_> {
    fn drop(&mut self) {
        for helper in HELPERS.iter() {
            if helper.recall(self.0).is_none() {
                helper.wait(self.0);
            }
        }
    }
}

/// A thread, by what it is told.
#[repr(align(128))]
struct Helper {
    /// A job, with who it is for that job in [`TAKER`] and what became of it in [`BEGUN`] and [`WAITED_FOR`]; or
    /// [`AWAKE_AND_FREE`], [`ASLEEP`].
    mail: AtomicPtr<Head>,
    thread: OnceLock<Thread>,
}

/// It looks for mail.
const AWAKE_AND_FREE: *mut Head = ptr::null_mut();
/// It has to be woken.
const ASLEEP: *mut Head = ptr::without_provenance_mut(1);

/// Bits that the address of a job does not have.
const TAGS: usize = align_of::<Job<()>>() - 1;
/// The helper has begun: it cannot be recalled.
const BEGUN: usize = 256;
/// Whoever called sleeps until it ends.
const WAITED_FOR: usize = 128;
/// The number of the helper among those that take parts.
const TAKER: usize = 127;
/// Most threads that work on one job.
const MOST_TAKERS: usize = TAKER + 1;

impl Helper {
    /// Starts a thread; without one there is one helper less.
    fn start(number: usize) -> Option<&'static Helper> {
        let (mail, thread) = (AtomicPtr::new(AWAKE_AND_FREE), OnceLock::new());
        let helper: &'static Helper = Box::leak(Box::new(Helper { mail, thread }));
        let thread = thread::Builder::new().name(format!("tracewell-helper-{number}"));
        let started = thread.spawn(move || {
            HELPS.set(true);
            loop {
                helper.help();
            }
        });
        let _ = helper.thread.set(started.ok()?.thread().clone());
        Some(helper)
    }

    /// Tells it to help with the job that begins there, if it is free.
    fn call(&self, job: *const Head, taker: usize) -> bool {
        let mail = job.cast_mut().map_addr(|address| address | taker);
        // The job is written before it is told.
        if self.changes(AWAKE_AND_FREE, mail, Ordering::Release) {
            return true;
        }
        let was_asleep = self.changes(ASLEEP, mail, Ordering::Release);
        if was_asleep {
            self.thread.get().inspect(|thread| thread.unpark());
        }
        was_asleep
    }

    fn changes(&self, from: *mut Head, to: *mut Head, order: Ordering) -> bool {
        self.mail.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
    }

    /// Takes back what it was told, if it has not begun; says who it was to be.
    fn recall(&self, job: &Head) -> Option<usize> {
        let mail = self.mail_of(job).filter(|mail| mail.addr() & BEGUN == 0)?;
        self.changes(mail, AWAKE_AND_FREE, Ordering::Relaxed).then(|| mail.addr() & TAKER)
    }

    /// Its mail, as long as that is a job.
    fn mail_of(&self, job: &Head) -> Option<*mut Head> {
        let mail = self.mail.load(Ordering::Acquire);
        (mail.addr() & !TAGS == ptr::from_ref(job).addr()).then_some(mail)
    }

    /// Waits until it has left a job.
    fn wait(&self, job: &Head) {
        let has_left = || self.mail_of(job).is_none();
        if looked_for(has_left) {
            return;
        }
        let caller = job.caller.get_or_init(thread::current);
        let asks = |mail: *mut Head| self.changes(mail, mail.map_addr(|x| x | WAITED_FOR), Ordering::Release);
        if self.mail_of(job).is_some_and(asks) {
            while !has_left() {
                thread::park();
            }
            // What we were woken by may have been meant for the caller's own waiting.
            caller.unpark();
        }
    }

    /// Waits for a job and helps.
    fn help(&self) {
        let mail = self.take();
        let begin = mail.map_addr(|address| address & !TAGS).cast_const();
        // SAFETY: whoever sent it keeps it until it is no longer our mail, for it could not be recalled after it was taken.
        let job = unsafe { &*begin };
        let work = || {
            // SAFETY: the same; `share_walk` sent the address of a whole job, of the type that it wrote there.
            unsafe { (job.run)(begin, mail.addr() & TAKER) }
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            *job.panicked.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
        }
        if !self.changes(mail, AWAKE_AND_FREE, Ordering::Release) {
            // It has begun to wait, and has written who it is.
            self.mail.load(Ordering::Acquire);
            let caller = job.caller.get().cloned();
            self.mail.store(AWAKE_AND_FREE, Ordering::Release);
            caller.inspect(Thread::unpark);
        }
    }

    /// The next job, which cannot be recalled any more.
    fn take(&self) -> *mut Head {
        loop {
            let mut taken = ptr::null_mut();
            let looks = || {
                let mail = self.mail.load(Ordering::Relaxed);
                if mail == AWAKE_AND_FREE {
                    return false;
                }
                let begun = mail.map_addr(|address| address | BEGUN);
                // The pointer that is there now: it may be another than a moment ago, at the same address.
                let now = self.mail.compare_exchange(mail, begun, Ordering::Acquire, Ordering::Relaxed);
                now.inspect(|mail| taken = mail.map_addr(|address| address | BEGUN)).is_ok()
            };
            if looked_for(looks) {
                return taken;
            }
            let sleeps = self.changes(AWAKE_AND_FREE, ASLEEP, Ordering::Relaxed);
            while sleeps && self.mail.load(Ordering::Relaxed) == ASLEEP {
                thread::park();
            }
        }
    }
}

/// Whether something came true while a thread stayed awake for it.
fn looked_for(mut is_true: impl FnMut() -> bool) -> bool {
    let mut start = None;
    loop {
        for _ in 0..LOOKS {
            if is_true() {
                return true;
            }
            spin_loop();
        }
        // Most often it is true before anybody looks at the clock.
        if start.get_or_insert_with(Instant::now).elapsed() > AWAKE {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each_once(parts: usize) {
        let counts: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
        share_walk(parts, parts % 2 == 1, |part| {
            counts[part].fetch_add(1, Ordering::Relaxed);
        });
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1), "{parts} parts");
    }

    #[test]
    fn every_part_is_done_once() {
        for round in 0..2000 {
            each_once(round % 9);
            if round % 500 == 0 {
                // Longer than helpers stay awake.
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    /// Whoever calls has done its own parts before a helper that sleeps has begun.
    #[test]
    fn parts_of_a_helper_that_sleeps_are_done() {
        for _ in 0..50 {
            // Longer than helpers stay awake.
            thread::sleep(Duration::from_millis(2));
            each_once(2);
        }
    }

    #[test]
    fn stretches_have_every_part_once() {
        for (count, stretches, back) in [(1, 2, false), (7, 3, true), (8, 2, true), (16, 16, false)] {
            let parts = Parts { count, stretches, back };
            let stretch = |stretch: usize| (0..count).map_while(move |taken| parts.of(stretch, taken));
            let mut all: Vec<usize> = (0..stretches).flat_map(stretch).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>(), "{count} {stretches} {back}");
        }
        let parts = Parts { count: 8, stretches: 2, back: true };
        assert_eq!([parts.of(0, 0), parts.of(1, 0), parts.of(1, 4)], [Some(3), Some(7), None]);
    }

    /// Callers that want the same helpers, and helpers that call.
    #[test]
    fn work_is_shared_from_anywhere() {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| share(4, |_| each_once(3))));
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        for fails in [true, false] {
            let fell = AtomicUsize::new(0);
            let work = |_| {
                thread::sleep(Duration::from_millis(1));
                if helps() == fails {
                    fell.fetch_add(1, Ordering::Relaxed);
                    panic!("this part fails");
                }
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| share(8, work)));
            // Helpers come, unless there are none.
            assert_eq!(outcome.is_err(), fell.load(Ordering::Relaxed) > 0);
            let text =
                |payload: Box<dyn Any + Send>| payload.downcast_ref::<&str>().map(|text| (*text).to_string());
            assert_eq!(
                outcome.err().and_then(text).unwrap_or("this part fails".to_string()),
                "this part fails"
            );
        }
        // Nothing is left behind.
        each_once(8);
    }

    #[test]
    fn helpers_know_that_they_are() {
        assert!(!helps());
        share(8, |_| {
            thread::sleep(Duration::from_millis(1));
            assert_eq!(
                helps(),
                thread::current().name().is_some_and(|name| name.starts_with("tracewell-helper"))
            );
        });
    }
}
