//! The bytes of a program: of its arguments, of its results, and of what lies between.

use tracewell::lower;
use tracewell_kernel::{Role, Slot};

use super::Work;

/// Unknown of programs that are not compiled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    arguments: f64,
    results: f64,
    scratch: f64,
}

impl Bytes {
    pub(super) const UNKNOWN: Bytes = Bytes { arguments: f64::NAN, results: f64::NAN, scratch: f64::NAN };

    /// Of a program of ours, as it was planned.
    pub(super) fn of(work: &mut Work) -> Bytes {
        let Ok(lowered) = lower(|| work.arrays()) else { return Bytes::UNKNOWN };
        let program = lowered.program();
        let sum = |wanted: fn(&Role) -> bool| {
            let bytes = |slot: &Slot| (slot.len * slot.dtype.size()) as f64;
            program.slots.iter().filter(|slot| wanted(&slot.role)).map(bytes).sum()
        };
        let results = sum(|role| matches!(role, Role::Output { .. }));
        Bytes {
            arguments: sum(|role| matches!(role, Role::Input(_) | Role::Constant(_))),
            results,
            scratch: lowered.memory() as f64 - results,
        }
    }

    /// As they are sent.
    pub(super) fn numbers(&self) -> [f64; 3] {
        [self.arguments, self.results, self.scratch]
    }

    pub(super) fn from_numbers(numbers: &[f64]) -> Bytes {
        match *numbers {
            [arguments, results, scratch] => Bytes { arguments, results, scratch },
            _ => Bytes::UNKNOWN,
        }
    }

    /// What a call takes beside its arguments, if it is known.
    pub(super) fn taken(&self) -> Option<f64> {
        Some(self.results + self.scratch).filter(|bytes| bytes.is_finite())
    }

    /// What a call has to read and to write at least.
    pub(super) fn moved(&self) -> (f64, f64) {
        (self.arguments, self.results)
    }
}
