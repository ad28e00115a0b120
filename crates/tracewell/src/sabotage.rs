//! Steps of the compiler that are broken on purpose, for tests of what finds such mistakes. Never otherwise.

pub use tracewell_kernel::steps::Fault;

use tracewell_codegen::{Target, Width};

use crate::executor::forget_programs;

/// Runs `f` with a step broken on this thread. What is compiled in it is of no use to others.
pub fn breaking<R>(fault: Fault, f: impl FnOnce() -> R) -> R {
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            forget_programs();
        }
    }
    forget_programs();
    let _forget = Forget;
    tracewell_kernel::steps::breaking(fault, f)
}

/// Whether loops may be vectors that are wider than Cranelift's.
pub fn has_wide_vectors() -> bool {
    Target::host().width() > Width::W128
}
