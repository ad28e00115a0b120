//! `checking_keys`: a random key that is used a second time is found.

use std::cell::{Cell, RefCell};

use rustc_hash::FxHashMap;
use tracewell_graph::Location;
use tracewell_trace::{Error, ErrorKind, Event, Switch, Value, notify};

use crate::array::{Array, found_by};

thread_local! {
    static CHECKING: Cell<usize> = const { Cell::new(0) };
    /// The keys that were used, and where.
    static USED: RefCell<FxHashMap<Used, Location>> = RefCell::default();
}

/// On where keys are watched.
pub(crate) static CHECK_KEYS: Switch = Switch::new(&CHECKING);

/// What tells keys apart.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Used {
    /// Its words, where they are known.
    Words(u128),
    /// Its place in a trace, which is known by its number.
    Traced(u64, u32),
}

/// Runs `f`; a random key that is used a second time is an error that names both lines.
///
/// Numbers that are drawn with one key are not independent: they are the same, or parts of each other. A key is used
/// by whatever draws with it and by `split`, but not by `fold_in`. Keys are told apart by their words or, while a
/// function is traced, by where they come from: two arguments that are given the same key are not found. The check
/// holds for what happens on the current thread, and jitted functions are traced at every call.
///
/// ```
/// use tracewell::prelude::*;
///
/// let draw = || -> Result<Array> {
///     let f = jit(|key: &random::Key| -> Result<Array> {
///         Ok(random::normal(key, [2], F32) + random::uniform(key, [2], F32))
///     });
///     f.call(&random::key(0))
/// };
/// assert!(draw().is_ok());
/// let error = checking_keys(draw).unwrap_err();
/// assert_eq!(error.message(), "a random key is used a second time");
/// ```
pub fn checking_keys<R>(f: impl FnOnce() -> R) -> R {
    /// What was used is forgotten with the outermost check.
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            if !CHECK_KEYS.is_on() {
                USED.take();
            }
        }
    }
    let _forget = Forget;
    super::RETRACE.on(|| CHECK_KEYS.on(f))
}

/// Notes that a key is used up; an error if it was before.
pub(crate) fn use_key(words: &Array, location: &Location) -> Result<(), Error> {
    if !CHECK_KEYS.is_on() {
        return Ok(());
    }
    let used = match words.value() {
        Value::Traced(tracer) if tracer.value().is_none() => {
            Used::Traced(tracer.frame().id(), tracer.var().0)
        }
        value => match value.known().filter(|tensor| tensor.len() == 2) {
            Some(words) => Used::Words(words.literal(0).bits() << 32 | words.literal(1).bits()),
            // Many keys at once are none of them.
            None => return Ok(()),
        },
    };
    let first = USED.with_borrow_mut(|all| match all.get(&used) {
        Some(first) => Some(first.clone()),
        None => {
            all.insert(used, location.clone());
            None
        }
    });
    let Some(first) = first else {
        // What is drawn is told of by its primitives: that it uses the key up is told of here.
        notify(&Event::UseKey { words: words.value(), location });
        return Ok(());
    };
    let error = Error::new(ErrorKind::KeyReused, "a random key is used a second time")
        .note(format!("it was used before at {first}"))
        .help("`random::split` it, and use each of the keys once");
    Err(found_by(error, "use_key", &[words], &[]))
}
