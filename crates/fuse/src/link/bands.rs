//! Scans in bands that have nothing to do with each other, each on a thread at the same time: some rows of what is
//! carried, which go through all turns; or some of the turns, where nothing is carried.
//!
//! Invariant: into how many bands a scan is cut depends on shapes alone, never on the machine.

use std::sync::Arc;

use tracewell_graph::prim::Scan;
use tracewell_graph::{ArrayType, Equation, Graph, Lowering, some_rows};
use tracewell_kernel::{Library, LibraryCall, steps};

use super::SMALL;

/// When scans are cut into bands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bands {
    /// Rows that a band has at least: a product of fewer takes more time for each of them.
    pub rows: usize,
    /// Operations of one turn of a band, at least: many beside the way into kernels and libraries.
    pub turn: usize,
    /// Operations of the whole scan from which on it is worth waking other threads.
    pub all: usize,
    /// Bands at most.
    pub most: usize,
    /// Bytes at most of the largest array of a turn, in all bands of turns together: each has what it makes for itself.
    pub bytes: usize,
}

impl Default for Bands {
    fn default() -> Bands {
        Bands { rows: 16, turn: 1 << 16, all: 1 << 23, most: 8, bytes: 1 << 20 }
    }
}

/// A scan in bands.
pub(crate) struct Banded {
    /// The scan of one band.
    pub(crate) scan: Scan,
    pub(crate) count: usize,
    pub(crate) cut: Cut,
}

/// What a band has of a scan.
pub(crate) enum Cut {
    /// Some rows: for each operand it is said whether its elements, or itself if it has none, have them.
    Rows(Vec<bool>),
    /// Some turns, one after the other.
    Turns,
}

/// Cuts a scan, if it is worth it; of each result it is said whether somebody reads it.
pub(crate) fn banded(scan: &Scan, is_read: &[bool], limits: &Bands) -> Option<Banded> {
    let work = all_operations(&scan.body);
    if work.saturating_mul(scan.length) < limits.all {
        return None;
    }
    let found = if scan.carries == 0 { turns(scan, limits) } else { rows(scan, is_read, limits, work) };
    found.filter(|found| steps::take(|| format!("the {} bands of @{}", found.count, scan.body.name)))
}

/// Cuts a scan that carries nothing.
fn turns(scan: &Scan, limits: &Bands) -> Option<Banded> {
    if scan.body.has_effect() {
        return None;
    }
    let made = scan.body.equations.iter().flat_map(|equation| &equation.outputs);
    let size = |ty: &ArrayType| ty.shape.len().saturating_mul(ty.dtype.size());
    let largest = made.map(|&var| size(scan.body.ty(var))).max()?;
    let most = limits.most.min(scan.length).min(limits.bytes / largest.max(1));
    let count = (2..=most).rev().find(|&count| scan.length.is_multiple_of(count))?;
    let scan = Scan { length: scan.length / count, ..scan.clone() };
    Some(Banded { scan, count, cut: Cut::Turns })
}

/// Cuts a scan whose rows have nothing to do with each other, of so many operations a turn. What is carried without rows,
/// such as a count, each band has for itself, and nobody hands it on.
fn rows(scan: &Scan, is_read: &[bool], limits: &Bands, work: usize) -> Option<Banded> {
    let shape = |input: usize| &scan.body.ty(scan.body.inputs[input]).shape;
    let [_, carried, _] = scan.groups(scan.body.inputs.len());
    let rows = shape(carried.clone().max_by_key(|&input| shape(input).len())?).iter().next()?;
    let has_rows = |&input: &usize| shape(input).iter().next() == Some(rows);
    let without = carried.clone().filter(|input| !has_rows(input));
    let is_kept = |input: usize| !is_read[input - carried.start] && shape(input).len() <= SMALL;
    if !without.clone().all(is_kept) {
        return None;
    }
    let most = limits.most.min(rows / limits.rows.max(1)).min(work / limits.turn.max(1));
    let count = (2..=most).rev().find(|&count| rows.is_multiple_of(count))?;
    let mut outputs = vec![true; scan.body.outputs.len()];
    without.for_each(|input| outputs[input - carried.start] = false);
    let some = some_rows(&scan.body, carried.filter(has_rows), &outputs, [rows, rows / count])?;
    let scan = Scan { body: Arc::new(some.graph), ..scan.clone() };
    Some(Banded { scan, count, cut: Cut::Rows(some.inputs) })
}

/// About how many operations an equation is: of numbers that are computed, some more each than of those that are added up.
fn operations(graph: &Graph, equation: &Equation) -> usize {
    const OF_EACH: usize = 4;
    let inputs: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
    let outputs: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
    let len = outputs.first().map_or(0, |ty| ty.shape.len());
    match equation.prim.rules().lower(&inputs, &outputs) {
        Ok(Lowering::Library(LibraryCall { library: Library::Gemm(gemm), .. })) => {
            len.saturating_mul(gemm.k).saturating_mul(2)
        }
        Ok(Lowering::Library(LibraryCall { library: Library::Conv(conv), .. })) => {
            conv.work().saturating_mul(2)
        }
        Ok(Lowering::Graph(inner) | Lowering::Late(inner)) => all_operations(&inner),
        _ => len.saturating_mul(OF_EACH),
    }
}

fn all_operations(graph: &Graph) -> usize {
    let each = graph.equations.iter().map(|equation| operations(graph, equation));
    each.fold(0, usize::saturating_add)
}
