//! Small stack buffers become values: what is stored at a fixed index and loaded again is the value itself, handed
//! on by loops and branches where it changes in them.
//!
//! Deliberately absent: anything about buffers with computed indices. They stay memory.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tracewell_array::{DType, Literal};
use tracewell_kernel::{BufferId, Carry, Index, Kernel, Op, Region, Size, Stmt, Value};

use super::SMALL;

/// An element of a buffer that becomes a value.
type Cell = usize;
type Cells = FxHashSet<Cell>;

/// Turns small buffers into values.
pub(crate) fn promote(kernel: Kernel) -> Kernel {
    let cells = Numbers::of(&kernel);
    if cells.count == 0 {
        return kernel;
    }
    let mut handed = Handed { cells: &cells, on: FxHashMap::default() };
    handed.region(&kernel.body, Cells::default());
    let on = handed.on;
    let mut rewrite = Rewrite {
        cells: &cells,
        on,
        values: kernel.values.clone(),
        now: vec![None; cells.count],
        same: FxHashMap::default(),
    };
    let body = rewrite.region(&kernel.body);
    let values = rewrite.values;
    Kernel { body, values, ..kernel }
}

/// Which buffers become values, and the numbers of their elements.
struct Numbers {
    first: FxHashMap<BufferId, Cell>,
    types: Vec<DType>,
    count: usize,
}

impl Numbers {
    fn of(kernel: &Kernel) -> Numbers {
        let mut numbers = Numbers { first: FxHashMap::default(), types: Vec::new(), count: 0 };
        let mut uses = Uses::default();
        uses.region(&kernel.body);
        let shared = uses.private.iter().filter(|(buffer, count)| uses.counts[buffer] != *count);
        uses.computed.extend(shared.map(|(buffer, _)| *buffer));
        for (i, local) in kernel.locals.iter().enumerate() {
            let buffer = BufferId((kernel.params.len() + i) as u32);
            let is_used = uses.counts.contains_key(&buffer);
            // A loop without turns may reach beyond: nothing does.
            let is_inside = uses.reach.get(&buffer).is_none_or(|&last| last < local.len);
            if local.len <= SMALL && is_used && is_inside && !uses.computed.contains(&buffer) {
                numbers.first.insert(buffer, numbers.count);
                numbers.types.extend(std::iter::repeat_n(local.dtype, local.len));
                numbers.count += local.len;
            }
        }
        numbers
    }

    /// The number of an element, if it becomes a value.
    fn of_access(&self, buffer: BufferId, index: &Index) -> Option<Cell> {
        let first = self.first.get(&buffer)?;
        fixed(index).map(|at| first + at)
    }
}

/// The index, if it is a number.
fn fixed(index: &Index) -> Option<usize> {
    match index.offset {
        Size::Const(n) if index.terms.is_empty() => usize::try_from(n).ok(),
        _ => None,
    }
}

/// How buffers are used.
#[derive(Default)]
struct Uses {
    counts: BTreeMap<BufferId, usize>,
    /// The last element that is used.
    reach: BTreeMap<BufferId, usize>,
    stored: FxHashSet<BufferId>,
    /// What a region stores out of which nothing is handed, and how often the region uses it.
    private: Vec<(BufferId, usize)>,
    /// Those that must stay memory: used at computed indices, or whole.
    computed: FxHashSet<BufferId>,
}

impl Uses {
    fn access(&mut self, buffer: BufferId, index: &Index) {
        *self.counts.entry(buffer).or_default() += 1;
        match fixed(index) {
            Some(at) => self.reaches(buffer, at),
            None => _ = self.computed.insert(buffer),
        }
    }

    fn reaches(&mut self, buffer: BufferId, at: usize) {
        let last = self.reach.entry(buffer).or_default();
        *last = at.max(*last);
    }

    fn region(&mut self, region: &Region) {
        for stmt in &region.stmts {
            match stmt {
                Stmt::Op { .. } | Stmt::Poll => {}
                Stmt::Load { buffer, index, .. } => self.access(*buffer, index),
                Stmt::Store { buffer, index, .. } => {
                    self.access(*buffer, index);
                    self.stored.insert(*buffer);
                }
                Stmt::Call { windows, .. } => {
                    self.computed.extend(windows.iter().map(|window| window.buffer));
                }
                Stmt::For { body, .. } => self.region(body),
                Stmt::If { then, otherwise, .. } => {
                    self.region(then);
                    self.region(otherwise);
                }
                Stmt::Each { body, .. } | Stmt::Reduce { body, .. } => self.enclosed(body),
                Stmt::While { cond, body, .. } => {
                    self.enclosed(cond);
                    self.region(body);
                }
            }
        }
    }

    /// A region out of which nothing is handed: what it stores must be its own.
    fn enclosed(&mut self, region: &Region) {
        let mut inside = Uses::default();
        inside.region(region);
        self.private.extend(inside.stored.iter().map(|buffer| (*buffer, inside.counts[buffer])));
        self.private.extend(inside.private);
        self.stored.extend(inside.stored);
        self.computed.extend(inside.computed);
        inside.reach.into_iter().for_each(|(buffer, at)| self.reaches(buffer, at));
        for (buffer, count) in inside.counts {
            *self.counts.entry(buffer).or_default() += count;
        }
    }
}

/// Which elements each loop and branch hands on: those that change in it and are read after it or in its next turn.
struct Handed<'n> {
    cells: &'n Numbers,
    on: FxHashMap<*const Stmt, Vec<Cell>>,
}

impl Handed<'_> {
    /// What is read at the start of a region or later, given what is read after it.
    fn region(&mut self, region: &Region, mut live: Cells) -> Cells {
        for stmt in region.stmts.iter().rev() {
            match stmt {
                Stmt::Op { .. } | Stmt::Poll | Stmt::Call { .. } => {}
                Stmt::Load { buffer, index, .. } => live.extend(self.cells.of_access(*buffer, index)),
                Stmt::Store { buffer, index, .. } => {
                    if let Some(cell) = self.cells.of_access(*buffer, index) {
                        live.remove(&cell);
                    }
                }
                Stmt::If { then, otherwise, .. } => {
                    let mut changed = self.changed(then);
                    changed.extend(self.changed(otherwise));
                    self.note(stmt, changed, &live);
                    let mut before = self.region(then, live.clone());
                    before.extend(self.region(otherwise, live));
                    live = before;
                }
                Stmt::For { body, .. } => {
                    live = self.turns(body, None, live);
                    self.note(stmt, self.changed(body), &live);
                }
                Stmt::While { cond, body, .. } => {
                    live = self.turns(body, Some(cond), live);
                    self.note(stmt, self.changed(body), &live);
                }
                Stmt::Each { body, .. } | Stmt::Reduce { body, .. } => {
                    live.extend(self.region(body, Cells::default()));
                }
            }
        }
        live
    }

    /// What is read at the start of a turn or later: after the loop, in a turn, or in the next one.
    fn turns(&mut self, body: &Region, cond: Option<&Region>, after: Cells) -> Cells {
        let mut head = after;
        loop {
            let mut start = self.region(body, head.clone());
            if let Some(cond) = cond {
                start.extend(self.region(cond, Cells::default()));
            }
            let before = head.len();
            head.extend(start);
            if head.len() == before {
                return head;
            }
        }
    }

    fn note(&mut self, stmt: &Stmt, changed: Cells, live: &Cells) {
        let mut on: Vec<Cell> = changed.into_iter().filter(|cell| live.contains(cell)).collect();
        on.sort_unstable();
        self.on.insert(std::ptr::from_ref(stmt), on);
    }

    /// The elements that a region stores to.
    fn changed(&self, region: &Region) -> Cells {
        let mut cells = Cells::default();
        for stmt in &region.stmts {
            match stmt {
                Stmt::Store { buffer, index, .. } => cells.extend(self.cells.of_access(*buffer, index)),
                Stmt::For { body, .. } | Stmt::While { body, .. } => cells.extend(self.changed(body)),
                Stmt::If { then, otherwise, .. } => {
                    cells.extend(self.changed(then));
                    cells.extend(self.changed(otherwise));
                }
                // What these store is their own.
                Stmt::Each { .. } | Stmt::Reduce { .. } => {}
                Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Call { .. } | Stmt::Poll => {}
            }
        }
        cells
    }
}

struct Rewrite<'n> {
    cells: &'n Numbers,
    on: FxHashMap<*const Stmt, Vec<Cell>>,
    /// The types of all values.
    values: Vec<DType>,
    /// What each element is at this point.
    now: Vec<Option<Value>>,
    /// Loads that became other values.
    same: FxHashMap<Value, Value>,
}

impl Rewrite<'_> {
    fn fresh(&mut self, dtype: DType) -> Value {
        self.values.push(dtype);
        Value((self.values.len() - 1) as u32)
    }

    fn value(&self, value: Value) -> Value {
        self.same.get(&value).copied().unwrap_or(value)
    }

    fn index(&self, index: &Index) -> Index {
        let terms = index.terms.iter().map(|&(value, stride)| (self.value(value), stride)).collect();
        Index { offset: index.offset, terms }
    }

    /// What an element is now. One that nothing was stored to is anything: zero.
    fn current(&mut self, stmts: &mut Vec<Stmt>, cell: Cell) -> Value {
        if let Some(value) = self.now[cell] {
            return value;
        }
        let dtype = self.cells.types[cell];
        let out = self.fresh(dtype);
        stmts.push(Stmt::Op { out, op: Op::Const(Literal::zero(dtype)), args: SmallVec::new() });
        self.now[cell] = Some(out);
        out
    }

    fn region(&mut self, region: &Region) -> Region {
        let mut stmts = Vec::with_capacity(region.stmts.len());
        region.stmts.iter().for_each(|stmt| self.stmt(&mut stmts, stmt));
        let yields = region.yields.iter().map(|&value| self.value(value)).collect();
        Region { stmts, yields }
    }

    /// The same, with the elements that are handed on among what it yields.
    fn handing(&mut self, region: &Region, on: &[Cell]) -> Region {
        let mut region = self.region(region);
        for &cell in on {
            let value = self.current(&mut region.stmts, cell);
            region.yields.push(value);
        }
        region
    }

    /// The carries of a loop, those for elements last; elements are what the loop hands in from here on.
    fn carries(&mut self, stmts: &mut Vec<Stmt>, carries: &[Carry], on: &[Cell]) -> Vec<Carry> {
        let mut all: Vec<Carry> =
            carries.iter().map(|carry| Carry { init: self.value(carry.init), ..carry.clone() }).collect();
        for &cell in on {
            let init = self.current(stmts, cell);
            let dtype = self.cells.types[cell];
            let (inside, out) = (self.fresh(dtype), self.fresh(dtype));
            self.now[cell] = Some(inside);
            all.push(Carry { init, inside, out });
        }
        all
    }

    /// After a loop, elements are what it hands out.
    fn leave(&mut self, carries: &[Carry], before: Vec<Option<Value>>, on: &[Cell]) {
        self.now = before;
        let outs = &carries[carries.len() - on.len()..];
        on.iter().zip(outs).for_each(|(&cell, carry)| self.now[cell] = Some(carry.out));
    }

    fn stmt(&mut self, stmts: &mut Vec<Stmt>, stmt: &Stmt) {
        let on = self.on.get(&std::ptr::from_ref(stmt)).cloned().unwrap_or_default();
        let rewritten = match stmt {
            Stmt::Op { out, op, args } => {
                let args = args.iter().map(|&arg| self.value(arg)).collect();
                Stmt::Op { out: *out, op: *op, args }
            }
            Stmt::Load { out, buffer, index } => match self.cells.of_access(*buffer, index) {
                Some(cell) => {
                    let value = self.current(stmts, cell);
                    self.same.insert(*out, value);
                    return;
                }
                None => Stmt::Load { out: *out, buffer: *buffer, index: self.index(index) },
            },
            Stmt::Store { buffer, index, value } => {
                let value = self.value(*value);
                match self.cells.of_access(*buffer, index) {
                    Some(cell) => {
                        self.now[cell] = Some(value);
                        return;
                    }
                    None => Stmt::Store { buffer: *buffer, index: self.index(index), value },
                }
            }
            Stmt::Each { var, extent, body } => {
                let before = self.now.clone();
                let body = self.region(body);
                self.now = before;
                Stmt::Each { var: *var, extent: *extent, body }
            }
            Stmt::Reduce { var, extent, accumulators, body } => {
                let before = self.now.clone();
                let body = self.region(body);
                self.now = before;
                Stmt::Reduce { var: *var, extent: *extent, accumulators: accumulators.clone(), body }
            }
            Stmt::For { var, extent, carries, body } => {
                let mut carries = self.carries(stmts, carries, &on);
                let before = self.now.clone();
                let body = self.handing(body, &on);
                self.leave(&carries, before, &on);
                carries.shrink_to_fit();
                Stmt::For { var: *var, extent: *extent, carries, body }
            }
            Stmt::While { carries, cond, body } => {
                let carries = self.carries(stmts, carries, &on);
                let before = self.now.clone();
                let cond = self.region(cond);
                self.now.clone_from(&before);
                let body = self.handing(body, &on);
                self.leave(&carries, before, &on);
                Stmt::While { carries, cond, body }
            }
            Stmt::If { cond, outs, then, otherwise } => {
                let cond = self.value(*cond);
                let before = self.now.clone();
                let then = self.handing(then, &on);
                self.now.clone_from(&before);
                let otherwise = self.handing(otherwise, &on);
                self.now = before;
                let mut outs = outs.clone();
                for &cell in &on {
                    let out = self.fresh(self.cells.types[cell]);
                    self.now[cell] = Some(out);
                    outs.push(out);
                }
                Stmt::If { cond, outs, then, otherwise }
            }
            Stmt::Call { call, windows } => {
                let windows = windows.iter().map(|window| tracewell_kernel::Window {
                    buffer: window.buffer,
                    start: self.index(&window.start),
                });
                Stmt::Call { call: call.clone(), windows: windows.collect() }
            }
            Stmt::Poll => Stmt::Poll,
        };
        stmts.push(rewritten);
    }
}

#[cfg(test)]
mod tests {
    use tracewell_array::Tensor;
    use tracewell_kernel::{Cells, eval_kernel, read_kernel};

    use super::*;

    /// Both branches start from what was there before them, and a loop hands on what changes in one of them.
    #[test]
    fn branches_do_not_see_each_other() {
        let kernel = read_kernel(
            "kernel @k(b0: bool, b1: mut f32) {
               local b2: f32[1]
               %0: bool = load b0[0]
               %1: f32 = const 1.0
               store b2[0], %1
               for %2 < 3 {
                 if %0 {
                   %3: f32 = const 5.0
                   store b2[0], %3
                 } else {
                   %4: f32 = load b2[0]
                   %5: f32 = add %4, %4
                   store b2[0], %5
                 }
               }
               %6: f32 = load b2[0]
               store b1[0], %6
             }",
            &|_| None,
        )
        .unwrap();
        let promoted = promote(kernel.clone());
        assert!(!promoted.to_string().contains("load b2"), "{promoted}");
        for (chosen, expected) in [(true, 5.0f32), (false, 8.0)] {
            for kernel in [&kernel, &promoted] {
                let mut buffers = [Cells::of(&Tensor::scalar(chosen)), Cells::undefined(DType::F32, 1)];
                eval_kernel(kernel, &mut buffers, &[], 1_000).unwrap();
                assert_eq!(buffers[1].cells(), [Some(Literal::new(expected))], "{kernel}");
            }
        }
    }
}
