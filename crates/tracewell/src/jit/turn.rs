//! Whose turn it is to trace a key: one thread traces, others wait; nobody waits for himself.
//!
//! A thread that is itself tracing never waits (two functions that call each other would wait for one another),
//! nor does a worker of our pool: both trace a copy of their own, and the first to finish is kept.

use std::cell::RefCell;
use std::sync::{Condvar, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use crate::key::Key;

struct Turns {
    taken: Mutex<Option<FxHashSet<Key>>>,
    changed: Condvar,
}

static TURNS: Turns = Turns { taken: Mutex::new(None), changed: Condvar::new() };

thread_local! {
    static TRACING: RefCell<Vec<Key>> = const { RefCell::new(Vec::new()) };
}

/// What a thread that found no entry should do.
pub(crate) enum Turn {
    /// Trace; the turn ends when this is dropped.
    Trace(Tracing),
    /// Another thread has just finished: look again.
    LookAgain,
    /// This thread is tracing the same key: the function calls itself with the same types.
    Recursion,
}

/// Held while tracing a key.
pub(crate) struct Tracing {
    key: Box<Key>,
    registered: bool,
}

/// Asks for the turn to trace a key.
pub(crate) fn take(key: &Key) -> Turn {
    let tracing = TRACING.with_borrow(|keys| (keys.contains(key), !keys.is_empty()));
    if tracing.0 {
        return Turn::Recursion;
    }
    let may_wait = !tracing.1 && !tracewell_runtime::pool::in_pool();
    let mut taken = TURNS.taken.lock().unwrap_or_else(PoisonError::into_inner);
    let all = taken.get_or_insert_default();
    if !all.contains(key) {
        all.insert(key.clone());
        return Turn::Trace(Tracing::start(key, true));
    }
    if !may_wait {
        return Turn::Trace(Tracing::start(key, false));
    }
    while taken.as_ref().is_some_and(|all| all.contains(key)) {
        taken = TURNS.changed.wait(taken).unwrap_or_else(PoisonError::into_inner);
    }
    Turn::LookAgain
}

impl Tracing {
    fn start(key: &Key, registered: bool) -> Tracing {
        TRACING.with_borrow_mut(|keys| keys.push(key.clone()));
        Tracing { key: Box::new(key.clone()), registered }
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        TRACING.with_borrow_mut(|keys| {
            if let Some(at) = keys.iter().rposition(|k| *k == *self.key) {
                keys.remove(at);
            }
        });
        if self.registered {
            let mut taken = TURNS.taken.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(all) = taken.as_mut() {
                all.remove(&self.key);
            }
            TURNS.changed.notify_all();
        }
    }
}
