//! The one hook: observers see every API call, user function, primitive, question for a value, failure, leak,
//! returned function and cache hit. They never change a result, and where there is none, nothing is made for
//! them.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use tracewell_graph::{Location, Prim};

use crate::api::Api;
use crate::error::Error;
use crate::value::{Tracer, Value};

/// Something that happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A function-taking API was entered, in uncurried form: the function is named, the arguments are here.
    ApiEnter {
        /// Which one.
        api: Api,
        /// The user's function, where its name is known.
        function: Option<&'a str>,
        /// Its arguments, flattened.
        arguments: &'a [Value],
        /// Names of the arguments.
        names: &'a [String],
        /// The line that called it.
        location: &'a Location,
    },
    /// It returned, or failed.
    ApiExit {
        /// Which one.
        api: Api,
        /// Its results, flattened, or the failure that leaves it.
        results: Result<&'a [Value], &'a Error>,
    },
    /// A user's function starts on tracers.
    FunctionEnter {
        /// Its name, where known.
        function: Option<&'a str>,
        /// The tracers it is given.
        arguments: &'a [Value],
        /// Where it is defined, or where it was given to the API.
        location: &'a Location,
    },
    /// A user's function returned, or failed.
    FunctionExit {
        /// What it returned, flattened; `None` if it failed.
        results: Option<&'a [Value]>,
    },
    /// A primitive was applied.
    Bind {
        /// Which one, with its parameters.
        prim: &'a Prim,
        /// To what.
        operands: &'a [Value],
        /// With what results.
        results: &'a [Value],
        /// Whether the results were known already, so that nothing was computed.
        known: bool,
        /// On whose line.
        location: &'a Location,
    },
    /// A user's program looked at a value, and may branch on it.
    AskValue {
        /// Whose value.
        tracer: &'a Tracer,
        /// On which line.
        location: &'a Location,
    },
    /// A failure, before anything is unwound.
    Raise {
        /// Complete, with its place.
        error: &'a Error,
    },
    /// A tracer was found outside its trace.
    Leak {
        /// The tracer.
        tracer: &'a Tracer,
    },
    /// An API returned a function: a pullback, a pushforward, a compiled function.
    ReturnedFunction {
        /// Which API.
        api: Api,
    },
    /// A call found its trace in the cache.
    CacheHit {
        /// The function's name.
        function: &'a str,
        /// The line that called it.
        location: &'a Location,
    },
}

/// Sees what happens.
pub trait Observer: Send + Sync {
    /// Called for every event, on the thread where it happens.
    fn observe(&self, event: &Event<'_>);
}

thread_local! {
    static OBSERVERS: RefCell<Vec<Arc<dyn Observer>>> = const { RefCell::new(Vec::new()) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Runs `f` with an observer on this thread, beside those already there.
pub fn observing<R>(observer: Arc<dyn Observer>, f: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            OBSERVERS.with_borrow_mut(Vec::pop);
            COUNT.set(COUNT.get() - 1);
        }
    }
    OBSERVERS.with_borrow_mut(|all| all.push(observer));
    COUNT.set(COUNT.get() + 1);
    let _leave = Leave;
    f()
}

/// Whether anyone looks. What only an observer needs is not made otherwise.
pub fn is_observed() -> bool {
    COUNT.get() > 0
}

/// Tells every observer of this thread. No borrow is held while they run, so that they may use arrays.
pub fn notify(event: &Event<'_>) {
    if !is_observed() {
        return;
    }
    let all = OBSERVERS.with_borrow(Clone::clone);
    for observer in all {
        observer.observe(event);
    }
}
