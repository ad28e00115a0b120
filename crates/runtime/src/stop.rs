//! Asking runs to stop: by a handle, or when a time is over.
//!
//! A run looks at one byte: between its steps, and in machine code wherever a kernel polls. Scopes nest on a stack of
//! their thread; what stops an outer one stops those inside. A thread without a scope looks at a byte that is never
//! set, so that a run without limits pays one look at its thread.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::error::{RunError, StepResult};

/// What kernels return when they find the byte set.
pub(crate) const STOPPED: i64 = 2;

/// The byte of threads that nobody asks to stop.
static NEVER: AtomicU8 = AtomicU8::new(0);

/// A handle by which calls are cancelled, from any thread. Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Scope>);

impl Cancel {
    /// A handle that has not been used.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Asks the calls that run under this handle to stop, now and from now on.
    pub fn cancel(&self) {
        self.0.stop();
    }

    /// Whether it was asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set()
    }
}

/// Runs `f`; the runs it starts on this thread stop when the handle is cancelled.
pub fn with_cancel<R>(handle: &Cancel, f: impl FnOnce() -> R) -> R {
    let _entered = Entered::new(None, Some(handle.0.clone()));
    f()
}

/// Runs `f`; the runs it starts on this thread stop when the time is over. Fails if no thread can be started to watch
/// the time.
pub fn with_time_limit<R>(limit: Duration, f: impl FnOnce() -> R) -> io::Result<R> {
    let entered = Entered::new(Some(limit), None);
    let _watched = watch(&entered.scope, limit)?;
    Ok(f())
}

/// The byte that stops the runs of this thread.
pub(crate) struct Stop(Option<Arc<Scope>>);

impl Stop {
    /// That of the innermost scope.
    pub(crate) fn current() -> Stop {
        Stop(CURRENT.with_borrow(Clone::clone))
    }

    /// What machine code looks at.
    pub(crate) fn byte(&self) -> &AtomicU8 {
        self.0.as_ref().map_or(&NEVER, |scope| &scope.byte)
    }

    /// An error, if the run is asked to stop.
    pub(crate) fn check(&self) -> StepResult {
        if self.byte().load(Ordering::Relaxed) == 0 { Ok(()) } else { Err(Box::new(self.reason())) }
    }

    /// Why the run stops.
    pub(crate) fn reason(&self) -> RunError {
        match self.0.as_ref().and_then(|scope| scope.limit_that_stopped()) {
            Some(limit) => RunError::TimeLimit(limit),
            None => RunError::Cancelled,
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Scope>>> = const { RefCell::new(None) };
}

/// Something that can be asked to stop, with those inside it.
#[derive(Debug, Default)]
struct Scope {
    byte: AtomicU8,
    /// Whether it was asked itself, and not one of those around it.
    asked: AtomicBool,
    limit: Option<Duration>,
    /// Those around it: the scope that was current, the handle.
    around: Vec<Arc<Scope>>,
    inside: Mutex<Vec<Weak<Scope>>>,
}

impl Scope {
    fn is_set(&self) -> bool {
        self.byte.load(Ordering::SeqCst) != 0
    }

    fn stop(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.set();
    }

    fn set(&self) {
        self.byte.store(1, Ordering::SeqCst);
        let inside: Vec<Arc<Scope>> = lock(&self.inside).iter().filter_map(Weak::upgrade).collect();
        inside.iter().for_each(|scope| scope.set());
    }

    /// Stops with the scope around it from now on. Looks after it is known there, so that nothing is missed.
    fn follow(self: &Arc<Scope>, around: &Scope) {
        let mut inside = lock(&around.inside);
        inside.retain(|scope| scope.strong_count() > 0);
        inside.push(Arc::downgrade(self));
        drop(inside);
        if around.is_set() {
            self.set();
        }
    }

    /// The time limit because of which it stops, if it is one.
    fn limit_that_stopped(&self) -> Option<Duration> {
        if self.asked.load(Ordering::SeqCst) {
            return self.limit;
        }
        self.around.iter().find(|scope| scope.is_set()).and_then(|scope| scope.limit_that_stopped())
    }
}

/// A scope while it is the current one of its thread; left when this is dropped, also by a panic.
struct Entered {
    scope: Arc<Scope>,
    before: Option<Arc<Scope>>,
}

impl Entered {
    fn new(limit: Option<Duration>, handle: Option<Arc<Scope>>) -> Entered {
        let before = CURRENT.with_borrow(Clone::clone);
        let around: Vec<Arc<Scope>> = before.iter().cloned().chain(handle).collect();
        let scope = Arc::new(Scope { limit, around, ..Scope::default() });
        scope.around.iter().for_each(|around| scope.follow(around));
        CURRENT.with_borrow_mut(|current| *current = Some(scope.clone()));
        Entered { scope, before }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.before.take();
        CURRENT.with_borrow_mut(|current| *current = before);
    }
}

/// The scopes with a limit, by when it is over, and a number of their own.
type Deadlines = BTreeMap<(Instant, u64), Weak<Scope>>;

/// The thread that watches the time, started when the first limit is set.
struct Watch {
    deadlines: Mutex<Deadlines>,
    changed: Condvar,
}

static WATCH: Watch = Watch { deadlines: Mutex::new(BTreeMap::new()), changed: Condvar::new() };

/// A deadline until this is dropped.
struct Watched(Option<(Instant, u64)>);

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(key) = self.0 {
            lock(&WATCH.deadlines).remove(&key);
        }
    }
}

/// Stops a scope when its time is over.
fn watch(scope: &Arc<Scope>, limit: Duration) -> io::Result<Watched> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    static STARTED: LazyLock<io::Result<()>> = LazyLock::new(|| {
        std::thread::Builder::new().name("tracewell-time".into()).spawn(keep_watch).map(drop)
    });
    if let Err(error) = &*STARTED {
        return Err(io::Error::new(error.kind(), error.to_string()));
    }
    if limit.is_zero() {
        scope.stop();
        return Ok(Watched(None));
    }
    // A time that no clock reaches is no limit.
    let Some(deadline) = Instant::now().checked_add(limit) else { return Ok(Watched(None)) };
    let key = (deadline, NUMBER.fetch_add(1, Ordering::Relaxed));
    let mut deadlines = lock(&WATCH.deadlines);
    deadlines.insert(key, Arc::downgrade(scope));
    let is_next = deadlines.keys().next() == Some(&key);
    drop(deadlines);
    if is_next {
        WATCH.changed.notify_one();
    }
    Ok(Watched(Some(key)))
}

fn keep_watch() {
    let mut deadlines = lock(&WATCH.deadlines);
    loop {
        let now = Instant::now();
        while let Some(next) = deadlines.first_entry().filter(|next| next.key().0 <= now) {
            if let Some(scope) = next.remove().upgrade() {
                scope.stop();
            }
        }
        deadlines = match deadlines.keys().next() {
            None => WATCH.changed.wait(deadlines).unwrap_or_else(PoisonError::into_inner),
            Some((next, _)) => {
                let left = next.saturating_duration_since(now);
                WATCH.changed.wait_timeout(deadlines, left).unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

/// What is inside is complete at any time, also after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped() -> Option<String> {
        Stop::current().check().err().map(|error| error.to_string())
    }

    #[test]
    fn a_handle_stops_what_runs_under_it() {
        let (handle, other) = (Cancel::new(), Cancel::new());
        assert_eq!(stopped(), None);
        with_cancel(&handle, || {
            with_cancel(&other, || {
                assert_eq!(stopped(), None);
                handle.clone().cancel();
                assert_eq!(stopped().unwrap(), "the call was cancelled");
            });
            assert!(handle.is_cancelled() && !other.is_cancelled());
            with_cancel(&other, || assert!(stopped().is_some()));
        });
        assert_eq!(stopped(), None);
        with_cancel(&other, || assert_eq!(stopped(), None));
    }

    #[test]
    fn a_limit_is_over_for_those_inside_too() {
        let limit = Duration::from_millis(20);
        with_time_limit(Duration::from_secs(3600), || {
            assert_eq!(stopped(), None);
            with_time_limit(limit, || {
                with_cancel(&Cancel::new(), || {
                    let start = Instant::now();
                    while stopped().is_none() {
                        assert!(start.elapsed() < Duration::from_secs(60), "the watch sleeps");
                        std::thread::yield_now();
                    }
                    assert!(start.elapsed() >= limit / 2);
                    assert_eq!(stopped().unwrap(), "the time limit of 20ms was exceeded");
                });
            })
            .unwrap();
            assert_eq!(stopped(), None);
        })
        .unwrap();
        with_time_limit(Duration::ZERO, || assert!(stopped().is_some())).unwrap();
        with_time_limit(Duration::MAX, || assert_eq!(stopped(), None)).unwrap();
        let only_ours = lock(&WATCH.deadlines).len();
        assert_eq!(only_ours, 0);
    }

    #[test]
    fn a_panic_leaves_the_scope() {
        let handle = Cancel::new();
        handle.cancel();
        let panic = std::panic::catch_unwind(|| with_cancel(&handle, || std::panic::panic_any("out")));
        assert!(panic.is_err() && stopped().is_none());
    }
}
