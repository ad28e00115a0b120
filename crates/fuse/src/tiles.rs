//! A nest of column reductions written by tiles: see `columns`.
//!
//! Every reduction of the nest has a stack buffer of accumulators. What is computed from the result of one
//! reduction and read by the rows of another (a mean, for a variance) is kept in a stack buffer too.
//!
//! Several rows are combined at once, one after the other: accumulators are loaded and stored less often, and rows that
//! are in no cache come side by side.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_kernel::{BufferId, Index, KernelBuilder, Size, Value};

use crate::classify::Flow;
use crate::emit::{Emitted, Writer};
use crate::loops::LoopId;
use crate::nest::{Nest, Scalar};

/// Elements of a stack buffer.
pub(crate) const TILE: i64 = 1_024;
/// Stack buffers of a kernel: with elements of 8 bytes as many as a kernel may have.
const MAX_BUFFERS: usize = 8;
/// Rows that are combined at once.
const ROWS: i64 = 4;
/// Most pointers of a loop over several rows, one for each load of a row and for each reduction: a wide loop has no more.
const POINTERS: usize = 10;
/// Most operations where several rows are combined at once.
const FEW_MAPS: usize = 8;

/// Writes a nest by tiles of the loop `inner`, whose extent is a multiple of `tile`.
pub(crate) fn tiles(flow: &Flow, mut nest: Nest, inner: LoopId, tile: i64) -> Option<Emitted> {
    let column = nest.loops.split(inner, tile);
    nest.each_access(|at| at.split(inner, tile, column));
    // What it costs is seen best before rows are taken several at once.
    let simple = nest.clone();
    let several = several(&mut nest);
    let depends = depends(&nest, column);
    let kept = kept(&nest, &depends);
    let reductions = nest.scalars.iter().filter(|s| matches!(s, Scalar::Reduce { .. })).count();
    if reductions + kept.iter().filter(|k| **k).count() > MAX_BUFFERS {
        return None;
    }
    let mut b = KernelBuilder::new();
    let writer = Writer::new(flow, &nest, &mut b);
    let homes = nest.homes();
    let buffers = FxHashMap::default();
    let mut tiles = Tiles { nest: &nest, column, several, depends, homes, kept, writer, buffers };
    tiles.open(&mut b, 0);
    Some(tiles.writer.finish(b, &simple))
}

/// Rows that are combined at once: those of a loop that was split.
#[derive(Clone, Copy)]
struct Several {
    of: LoopId,
    /// The loop over them, which is written out.
    row: LoopId,
    /// How many are left in the end.
    rest: i64,
}

/// Splits the loop of all reductions, if several of its rows are to be combined at once.
fn several(nest: &mut Nest) -> Option<Several> {
    let (mut loads, mut maps, mut reductions, mut of) = (0, 0, 0, None);
    for scalar in &nest.scalars {
        match scalar {
            Scalar::Load { .. } => loads += 1,
            Scalar::Map { .. } => maps += 1,
            Scalar::Reduce { loops, .. } => {
                let &[row] = &loops[..] else { return None };
                if *of.get_or_insert(row) != row {
                    return None;
                }
                reductions += 1;
            }
            _ => {}
        }
    }
    let of = of?;
    let extent = nest.loops.extent(of);
    if ROWS as usize * loads + reductions > POINTERS || maps > FEW_MAPS || extent < 2 * ROWS {
        return None;
    }
    let row = nest.loops.split(of, ROWS);
    nest.each_access(|at| at.split(of, ROWS, row));
    Some(Several { of, row, rest: extent % ROWS })
}

/// What a scalar depends on of what a tile walks.
#[derive(Clone, Copy, Default)]
struct Depends {
    /// The column.
    column: bool,
    /// The rows of some reduction.
    row: bool,
    /// The result of a reduction.
    result: bool,
}

fn depends(nest: &Nest, column: LoopId) -> Vec<Depends> {
    let mut all: Vec<Depends> = Vec::with_capacity(nest.scalars.len());
    for scalar in &nest.scalars {
        let depends = match scalar {
            Scalar::Literal(_) => Depends::default(),
            Scalar::Load { at, .. } | Scalar::Count { at, .. } => Depends {
                column: at.coefficient(column) != 0,
                row: at.terms.iter().any(|(l, _)| !nest.loops.each.contains(l)),
                result: false,
            },
            Scalar::Map { args, .. } => args.iter().fold(Depends::default(), |d, &a| Depends {
                column: d.column || all[a].column,
                row: d.row || all[a].row,
                result: d.result || all[a].result,
            }),
            Scalar::Reduce { .. } => Depends { column: true, row: false, result: true },
            Scalar::Keep { .. } | Scalar::Recall { .. } => unreachable!("rows are not kept with columns"),
        };
        all.push(depends);
    }
    all
}

/// The functions of results that rows read.
fn kept(nest: &Nest, depends: &[Depends]) -> Vec<bool> {
    let mut kept = vec![false; nest.scalars.len()];
    let is_result =
        |i: usize| depends[i].result && !depends[i].row && matches!(nest.scalars[i], Scalar::Map { .. });
    for (i, scalar) in nest.scalars.iter().enumerate() {
        match scalar {
            Scalar::Map { args, .. } if depends[i].row => {
                args.iter().filter(|&&a| is_result(a)).for_each(|&a| kept[a] = true);
            }
            Scalar::Reduce { body, .. } if is_result(*body) => kept[*body] = true,
            _ => {}
        }
    }
    kept
}

/// A reduction and the scalar that it reduces.
type Reduction = (usize, usize);

struct Tiles<'n> {
    nest: &'n Nest,
    /// The loop over the columns of a tile.
    column: LoopId,
    several: Option<Several>,
    depends: Vec<Depends>,
    homes: Vec<Option<LoopId>>,
    kept: Vec<bool>,
    writer: Writer,
    /// The stack buffers of reductions and of what is kept, as far as they are filled.
    buffers: FxHashMap<usize, BufferId>,
}

impl Tiles<'_> {
    /// The independent loops down to the tiles, with what is computed in each; then one tile.
    fn open(&mut self, b: &mut KernelBuilder, depth: usize) {
        let id = self.nest.loops.each[depth];
        if id == self.column {
            self.tile(b);
            return;
        }
        let extent = self.writer.size(b, self.nest.loops.extent(id));
        b.each(extent, |b, var| {
            self.writer.vars.insert(id, var);
            self.write(b, |this, i| {
                let d = this.depends[i];
                !d.column && !d.row && !d.result && this.homes[i] == Some(id)
            });
            self.open(b, depth + 1);
        });
    }

    fn tile(&mut self, b: &mut KernelBuilder) {
        let width = self.writer.size(b, self.nest.loops.extent(self.column));
        for group in self.groups() {
            let needed = self.needed(group.iter().map(|&(_, body)| body), true);
            self.keep(b, width, &needed);
            self.start(b, width, &group);
            let Scalar::Reduce { loops, .. } = &self.nest.scalars[group[0].0] else { continue };
            self.rows(b, width, &group, &needed, loops);
        }
        let needed = self.needed(self.nest.stores.iter().map(|store| store.scalar), false);
        b.each(width, |b, var| {
            self.read(b, var, |this, i| needed[i] && !this.kept[i]);
            self.write(b, |this, i| needed[i] && this.in_column(i));
            self.writer.stores(b, self.nest);
        });
    }

    /// The reductions that share loops.
    fn groups(&self) -> Vec<Vec<Reduction>> {
        let mut groups: Vec<(&[LoopId], Vec<Reduction>)> = Vec::new();
        for (i, scalar) in self.nest.scalars.iter().enumerate() {
            let Scalar::Reduce { loops, body, .. } = scalar else { continue };
            match groups.iter_mut().find(|(over, _)| *over == &loops[..]) {
                Some((_, group)) => group.push((i, *body)),
                None => groups.push((loops, vec![(i, *body)])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    /// Fills the accumulators of reductions with their identities.
    fn start(&mut self, b: &mut KernelBuilder, width: Size, group: &[Reduction]) {
        for &(i, _) in group {
            if let Scalar::Reduce { dtype, .. } = &self.nest.scalars[i] {
                self.buffers.insert(i, b.local(*dtype, TILE as usize));
            }
        }
        b.each(width, |b, var| {
            for (i, _) in group {
                let Scalar::Reduce { combine, dtype, .. } = &self.nest.scalars[*i] else { continue };
                let identity = b.literal(combine.identity(*dtype).expect("typed"));
                b.store(self.buffers[i], along(var), identity);
            }
        });
    }

    /// Fills the buffers of what is kept for the rows that follow.
    fn keep(&mut self, b: &mut KernelBuilder, width: Size, needed: &[bool]) {
        let new: Vec<usize> = (0..needed.len())
            .filter(|&i| needed[i] && self.kept[i] && !self.buffers.contains_key(&i))
            .collect();
        if new.is_empty() {
            return;
        }
        let before = self.needed(new.iter().copied(), false);
        b.each(width, |b, var| {
            self.read(b, var, |_, i| before[i] && !new.contains(&i));
            self.write(b, |this, i| before[i] && this.in_column(i));
            for i in new {
                let value = self.writer.value(i);
                let buffer = b.local(b.dtype(value), TILE as usize);
                b.store(buffer, along(var), value);
                self.buffers.insert(i, buffer);
            }
        });
    }

    /// The loops of reductions, then one row of their tile, or several.
    fn rows(
        &mut self,
        b: &mut KernelBuilder,
        width: Size,
        group: &[Reduction],
        needed: &[bool],
        loops: &[LoopId],
    ) {
        let [id, inner @ ..] = loops else { return self.row(b, width, group, needed, None) };
        let several = self.several.filter(|several| several.of == *id);
        let extent = self.nest.loops.extent(*id);
        let size = self.writer.size(b, extent);
        b.for_loop(size, &[], |b, var, _| {
            self.writer.vars.insert(*id, var);
            self.in_rows(b, *id);
            match several {
                Some(Several { row, .. }) => self.row(b, width, group, needed, Some(row)),
                None => self.rows(b, width, group, needed, inner),
            }
            SmallVec::new()
        });
        let Some(Several { row, rest: rest @ 1.., .. }) = several else { return };
        let rest = self.writer.size(b, rest);
        b.for_loop(rest, &[], |b, var, _| {
            self.writer.turns.insert(*id, extent);
            self.writer.vars.insert(row, var);
            self.in_rows(b, row);
            self.row(b, width, group, needed, None);
            SmallVec::new()
        });
        self.writer.turns.remove(id);
    }

    /// What depends on the row of a loop only.
    fn in_rows(&mut self, b: &mut KernelBuilder, id: LoopId) {
        self.write(b, |this, i| {
            let d = this.depends[i];
            d.row && !d.column && this.homes[i] == Some(id)
        });
    }

    /// One row of a tile, or as many as a loop has that is written out.
    fn row(
        &mut self,
        b: &mut KernelBuilder,
        width: Size,
        group: &[Reduction],
        needed: &[bool],
        several: Option<LoopId>,
    ) {
        b.each(width, |b, var| {
            self.read(b, var, |_, i| needed[i]);
            let mut sums: Vec<Value> =
                group.iter().map(|(i, _)| b.load(self.buffers[i], along(var))).collect();
            for turn in 0..several.map_or(1, |_| ROWS) {
                if let Some(row) = several {
                    self.writer.turns.insert(row, turn);
                    self.in_rows(b, row);
                }
                self.write(b, |this, i| needed[i] && this.in_column(i) && !this.kept[i]);
                for (sum, (i, body)) in sums.iter_mut().zip(group) {
                    let Scalar::Reduce { combine, .. } = &self.nest.scalars[*i] else { continue };
                    *sum = b.op(combine.op(), &[*sum, self.writer.value(*body)]);
                }
            }
            several.iter().for_each(|row| _ = self.writer.turns.remove(row));
            for (sum, (i, _)) in sums.into_iter().zip(group) {
                b.store(self.buffers[i], along(var), sum);
            }
        });
    }

    /// Which scalars are needed for some: back to reductions and, for rows, to what is kept.
    fn needed(&self, scalars: impl Iterator<Item = usize>, for_rows: bool) -> Vec<bool> {
        let mut needed = vec![false; self.nest.scalars.len()];
        scalars.for_each(|i| needed[i] = true);
        for i in (0..needed.len()).rev() {
            if let (true, Scalar::Map { args, .. }) = (needed[i], &self.nest.scalars[i])
                && !(for_rows && self.kept[i])
            {
                args.iter().for_each(|&a| needed[a] = true);
            }
        }
        needed
    }

    /// Whether a scalar is computed for each column.
    fn in_column(&self, i: usize) -> bool {
        self.depends[i].column || self.depends[i].result
    }

    /// Reads what has a buffer, at a column.
    fn read(&mut self, b: &mut KernelBuilder, var: Value, wanted: impl Fn(&Self, usize) -> bool) {
        self.writer.vars.insert(self.column, var);
        for i in 0..self.nest.scalars.len() {
            if let Some(&buffer) = self.buffers.get(&i).filter(|_| wanted(self, i)) {
                self.writer.values[i] = Some(b.load(buffer, along(var)));
            }
        }
    }

    /// Writes the scalars that belong here, also those that were written elsewhere before.
    fn write(&mut self, b: &mut KernelBuilder, belongs: impl Fn(&Self, usize) -> bool) {
        for (i, scalar) in self.nest.scalars.iter().enumerate() {
            if !matches!(scalar, Scalar::Reduce { .. }) && belongs(self, i) {
                self.writer.scalar(b, i, scalar);
            }
        }
    }
}

fn along(var: Value) -> Index {
    Index { offset: Size::Const(0), terms: SmallVec::from_slice(&[(var, Size::Const(1))]) }
}
