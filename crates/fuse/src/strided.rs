//! Matrix products read the parts of arrays that they multiply where these lie, if they lie so that a product can: queries
//! and keys are columns of one array, and a transposed matrix is the same numbers with other strides.

use tracewell_kernel::{Gemm, Library, LibraryCall, Matrices};

use crate::classify::{Def, Flow, Id};
use crate::cluster::look_through;
use crate::index::{Affine, Apart};
use crate::loops::{LoopId, Loops};

/// A product of what the views among its operands are views of, as far as these are in memory anyway, and its operands.
/// `None` if there is nothing of the kind.
pub(crate) fn strided(flow: &Flow, call: &LibraryCall, operands: &[Id]) -> Option<(LibraryCall, Vec<Id>)> {
    let (Library::Gemm(gemm), &[a, b]) = (call.library.clone(), operands) else { return None };
    let found = [
        found(flow, a, &gemm.a, [gemm.count(), gemm.m, gemm.k]),
        found(flow, b, &gemm.b, [gemm.count(), gemm.k, gemm.n]),
    ];
    // Both go along the same axes of the batch: the left one decides where they want different ones.
    let inner = found.iter().flatten().find_map(|found| found.inner);
    let inner = inner.unwrap_or(1);
    let mut new = Gemm { batch: [gemm.count() / inner.max(1), inner], ..gemm };
    let (mut call, mut operands) = (call.clone(), operands.to_vec());
    let mut is_changed = false;
    for (k, found) in found.into_iter().enumerate() {
        let matrices = if k == 0 { &mut new.a } else { &mut new.b };
        match found.filter(|found| found.inner.is_none_or(|own| own == inner)) {
            Some(found) => {
                let node = &flow.nodes[found.of];
                operands[k] = found.of;
                call.inputs[k] = (node.dtype, node.shape.clone());
                *matrices = found.matrices(inner);
                is_changed = true;
            }
            // One stride is two, of which one is so many times the other.
            None => matrices.batch = [matrices.batch[1] * inner, matrices.batch[1]],
        }
    }
    call.library = Library::Gemm(new);
    is_changed.then_some((call, operands))
}

/// Where an operand is in another array.
struct Found {
    of: Id,
    start: usize,
    /// How far apart along the batch, or along its outer axis.
    outer: usize,
    /// The same along its inner axis, and how long that is, if it has one.
    along: usize,
    inner: Option<usize>,
    row: usize,
    col: usize,
}

impl Found {
    /// As matrices of a batch whose inner axis is so long.
    fn matrices(&self, inner: usize) -> Matrices {
        let batch = match self.inner {
            Some(_) => [self.outer, self.along],
            None => [self.outer * inner, self.outer],
        };
        Matrices { start: self.start, batch, row: self.row, col: self.col }
    }
}

/// What a view is a view of, if its matrices lie there evenly. Sizes are of the batch, of rows and of columns; the operand
/// has one stride along the batch.
fn found(flow: &Flow, mut id: Id, matrices: &Matrices, sizes: [usize; 3]) -> Option<Found> {
    if !matches!(flow.nodes[id].def, Def::View { .. }) || sizes.contains(&0) {
        return None;
    }
    let mut loops = Loops::default();
    let mut at = Affine::constant(0);
    let mut axis = |size: usize, stride: usize| {
        let axis = (size > 1).then(|| loops.add(size as i64, None))?;
        at.set(axis, stride as i64);
        Some(axis)
    };
    let batch = axis(sizes[0], matrices.batch[1]);
    let (rows, columns) = (axis(sizes[1], matrices.row), axis(sizes[2], matrices.col));
    let mut inner: Option<LoopId> = None;
    while let Def::View { axes, from, of } = &flow.nodes[id].def {
        let index = loop {
            match at.axes(&flow.nodes[id].shape, &loops) {
                Ok(index) => break index,
                // The batch may go along two axes.
                Err(Apart::Split { of, inner: size }) if batch == Some(of) && inner.is_none() => {
                    let new = loops.split(of, size);
                    at.split(of, size, new);
                    inner = Some(new);
                }
                Err(_) => return None,
            }
        };
        at = look_through(axes, from, &index);
        id = *of;
    }
    let is_in_memory = matches!(flow.nodes[id].def, Def::Input(_) | Def::Constant(_) | Def::Call { .. });
    let stride = |axis: Option<LoopId>| usize::try_from(axis.map_or(0, |axis| at.coefficient(axis))).ok();
    let (row, col) = (stride(rows)?, stride(columns)?);
    // Elements side by side, and none repeated: else a copy pays.
    let is_apart = |axis: Option<LoopId>, stride: usize| axis.is_none() || stride > 0;
    let is_even = is_apart(rows, row) && is_apart(columns, col) && (row == 1 || col == 1);
    (is_in_memory && is_even).then_some(Found {
        of: id,
        start: usize::try_from(at.offset).ok()?,
        outer: stride(batch)?,
        along: stride(inner)?,
        inner: inner.map(|inner| loops.extent(inner) as usize),
        row: if rows.is_some() { row } else { 1 },
        col: if columns.is_some() { col } else { 1 },
    })
}
