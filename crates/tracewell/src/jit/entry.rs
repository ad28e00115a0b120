//! The trace cache: what is kept of a traced function, found again by its key.
//!
//! Each thread keeps a small map of its own, so that a warm call takes no lock; the shared cache is bounded in
//! bytes and forgets what was not used for longest.

use std::any::Any;
use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;
use tracewell_graph::Graph;
use tracewell_graph::prim::first_half;
use tracewell_repro::Recorded;
use tracewell_runtime::Executable;
use tracewell_trace::{Error, Value};

use super::signature::Signature;
use crate::building::building;
use crate::cache::ByteCache;
use crate::config;
use crate::executable::executable;
use crate::key::Key;
use crate::pipeline::Settings;
use crate::staging::Function;

/// Which inputs vary, and the graph with what its derivative by them will need; `None` if it has none.
type Halved = (Vec<bool>, Option<Arc<Graph>>);

/// A traced function for one signature.
pub(crate) struct Entry {
    /// Whose trace it is, and what it was made for.
    pub(crate) signature: Arc<Signature>,
    pub(crate) graph: Arc<Graph>,
    /// Values of outer traces that the function captured: the graph's first inputs.
    pub(crate) captured: Vec<Value>,
    /// A result of the right structure, without tracers.
    pub(crate) result: Box<dyn Any + Send + Sync>,
    pub(crate) settings: Settings,
    /// Which results have a weak type.
    pub(crate) weak_results: Vec<bool>,
    /// What it did while it was traced, for repros.
    pub(crate) recorded: Option<Arc<Recorded>>,
    compiled: OnceLock<Arc<Executable>>,
    /// Its graph with the residuals of its derivative, by the inputs that vary; `None` where it has none.
    linearized: Mutex<Vec<Halved>>,
}

impl Entry {
    pub(crate) fn new(
        signature: Signature,
        graph: Arc<Graph>,
        captured: Vec<Value>,
        result: Box<dyn Any + Send + Sync>,
        settings: Settings,
    ) -> Entry {
        let weak_results = graph.output_types().iter().map(|t| t.weak).collect();
        Entry {
            signature: Arc::new(signature),
            graph,
            captured,
            result,
            settings,
            weak_results,
            recorded: None,
            compiled: OnceLock::new(),
            linearized: Mutex::default(),
        }
    }

    /// Its graph with what the derivative by these inputs will need as further results, if it has a derivative.
    pub(crate) fn linearized(&self, active: &[bool]) -> Option<Arc<Graph>> {
        let known = || self.linearized.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known().iter().find(|(flags, _)| flags == active) {
            return found.clone();
        }
        let split = tracewell_transform::linearize(&self.graph, active).ok();
        let made = split.map(|split| Arc::new(first_half(split.primal, self.graph.outputs.len()).0));
        known().push((active.to_vec(), made.clone()));
        made
    }

    /// Its machine code, compiled when first asked for.
    pub(crate) fn compiled(&self) -> Result<&Arc<Executable>, Error> {
        if let Some(found) = self.compiled.get() {
            return Ok(found);
        }
        let made = executable(&self.graph, &self.settings)?;
        Ok(self.compiled.get_or_init(|| made))
    }
}

static ENTRIES: LazyLock<Mutex<ByteCache<Key, Arc<Entry>>>> =
    LazyLock::new(|| Mutex::new(ByteCache::new(config::cache_bytes())));

/// Counts removals from the shared cache, so that threads know when to forget theirs.
static REMOVALS: AtomicU64 = AtomicU64::new(0);

/// How many entries a thread keeps for itself.
const KEPT: usize = 256;

/// An entry as a thread holds it: counted without the others, who would wait for each other's counting.
pub(crate) type Held = Rc<Known>;

/// An entry with its key.
pub(crate) struct Known {
    key: Key,
    entry: Arc<Entry>,
}

impl Deref for Known {
    type Target = Arc<Entry>;

    fn deref(&self) -> &Arc<Entry> {
        &self.entry
    }
}

#[derive(Default)]
struct Own {
    entries: FxHashMap<Key, Held>,
    /// The one that was found last: who calls a function often calls it again.
    last: Option<Held>,
    removals: u64,
}

thread_local! {
    static OWN: RefCell<Own> = RefCell::default();
}

fn entries() -> MutexGuard<'static, ByteCache<Key, Arc<Entry>>> {
    ENTRIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entry of a key.
pub(crate) fn find(key: &Key) -> Option<Held> {
    OWN.with_borrow_mut(|own| {
        let removals = REMOVALS.load(Ordering::Relaxed);
        if own.removals != removals {
            *own = Own { removals, ..Own::default() };
        }
        if let Some(last) = own.last.as_ref().filter(|last| last.key == *key) {
            return Some(last.clone());
        }
        if let Some(entry) = own.entries.get(key) {
            own.last = Some(entry.clone());
            return Some(entry.clone());
        }
        let entry = Rc::new(Known { key: key.clone(), entry: entries().get(key)? });
        if !entry.captured.is_empty() {
            // What it captured belongs to a trace that is going on, and must not outlive it here.
            return Some(entry);
        }
        if own.entries.len() >= KEPT {
            own.entries.clear();
        }
        own.entries.insert(key.clone(), entry.clone());
        Some(entry)
    })
}

/// Keeps an entry.
pub(crate) fn keep(key: Key, entry: Arc<Entry>) {
    let recorded = entry.recorded.as_ref().map_or(0, |body| body.bytes());
    let bytes = size_of::<Entry>() + key.bytes() + entry.signature.bytes() + entry.graph.bytes() + recorded;
    if entries().insert(key, entry, bytes) {
        REMOVALS.fetch_add(1, Ordering::Relaxed);
    }
}

/// The keys and signatures of a function's traces, the last used first.
pub(crate) fn traces_of(function: &Function) -> Vec<(Key, Arc<Signature>)> {
    let found = entries().find_all(|entry| entry.signature.function.is_same(function));
    found.into_iter().map(|(key, entry)| (key, entry.signature.clone())).collect()
}

/// Forgets the entries whose key satisfies a condition.
pub(crate) fn forget(mut which: impl FnMut(&Key) -> bool) {
    entries().retain(|key| !which(key));
    REMOVALS.fetch_add(1, Ordering::Relaxed);
}

/// How full the caches are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CacheStats {
    /// Traced functions kept.
    pub traces: usize,
    /// Memory of their graphs, constants included.
    pub trace_bytes: usize,
    /// Compiled graphs kept.
    pub executables: usize,
    /// Memory of their code and constants.
    pub executable_bytes: usize,
    /// Graphs compiled since the program started.
    pub compiled: u64,
    /// Time spent on tracing and compiling since the program started.
    pub building: Duration,
}

/// How full the caches are.
pub fn cache_stats() -> CacheStats {
    let (traces, trace_bytes) = {
        let entries = entries();
        (entries.len(), entries.bytes())
    };
    let (executables, executable_bytes, compiled) = crate::executable::stats();
    CacheStats { traces, trace_bytes, executables, executable_bytes, compiled, building: building() }
}

/// Forgets every trace and every executable; memory is freed as soon as no call uses it.
pub fn clear_caches() {
    forget(|_| true);
    crate::executable::clear();
}
