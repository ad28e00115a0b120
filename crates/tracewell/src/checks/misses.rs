//! `explain_cache_misses`: why a jitted function was traced, and not found in the cache.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use tracewell_graph::Location;
use tracewell_trace::Switch;

use crate::jit::{Difference, Signature, traces_of};
use crate::key::Key;

/// Runs `f`; returns its result and, for each jitted function that was traced on the way, why it was.
///
/// A trace is compared with the nearest earlier one of the same function: one that the cache holds, or one made
/// inside. Calls of the current thread are looked at, the outer ones before those inside them.
///
/// ```
/// use tracewell::prelude::*;
///
/// jit! {
///     fn double(x: &Array) -> Array { 2.0 * x }
/// }
///
/// let (_, misses) = explain_cache_misses(|| {
///     double(&Array::zeros([3], F32));
///     double(&Array::ones([3], F32));
///     double(&Array::zeros([4], F32))
/// });
/// assert_eq!(misses.len(), 2);
/// assert_eq!(misses[0].reason(), "no trace of it is known");
/// assert_eq!(misses[1].reason(), "`x` is f32[4] and was f32[3]");
/// ```
pub fn explain_cache_misses<R>(f: impl FnOnce() -> R) -> (R, Vec<CacheMiss>) {
    /// Forgets what was seen when nobody is left to be told.
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            if !EXPLAIN.is_on() {
                SEEN.take();
            }
        }
    }
    let _forget = Forget;
    let from = SEEN.with_borrow(Vec::len);
    let result = EXPLAIN.on(f);
    let misses = SEEN.with_borrow(|seen| seen[from..].iter().map(|seen| seen.miss.clone()).collect());
    (result, misses)
}

/// A jitted function that was traced, where it was called, and why it was not found in the cache.
#[derive(Clone, Debug)]
pub struct CacheMiss {
    function: Option<String>,
    defined: Location,
    called: Location,
    reason: String,
    /// How many other differences there are.
    more: usize,
    help: Option<&'static str>,
}

impl CacheMiss {
    /// The name of the function; a closure has none.
    pub fn function(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// The line that called it.
    pub fn location(&self) -> &Location {
        &self.called
    }

    /// Why it was traced: the first difference to the nearest earlier trace.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// The function, the place and the reason; then what to do, where something can be done.
impl fmt::Display for CacheMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            Some(name) => write!(f, "`{name}`")?,
            None => write!(f, "a closure")?,
        }
        write!(f, " ({}) was traced: {}", self.defined, self.reason)?;
        match self.more {
            0 => {}
            1 => write!(f, ", and 1 other difference")?,
            more => write!(f, ", and {more} other differences")?,
        }
        write!(f, "\n  --> {}", self.called)?;
        match self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// A trace made where misses are explained.
struct Seen {
    key: Key,
    signature: Arc<Signature>,
    /// Whether it was kept in the cache.
    kept: bool,
    miss: CacheMiss,
}

thread_local! {
    static EXPLAINING: Cell<usize> = const { Cell::new(0) };
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
}

static EXPLAIN: Switch = Switch::new(&EXPLAINING);

/// Where an explanation goes that is begun now: before those of the calls inside.
pub(crate) fn mark() -> usize {
    SEEN.with_borrow(Vec::len)
}

/// Explains a trace that was made because there was none in the cache.
pub(crate) fn explain(mark: usize, key: &Key, signature: &Arc<Signature>, kept: bool) {
    if !EXPLAIN.is_on() {
        return;
    }
    let function = &signature.function;
    let (reason, more, help) = reason(key, signature);
    let miss = CacheMiss {
        function: function.name.clone(),
        defined: function.location.clone(),
        called: function.called.clone().unwrap_or_else(|| function.location.clone()),
        reason,
        more,
        help,
    };
    let seen = Seen { key: key.clone(), signature: signature.clone(), kept, miss };
    SEEN.with_borrow_mut(|all| all.insert(mark.min(all.len()), seen));
}

/// Why there is a trace more, how many other differences there are, and what to do.
fn reason(key: &Key, now: &Signature) -> (String, usize, Option<&'static str>) {
    let same = SEEN.with_borrow(|all| all.iter().rev().find(|seen| seen.key == *key).map(|seen| seen.kept));
    if let Some(kept) = same {
        let (reason, help) = match kept {
            true => (
                "its trace was forgotten",
                "the cache was cleared, or is full: `TRACEWELL_CACHE_MIB` is its size",
            ),
            false => (
                "its trace was not kept, because it looked at the value of an array",
                "a trace that depends on values is good for one call: choose with `select`, or leave out the `jit`",
            ),
        };
        return (reason.to_string(), 0, Some(help));
    }
    let function = &now.function;
    let inside = |all: &Vec<Seen>| -> Vec<(Key, Arc<Signature>)> {
        let own = all.iter().rev().filter(|seen| seen.signature.function.is_same(function));
        own.map(|seen| (seen.key.clone(), seen.signature.clone())).collect()
    };
    let mut earlier = SEEN.with_borrow(inside);
    earlier.extend(traces_of(function));
    // Of several that are equally near, the latest: it is the first here.
    let own = earlier.iter().filter(|(other, _)| other.is_like(key));
    let far = |found: &Vec<Difference>| found.iter().map(|one| one.weight).sum::<usize>();
    let nearest = own.map(|(_, before)| now.differences(before)).min_by_key(far);
    match nearest.as_deref() {
        Some([first, rest @ ..]) => (first.text.clone(), rest.len(), Some(first.help)),
        Some([]) => ("its generic parameters are others".to_string(), 0, None),
        None if !earlier.is_empty() => (
            "another closure, made at the same line, was traced before".to_string(),
            0,
            Some("each `jit(closure)` has traces of its own: make it once, and call it often"),
        ),
        None => ("no trace of it is known".to_string(), 0, None),
    }
}
