//! Loops that hand something on along an axis, one step for each element: what sums so far and recurrences share.
//!
//! An operation that is associative is applied by blocks of [`BLOCK`] steps, counted from where the walk begins: inside
//! a block element by element, and then once more to what all blocks before it gave. So the error of a sum grows with
//! the length of a block and the number of blocks, and not with their product; blocks of one row are walked side by
//! side where steps take long, because the next step of one does not wait for another; and the order is the same in every layout and on any
//! number of threads.
//!
//! Rows and columns are shared between threads. So is one long row, in three kernels: what each block gives, what all
//! before it give together, the results.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use tracewell_array::{DType, Literal, Shape};
use tracewell_kernel::{BufferId, Index, KernelBuilder, Size, Value};

use crate::primitive::{KernelFn, Lowering};
use crate::ty::ArrayType;

/// How many steps are one block.
pub(crate) const BLOCK: usize = 256;
/// How many blocks of a row are walked side by side.
const SIDE_BY_SIDE: usize = 8;
/// From so many steps on, threads share one row: its elements are read twice.
const LONG: usize = 1 << 15;
/// How many columns are walked side by side, at most and, where there is a choice, at least.
const COLUMNS: std::ops::RangeInclusive<usize> = 64..=512;

/// What is done along an axis.
pub(super) struct Running<S, J> {
    /// What is handed on before the first step.
    pub(super) start: Literal,
    /// From what is handed on and an element of each operand to what is handed on next.
    pub(super) step: S,
    /// From what the blocks before gave and what is handed on inside a block to a result, if there are blocks.
    pub(super) join: Option<J>,
    /// Whether a step takes no longer than its memory, which is the fastest one block after the other.
    pub(super) is_quick: bool,
}

impl<S, J: Fn(&mut KernelBuilder, Value, Value) -> Value> Running<S, J> {
    /// What blocks before gave, combined with what is handed on inside a block.
    fn joined(&self, b: &mut KernelBuilder, before: Value, handed: Value) -> Value {
        let join = self.join.as_ref().expect("blocks are walked where results can be joined");
        join(b, before, handed)
    }

    /// How many blocks of a row are walked side by side when results are written.
    fn side_by_side(&self) -> usize {
        if self.is_quick { 1 } else { SIDE_BY_SIDE }
    }
}

/// An axis of an array, walked forwards or backwards.
pub(super) struct Walk {
    outer: usize,
    len: usize,
    inner: usize,
    reverse: bool,
}

/// A step: so many blocks and single steps from the beginning, in a row and a column.
#[derive(Clone, Default)]
struct Place {
    steps: usize,
    counted: SmallVec<[(Value, usize); 3]>,
    row: Option<Value>,
    columns: SmallVec<[(Value, usize); 2]>,
    column: usize,
}

impl Place {
    fn after(&self, value: Value, steps: usize) -> Place {
        let mut next = self.clone();
        next.counted.push((value, steps));
        next
    }

    fn later(&self, steps: usize) -> Place {
        Place { steps: self.steps + steps, ..self.clone() }
    }

    fn in_column(&self, column: Value) -> Place {
        let mut next = self.clone();
        next.columns.push((column, 1));
        next
    }
}

impl Walk {
    pub(super) fn new(shape: &Shape, axis: usize, reverse: bool) -> Walk {
        let outer = shape.iter().take(axis).product();
        let inner = shape.iter().skip(axis + 1).product();
        Walk { outer, len: shape.size(axis), inner, reverse }
    }

    fn index(&self, place: &Place) -> Index {
        let stride = |steps: usize| {
            let elements = (steps * self.inner) as i64;
            if self.reverse { -elements } else { elements }
        };
        let first = if self.reverse { self.len.saturating_sub(1) * self.inner } else { 0 };
        let mut index = Index::at(first as i64 + stride(place.steps) + place.column as i64);
        index.terms.extend(place.row.map(|row| (row, Size::Const((self.len * self.inner) as i64))));
        index.terms.extend(place.counted.iter().map(|&(value, steps)| (value, Size::Const(stride(steps)))));
        index.terms.extend(place.columns.iter().map(|&(value, by)| (value, Size::Const(by as i64))));
        index
    }

    /// The loops as one kernel, or as three.
    pub(super) fn lowering<S, J>(self, run: Running<S, J>) -> Lowering
    where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value + Send + Sync + 'static,
        J: Fn(&mut KernelBuilder, Value, Value) -> Value + Send + Sync + 'static,
    {
        if self.outer == 1 && self.inner == 1 && self.len >= LONG && run.join.is_some() {
            return self.shared(run);
        }
        Lowering::Kernel(Arc::new(move |b, operands, results| self.build(b, operands, results[0], &run)))
    }

    /// One row that threads share.
    fn shared<S, J>(self, run: Running<S, J>) -> Lowering
    where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value + Send + Sync + 'static,
        J: Fn(&mut KernelBuilder, Value, Value) -> Value + Send + Sync + 'static,
    {
        let turns = self.len / (SIDE_BY_SIDE * BLOCK);
        let scratch = ArrayType::new(run.start.dtype(), [turns * SIDE_BY_SIDE]);
        let all = Arc::new((self, run));
        let first: KernelFn = Arc::new({
            let all = Arc::clone(&all);
            move |b, from, to| {
                let (walk, run) = &*all;
                b.each(size(turns), |b, turn| {
                    let place = Place::default().after(turn, SIDE_BY_SIDE * BLOCK);
                    for (k, total) in walk.totals(b, &place, SIDE_BY_SIDE, from, run).into_iter().enumerate()
                    {
                        let terms = smallvec![(turn, Size::Const(SIDE_BY_SIDE as i64))];
                        b.store(to[1], Index { terms, ..Index::at(k as i64) }, total);
                    }
                });
            }
        });
        let second: KernelFn = Arc::new({
            let all = Arc::clone(&all);
            move |b, from, to| {
                let (walk, run) = &*all;
                let start = b.literal(run.start);
                let before = b.for_loop(size(turns * SIDE_BY_SIDE), &[start], |b, block, handed| {
                    let at = Index { terms: smallvec![(block, Size::Const(1))], ..Index::at(0) };
                    let total = b.load(to[1], at.clone());
                    b.store(to[1], at, handed[0]);
                    smallvec![run.joined(b, handed[0], total)]
                });
                let place = Place::default().later(turns * SIDE_BY_SIDE * BLOCK);
                walk.rest(b, &place, walk.len - turns * SIDE_BY_SIDE * BLOCK, before[0], from, to[0], run);
            }
        });
        let third: KernelFn = Arc::new(move |b, from, to| {
            let (walk, run) = &*all;
            let count = run.side_by_side();
            b.each(size(turns * SIDE_BY_SIDE / count), |b, turn| {
                let at = |k: usize| Index {
                    terms: smallvec![(turn, Size::Const(count as i64))],
                    ..Index::at(k as i64)
                };
                let before: Vec<Value> = (0..count).map(|k| b.load(to[1], at(k))).collect();
                let place = Place::default().after(turn, count * BLOCK);
                walk.results(b, &place, BLOCK, &before, from, to[0], run);
            });
        });
        Lowering::Kernels { scratch: vec![scratch], steps: vec![first, second, third] }
    }

    /// Writes the loops of one kernel.
    fn build<S, J>(&self, b: &mut KernelBuilder, from: &[BufferId], to: BufferId, run: &Running<S, J>)
    where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value,
        J: Fn(&mut KernelBuilder, Value, Value) -> Value,
    {
        if self.outer * self.len * self.inner == 0 {
            return;
        }
        let row = |b: &mut KernelBuilder, place: Place| match self.inner {
            1 => self.row(b, &place, from, to, run),
            _ => self.columns(b, &place, from, to, run),
        };
        if self.outer == 1 {
            row(b, Place::default());
        } else {
            b.each(Size::Const(self.outer as i64), |b, i| row(b, Place { row: Some(i), ..Place::default() }));
        }
    }

    fn load(&self, b: &mut KernelBuilder, from: &[BufferId], place: &Place) -> SmallVec<[Value; 2]> {
        from.iter().map(|&buffer| b.load(buffer, self.index(place))).collect()
    }

    /// A row whose steps follow each other in memory.
    fn row<S, J>(
        &self,
        b: &mut KernelBuilder,
        row: &Place,
        from: &[BufferId],
        to: BufferId,
        run: &Running<S, J>,
    ) where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value,
        J: Fn(&mut KernelBuilder, Value, Value) -> Value,
    {
        let start = b.literal(run.start);
        if run.join.is_none() {
            b.for_loop(size(self.len), &[start], |b, i, handed| {
                let place = row.after(i, 1);
                let elements = self.load(b, from, &place);
                let next = (run.step)(b, handed[0], &elements);
                b.store(to, self.index(&place), next);
                smallvec![next]
            });
            return;
        }
        let turns = if run.is_quick { 0 } else { self.len / (SIDE_BY_SIDE * BLOCK) };
        let mut before = start;
        if turns > 0 {
            before = b.for_loop(size(turns), &[before], |b, turn, handed| {
                let place = row.after(turn, SIDE_BY_SIDE * BLOCK);
                let totals = self.totals(b, &place, SIDE_BY_SIDE, from, run);
                let mut all = vec![handed[0]];
                for &total in &totals {
                    all.push(run.joined(b, all[all.len() - 1], total));
                }
                self.results(b, &place, BLOCK, &all[..SIDE_BY_SIDE], from, to, run);
                smallvec![all[SIDE_BY_SIDE]]
            })[0];
        }
        let done = turns * SIDE_BY_SIDE * BLOCK;
        self.rest(b, &row.later(done), self.len - done, before, from, to, run);
    }

    /// What some blocks of a row give, each by itself.
    fn totals<S, J>(
        &self,
        b: &mut KernelBuilder,
        place: &Place,
        count: usize,
        from: &[BufferId],
        run: &Running<S, J>,
    ) -> Vec<Value>
    where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value,
    {
        let start = b.literal(run.start);
        b.for_loop(size(BLOCK), &vec![start; count], |b, i, handed| {
            let step = |(k, &handed)| {
                let elements = self.load(b, from, &place.later(k * BLOCK).after(i, 1));
                (run.step)(b, handed, &elements)
            };
            handed.iter().enumerate().map(step).collect()
        })
    }

    /// Writes the results of some blocks of a row, from what the blocks before each of them give together, and says
    /// what each gives by itself.
    #[allow(clippy::too_many_arguments, reason = "where, what and how")]
    fn results<S, J>(
        &self,
        b: &mut KernelBuilder,
        place: &Place,
        len: usize,
        before: &[Value],
        from: &[BufferId],
        to: BufferId,
        run: &Running<S, J>,
    ) -> Vec<Value>
    where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value,
        J: Fn(&mut KernelBuilder, Value, Value) -> Value,
    {
        let start = b.literal(run.start);
        b.for_loop(size(len), &vec![start; before.len()], |b, i, handed| {
            let step = |(k, &handed)| {
                let place = place.later(k * len).after(i, 1);
                let elements = self.load(b, from, &place);
                let next = (run.step)(b, handed, &elements);
                let result = run.joined(b, before[k], next);
                b.store(to, self.index(&place), result);
                next
            };
            handed.iter().enumerate().map(step).collect()
        })
    }

    /// The end of a row, block by block.
    #[allow(clippy::too_many_arguments, reason = "where, what and how")]
    fn rest<S, J>(
        &self,
        b: &mut KernelBuilder,
        place: &Place,
        len: usize,
        mut before: Value,
        from: &[BufferId],
        to: BufferId,
        run: &Running<S, J>,
    ) where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value,
        J: Fn(&mut KernelBuilder, Value, Value) -> Value,
    {
        let blocks = len / BLOCK;
        if blocks > 0 {
            before = b.for_loop(size(blocks), &[before], |b, block, handed| {
                let last = self.results(b, &place.after(block, BLOCK), BLOCK, handed, from, to, run);
                smallvec![run.joined(b, handed[0], last[0])]
            })[0];
        }
        if len > blocks * BLOCK {
            self.results(b, &place.later(blocks * BLOCK), len - blocks * BLOCK, &[before], from, to, run);
        }
    }

    /// Columns side by side, whose steps are apart in memory.
    fn columns<S, J>(
        &self,
        b: &mut KernelBuilder,
        row: &Place,
        from: &[BufferId],
        to: BufferId,
        run: &Running<S, J>,
    ) where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value,
        J: Fn(&mut KernelBuilder, Value, Value) -> Value,
    {
        let most = *COLUMNS.end();
        let even = COLUMNS.rev().find(|width| self.inner.is_multiple_of(*width));
        let width = if self.inner <= most { self.inner } else { even.unwrap_or(most) };
        let dtype = run.start.dtype();
        let handed = b.local(dtype, width);
        let before = run.join.as_ref().map(|_| b.local(dtype, width));
        let tiles = self.inner / width;
        if tiles == 1 {
            self.tile(b, row, width, (handed, before), from, to, run);
        } else {
            b.each(size(tiles), |b, tile| {
                let mut place = row.clone();
                place.columns.push((tile, width));
                self.tile(b, &place, width, (handed, before), from, to, run);
            });
        }
        if self.inner > tiles * width {
            let place = Place { column: tiles * width, ..row.clone() };
            self.tile(b, &place, self.inner - tiles * width, (handed, before), from, to, run);
        }
    }

    /// A few columns: what is handed on of each is kept beside.
    #[allow(clippy::too_many_arguments, reason = "where, what and how")]
    fn tile<S, J>(
        &self,
        b: &mut KernelBuilder,
        tile: &Place,
        width: usize,
        (handed, before): (BufferId, Option<BufferId>),
        from: &[BufferId],
        to: BufferId,
        run: &Running<S, J>,
    ) where
        S: Fn(&mut KernelBuilder, Value, &[Value]) -> Value,
        J: Fn(&mut KernelBuilder, Value, Value) -> Value,
    {
        let kept = |column: Value| {
            let mut index = Index::at(0);
            index.terms.push((column, Size::Const(1)));
            index
        };
        b.each(size(width), |b, column| {
            let start = b.literal(run.start);
            for buffer in std::iter::once(handed).chain(before) {
                b.store(buffer, kept(column), start);
            }
        });
        let block = |b: &mut KernelBuilder, place: &Place, len: usize| {
            b.for_loop(size(len), &[], |b, i, _| {
                let place = place.after(i, 1);
                b.each(size(width), |b, column| {
                    let place = place.in_column(column);
                    let elements = self.load(b, from, &place);
                    let now = b.load(handed, kept(column));
                    let next = (run.step)(b, now, &elements);
                    b.store(handed, kept(column), next);
                    let result = match (&run.join, before) {
                        (Some(join), Some(before)) => {
                            let before = b.load(before, kept(column));
                            join(b, before, next)
                        }
                        _ => next,
                    };
                    b.store(to, self.index(&place), result);
                });
                smallvec![]
            });
            if let (Some(join), Some(before)) = (&run.join, before) {
                b.each(size(width), |b, column| {
                    let sofar = b.load(before, kept(column));
                    let total = b.load(handed, kept(column));
                    let sofar = join(b, sofar, total);
                    b.store(before, kept(column), sofar);
                    let start = b.literal(run.start);
                    b.store(handed, kept(column), start);
                });
            }
        };
        let len = if run.join.is_some() { BLOCK } else { self.len };
        let turns = self.len / len;
        if turns == 1 {
            block(b, tile, len);
        } else if turns > 1 {
            b.for_loop(size(turns), &[], |b, turn, _| {
                block(b, &tile.after(turn, len), len);
                smallvec![]
            });
        }
        if self.len > turns * len {
            block(b, &tile.later(turns * len), self.len - turns * len);
        }
    }
}

/// What an evaluation in `f64` hands on: all digits, but what overflows or vanishes in the type of the elements has
/// done so for every step that follows.
pub(super) fn in_range(dtype: DType, exact: f64) -> f64 {
    let rounded = Literal::from_f64(dtype, exact).as_f64();
    let least = if dtype == DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    if rounded.is_finite() && rounded.abs() >= least { exact } else { rounded }
}

fn size(n: usize) -> Size {
    Size::Const(n as i64)
}
