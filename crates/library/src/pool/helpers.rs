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
pub fn share_walk(parts: usize, back: bool, work: impl Fn(usize) + Sync) {
    let wanted = parts.saturating_sub(1).min(threads() - 1);
    if wanted == 0 {
        return walk(0..parts, back, work);
    }
    let job = Job {
        work: &work,
        parts: Parts { count: parts, stretches: (wanted + 1).min(MOST_STRETCHES), back },
        taken: [const { AtomicUsize::new(0) }; MOST_STRETCHES],
        helping: AtomicUsize::new(0),
        caller: thread::current(),
        panicked: Mutex::new(None),
    };
    let called = Called(&job);
    HELPERS.iter().filter(|helper| helper.call(&job)).take(wanted).for_each(drop);
    job.run(0);
    drop(called);
    let panicked = job.panicked.into_inner().unwrap_or_else(PoisonError::into_inner);
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

/// A piece of work.
struct Job<'a> {
    work: &'a (dyn Fn(usize) + Sync),
    parts: Parts,
    /// How many parts of each stretch were taken.
    taken: [AtomicUsize; MOST_STRETCHES],
    /// How many helpers were called and have not ended.
    helping: AtomicUsize,
    caller: Thread,
    /// What a helper panicked with.
    panicked: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Job<'_> {
    /// Takes parts until there are none, as thread number `taker`.
    fn run(&self, taker: usize) {
        let stretches = self.parts.stretches;
        for stretch in (0..stretches).map(|next| (taker + next) % stretches) {
            let next = || self.parts.of(stretch, self.taken[stretch].fetch_add(1, Ordering::Relaxed));
            std::iter::from_fn(next).for_each(|part| (self.work)(part));
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
    /// The part of a stretch that is taken as number `taken`.
    fn of(self, stretch: usize, taken: usize) -> Option<usize> {
        let edge = |stretch: usize| self.count * stretch / self.stretches;
        let (start, end) = (edge(stretch), edge(stretch + 1));
        (taken < end - start).then(|| if self.back { end - 1 - taken } else { start + taken })
    }
}

/// A job that helpers are called to. Nobody leaves it before they have.
struct Called<'a>(&'a Job<'a>);

impl Drop for Called<'_> {
    fn drop(&mut self) {
        let job = self.0;
        let recalled = HELPERS.iter().filter(|helper| helper.recall(job)).count();
        job.helping.fetch_sub(recalled, Ordering::Relaxed);
        let is_done = || job.helping.load(Ordering::Acquire) == 0;
        if !looked_for(is_done) {
            while !is_done() {
                // Whoever ends last wakes us.
                thread::park();
            }
            // What we were woken by may have been meant for the caller's own waiting.
            job.caller.unpark();
        }
    }
}

/// A thread, by what it is told.
#[repr(align(128))]
struct Helper {
    /// A job; or [`AWAKE_AND_FREE`], [`ASLEEP`], [`BUSY`].
    mail: AtomicPtr<Job<'static>>,
    thread: OnceLock<Thread>,
    /// From 1 on.
    number: usize,
}

/// It looks for mail.
const AWAKE_AND_FREE: *mut Job<'static> = ptr::null_mut();
/// It has to be woken.
const ASLEEP: *mut Job<'static> = ptr::without_provenance_mut(1);
/// It has taken a job.
const BUSY: *mut Job<'static> = ptr::without_provenance_mut(2);

impl Helper {
    /// Starts a thread; without one there is one helper less.
    fn start(number: usize) -> Option<&'static Helper> {
        let (mail, thread) = (AtomicPtr::new(AWAKE_AND_FREE), OnceLock::new());
        let helper: &'static Helper = Box::leak(Box::new(Helper { mail, thread, number }));
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

    /// Tells it to help with a job, if it is free.
    fn call(&self, job: &Job<'_>) -> bool {
        let mail = ptr::from_ref(job).cast_mut().cast::<Job<'static>>();
        job.helping.fetch_add(1, Ordering::Relaxed);
        // The job is written before it is told.
        let tell =
            |state| self.mail.compare_exchange(state, mail, Ordering::Release, Ordering::Relaxed).is_ok();
        if tell(AWAKE_AND_FREE) {
            return true;
        }
        let was_asleep = tell(ASLEEP);
        if was_asleep {
            self.thread.get().inspect(|thread| thread.unpark());
        } else {
            job.helping.fetch_sub(1, Ordering::Relaxed);
        }
        was_asleep
    }

    /// Takes back what it was told, if it has not begun.
    fn recall(&self, job: &Job<'_>) -> bool {
        let mail = ptr::from_ref(job).cast_mut().cast::<Job<'static>>();
        self.mail.load(Ordering::Relaxed) == mail
            && self.mail.compare_exchange(mail, AWAKE_AND_FREE, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Waits for a job and helps.
    fn help(&self) {
        let mail = self.take();
        // SAFETY: whoever sent it keeps it until `helping` is 0, and counted us, for it could not be recalled after it was
        // taken.
        let job = unsafe { &*mail };
        let caller = job.caller.clone();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| job.run(self.number))) {
            *job.panicked.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
        }
        // Free before the job ends: the caller's next one may follow at once.
        self.mail.store(AWAKE_AND_FREE, Ordering::Relaxed);
        if job.helping.fetch_sub(1, Ordering::Release) == 1 {
            caller.unpark();
        }
    }

    /// The next job, which cannot be recalled any more.
    fn take(&self) -> *const Job<'static> {
        loop {
            let mut taken = ptr::null();
            let looks = || {
                let mail = self.mail.load(Ordering::Relaxed);
                if mail == AWAKE_AND_FREE {
                    return false;
                }
                // The pointer that is there now: it may be another than a moment ago, at the same address.
                let now = self.mail.compare_exchange(mail, BUSY, Ordering::Acquire, Ordering::Relaxed);
                now.inspect(|mail| taken = mail.cast_const()).is_ok()
            };
            if looked_for(looks) {
                return taken;
            }
            let sleeps =
                self.mail.compare_exchange(AWAKE_AND_FREE, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
            while sleeps.is_ok() && self.mail.load(Ordering::Relaxed) == ASLEEP {
                thread::park();
            }
        }
    }
}

/// Whether something came true while a thread stayed awake for it.
fn looked_for(mut is_true: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        for _ in 0..LOOKS {
            if is_true() {
                return true;
            }
            spin_loop();
        }
        if start.elapsed() > AWAKE {
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
