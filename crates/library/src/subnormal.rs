//! Products whose subnormal results are zero.
//!
//! A gradient that vanishes passes through such numbers, and processors are far slower with them. Operands are taken as
//! they are, where the processor can tell the two apart: infinity times a small number is not infinity times zero.
#![allow(unsafe_code, reason = "how a processor treats subnormal numbers is a register of its own")]

/// Runs `work` while this thread rounds subnormal results to zero.
///
/// `work` must be arithmetic whose callers do not mind: nothing of a user's runs here.
pub(crate) fn flushed<T>(work: impl FnOnce() -> T) -> T {
    let _restore = Restore::flushing();
    work()
}

/// What the register held before. It is put back at the end, also of an unwinding one.
struct Restore(Control);

impl Drop for Restore {
    fn drop(&mut self) {
        write(self.0);
    }
}

impl Restore {
    fn flushing() -> Restore {
        let before = read();
        write(before | FLUSH);
        Restore(before)
    }
}

#[cfg(target_arch = "x86_64")]
mod register {
    pub(super) type Control = u32;
    /// Flush to zero.
    pub(super) const FLUSH: Control = 1 << 15;

    pub(super) fn read() -> Control {
        let mut control: Control = 0;
        // SAFETY: stores a register to memory that is ours.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags))
        };
        control
    }

    pub(super) fn write(control: Control) {
        // SAFETY: what is written was read, with one bit changed that decides about subnormal numbers only.
        // `flushed` puts it back before code runs that could tell.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, preserves_flags))
        };
    }
}

#[cfg(target_arch = "aarch64")]
mod register {
    pub(super) type Control = u64;
    pub(super) const FLUSH: Control = 1 << 24;

    pub(super) fn read() -> Control {
        let control: Control;
        // SAFETY: reads a register.
        unsafe {
            std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags))
        };
        control
    }

    pub(super) fn write(control: Control) {
        // SAFETY: what is written was read, with one bit changed that decides about subnormal numbers only.
        // `flushed` puts it back before code runs that could tell.
        unsafe { std::arch::asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod register {
    pub(super) type Control = u32;
    pub(super) const FLUSH: Control = 0;

    pub(super) fn read() -> Control {
        0
    }

    pub(super) fn write(_: Control) {}
}

use register::{Control, FLUSH, read, write};

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    fn half_of_the_smallest_normal() -> f32 {
        black_box(f32::MIN_POSITIVE) * black_box(0.5)
    }

    #[test]
    fn only_inside() {
        assert_ne!(half_of_the_smallest_normal(), 0.0);
        if FLUSH != 0 {
            assert_eq!(flushed(half_of_the_smallest_normal), 0.0);
        }
        assert_ne!(half_of_the_smallest_normal(), 0.0);
        let panicked = std::panic::catch_unwind(|| flushed(|| std::panic::resume_unwind(Box::new(()))));
        assert!(panicked.is_err());
        assert_ne!(half_of_the_smallest_normal(), 0.0);
    }
}
