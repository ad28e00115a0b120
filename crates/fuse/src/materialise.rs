//! Which arrays get memory: everything else is recomputed in the loops that read it.
//!
//! One walk from the results to the inputs. Each array has *readers*: kernels, each with the path of views
//! through which it reads. An array stays out of memory if it has one reader, or if recomputing it costs no
//! more than loading it. Two readers of one kernel by different paths are two: the kernel would compute the
//! array twice. Kernels are kept below a size that compiles quickly, in the same walk.
//!
//! Deliberately absent: whether a view can be followed with the loops a kernel has. That is found out when the
//! kernel is made, which then asks for memory after all.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::{SmallVec, smallvec};
use tracewell_graph::AxisView;

use crate::classify::{Def, Flow, Id, Node, Operand};
use crate::cost::LOAD;

/// Operations after which a kernel is cut.
const MAX_OPS: u32 = 2_000;
/// Buffers after which a kernel is cut.
const MAX_BUFFERS: usize = 24;
/// Readers of an array that is recomputed for each.
const MAX_READERS: usize = 4;
/// Operations that are worth keeping an array for which is read over and over.
const EXPENSIVE: u32 = 8;
/// Operations in a row that are recomputed for several readers.
const CHEAP: u32 = 4;

/// A kernel and the path by which it reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Reader {
    /// The array that the kernel computes.
    kernel: Id,
    path: u64,
}

/// What a kernel has grown to.
#[derive(Default)]
struct Size {
    ops: u32,
    /// Arrays it reads that have memory, or whose fate is open.
    buffers: usize,
}

/// For each array, whether it has memory. An array that nobody needs has none.
pub(crate) fn materialise(flow: &Flow, fusion: bool) -> Vec<bool> {
    let costs = costs(flow);
    let mut walk = Walk {
        flow,
        stored: vec![false; flow.nodes.len()],
        repeated: vec![false; flow.nodes.len()],
        readers: vec![SmallVec::new(); flow.nodes.len()],
        kernels: FxHashMap::default(),
    };
    for &id in &flow.outputs {
        walk.stored[id] = true;
    }
    for id in (0..flow.nodes.len()).rev() {
        let node = &flow.nodes[id];
        if !walk.stored[id] && walk.readers[id].is_empty() {
            continue;
        }
        match &node.def {
            Def::Input(_) | Def::Constant(_) | Def::Fill(_) => walk.stored[id] = true,
            Def::Call { call, .. } => {
                for &result in &flow.calls[*call].results {
                    walk.stored[result] = true;
                }
                for &operand in &flow.calls[*call].operands {
                    walk.stored[operand] = true;
                }
            }
            Def::Reduce { of, .. } => {
                let reader = walk.store(id);
                walk.read(*of, &[reader]);
            }
            Def::Map { args, ops, .. } => {
                let recomputed = fusion && walk.is_recomputed(id, &costs) && walk.has_room(id, args, *ops);
                let readers = if recomputed { walk.take(id, *ops) } else { smallvec![walk.store(id)] };
                for &arg in args {
                    walk.read(arg, &readers);
                }
            }
            Def::View { axes, from, of } => {
                let followed = fusion && !walk.stored[id] && walk.readers[id].len() <= MAX_READERS;
                let readers = if followed { walk.take(id, 0) } else { smallvec![walk.store(id)] };
                let step = hash(&(axes_key(axes), from.sizes()));
                let readers: SmallVec<[Reader; 2]> =
                    readers.iter().map(|r| Reader { path: hash(&(r.path, step)), ..*r }).collect();
                walk.repeated[*of] |= repeats(axes, node);
                walk.read(Operand::Node(*of), &readers);
            }
        }
    }
    walk.stored
}

struct Walk<'f> {
    flow: &'f Flow,
    stored: Vec<bool>,
    /// Read over and over by a loop that cannot keep its elements.
    repeated: Vec<bool>,
    readers: Vec<SmallVec<[Reader; 2]>>,
    kernels: FxHashMap<Id, Size>,
}

impl Walk<'_> {
    /// Gives an array memory and a kernel of its own.
    fn store(&mut self, id: Id) -> Reader {
        self.stored[id] = true;
        if let Def::Map { ops, .. } = self.flow.nodes[id].def {
            self.kernels.entry(id).or_default().ops = ops;
        }
        Reader { kernel: id, path: 0 }
    }

    /// Makes an array part of the kernels that read it.
    fn take(&mut self, id: Id, ops: u32) -> SmallVec<[Reader; 2]> {
        let readers = self.readers[id].clone();
        for reader in &readers {
            let kernel = self.kernels.entry(reader.kernel).or_default();
            kernel.ops = kernel.ops.saturating_add(ops);
            kernel.buffers = kernel.buffers.saturating_sub(1);
        }
        readers
    }

    fn read(&mut self, operand: Operand, readers: &[Reader]) {
        let Operand::Node(id) = operand else { return };
        for &reader in readers {
            if !self.readers[id].contains(&reader) {
                self.readers[id].push(reader);
                self.kernels.entry(reader.kernel).or_default().buffers += 1;
            }
        }
    }

    fn is_recomputed(&self, id: Id, costs: &[Cost]) -> bool {
        let cost = costs[id];
        !self.stored[id]
            && !(self.repeated[id] && cost.total >= EXPENSIVE)
            && (self.readers[id].len() == 1 || (cost.is_cheap && self.readers[id].len() <= MAX_READERS))
    }

    fn has_room(&self, id: Id, args: &[Operand], ops: u32) -> bool {
        let added = args.iter().filter(|a| matches!(a, Operand::Node(_))).count();
        self.readers[id].iter().all(|reader| {
            let Some(kernel) = self.kernels.get(&reader.kernel) else { return true };
            // An array of one operand takes no more buffers than its operand.
            let fits = added <= 1 || kernel.buffers + added <= MAX_BUFFERS + 1;
            fits && kernel.ops.saturating_add(ops) <= MAX_OPS
        })
    }
}

/// What it costs to recompute an array.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Operations, as if nothing before it had memory but what is given.
    total: u32,
    /// Whether a reader may as well compute it as load it: few operations on one loaded element.
    is_cheap: bool,
    /// Operations since the last array that is not cheap.
    streak: u32,
}

fn costs(flow: &Flow) -> Vec<Cost> {
    let mut costs: Vec<Cost> = Vec::with_capacity(flow.nodes.len());
    for node in &flow.nodes {
        let cost = match &node.def {
            Def::Map { args, ops, .. } => {
                let operands: SmallVec<[Cost; 3]> = args
                    .iter()
                    .filter_map(|arg| match arg {
                        Operand::Node(id) => Some(costs[*id]),
                        Operand::Literal(_) => None,
                    })
                    .collect();
                let total = operands.iter().fold(*ops, |sum, cost| sum.saturating_add(cost.total));
                let before = operands.first().map_or(0, |c| c.streak);
                let is_cheap = *ops <= LOAD && operands.len() <= 1 && before + ops <= CHEAP;
                Cost { total, is_cheap, streak: if is_cheap { before + ops } else { 0 } }
            }
            Def::View { of, .. } => costs[*of],
            _ => Cost::default(),
        };
        costs.push(cost);
    }
    costs
}

/// Whether the view repeats its operand where a loop nest in the order of the result's axes cannot keep an
/// element while it repeats it.
fn repeats(axes: &[AxisView], node: &Node) -> bool {
    let followed = |axis: usize| axes.iter().any(|view| view.axis == Some(axis) && view.step != 0);
    let walked = |axis: usize| node.shape.size(axis) > 1;
    let last = (0..node.shape.rank()).rev().find(|&a| walked(a) && followed(a));
    (0..node.shape.rank()).any(|a| walked(a) && !followed(a) && last.is_none_or(|last| a < last))
}

fn axes_key(axes: &[AxisView]) -> Vec<(Option<usize>, i64, i64)> {
    axes.iter().map(|view| (view.axis, view.start, view.step)).collect()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
