//! Running programs: code memory, threads, library calls, caches.
//!
//! An [`Executable`] is a program whose kernels are machine code. Reading order: `code` puts machine code into
//! memory, `cache` keeps one copy of each kernel, `executable` runs the steps of a program, `launch` runs one
//! kernel on one or several threads, `library` is what is called instead of generated, `stop` ends a run early.

mod cache;
mod code;
mod conv;
mod error;
mod executable;
mod fft;
mod launch;
mod library;
mod linalg;
mod matmul;
mod memory;
pub mod pool;
mod sort;
mod split;
mod stop;
mod subnormal;
mod vector_product;

pub use cache::{CompiledKernel, compiled};
pub use code::{CodeMemory, live_code_bytes};
pub use error::{BuildError, RunError};
pub use executable::{Executable, Input, StepTime};
pub use stop::{Cancel, with_cancel, with_time_limit};
