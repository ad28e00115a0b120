//! What can be done before a loop instead of in each of its iterations.
//!
//! Cranelift moves pure instructions out of loops, but neither loads nor divisions. A loop enters through a
//! block that runs only if there is an iteration, so a load moved there reads nothing that was not read before.

use rustc_hash::FxHashSet;
use tracewell_kernel::{BufferId, Kernel, Region, Stmt, Value};

/// Whether iterations hand something to each other through memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Iterations {
    /// They do not: `each` and `reduce`.
    Independent,
    /// They may: `for` and `while`.
    InOrder,
}

/// Which statements of a loop's body do the same in every iteration, nested regions apart. `varying` are the
/// loop variable and what is carried.
pub(crate) fn invariant(
    kernel: &Kernel,
    body: &Region,
    varying: &[Value],
    iterations: Iterations,
) -> Vec<bool> {
    let mut inside: FxHashSet<Value> = varying.iter().copied().collect();
    let stores = Stores::of(body);
    let mut stored = false;
    body.stmts
        .iter()
        .map(|stmt| {
            let invariant = match stmt {
                Stmt::Op { args, .. } => args.iter().all(|arg| !inside.contains(arg)),
                Stmt::Load { buffer, index, .. } => {
                    index.terms.iter().all(|(value, _)| !inside.contains(value))
                        && !stores.may_change(kernel, *buffer, stored || iterations == Iterations::InOrder)
                }
                _ => false,
            };
            if !invariant {
                inside.extend(defines(stmt));
            }
            stored |= !matches!(stmt, Stmt::Op { .. } | Stmt::Load { .. });
            invariant
        })
        .collect()
}

/// The values that a statement defines for those after it.
fn defines(stmt: &Stmt) -> Vec<Value> {
    match stmt {
        Stmt::Op { out, .. } | Stmt::Load { out, .. } => vec![*out],
        Stmt::Store { .. } | Stmt::Each { .. } | Stmt::Call { .. } | Stmt::Poll => Vec::new(),
        Stmt::For { carries, .. } | Stmt::While { carries, .. } => carries.iter().map(|c| c.out).collect(),
        Stmt::Reduce { accumulators, .. } => accumulators.iter().map(|a| a.out).collect(),
        Stmt::If { outs, .. } => outs.clone(),
    }
}

/// What a region writes to.
#[derive(Default)]
struct Stores {
    buffers: FxHashSet<BufferId>,
}

impl Stores {
    fn of(region: &Region) -> Stores {
        let mut stores = Stores::default();
        stores.collect(region);
        stores
    }

    fn collect(&mut self, region: &Region) {
        for stmt in &region.stmts {
            match stmt {
                Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Poll => {}
                Stmt::Store { buffer, .. } => {
                    self.buffers.insert(*buffer);
                }
                Stmt::Call { windows, .. } => self.buffers.extend(windows.iter().map(|window| window.buffer)),
                Stmt::Each { body, .. } | Stmt::For { body, .. } | Stmt::Reduce { body, .. } => {
                    self.collect(body)
                }
                Stmt::While { cond, body, .. } => {
                    self.collect(cond);
                    self.collect(body);
                }
                Stmt::If { then, otherwise, .. } => {
                    self.collect(then);
                    self.collect(otherwise);
                }
            }
        }
    }

    /// Whether a store may change what a load reads. A launch may bind one slot to a parameter that is read
    /// and to one that is written, if their elements have one size; independent iterations then read an element
    /// before they write it, so only a store that came `before` in the same iteration matters.
    fn may_change(&self, kernel: &Kernel, buffer: BufferId, before: bool) -> bool {
        let size = kernel.buffer_dtype(buffer).size();
        let is_param = |id: BufferId| (id.0 as usize) < kernel.params.len();
        let mut buffers = self.buffers.iter().copied();
        self.buffers.contains(&buffer)
            || (before
                && is_param(buffer)
                && buffers.any(|id| is_param(id) && kernel.buffer_dtype(id).size() == size))
    }
}

/// Whether a region has neither loops nor branches nor calls.
pub(crate) fn is_straight(region: &Region) -> bool {
    region.stmts.iter().all(|stmt| matches!(stmt, Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Store { .. }))
}
