//! Stack buffers that are not used any more go; those that are too large for a stack become parameters, for which
//! the program has memory: as much for each iteration of an outermost `each`, so that threads can share these.

use rustc_hash::FxHashMap;
use tracewell_array::DType;
use tracewell_kernel::{BufferId, Index, Kernel, Param, Region, Size, Stmt, Value, Window};

/// Bytes of stack buffers that a kernel keeps, smallest first.
const STACK: usize = 16 << 10;
/// Bytes that all iterations may have for themselves: more are not worth the threads.
const APART: usize = 4 << 20;

/// What a buffer is called now, and from where on it is an iteration's: elements for each.
type Moved = (BufferId, Option<(Value, i64)>);

/// Moves stack buffers into parameters after the first `params`. Returns what these are.
pub(crate) fn spill(kernel: Kernel, params: usize) -> (Kernel, Vec<(DType, usize)>) {
    let mut counts: FxHashMap<BufferId, usize> = FxHashMap::default();
    count(&kernel.body, &mut counts);
    let mut used: Vec<usize> =
        (0..kernel.locals.len()).filter(|i| counts.contains_key(&BufferId((params + i) as u32))).collect();
    used.sort_by_key(|&i| kernel.locals[i].len * kernel.locals[i].dtype.size());
    let (mut kept, mut moved, mut bytes) = (Vec::new(), Vec::new(), 0);
    for i in used {
        bytes += kernel.locals[i].len * kernel.locals[i].dtype.size();
        if bytes <= STACK { kept.push(i) } else { moved.push(i) }
    }
    let moved_bytes: usize =
        moved.iter().map(|&i| kernel.locals[i].len * kernel.locals[i].dtype.size()).sum();
    let apart = iterations(&kernel.body).filter(|(_, count)| moved_bytes.saturating_mul(*count) <= APART);
    let own = |i: usize| apart.map(|(var, _)| (var, kernel.locals[i].len as i64));
    let mut names: FxHashMap<BufferId, Moved> =
        (0..params).map(|i| (BufferId(i as u32), (BufferId(i as u32), None))).collect();
    for (k, &i) in moved.iter().chain(&kept).enumerate() {
        let own = if k < moved.len() { own(i) } else { None };
        names.insert(BufferId((params + i) as u32), (BufferId((params + k) as u32), own));
    }
    let shared: Vec<(BufferId, usize)> = moved
        .iter()
        .map(|&i| BufferId((params + i) as u32))
        .map(|buffer| (buffer, counts[&buffer]))
        .collect();
    let body = match (apart, &kernel.body.stmts[..]) {
        (Some(_), [Stmt::Each { var, extent, body }]) => {
            let body = renamed(body.clone(), &names, &shared);
            Region { stmts: vec![Stmt::Each { var: *var, extent: *extent, body }], ..kernel.body }
        }
        _ => renamed(kernel.body, &names, &shared),
    };
    let mut all = kernel.params;
    all.extend(moved.iter().map(|&i| Param { dtype: kernel.locals[i].dtype, written: true, own: true }));
    let times = apart.map_or(1, |(_, count)| count);
    let scratch = moved.iter().map(|&i| (kernel.locals[i].dtype, kernel.locals[i].len * times)).collect();
    let locals = kept.iter().map(|&i| kernel.locals[i]).collect();
    (Kernel { params: all, locals, body, ..kernel }, scratch)
}

/// The variable of the one `each` around everything, and how often it runs.
fn iterations(region: &Region) -> Option<(Value, usize)> {
    match &region.stmts[..] {
        [Stmt::Each { var, extent: Size::Const(count), .. }] => Some((*var, usize::try_from(*count).ok()?)),
        _ => None,
    }
}

/// How many statements use each buffer.
fn count(region: &Region, counts: &mut FxHashMap<BufferId, usize>) {
    for stmt in &region.stmts {
        match stmt {
            Stmt::Op { .. } | Stmt::Poll => {}
            Stmt::Load { buffer, .. } | Stmt::Store { buffer, .. } => {
                *counts.entry(*buffer).or_default() += 1
            }
            Stmt::Call { windows, .. } => {
                windows.iter().for_each(|window| *counts.entry(window.buffer).or_default() += 1);
            }
            Stmt::Each { body, .. } | Stmt::For { body, .. } | Stmt::Reduce { body, .. } => {
                count(body, counts)
            }
            Stmt::While { cond, body, .. } => {
                count(cond, counts);
                count(body, counts);
            }
            Stmt::If { then, otherwise, .. } => {
                count(then, counts);
                count(otherwise, counts);
            }
        }
    }
}

/// Buffers by their new names. An `each` whose iterations had buffers of their own, which they share now, runs its
/// iterations in order.
fn renamed(region: Region, names: &FxHashMap<BufferId, Moved>, shared: &[(BufferId, usize)]) -> Region {
    let renamed = |region| renamed(region, names, shared);
    let place = |buffer: BufferId, mut index: Index| {
        let (buffer, own) = names[&buffer];
        index.terms.extend(own.map(|(var, len)| (var, Size::Const(len))));
        (buffer, index)
    };
    let stmts = region.stmts.into_iter().map(|stmt| match stmt {
        Stmt::Load { out, buffer, index } => {
            let (buffer, index) = place(buffer, index);
            Stmt::Load { out, buffer, index }
        }
        Stmt::Store { buffer, index, value } => {
            let (buffer, index) = place(buffer, index);
            Stmt::Store { buffer, index, value }
        }
        Stmt::Call { call, windows } => {
            let windows = windows.into_iter().map(|window| {
                let (buffer, start) = place(window.buffer, window.start);
                Window { buffer, start }
            });
            Stmt::Call { call, windows: windows.collect() }
        }
        Stmt::Each { var, extent, body } => {
            let mut counts = FxHashMap::default();
            count(&body, &mut counts);
            let in_order = shared.iter().any(|(buffer, all)| counts.get(buffer) == Some(all));
            let body = renamed(body);
            if in_order {
                Stmt::For { var, extent, carries: Vec::new(), body }
            } else {
                Stmt::Each { var, extent, body }
            }
        }
        Stmt::For { var, extent, carries, body } => Stmt::For { var, extent, carries, body: renamed(body) },
        Stmt::Reduce { var, extent, accumulators, body } => {
            Stmt::Reduce { var, extent, accumulators, body: renamed(body) }
        }
        Stmt::While { carries, cond, body } => {
            Stmt::While { carries, cond: renamed(cond), body: renamed(body) }
        }
        Stmt::If { cond, outs, then, otherwise } => {
            Stmt::If { cond, outs, then: renamed(then), otherwise: renamed(otherwise) }
        }
        stmt @ (Stmt::Op { .. } | Stmt::Poll) => stmt,
    });
    Region { stmts: stmts.collect(), yields: region.yields }
}
