//! Growing a random kernel, statement by statement.
//!
//! Invariant: whatever is drawn, the kernel verifies: loads and stores follow the grid, and every other index is
//! clamped.

use std::cell::RefCell;

use smallvec::{SmallVec, smallvec};
use tracewell_array::{DType, Literal, Tensor};

use super::rng::Rng;
use crate::build::KernelBuilder;
use crate::ir::{BufferId, Index, Size, Value};
use crate::op::{Combine, Comparison, Op};

/// Length of the buffer that is loaded from at computed places.
const TABLE: i64 = 19;

/// How often the innermost statements run, about.
const WORK: i64 = 5_000;

/// Where the element of a row and column lies: `offset + row × stride + col × stride`.
#[derive(Clone, Copy)]
struct Grid {
    buffer: BufferId,
    offset: Size,
    strides: [Size; 2],
}

/// A kernel under growth.
pub(super) struct Grower {
    rng: Rng,
    pub(super) lens: Vec<usize>,
    pub(super) sizes: Vec<i64>,
    pub(super) inputs: Vec<Tensor>,
    /// A few types, so that values of one type meet.
    types: Vec<DType>,
    rows: i64,
    cols: i64,
    extents: [Size; 2],
    /// What can be loaded at a row and column.
    loads: Vec<Grid>,
    table: BufferId,
    /// The values that can be used here, and whether they were.
    scope: Vec<(Value, bool)>,
    row: Option<Value>,
    /// The variables of the loops over columns around here.
    columns: Vec<Value>,
    /// How often this place is reached.
    work: i64,
    /// How many nests may still be made.
    left: usize,
    /// Whether there is nothing but loops of straight lines, and operations that vectors have.
    plain: bool,
}

impl Grower {
    pub(super) fn new(seed: u64, plain: bool) -> Grower {
        let mut rng = Rng(seed);
        let types = vec![
            DType::I64,
            rng.pick(&[DType::F32, DType::F64]),
            rng.pick(DType::REAL),
            rng.pick(DType::REAL),
        ];
        let (rows, cols) = (rng.pick(&[0, 1, 1, 2, 3, 7, 17]), rng.pick(&[0, 1, 2, 5, 16, 33, 70]));
        let (lens, sizes, inputs, loads, scope, columns) = Default::default();
        let (extents, table) = ([Size::Const(0); 2], BufferId(0));
        // Many without nests, which are the ones that vectorise.
        let left = rng.pick(&[0, 0, 1, 3, 8]);
        #[rustfmt::skip]
        return Grower {
            rng, lens, sizes, inputs, types, rows, cols, extents, loads, table, scope, row: None, columns, work: 1, left, plain,
        };
    }

    /// Parameters, then one row or a loop over rows.
    pub(super) fn body(&mut self, b: &mut KernelBuilder) {
        self.extents = [self.rows, self.cols].map(|n| self.size(b, n));
        for _ in 0..1 + self.rng.below(3) {
            let grid = self.grid(b, false);
            self.loads.push(grid);
        }
        self.table = self.param(b, TABLE, false);
        let (out, per_row) = (self.grid(b, true), self.param(b, self.rows, true));
        let local = (self.rng.below(2) == 0).then(|| b.local(self.types[2], self.cols as usize));
        self.ops(b);
        if self.rows == 1 && self.rng.below(2) == 0 {
            return self.one_row(b, out, per_row, local);
        }
        self.inside(self.rows, |g| {
            b.each(g.extents[0], |b, row| {
                g.row = Some(row);
                g.scope.push((row, true));
                g.one_row(b, out, per_row, local);
            });
        });
    }

    /// A number that is part of the kernel or given by the launch.
    fn size(&mut self, b: &mut KernelBuilder, n: i64) -> Size {
        if self.rng.below(2) == 0 {
            return Size::Const(n);
        }
        self.sizes.push(n);
        b.size()
    }

    fn param(&mut self, b: &mut KernelBuilder, len: i64, written: bool) -> BufferId {
        let dtype = self.rng.pick(&self.types);
        let literals: Vec<Literal> = (0..len).map(|_| self.rng.literal(dtype)).collect();
        self.lens.push(literals.len());
        self.inputs
            .push(Tensor::from_literals(dtype, [literals.len()], &literals).expect("as many as asked for"));
        b.param(dtype, written)
    }

    /// A parameter in row-major or column-major order, or backwards, or (if only loaded) one row for all.
    fn grid(&mut self, b: &mut KernelBuilder, written: bool) -> Grid {
        let (rows, cols) = (self.rows, self.cols);
        let (skip, row, col) = match self.rng.below(if written { 3 } else { 4 }) {
            0 => (self.rng.below(4) as i64, cols, 1),
            1 => (0, 1, rows),
            2 => (rows * cols - 1, -cols, -1),
            _ => (0, 0, 1),
        };
        let buffer = self.param(b, rows * cols + skip.clamp(0, 3), written);
        Grid { buffer, offset: self.size(b, skip), strides: [row, col].map(|stride| self.size(b, stride)) }
    }

    fn at(&self, grid: Grid, col: Value) -> Index {
        let row = self.row.map(|row| (row, grid.strides[0]));
        Index { offset: grid.offset, terms: row.into_iter().chain([(col, grid.strides[1])]).collect() }
    }

    /// Runs `body` in a loop of that extent, or a branch; what it defines is out of scope afterwards.
    fn inside<T>(&mut self, extent: i64, body: impl FnOnce(&mut Self) -> T) -> T {
        let (work, scope, columns) = (self.work, self.scope.len(), self.columns.len());
        self.work *= extent.max(1);
        let result = body(self);
        self.work = work;
        self.scope.truncate(scope);
        self.columns.truncate(columns);
        result
    }

    /// A loop over columns that stores to each.
    fn each_column(&mut self, b: &mut KernelBuilder, out: Grid) {
        self.inside(self.cols, |g| {
            b.each(g.extents[1], |b, col| {
                g.column(col);
                g.statements(b);
                let index = g.at(out, col);
                g.store(b, out.buffer, index.clone());
                if !g.plain && g.rng.below(4) == 0 {
                    let stored = b.load(out.buffer, index.clone());
                    g.scope.push((stored, false));
                    g.ops(b);
                    let (cond, next) = (g.value(b, DType::Bool), g.value(b, b.dtype(stored)));
                    let then = |b: &mut KernelBuilder| {
                        b.store(out.buffer, index, next);
                        smallvec![]
                    };
                    b.if_else(cond, then, |_| smallvec![]);
                }
            });
        });
    }

    fn one_row(&mut self, b: &mut KernelBuilder, out: Grid, per_row: BufferId, local: Option<BufferId>) {
        if let Some(buffer) = local {
            let grid = Grid { buffer, offset: Size::Const(0), strides: [Size::Const(0), Size::Const(1)] };
            self.each_column(b, grid);
            self.loads.push(grid);
        }
        self.statements(b);
        self.each_column(b, out);
        let terms = self.row.into_iter().map(|row| (row, Size::Const(1))).collect();
        self.store(b, per_row, Index { offset: Size::Const(0), terms });
    }

    fn column(&mut self, col: Value) {
        self.columns.push(col);
        self.scope.push((col, true));
    }

    fn store(&mut self, b: &mut KernelBuilder, buffer: BufferId, index: Index) {
        let value = self.value(b, b.buffer_dtype(buffer));
        b.store(buffer, index, value);
    }

    /// A value of a type: mostly one that was not used yet, so that little is computed in vain.
    fn value(&mut self, b: &mut KernelBuilder, dtype: DType) -> Value {
        let unused = self.scope.iter().rposition(|(_, used)| !used);
        let same: Vec<Value> = self.scope.iter().map(|(v, _)| *v).filter(|v| b.dtype(*v) == dtype).collect();
        match (self.rng.below(8), unused, same.as_slice()) {
            (1.., Some(i), _) => {
                self.scope[i].1 = true;
                let value = self.scope[i].0;
                if b.dtype(value) == dtype {
                    value
                } else if dtype.is_bool() {
                    let other = b.literal(self.rng.literal(b.dtype(value)));
                    b.compare(Comparison::Lt, value, other)
                } else {
                    b.op(Op::Convert(dtype), &[value])
                }
            }
            (1.., None, [_, ..]) => self.rng.pick(&same),
            _ => b.literal(self.rng.literal(dtype)),
        }
    }

    /// A few operations.
    fn ops(&mut self, b: &mut KernelBuilder) {
        for _ in 0..1 + self.rng.below(4) {
            let dtype = self.rng.pick(&self.types);
            let op = match self.rng.below(8) {
                0 => Op::Convert(self.rng.pick(&self.types)),
                1 | 2 => Op::Compare(self.rng.pick(&Comparison::ALL)),
                3 if !dtype.is_float() => Op::Bitcast(self.rng.pick(&self.types)),
                _ => self.rng.pick(&Op::PLAIN),
            };
            let mut types: SmallVec<[DType; 3]> = smallvec![dtype; op.arity()];
            if op == Op::Select {
                types[0] = DType::Bool;
            }
            let is_scalar = matches!(op, Op::Rem | Op::PopCount) || (op == Op::Div && !dtype.is_float());
            // Its operands would have to be what they promise.
            let is_promise = op == Op::Scaled;
            if op.result(&types).is_some() && !(self.plain && is_scalar) && !is_promise {
                let args: Vec<Value> = types.iter().map(|dtype| self.value(b, *dtype)).collect();
                self.scope.push((b.op(op, &args), false));
            }
        }
    }

    /// Loads, operations and nests.
    fn statements(&mut self, b: &mut KernelBuilder) {
        for _ in 0..1 + self.rng.below(3) {
            let is_straight = self.left == 0 || (self.plain && !self.columns.is_empty());
            let kinds = if self.plain { 7 } else { 10 };
            let kind = self.rng.below(if is_straight { 5 } else { kinds });
            let few = self.rng.below(5) as i64;
            let extent = if kind < 7 { self.cols } else { few };
            let fits = self.work * extent.max(1) <= WORK;
            self.left -= usize::from(kind >= 5);
            match kind {
                0 | 1 if !self.columns.is_empty() => {
                    let (grid, col) = (self.rng.pick(&self.loads), self.rng.pick(&self.columns));
                    let value = b.load(grid.buffer, self.at(grid, col));
                    self.scope.push((value, false));
                }
                2 => {
                    let dtype = self.rng.pick(&[DType::I32, DType::I64]);
                    let (index, limit) = (self.value(b, dtype), self.size(b, TABLE));
                    let mut place = b.op(Op::Clamp(limit), &[index]);
                    if dtype != DType::I64 {
                        place = b.op(Op::Convert(DType::I64), &[place]);
                    }
                    let terms = smallvec![(place, Size::Const(1))];
                    let value = b.load(self.table, Index { offset: Size::Const(0), terms });
                    self.scope.push((value, false));
                }
                5 | 6 if fits => self.reduce(b),
                7 if fits => self.counted(b, few),
                8 if fits => self.repeated(b, few),
                9 => self.branch(b),
                _ => self.ops(b),
            }
        }
    }

    fn reduce(&mut self, b: &mut KernelBuilder) {
        let mut combines: Vec<(Combine, DType)> = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let (combine, dtype) = (self.rng.pick(&Combine::ALL), self.rng.pick(&self.types));
            let defined = combine.identity(dtype).is_some();
            combines.push(if defined { (combine, dtype) } else { (Combine::Xor, DType::I64) });
        }
        let (names, types): (Vec<Combine>, Vec<DType>) = combines.into_iter().unzip();
        let outs = self.inside(self.cols, |g| {
            b.reduce(g.extents[1], &names, |b, col| {
                g.column(col);
                g.statements(b);
                types.iter().map(|dtype| g.value(b, *dtype)).collect()
            })
        });
        self.scope.extend(outs.into_iter().map(|out| (out, false)));
    }

    fn counted(&mut self, b: &mut KernelBuilder, extent: i64) {
        let init = [self.rng.pick(&self.types), DType::I64].map(|dtype| self.value(b, dtype));
        let size = self.size(b, extent);
        let outs = self.inside(extent, |g| {
            b.for_loop(size, &init, |b, var, carried| {
                g.scope.push((var, true));
                g.scope.extend(carried.iter().map(|value| (*value, false)));
                g.statements(b);
                carried.iter().map(|value| g.value(b, b.dtype(*value))).collect()
            })
        });
        self.scope.extend(outs.into_iter().map(|out| (out, false)));
    }

    /// A `while` that counts, so that it ends.
    fn repeated(&mut self, b: &mut KernelBuilder, times: i64) {
        let dtype = self.rng.pick(&self.types);
        let init = [b.constant(0i64), self.value(b, dtype)];
        let outs = self.inside(times, |g| {
            let go_on = |b: &mut KernelBuilder, carried: &[Value]| {
                let times = b.constant(times);
                b.compare(Comparison::Lt, carried[0], times)
            };
            b.while_loop(&init, go_on, |b, carried| {
                g.scope.extend(carried.iter().map(|value| (*value, false)));
                g.statements(b);
                let one = b.constant(1i64);
                smallvec![b.op(Op::Add, &[carried[0], one]), g.value(b, dtype)]
            })
        });
        self.scope.extend(outs.into_iter().map(|out| (out, false)));
    }

    fn branch(&mut self, b: &mut KernelBuilder) {
        let (cond, dtype) = (self.value(b, DType::Bool), self.rng.pick(&self.types));
        // Both branches are closures over the one generator, called one after the other.
        let g = RefCell::new(&mut *self);
        let branch = |b: &mut KernelBuilder| {
            g.borrow_mut().inside(1, |g| {
                g.statements(b);
                smallvec![g.value(b, dtype)]
            })
        };
        let outs = b.if_else(cond, branch, branch);
        self.scope.extend(outs.into_iter().map(|out| (out, false)));
    }
}
