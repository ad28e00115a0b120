//! The one hook: observers see every API call, user function, primitive, question for a value, failure, leak,
//! returned function and cache hit. They never change a result, and where there is none, nothing is made for
//! them.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tracewell_array::Tensor;
use tracewell_graph::{Graph, Location, Prim};

use crate::api::Api;
use crate::error::Error;
use crate::form::Form;
use crate::frame::current;
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
        /// What it was called on.
        called: &'a Called,
        /// The line that called it.
        location: &'a Location,
    },
    /// It returned, or failed.
    ApiExit {
        /// Which one.
        api: Api,
        /// Its results, or the failure that leaves it; a failure that is not ours is not known.
        results: Result<&'a Form<Value>, Option<&'a Error>>,
    },
    /// A user's function starts, on tracers or, where nothing is traced, on arrays.
    FunctionEnter {
        /// Its name, where known.
        function: Option<&'a str>,
        /// What it is for the API: a condition, a body; empty where it is the only one.
        role: &'static str,
        /// Whether it is one of ours, by which one API is made of others.
        internal: bool,
        /// The tracers it is given.
        arguments: &'a [Value],
        /// Where it is defined, or where it was given to the API.
        location: &'a Location,
    },
    /// A user's function returned, or failed.
    FunctionExit {
        /// What it returned; `None` if it failed.
        results: Option<&'a Form<Value>>,
    },
    /// A parameter of the function that has just started, in its tree.
    Parameter {
        /// Its name.
        name: &'a str,
        /// What it is; of a static argument, its text.
        form: &'a Form<Value>,
    },
    /// Something that the API that is running was told, and that is only known now.
    Option {
        /// What it is.
        name: &'static str,
        /// As text.
        value: &'a str,
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
    /// A function that the user marked `#[traced]` was called.
    TracedEnter {
        /// Its name.
        function: &'a str,
        /// What it was called on: its arrays in their trees, anything else as text.
        called: &'a Called,
        /// The line that called it.
        location: &'a Location,
    },
    /// It returned, or failed.
    TracedExit {
        /// What it returned, as far as that is arrays; `None` if it failed.
        results: Option<&'a Form<Value>>,
    },
    /// The compiled graph of the jitted function that is going on is about to run on its arguments.
    Run {
        /// The graph.
        graph: &'a Arc<Graph>,
    },
    /// Machine code ran. Told only where an observer [wants to know](Observer::follows_arrays).
    Executed {
        /// What it computed.
        what: Executed<'a>,
        /// From what: known data, or one literal repeated.
        operands: &'a [Value],
        /// What it gave.
        results: &'a [Tensor],
        /// How long it took, in nanoseconds. Of a first run, compiling is part of it.
        nanoseconds: u64,
        /// On whose line.
        location: &'a Location,
    },
    /// A user's program looked at a value, and may branch on it.
    AskValue {
        /// A tracer that is concrete, or known data.
        value: &'a Value,
        /// By what, such as `item()`.
        what: &'a str,
        /// On which line.
        location: &'a Location,
    },
    /// A random key is used up, where that is checked.
    UseKey {
        /// Its words.
        words: &'a Value,
        /// On which line.
        location: &'a Location,
    },
    /// A failure, before anything is unwound.
    Raise {
        /// Complete, with its place.
        error: &'a Error,
    },
    /// A panic that is not ours leaves a function.
    Panic {
        /// What it says, where that is text.
        text: Option<&'a str>,
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
        /// The function, by a number of its own. It is called as [`Api::Returned`].
        number: u64,
    },
    /// A call found its trace in the cache.
    CacheHit {
        /// The function's name.
        function: &'a str,
        /// The line that called it.
        location: &'a Location,
    },
}

/// What machine code computed.
#[derive(Clone, Copy, Debug)]
pub enum Executed<'a> {
    /// One primitive.
    Primitive(&'a Prim),
    /// The graph of a jitted function, compiled as a whole.
    Graph(&'a Arc<Graph>),
}

/// What an API was called on: its arguments by the names of its parameters, and what else it was told.
#[derive(Clone, Debug, Default)]
pub struct Called {
    /// Arrays, in their trees.
    pub arguments: Vec<(&'static str, Form<Value>)>,
    /// Anything else, as text: axes, lengths, policies.
    pub options: Vec<(&'static str, String)>,
}

impl Called {
    /// All its arrays, flattened.
    pub fn values(&self) -> Vec<&Value> {
        self.arguments.iter().flat_map(|(_, form)| form.leaves()).collect()
    }

    /// With something else that it was told.
    pub fn option(mut self, name: &'static str, value: impl Into<String>) -> Called {
        self.options.push((name, value.into()));
        self
    }
}

/// Sees what happens.
pub trait Observer: Send + Sync {
    /// Called for every event, on the thread where it happens.
    fn observe(&self, event: &Event<'_>);

    /// Whether it follows arrays from one run of machine code to the next: it is told of each run, which is timed, and
    /// arrays of one element are not taken for numbers. Others do not pay for that.
    fn follows_arrays(&self) -> bool {
        false
    }
}

thread_local! {
    static OBSERVERS: RefCell<Vec<Arc<dyn Observer>>> = const { RefCell::new(Vec::new()) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static EXECUTION_COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The observer of all threads, if there is one.
static EVERYWHERE: RwLock<Option<Arc<dyn Observer>>> = RwLock::new(None);

/// Whether there is one: what a call that nobody watches asks, without a lock.
static EVERYWHERE_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Sets the observer of all threads, beside those of each, or takes it away. What is going on meanwhile on other
/// threads may be seen in part.
pub fn observe_everywhere(observer: Option<Arc<dyn Observer>>) {
    let mut place = EVERYWHERE.write().unwrap_or_else(PoisonError::into_inner);
    EVERYWHERE_COUNT.store(usize::from(observer.is_some()), Ordering::Relaxed);
    *place = observer;
}

/// An observer is on this thread while this is alive.
#[derive(Debug)]
pub struct Observing(());

impl Observing {
    /// Adds an observer beside those already there.
    pub fn start(observer: Arc<dyn Observer>) -> Observing {
        EXECUTION_COUNT.set(EXECUTION_COUNT.get() + usize::from(observer.follows_arrays()));
        OBSERVERS.with_borrow_mut(|all| all.push(observer));
        COUNT.set(COUNT.get() + 1);
        Observing(())
    }
}

impl Drop for Observing {
    fn drop(&mut self) {
        let gone = OBSERVERS.with_borrow_mut(Vec::pop);
        COUNT.set(COUNT.get() - 1);
        let saw = gone.is_some_and(|observer| observer.follows_arrays());
        EXECUTION_COUNT.set(EXECUTION_COUNT.get() - usize::from(saw));
    }
}

/// Runs `f` with an observer on this thread, beside those already there.
pub fn observing<R>(observer: Arc<dyn Observer>, f: impl FnOnce() -> R) -> R {
    let _observing = Observing::start(observer);
    f()
}

/// Runs `f` without the observers of this thread: what it does was done before.
pub fn unobserved<R>(f: impl FnOnce() -> R) -> R {
    struct Return(Vec<Arc<dyn Observer>>, usize, usize);
    impl Drop for Return {
        fn drop(&mut self) {
            OBSERVERS.set(std::mem::take(&mut self.0));
            COUNT.set(self.1);
            EXECUTION_COUNT.set(self.2);
        }
    }
    let _return = Return(OBSERVERS.take(), COUNT.replace(0), EXECUTION_COUNT.replace(0));
    f()
}

/// Whether anyone looks. What only an observer needs is not made otherwise.
#[inline]
pub fn is_observed() -> bool {
    COUNT.get() > 0 || is_observed_everywhere()
}

#[inline]
fn is_observed_everywhere() -> bool {
    EVERYWHERE_COUNT.load(Ordering::Relaxed) > 0
}

/// Whether anyone wants to know of runs of machine code.
#[inline]
pub fn is_execution_observed() -> bool {
    EXECUTION_COUNT.get() > 0 || is_observed_everywhere()
}

/// Whether somebody follows arrays, and what happens now happens at once: then an array of one element must stay one. A
/// trace that may be cached is the same whether somebody watches or not.
pub fn are_arrays_followed() -> bool {
    is_execution_observed() && current().is_none_or(|frame| frame.evaluates())
}

/// Tells every observer of this thread. No borrow is held while they run, so that they may use arrays.
pub fn notify(event: &Event<'_>) {
    if !is_observed() {
        return;
    }
    for at in 0..COUNT.get() {
        let observer = OBSERVERS.with_borrow(|all| all.get(at).cloned());
        if let Some(observer) = observer {
            observer.observe(event);
        }
    }
    if is_observed_everywhere() {
        let observer = EVERYWHERE.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(observer) = observer {
            observer.observe(event);
        }
    }
}
