//! Loops that hand something on along an axis, one step for each element: what sums so far and recurrences share.
//!
//! An operation that is associative is applied by blocks of [`BLOCK`] steps, counted from where the walk begins: inside
//! a block element by element, and then once more to what all blocks before it gave. So the error of a sum grows with
//! the length of a block and the number of blocks, and not with their product; blocks of one row are walked side by
//! side, because the next step of one does not wait for another; and the order is the same in every layout and on any
//! number of threads.

use smallvec::{SmallVec, smallvec};
use tracewell_array::{Literal, Shape};
use tracewell_kernel::{BufferId, Index, KernelBuilder, Size, Value};

/// How many steps are one block.
pub(crate) const BLOCK: usize = 256;
/// How many blocks of a row are walked side by side.
const SIDE_BY_SIDE: usize = 8;
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

    /// Writes the loops.
    pub(super) fn build<S, J>(
        &self,
        b: &mut KernelBuilder,
        from: &[BufferId],
        to: BufferId,
        run: &Running<S, J>,
    ) where
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
        let Some(join) = &run.join else {
            b.for_loop(size(self.len), &[start], |b, i, handed| {
                let place = row.after(i, 1);
                let elements = self.load(b, from, &place);
                let next = (run.step)(b, handed[0], &elements);
                b.store(to, self.index(&place), next);
                smallvec![next]
            });
            return;
        };
        // What blocks give before anything is written: their totals, and with them where the next one starts.
        let blocks = |b: &mut KernelBuilder, place: &Place, count: usize, len: usize, before: Value| {
            let starts = vec![start; count];
            let each = |k: usize, i: Value| place.later(k * len).after(i, 1);
            let mut all = vec![before];
            if count > 1 {
                let totals = b.for_loop(size(len), &starts, |b, i, handed| {
                    let step = |(k, &handed)| {
                        let elements = self.load(b, from, &each(k, i));
                        (run.step)(b, handed, &elements)
                    };
                    handed.iter().enumerate().map(step).collect()
                });
                for &total in &totals[..count - 1] {
                    all.push(join(b, all[all.len() - 1], total));
                }
            }
            let last = b.for_loop(size(len), &starts, |b, i, handed| {
                let step = |(k, &handed)| {
                    let place = each(k, i);
                    let elements = self.load(b, from, &place);
                    let next = (run.step)(b, handed, &elements);
                    let result = join(b, all[k], next);
                    b.store(to, self.index(&place), result);
                    next
                };
                handed.iter().enumerate().map(step).collect()
            });
            join(b, all[count - 1], last[count - 1])
        };
        let (mut done, mut before) = (0, start);
        for (count, len) in [(SIDE_BY_SIDE, BLOCK), (1, BLOCK)] {
            let turns = (self.len - done) / (count * len);
            if turns > 0 {
                before = b.for_loop(size(turns), &[before], |b, turn, handed| {
                    let place = row.later(done).after(turn, count * len);
                    smallvec![blocks(b, &place, count, len, handed[0])]
                })[0];
            }
            done += turns * count * len;
        }
        if done < self.len {
            blocks(b, &row.later(done), 1, self.len - done, before);
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

fn size(n: usize) -> Size {
    Size::Const(n as i64)
}
