//! Running programs: code memory, threads, caches, and calls of the library and of users' functions.
//!
//! An [`Executable`] is a program whose kernels are machine code. Reading order: `code` puts machine code into
//! memory, `cache` keeps one copy of each kernel, `executable` runs the steps of a program, `launch` runs one kernel
//! on one or several threads, which have copies of their own by `reread`, `copy` an array, `library` makes the calls
//! of a program, `stop` ends a run early.

mod cache;
mod code;
mod copy;
mod error;
mod executable;
mod launch;
mod library;
mod memory;
mod reread;
mod split;
mod stop;

pub use cache::{CompiledKernel, compiled};
pub use code::{CodeMemory, live_code_bytes};
pub use error::{BuildError, RunError};
pub use executable::{Executable, Input, Results, StepTime};
pub use memory::allocated_scratch;
pub use stop::{Cancel, with_cancel, with_time_limit};
pub use tracewell_library::pool;
