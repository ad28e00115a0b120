//! Rows kept on the stack: an expensive array that one kernel reads several times in each iteration.
//!
//! The exponentials of a softmax are summed and then divided by their sum. Where a row of them is short, it is
//! computed once into a stack buffer, and the loops that follow read that. An array is kept so if all positions
//! at which a kernel wants it agree in the outer loops, and run through the same row in the inner ones.

use crate::classify::Node;
use crate::cluster::{Cluster, Form};
use crate::index::Affine;
use crate::loops::LoopId;

/// Bytes of the longest row that is kept.
const MAX_ROW: usize = 16 << 10;
/// Rows that a kernel keeps: with the longest, three quarters of its stack.
const MAX_ROWS: usize = 3;

/// A row of an array that a kernel keeps.
pub(crate) struct Row {
    /// The loop in each iteration of which there is another row.
    pub(crate) parent: LoopId,
    /// Where the row starts.
    pub(crate) start: Affine,
    /// How many elements it has.
    pub(crate) extent: i64,
}

/// The row that a kernel would keep of an array which it wants at these positions.
pub(crate) fn row(node: &Node, cluster: &Cluster, positions: &[Affine]) -> Option<Row> {
    let first = positions.first()?;
    if positions.len() < 2 || cluster.rows >= MAX_ROWS {
        return None;
    }
    if !matches!(cluster.form, Form::Plain | Form::Rows)
        || positions.iter().any(|at| at.offset != first.offset)
    {
        return None;
    }
    let mut start = Affine::constant(first.offset);
    let mut parent = None;
    for &l in &cluster.loops.each {
        let c = first.coefficient(l);
        if c == 0 || positions.iter().any(|at| at.coefficient(l) != c) {
            break;
        }
        start.set(l, c);
        parent = Some(l);
    }
    let parent = parent?;
    let rows = cluster.loops.trips(Some(parent)) as usize;
    let extent = node.len() / rows.max(1);
    if extent < 2 || extent * rows != node.len() || extent * node.dtype.size() > MAX_ROW {
        return None;
    }
    let extent = extent as i64;
    let runs_through = |at: &Affine| within(at, &start).range(&cluster.loops) == (0, extent - 1);
    positions.iter().all(runs_through).then_some(Row { parent, start, extent })
}

/// A position relative to the start of its row.
pub(crate) fn within(at: &Affine, start: &Affine) -> Affine {
    let mut inner = at.clone();
    inner.add(-1, start);
    inner
}
