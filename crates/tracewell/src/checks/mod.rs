//! Checks that are switched on while a closure runs: of leaks, of purity, of random keys, and of the reasons for which functions
//! are traced again. One file each.
//!
//! Each belongs to the thread that switched it on, as observers do, and each nests.

mod keys;
mod leaks;
mod misses;
mod purity;
mod values;

use std::cell::Cell;

use tracewell_trace::Switch;

pub use keys::checking_keys;
pub(crate) use keys::{CHECK_KEYS, use_key};
pub use leaks::checking_leaks;
pub use misses::{CacheMiss, explain_cache_misses};
pub(crate) use misses::{explain, mark};
pub use purity::checking_purity;
pub(crate) use purity::{CHECK_PURITY, Seen, compare};
pub(crate) use values::{
    CHECK_COMPILED, CHECK_NANS, check_graph, check_primitive, checks_values, difference,
};
pub use values::{check_compiled, check_nans};

thread_local! {
    static PAUSED: Cell<usize> = const { Cell::new(0) };
    static RETRACING: Cell<usize> = const { Cell::new(0) };
}

/// On where jitted functions are traced also if their trace is in the cache. A warm call asks this and nothing else
/// of the checks.
pub(crate) static RETRACE: Switch = Switch::new(&RETRACING);

/// On while values are looked at: what is run for that is not looked at.
pub(crate) static LOOKING: Switch = Switch::new(&PAUSED);

/// Runs what a check needs.
pub(crate) fn unchecked<R>(f: impl FnOnce() -> R) -> R {
    LOOKING.on(f)
}
