//! Estimates: what a scalar function costs, and what one iteration of a kernel costs.
//!
//! Rough on purpose. They decide what is recomputed and when threads are used, never what is computed.

use smallvec::SmallVec;
use tracewell_array::{DType, Literal};
use tracewell_graph::MapFn;
use tracewell_kernel::{Kernel, KernelBuilder, Op, Region, Size, Stmt, Value};

/// What loading an element that is in no register costs, in operations.
pub(crate) const LOAD: u32 = 2;

/// Nanoseconds an operation: between what vectors in a cache and scalars from memory take.
const NANOSECONDS: f64 = 0.06;

/// How often a loop runs where that is not known: often enough to be worth keeping.
const TRIPS: u32 = 16;

/// The operations in the expansion of a scalar function.
pub(crate) fn count_ops(f: &MapFn, types: &[DType]) -> u32 {
    let mut builder = KernelBuilder::new();
    let args: SmallVec<[Value; 3]> = types.iter().map(|&t| builder.literal(Literal::zero(t))).collect();
    f(&mut builder, &args);
    region_ops(&builder.finish("").body)
}

fn region_ops(region: &Region) -> u32 {
    region.stmts.iter().map(stmt_ops).fold(0, u32::saturating_add)
}

fn stmt_ops(stmt: &Stmt) -> u32 {
    match stmt {
        Stmt::Op { op, .. } => match op {
            Op::Const(_) | Op::Size(_) => 0,
            Op::Div | Op::Rem | Op::Sqrt => 4,
            _ => 1,
        },
        Stmt::Load { .. } | Stmt::Store { .. } => LOAD,
        Stmt::Each { extent, body, .. }
        | Stmt::For { extent, body, .. }
        | Stmt::Reduce { extent, body, .. } => region_ops(body).saturating_mul(trips(*extent)),
        Stmt::While { cond, body, .. } => {
            region_ops(cond).saturating_add(region_ops(body)).saturating_mul(TRIPS)
        }
        Stmt::If { then, otherwise, .. } => region_ops(then).saturating_add(region_ops(otherwise)),
        Stmt::Call { .. } => 1000,
        Stmt::Poll => 1,
    }
}

/// How often a loop runs.
fn trips(extent: Size) -> u32 {
    match extent {
        Size::Const(count) => u32::try_from(count.max(0)).unwrap_or(u32::MAX),
        Size::Param(_) => TRIPS,
    }
}

/// Nanoseconds for one iteration of a kernel's outermost loop.
pub(crate) fn kernel_cost(kernel: &Kernel) -> u32 {
    let ops = match kernel.body.stmts.as_slice() {
        [Stmt::Each { body, .. }] => region_ops(body),
        _ => region_ops(&kernel.body),
    };
    nanoseconds(f64::from(ops))
}

/// Nanoseconds that so many operations take.
pub(crate) fn nanoseconds(ops: f64) -> u32 {
    (ops * NANOSECONDS).ceil().clamp(1.0, f64::from(u32::MAX)) as u32
}
