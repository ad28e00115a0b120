//! Random kernels that verify, with buffers to run them on: food for differential tests.
//!
//! A seed gives the same kernel for ever on every machine. Kernels are nests of all kinds of loops around
//! random operations; each verifies with its lengths and sizes and ends after a modest number of steps.
//! Results are determined up to the bits of a NaN, because no operation looks at those: a float is never
//! seen as an integer unless it came from one.

use smallvec::{SmallVec, smallvec};
use tracewell_array::{DType, Literal, Tensor};

use crate::build::KernelBuilder;
use crate::ir::{BufferId, Index, Kernel, Size, Value};
use crate::op::{Combine, Comparison, Op};

/// A kernel and something to run it on.
#[derive(Clone, Debug)]
pub struct Case {
    /// The kernel.
    pub kernel: Kernel,
    /// The number of elements of each parameter.
    pub lens: Vec<usize>,
    /// The value of each size.
    pub sizes: Vec<i64>,
    /// What each parameter holds before the launch, also those that are written.
    pub inputs: Vec<Tensor>,
}

/// The kernel of that number.
pub fn kernel(seed: u64) -> Case {
    let mut b = KernelBuilder::new();
    let mut g = Gen { rng: seed, work: 1, left: 24, ..Gen::default() };
    let flat = g.below(5) == 0;
    g.rows = if flat { 1 } else { g.pick(&[0, 1, 2, 3, 7, 17]) };
    g.cols = g.pick(&[0, 1, 2, 5, 16, 33, 70]);
    (g.row_extent, g.col_extent) = (g.size(&mut b, g.rows), g.size(&mut b, g.cols));
    for _ in 0..1 + g.below(3) {
        let grid = g.grid(&mut b, false);
        g.loaded.push(grid);
    }
    g.table_len = 1 + g.below(40) as i64;
    let (dtype, len) = (g.dtype(), g.table_len);
    g.table = g.param(&mut b, dtype, len, false);
    let out = g.grid(&mut b, true);
    let (dtype, rows) = (g.dtype(), g.rows);
    let row_out = g.param(&mut b, dtype, rows, true);
    if g.below(2) == 0 {
        let dtype = g.dtype();
        g.local = Some((b.local(dtype, g.cols as usize), dtype));
    }
    g.ops(&mut b);
    if flat {
        g.row(&mut b, out, row_out, dtype);
    } else {
        let extent = g.row_extent;
        g.looped(g.rows, |g| {
            b.each(extent, |b, row| {
                g.row = Some(row);
                g.scope.push(row);
                g.row(b, out, row_out, dtype);
            });
        });
    }
    Case { kernel: b.finish(format!("random_{seed}")), lens: g.lens, sizes: g.sizes, inputs: g.inputs }
}

/// A buffer of rows and columns: `offset + row × stride + col × stride`.
#[derive(Clone, Copy, Debug)]
struct Grid {
    buffer: BufferId,
    dtype: DType,
    offset: Size,
    strides: (Size, Size),
}

#[derive(Debug)]
struct Gen {
    rng: u64,
    sizes: Vec<i64>,
    lens: Vec<usize>,
    inputs: Vec<Tensor>,
    rows: i64,
    cols: i64,
    row_extent: Size,
    col_extent: Size,
    loaded: Vec<Grid>,
    table: BufferId,
    table_len: i64,
    local: Option<(BufferId, DType)>,
    local_filled: bool,
    /// The values that can be used here.
    scope: Vec<Value>,
    /// The variables of the loops over rows and columns around here.
    row: Option<Value>,
    col_vars: Vec<Value>,
    /// How often this place is reached, and how many statements may still be made.
    work: i64,
    left: usize,
}

impl Default for Gen {
    fn default() -> Gen {
        let (zero, buffer) = (Size::Const(0), BufferId(0));
        let (sizes, lens, inputs, loaded, scope, col_vars) = Default::default();
        #[rustfmt::skip]
        return Gen {
            rng: 0, sizes, lens, inputs, rows: 0, cols: 0, row_extent: zero, col_extent: zero, loaded, table: buffer,
            table_len: 0, local: None, local_filled: false, scope, row: None, col_vars, work: 0, left: 0,
        };
    }
}

impl Gen {
    /// Splitmix64.
    fn next(&mut self) -> u64 {
        self.rng = self.rng.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.rng ^ (self.rng >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn dtype(&mut self) -> DType {
        self.pick(DType::ALL)
    }

    /// A number that is part of the kernel or given by the launch.
    fn size(&mut self, b: &mut KernelBuilder, n: i64) -> Size {
        if self.below(2) == 0 {
            return Size::Const(n);
        }
        self.sizes.push(n);
        b.size()
    }

    fn literal(&mut self, dtype: DType) -> Literal {
        match self.below(6) {
            0 => Literal::from_f64(dtype, self.pick(&[f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 1e30])),
            1 => Literal::from_i64(dtype, self.pick(&[0, 1, -1, 31, 1 << 31, i64::MIN])),
            2 if !dtype.is_float() => Literal::from_bits(dtype, self.next()),
            _ => Literal::from_f64(dtype, self.below(1 << 12) as f64 / 256.0 - 8.0),
        }
    }

    fn param(&mut self, b: &mut KernelBuilder, dtype: DType, len: i64, written: bool) -> BufferId {
        let literals: Vec<Literal> = (0..len).map(|_| self.literal(dtype)).collect();
        self.lens.push(len as usize);
        self.inputs.push(Tensor::from_literals(dtype, [len as usize], &literals).expect("as many as the shape"));
        b.param(dtype, written)
    }

    /// A parameter in row-major or column-major order, or backwards, or (if only loaded) one row for all.
    fn grid(&mut self, b: &mut KernelBuilder, written: bool) -> Grid {
        let (dtype, rows, cols) = (self.dtype(), self.rows, self.cols);
        let (skip, strides) = match self.below(if written { 3 } else { 4 }) {
            0 => (self.below(4) as i64, (cols, 1)),
            1 => (0, (1, rows)),
            2 => (rows * cols - 1, (-cols, -1)),
            _ => (0, (0, 1)),
        };
        let buffer = self.param(b, dtype, rows * cols + skip.clamp(0, 3), written);
        let strides = (self.size(b, strides.0), self.size(b, strides.1));
        Grid { buffer, dtype, offset: self.size(b, skip), strides }
    }

    fn at(&self, grid: Grid, col: Value) -> Index {
        let row = self.row.map(|row| (row, grid.strides.0));
        Index { offset: grid.offset, terms: row.into_iter().chain([(col, grid.strides.1)]).collect() }
    }

    /// Inside a loop: what is defined there is forgotten after it.
    fn looped<T>(&mut self, extent: i64, body: impl FnOnce(&mut Self) -> T) -> T {
        let (work, scope, cols, filled) = (self.work, self.scope.len(), self.col_vars.len(), self.local_filled);
        self.work *= extent.max(1);
        let result = body(self);
        (self.work, self.local_filled) = (work, filled);
        self.scope.truncate(scope);
        self.col_vars.truncate(cols);
        result
    }

    /// What is done for each row.
    fn row(&mut self, b: &mut KernelBuilder, out: Grid, row_out: BufferId, row_dtype: DType) {
        let extent = self.col_extent;
        if let Some((local, dtype)) = self.local {
            self.looped(self.cols, |g| {
                b.each(extent, |b, col| {
                    g.enter(col);
                    g.ops(b);
                    let value = g.value(b, dtype);
                    b.store(local, Index { offset: Size::Const(0), terms: smallvec![(col, Size::Const(1))] }, value);
                });
            });
            self.local_filled = true;
        }
        self.statements(b);
        self.looped(self.cols, |g| {
            b.each(extent, |b, col| {
                g.enter(col);
                g.statements(b);
                let (value, index) = (g.value(b, out.dtype), g.at(out, col));
                b.store(out.buffer, index.clone(), value);
                if g.below(4) == 0 {
                    let old = b.load(out.buffer, index.clone());
                    g.scope.push(old);
                    let (cond, new) = (g.value(b, DType::Bool), g.value(b, out.dtype));
                    let then = |b: &mut KernelBuilder| {
                        b.store(out.buffer, index, new);
                        smallvec![]
                    };
                    b.if_else(cond, then, |_| smallvec![]);
                }
            });
        });
        let value = self.value(b, row_dtype);
        let terms = self.row.into_iter().map(|row| (row, Size::Const(1))).collect();
        // A flat kernel has one row.
        b.store(row_out, Index { offset: Size::Const(0), terms }, value);
    }

    fn enter(&mut self, col: Value) {
        self.col_vars.push(col);
        self.scope.push(col);
    }

    /// A value of a type: one in scope, converted, or a constant.
    fn value(&mut self, b: &mut KernelBuilder, dtype: DType) -> Value {
        let same: Vec<Value> = self.scope.iter().copied().filter(|v| b.dtype(*v) == dtype).collect();
        match (self.below(8), same.as_slice()) {
            (0, _) => b.literal(self.literal(dtype)),
            (1, _) | (_, []) if !self.scope.is_empty() => {
                let from = self.pick(&self.scope.clone());
                b.op(Op::Convert(dtype), &[from])
            }
            (_, []) => b.literal(self.literal(dtype)),
            // Late ones more often, so that chains grow.
            (1..5, same) => same[same.len() - 1],
            (_, same) => self.pick(same),
        }
    }

    fn values(&mut self, b: &mut KernelBuilder, like: &[Value]) -> SmallVec<[Value; 2]> {
        like.iter().map(|&v| self.value(b, b.dtype(v))).collect()
    }

    /// A few operations.
    fn ops(&mut self, b: &mut KernelBuilder) {
        for _ in 0..self.below(5) {
            let dtype = self.dtype();
            let a = self.value(b, dtype);
            let op = match self.below(6) {
                0 => Op::Convert(self.dtype()),
                1 => Op::Compare(self.pick(&Comparison::ALL)),
                2 => Op::Bitcast(self.dtype()),
                _ => self.pick(&Op::PLAIN),
            };
            let args = match op {
                Op::Bitcast(_) if dtype.is_float() => continue,
                Op::Select => vec![self.value(b, DType::Bool), a, self.value(b, dtype)],
                _ => (0..op.arity()).map(|i| if i == 0 { a } else { self.value(b, dtype) }).collect(),
            };
            let types: Vec<DType> = args.iter().map(|v| b.dtype(*v)).collect();
            if op.result(&types).is_some() {
                let out = b.op(op, &args);
                self.scope.push(out);
            }
        }
    }

    /// Loads, operations and nested loops.
    fn statements(&mut self, b: &mut KernelBuilder) {
        for _ in 0..1 + self.below(4) {
            self.left = self.left.saturating_sub(1);
            let small = self.below(5) as i64;
            let limit = if self.left == 0 { 3 } else { 8 };
            match self.below(limit) {
                0 if !self.col_vars.is_empty() => {
                    let (col, grid) = (self.pick(&self.col_vars.clone()), self.pick(&self.loaded.clone()));
                    let value = match self.local {
                        Some((local, _)) if self.local_filled && self.below(3) == 0 => {
                            b.load(local, Index { offset: Size::Const(0), terms: smallvec![(col, Size::Const(1))] })
                        }
                        _ => b.load(grid.buffer, self.at(grid, col)),
                    };
                    self.scope.push(value);
                }
                1 => {
                    let (index, limit) = (self.value(b, DType::I64), self.size(b, self.table_len));
                    let place = b.op(Op::Clamp(limit), &[index]);
                    let index = Index { offset: Size::Const(0), terms: smallvec![(place, Size::Const(1))] };
                    let value = b.load(self.table, index);
                    self.scope.push(value);
                }
                3 | 4 if self.work * self.cols <= 20_000 => {
                    let extent = self.col_extent;
                    let outs = self.looped(self.cols, |g| {
                        let (dtype, combine) = (g.dtype(), g.pick(&Combine::ALL));
                        let second = if g.below(3) == 0 { Some(Combine::Xor) } else { None };
                        let combine =
                            if combine.identity(dtype).is_some() { combine } else { g.pick(&[Combine::Xor]) };
                        let dtype = if combine.identity(dtype).is_some() { dtype } else { DType::U32 };
                        let combines: Vec<Combine> = [combine].into_iter().chain(second).collect();
                        b.reduce(extent, &combines, |b, col| {
                            g.enter(col);
                            g.statements(b);
                            let second = second.map(|_| g.value(b, DType::I64));
                            [g.value(b, dtype)].into_iter().chain(second).collect()
                        })
                    });
                    self.scope.extend(outs);
                }
                5 if self.work * small <= 20_000 => {
                    let init = [DType::F32, DType::I64, self.dtype()].map(|dtype| self.value(b, dtype));
                    let extent = self.size(b, small);
                    let outs = self.looped(small, |g| {
                        b.for_loop(extent, &init, |b, var, inside| {
                            g.scope.push(var);
                            g.scope.extend(inside);
                            g.statements(b);
                            g.values(b, inside)
                        })
                    });
                    self.scope.extend(outs);
                }
                6 if self.work * small <= 20_000 => {
                    let dtype = self.dtype();
                    let init = [b.constant(0i64), self.value(b, dtype)];
                    let outs = self.looped(small, |g| {
                        let go_on = |b: &mut KernelBuilder, inside: &[Value]| {
                            let bound = b.constant(small);
                            b.compare(Comparison::Lt, inside[0], bound)
                        };
                        b.while_loop(&init, go_on, |b, inside| {
                            g.scope.extend(inside);
                            g.statements(b);
                            let one = b.constant(1i64);
                            smallvec![b.op(Op::Add, &[inside[0], one]), g.value(b, dtype)]
                        })
                    });
                    self.scope.extend(outs);
                }
                7 => {
                    let (cond, dtype) = (self.value(b, DType::Bool), self.dtype());
                    let g = std::cell::RefCell::new(&mut *self);
                    let branch = |b: &mut KernelBuilder| {
                        g.borrow_mut().looped(1, |g| {
                            g.statements(b);
                            smallvec![g.value(b, dtype)]
                        })
                    };
                    let outs = b.if_else(cond, branch, branch);
                    self.scope.extend(outs);
                }
                _ => self.ops(b),
            }
        }
    }
}
