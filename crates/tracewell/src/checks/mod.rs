//! Checks that are switched on while a closure runs: of leaks, of purity, of random keys, and of the reasons for which functions
//! are traced again. One file each.
//!
//! Each belongs to the thread that switched it on, as observers do, and each nests.

mod keys;
mod leaks;
mod misses;
mod purity;

use std::cell::Cell;

use tracewell_trace::Switch;

pub use keys::checking_keys;
pub(crate) use keys::use_key;
pub use leaks::checking_leaks;
pub use misses::{CacheMiss, explain_cache_misses};
pub(crate) use misses::{explain, mark};
pub use purity::checking_purity;
pub(crate) use purity::{CHECK_PURITY, Seen, compare};

thread_local! {
    static RETRACING: Cell<usize> = const { Cell::new(0) };
}

/// On where jitted functions are traced also if their trace is in the cache. A warm call asks this and nothing else
/// of the checks.
pub(crate) static RETRACE: Switch = Switch::new(&RETRACING);
