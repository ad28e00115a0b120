//! `jit`: functions traced once per signature, compiled, cached.

mod call;
mod closure;
mod entry;
mod lower;
mod signature;
mod turn;

pub use call::{Call, Inside, Site};
pub use closure::{Jit, jit};
pub use entry::{CacheStats, cache_stats, clear_caches};
pub(crate) use entry::{Entry, traces_of};
pub use lower::{Lowered, lower};
pub(crate) use lower::{asm, clif, step_cost};
pub(crate) use signature::{Difference, Signature};
