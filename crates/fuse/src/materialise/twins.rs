//! Reductions over the same elements, which one kernel does beside each other.

use smallvec::SmallVec;

use super::{MAX_CANDIDATES, Walk};
use crate::classify::{Def, Flow, Id, Node, Operand};
use crate::index::Affine;
use crate::loops::LoopId;

/// Arrays that are looked through to find what two reductions share.
const MAX_PATH: usize = 16;
/// Arrays that are looked at to see whether one reduction needs another.
const MAX_NEEDED: usize = 64;

impl Walk<'_> {
    /// The loops of a reduction beside which a kernel can do this one, at this position.
    pub(super) fn twin(&self, k: usize, id: Id, at: &Affine) -> Option<SmallVec<[LoopId; 2]>> {
        let (flow, cluster) = (self.flow, &self.clusters[k]);
        let node = &flow.nodes[id];
        if !matches!(node.def, Def::Reduce { .. }) || *at != cluster.here {
            return None;
        }
        // The walk goes from results to inputs: this one needs none of those that are there.
        let mut twins = cluster.twins(&flow.nodes, node);
        twins.find(|(other, _)| !needs(flow, *other, id)).map(|(_, loops)| loops.clone())
    }

    /// Kernels that reduce the same elements as this array does, of which they read some: directly, or through functions
    /// that nobody has asked for yet and that are computed inside whoever asks.
    pub(super) fn twins(&self, id: Id, node: &Node) -> Vec<usize> {
        let Def::Reduce { of: Operand::Node(of), .. } = node.def else { return Vec::new() };
        let mut found = Vec::new();
        let mut path = vec![of];
        let mut looked_at = 0;
        while let Some(at) = path.pop() {
            looked_at += 1;
            let unasked = self.readers[at].is_empty() && !self.required[at];
            for &k in self.readers[at].iter().take(MAX_CANDIDATES) {
                let is_one = !self.readers[id].contains(&k) && !found.contains(&k);
                if is_one && self.clusters[k].twins(&self.flow.nodes, node).next().is_some() {
                    found.push(k);
                }
            }
            if let Def::Map { args, .. } = &self.flow.nodes[at].def
                && unasked
                && looked_at < MAX_PATH
            {
                path.extend(args.iter().filter_map(|arg| match arg {
                    Operand::Node(arg) => Some(*arg),
                    Operand::Literal(_) => None,
                }));
            }
        }
        found
    }
}

/// Whether an array is computed from another one, as far as one can see without looking at too many.
fn needs(flow: &Flow, array: Id, other: Id) -> bool {
    let mut open = vec![array];
    let mut looked_at = 0;
    while let Some(id) = open.pop() {
        looked_at += 1;
        if id == other || looked_at > MAX_NEEDED {
            return true;
        }
        // Operands have smaller numbers than what is made of them.
        let mut operand = |of: Id| open.extend((of >= other).then_some(of));
        let mut read = |of: &Operand| match of {
            Operand::Node(of) => operand(*of),
            Operand::Literal(_) => {}
        };
        match &flow.nodes[id].def {
            Def::Map { args, .. } => args.iter().for_each(read),
            Def::Reduce { of, .. } => read(of),
            Def::View { of, .. } => operand(*of),
            Def::Lookup { of, starts, .. } => {
                starts.iter().for_each(|start| read(&start.at));
                operand(*of);
            }
            Def::Pieces(parts) => parts.iter().for_each(|part| operand(part.of)),
            Def::Call { .. } | Def::Scratch => return true,
            Def::Input(_) | Def::Constant(_) | Def::Fill(_) | Def::Count { .. } => {}
        }
    }
    false
}
