//! Executables by graph: a graph that was compiled before, by whatever closure, is not compiled again.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tracewell_array::Tensor;
use tracewell_graph::{Graph, InElement};
use tracewell_kernel::CallError;
use tracewell_runtime::{Executable, Input, Results, RunError, allocated_scratch};
use tracewell_trace::{Error, ErrorKind};

use crate::building::counted;
use crate::cache::ByteCache;
use crate::config;
use crate::dump;
use crate::pipeline::{Settings, compile};
use crate::repro;

type Key = (Arc<Graph>, Settings);

static EXECUTABLES: LazyLock<Mutex<ByteCache<Key, Arc<Executable>>>> =
    LazyLock::new(|| Mutex::new(ByteCache::new(config::cache_bytes())));

static COMPILED: AtomicU64 = AtomicU64::new(0);

fn executables() -> MutexGuard<'static, ByteCache<Key, Arc<Executable>>> {
    EXECUTABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The executable of a graph. No lock is held while it compiles.
pub(crate) fn executable(graph: &Arc<Graph>, settings: &Settings) -> Result<Arc<Executable>, Error> {
    let key = (graph.clone(), settings.clone());
    if let Some(found) = executables().get(&key) {
        return Ok(found);
    }
    let (made, duration) = counted(|| compile(graph, settings));
    let made = Arc::new(made.inspect_err(|_| repro::did_not_compile(graph))?);
    dump::compiled(graph, settings, &made, duration);
    COMPILED.fetch_add(1, Ordering::Relaxed);
    let bytes = graph.bytes() + size(&made);
    executables().insert(key, made.clone(), bytes);
    Ok(made)
}

/// Memory that an executable holds, roughly: its code and its constants.
fn size(executable: &Executable) -> usize {
    let code: usize = executable.kernels().iter().map(|k| k.code().len()).sum();
    size_of::<Executable>() + code + allocated_scratch(executable.program())
}

/// How many are kept, their bytes, and how many were ever compiled.
pub(crate) fn stats() -> (usize, usize, u64) {
    let executables = executables();
    (executables.len(), executables.bytes(), COMPILED.load(Ordering::Relaxed))
}

/// Forgets every executable.
pub(crate) fn clear() {
    executables().retain(|_| false);
}

/// How a run fails: with an error, or with a panic in a buffer function of the user's.
pub(crate) enum Failed {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

/// Runs an executable. A panic in a user's buffer function goes on in the caller.
pub(crate) fn run(executable: &Executable, inputs: &mut [Input<'_>]) -> Result<Results, Error> {
    raised(executable.run(inputs))
}

/// The same, into a list without results.
pub(crate) fn run_into(
    executable: &Executable,
    results: &mut Results,
    inputs: &mut [Input<'_>],
) -> Result<(), Error> {
    raised(executable.run_into(results, inputs))
}

/// The same so many times.
pub(crate) fn repeat(executable: &Executable, inputs: &[Tensor], times: usize) -> Result<Results, Error> {
    raised(executable.repeat(inputs, times))
}

fn raised<T>(results: Result<T, RunError>) -> Result<T, Error> {
    results.map_err(told).map_err(|failed| match failed {
        Failed::Error(error) => error,
        Failed::Panic(payload) => std::panic::resume_unwind(payload),
    })
}

/// The same for callers that have something to say about a panic, into a list without results.
pub(crate) fn try_run(
    executable: &Executable,
    results: &mut Results,
    inputs: &mut [Input<'_>],
) -> Result<(), Failed> {
    executable.run_into(results, inputs).map_err(told)
}

fn told(error: RunError) -> Failed {
    Failed::Error(match error {
        RunError::Library { name, error } => failure(&name, error),
        RunError::Panicked { payload, .. } => return Failed::Panic(payload),
        stopped @ (RunError::Cancelled | RunError::TimeLimit(_)) => {
            Error::new(ErrorKind::Stopped, stopped.to_string()).while_running()
        }
        other => Error::bug(other),
    })
}

/// What a function on buffers failed with: an error of ours as it is, any other in words.
pub(crate) fn failure(name: &str, error: CallError) -> Error {
    let error = match error.downcast::<Error>() {
        Ok(error) => return *error,
        Err(error) => error,
    };
    match error.downcast::<InElement>() {
        Ok(inner) => {
            let InElement { element, size, error } = *inner;
            failure(name, error).note(format!("in element {element} of the {size} of `vmap`"))
        }
        Err(error) => Error::new(ErrorKind::Library, format!("`{name}` failed: {error}")).while_running(),
    }
}
