//! Few results from many elements: partial results over blocks, then these combined.
//!
//! The first kernel computes one partial result a block, independent of each other, so that threads can share
//! the work. The second combines them, and what is left over after the last whole block. The size of a block
//! is part of the numeric contract; how many threads there are is not.

use smallvec::{SmallVec, smallvec};
use tracewell_array::Shape;
use tracewell_kernel::{KernelBuilder, Value, is_columns};

use crate::classify::{Def, Flow, Node};
use crate::cluster::Form;
use crate::index::Affine;
use crate::loops::LoopId;
use crate::nest::{Nest, Scalar, Store};
use crate::reduce::BLOCK;

/// The nests that compute what a nest of one long reduction computes: usually two.
pub(crate) fn blocks(flow: &mut Flow, nest: Nest) -> Vec<Nest> {
    let (store, reduction) = (nest.stores[0].clone(), nest.stores[0].scalar);
    let Scalar::Reduce { loops, .. } = &nest.scalars[reduction] else {
        unreachable!("a nest in blocks is a reduction")
    };
    let node = &flow.nodes[store.to];
    let in_columns = matches!(&node.def, Def::Reduce { axes, from, .. } if is_columns(from, axes));
    let form = if in_columns { Form::Columns } else { Form::Rows };
    let outer = loops[0];
    let len = node.len() as i64;
    // Rows of the outermost reduced loop that make a block.
    let width: i64 = loops[1..].iter().map(|&l| nest.loops.extent(l)).product();
    let rows = (BLOCK / (width * if in_columns { len } else { 1 })).max(1);
    let (whole, rest) = (nest.loops.extent(outer) / rows, nest.loops.extent(outer) % rows);
    if whole < 2 {
        return vec![Nest { form, ..nest }];
    }
    let (dtype, name) = (node.dtype, node.name.clone());
    let shape = Shape::from([whole as usize, len as usize]);
    flow.nodes.push(Node { def: Def::Scratch, dtype, shape, name, source: None });
    let partial = flow.nodes.len() - 1;

    let mut first = nest.clone();
    first.form = form;
    first.loops.set_extent(outer, rows);
    let block = first.loops.surround(whole);
    first.each_access(|at| at.set(block, rows * at.coefficient(outer)));
    first.stores[0].to = partial;
    first.stores[0].at.set(block, len);
    vec![
        first,
        last(nest, &store, outer, (partial, whole, len), (rest > 0).then_some((whole * rows, rest)), form),
    ]
}

/// Combines partial results, an array of `count` times `len` elements, and the rows from `rest` on.
fn last(
    mut nest: Nest,
    store: &Store,
    outer: LoopId,
    (partial, count, len): (usize, i64, i64),
    rest: Option<(i64, i64)>,
    form: Form,
) -> Nest {
    let Scalar::Reduce { combine, dtype, .. } = nest.scalars[store.scalar] else {
        unreachable!("a nest in blocks is a reduction")
    };
    nest.form = form;
    let parent = nest.loops.each.last().copied();
    let block = nest.loops.add(count, parent);
    let mut at: Affine = store.at.clone();
    at.set(block, len);
    let load = Scalar::Load { of: partial, at, plus: SmallVec::new() };
    let Some((start, extent)) = rest else {
        nest.scalars = vec![load, Scalar::Reduce { combine, dtype, loops: smallvec![block], body: 0 }];
        nest.stores[0].scalar = 1;
        return nest;
    };
    nest.loops.set_extent(outer, extent);
    nest.each_access(|at| at.offset += start * at.coefficient(outer));
    let body = nest.scalars.len();
    nest.scalars.push(load);
    nest.scalars.push(Scalar::Reduce { combine, dtype, loops: smallvec![block], body });
    let args: SmallVec<[usize; 3]> = smallvec![body + 1, store.scalar];
    let f = std::sync::Arc::new(move |b: &mut KernelBuilder, x: &[Value]| b.op(combine.op(), x));
    nest.scalars.push(Scalar::Map { f, args, ops: 1 });
    nest.stores[0].scalar = body + 2;
    nest
}
