//! The numbers of one program.

use std::fmt;

use tracewell::Lowered;
use tracewell_kernel::{Program, Region, Step, Stmt};

/// What a call of a program does.
pub(crate) struct Counts {
    /// Kernels launched.
    kernels: usize,
    /// Library functions called.
    calls: usize,
    /// Bytes of all that each step touches, once a step.
    bytes: usize,
    /// Bytes of memory for what lies between the steps.
    scratch: usize,
    /// Loads, stores and operations in the innermost loops of all kernels.
    inner: usize,
    /// How often memory is asked for in a warm call, its results included.
    allocations: usize,
}

impl Counts {
    pub(crate) fn of(lowered: &Lowered, allocations: usize) -> Counts {
        let program = lowered.program();
        let is_call = |step: &&Step| matches!(step, Step::Call { .. });
        let is_launch = |step: &&Step| matches!(step, Step::Launch { .. });
        Counts {
            kernels: program.steps.iter().filter(is_launch).count(),
            calls: program.steps.iter().filter(is_call).count(),
            bytes: program.steps.iter().map(|step| touched(program, step)).sum(),
            scratch: program.arena,
            inner: program.kernels.iter().map(|kernel| innermost(&kernel.body)).sum(),
            allocations,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { kernels, calls, bytes, scratch, inner, allocations } = self;
        write!(f, "{kernels:>7} {calls:>5} {bytes:>11} {scratch:>9} {inner:>5} {allocations:>11}")
    }
}

fn touched(program: &Program, step: &Step) -> usize {
    let mut slots = step.slots();
    slots.sort();
    slots.dedup();
    let bytes = |slot: &tracewell_kernel::Slot| slot.len * slot.dtype.size();
    slots.into_iter().map(|id| bytes(program.slot(id))).sum()
}

/// The statements in loops that have no loop inside.
fn innermost(region: &Region) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Each { body, .. } | Stmt::For { body, .. } | Stmt::Reduce { body, .. } if !has_loop(body) => {
            body.stmts.len()
        }
        _ => inside(stmt).map(innermost).sum(),
    };
    region.stmts.iter().map(of).sum()
}

fn has_loop(region: &Region) -> bool {
    let is_loop = |stmt: &Stmt| !matches!(stmt, Stmt::If { .. }) && inside(stmt).next().is_some();
    region.stmts.iter().any(|stmt| is_loop(stmt) || inside(stmt).any(has_loop))
}

fn inside(stmt: &Stmt) -> impl Iterator<Item = &Region> {
    let (first, second) = match stmt {
        Stmt::Each { body, .. } | Stmt::For { body, .. } | Stmt::Reduce { body, .. } => (Some(body), None),
        Stmt::While { cond: first, body: second, .. } | Stmt::If { then: first, otherwise: second, .. } => {
            (Some(first), Some(second))
        }
        _ => (None, None),
    };
    first.into_iter().chain(second)
}
