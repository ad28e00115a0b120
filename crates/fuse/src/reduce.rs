//! How reductions are done, and where they may be part of a larger kernel.
//!
//! The order in which floats are combined is part of the numeric contract. It depends on the graph and its
//! shapes alone:
//!
//! - *rows*: the reduced elements in the lane order of the kernel language's `reduce`, nested if they are not
//!   one stride apart;
//! - *columns*, where the innermost axis stays: one after the other, for each element of the result;
//! - *blocks*, where few results are made of many elements: partial results over blocks of [`BLOCK`] elements,
//!   then these and what is left over.
//!
//! Which of them it is says [`ReduceOrder`], because passes that cut arrays into parts ask, too.

use tracewell_kernel::ReduceOrder;

use crate::classify::{Def, Node};
use crate::cluster::{Cluster, Form};
use crate::index::Affine;
use crate::loops::LoopId;

/// Elements in a block. Part of the numeric contract.
pub(crate) const BLOCK: i64 = 16_384;
/// Elements that are worth no threads.
const SMALL: usize = 32_768;
/// Iterations of the outermost loop that keep threads busy.
const BUSY: i64 = 16;
/// Bytes of a row that stay in a core's cache from one loop over it to the next.
const ROW: usize = 256 << 10;

/// The form of a kernel that computes this array.
pub(crate) fn form(node: &Node) -> Form {
    let Def::Reduce { axes, from, .. } = &node.def else { return Form::Plain };
    match ReduceOrder::of(from, axes) {
        ReduceOrder::Rows => Form::Rows,
        ReduceOrder::Columns => Form::Columns,
        ReduceOrder::Blocks => Form::Blocks,
    }
}

/// Iterations of the outermost loops that will be one: those over which a position goes on evenly.
fn outermost(cluster: &Cluster, at: &Affine) -> i64 {
    let each = &cluster.loops.each;
    let extent = |l: LoopId| cluster.loops.extent(l);
    let goes_on = |pair: &&[LoopId]| {
        let [outer, inner] = [pair[0], pair[1]];
        at.coefficient(inner) != 0 && at.coefficient(outer) == at.coefficient(inner) * extent(inner)
    };
    let joined = each.windows(2).take_while(goes_on).map(|pair| extent(pair[1])).product::<i64>();
    each.first().map_or(1, |&l| extent(l) * joined)
}

/// Whether a reduction may be done inside a kernel, where its result is wanted at one position.
pub(crate) fn fits(node: &Node, cluster: &Cluster, at: &Affine) -> bool {
    let Def::Reduce { from, .. } = &node.def else { return false };
    // Each result must be needed exactly once.
    if cluster.trips(at) != node.len() as f64 {
        return false;
    }
    let is_here = *at == cluster.here;
    match (form(node), cluster.form) {
        (Form::Columns, Form::Plain | Form::Columns) => is_here,
        (Form::Rows, Form::Plain | Form::Rows) => {
            let row = from.len() / node.len().max(1) * node.dtype.size();
            let outermost = outermost(cluster, at);
            let is_small = from.len().max(cluster.len) <= SMALL;
            is_here || ((is_small || outermost >= BUSY) && row <= ROW)
        }
        _ => false,
    }
}
