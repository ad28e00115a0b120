//! A kernel in the making: what it computes, over which loops, and which arrays it wants at which positions.
//!
//! Arrays are found from the results to the inputs. Each is either computed inside, read from memory, or the
//! same as another array elsewhere; what is not decided yet is *wanted*. Positions are known exactly, so that
//! an array wanted twice at one position is computed once.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use tracewell_array::Shape;
use tracewell_graph::AxisView;

use crate::classify::{Def, Id, Node, Operand, Part};
use crate::index::{Affine, Apart};
use crate::loops::{LoopId, Loops};
use crate::rows::{Row, within};

/// How often loops are split to follow views before the views get memory instead.
const MAX_SPLITS: usize = 16;

/// A kernel in the making.
pub(crate) struct Cluster {
    pub(crate) loops: Loops,
    /// The axes that are walked: what may be computed along with it has the same.
    pub(crate) walked: SmallVec<[usize; 4]>,
    /// Number of elements of what it computes: the points of its independent loops.
    pub(crate) len: usize,
    /// The row-major position that the independent loops are at.
    pub(crate) here: Affine,
    /// The arrays that it computes.
    pub(crate) roots: Vec<Root>,
    /// What was wanted and is decided, each array before its operands.
    pub(crate) found: Vec<Found>,
    /// Where arrays that are not decided yet are wanted.
    pub(crate) wanted: FxHashMap<Id, SmallVec<[Affine; 1]>>,
    /// Arrays that it reads anywhere: it cannot compute them too.
    pub(crate) looked_up: Vec<Id>,
    /// Operations, counted once each.
    pub(crate) ops: u32,
    /// Different arrays that it loads.
    pub(crate) loads: usize,
    pub(crate) form: Form,
    /// Rows on the stack.
    pub(crate) rows: usize,
    /// Loops of reductions that are done beside another one, each with that one's: `unify` will make them one.
    twins: FxHashMap<LoopId, LoopId>,
    splits: usize,
}

/// An array that a cluster computes, or a part of one.
pub(crate) struct Root {
    /// The array that is stored.
    pub(crate) to: Id,
    /// The array whose element at `here` is stored: the same, or a part of it.
    pub(crate) of: Id,
    /// Where it is stored.
    pub(crate) at: Affine,
}

/// How the reductions of a cluster hang in its loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// There are none.
    Plain,
    /// Some, anywhere.
    Rows,
    /// All are at the innermost independent loop, which walks along memory: tiles of accumulators suit them.
    Columns,
    /// One that is long enough to be done in blocks.
    Blocks,
}

/// An array at a position, and what it is there.
pub(crate) struct Found {
    pub(crate) id: Id,
    pub(crate) at: Affine,
    pub(crate) what: What,
}

/// What an array is at a position.
pub(crate) enum What {
    /// An element of memory.
    Load,
    /// A function of its operands at the same position.
    Map,
    /// Another array elsewhere.
    Elsewhere(Id, Affine),
    /// An element of another array in memory: at this position, and further by what its starts say.
    Lookup(Affine),
    /// Its operand there, reduced over these loops.
    Reduce(SmallVec<[LoopId; 2]>, Affine),
    /// One literal everywhere.
    Fill,
    /// The value of this sum, as a number of the array's type.
    Count(Affine),
    /// Put by these loops into a row on the stack, at a position in the row.
    Keep(SmallVec<[LoopId; 2]>, Affine),
    /// Read from that row, at a position in it.
    Recall(Affine),
}

impl Cluster {
    /// The loops that compute an array, one for each axis of its shape that is walked.
    pub(crate) fn new(shape: &Shape) -> Cluster {
        let mut loops = Loops::default();
        let mut here = Affine::constant(0);
        for (size, stride) in shape.iter().zip(shape.strides()) {
            if size != 1 {
                let parent = loops.each.last().copied();
                let id = loops.add(size as i64, parent);
                loops.each.push(id);
                here.set(id, stride as i64);
            }
        }
        Cluster {
            loops,
            walked: walked(shape),
            len: shape.len(),
            here,
            roots: Vec::new(),
            found: Vec::new(),
            wanted: FxHashMap::default(),
            looked_up: Vec::new(),
            ops: 0,
            loads: 0,
            form: Form::Plain,
            rows: 0,
            twins: FxHashMap::default(),
            splits: 0,
        }
    }

    /// The loops over parts of an array that are alike but for where they start; their elements are stored at these
    /// strides in the whole.
    pub(crate) fn of_parts(whole: Id, parts: &[&Part]) -> Cluster {
        let mut cluster = Cluster::new(&parts[0].shape);
        for part in parts {
            let mut at = Affine::constant(part.start);
            let walked = part.shape.iter().zip(&part.strides).filter(|(size, _)| *size != 1);
            for (&id, (_, &stride)) in cluster.loops.each.iter().zip(walked) {
                at.set(id, stride);
            }
            cluster.roots.push(Root { to: whole, of: part.of, at });
        }
        cluster
    }

    /// The reductions over the same elements as this one that it computes at each of its points, with their loops.
    pub(crate) fn twins<'a>(
        &'a self,
        nodes: &'a [Node],
        node: &'a Node,
    ) -> impl Iterator<Item = (Id, &'a SmallVec<[LoopId; 2]>)> {
        self.found.iter().filter_map(|found| {
            let other = &nodes[found.id];
            let What::Reduce(loops, _) = &found.what else { return None };
            let is_alike = match (&other.def, &node.def) {
                (Def::Reduce { axes, from, .. }, Def::Reduce { axes: its, from: of, .. }) => {
                    (axes, from, other.dtype) == (its, of, node.dtype)
                }
                _ => false,
            };
            (is_alike && found.at == self.here).then_some((found.id, loops))
        })
    }

    /// Notes that the reduction that was found last needs no loops of its own. Neither may need the other.
    pub(crate) fn pair(&mut self, loops: &[LoopId]) {
        let Some(Found { what: What::Reduce(own, _), .. }) = self.found.last() else { return };
        let pairs =
            own.iter().zip(loops).map(|(&own, &other)| (own, *self.twins.get(&other).unwrap_or(&other)));
        self.twins.extend(pairs.collect::<SmallVec<[_; 2]>>());
    }

    /// A position as it will be when loops that are twins are one.
    pub(crate) fn unified(&self, at: &Affine) -> Affine {
        let mut unified = at.clone();
        for &(own, coefficient) in &at.terms {
            // A loop that was split since is no twin any more.
            if let Some(&other) = self.twins.get(&own)
                && self.loops.extent(own) == self.loops.extent(other)
            {
                unified.set(own, 0);
                unified.set(other, coefficient);
            }
        }
        unified
    }

    /// How often an array is computed if it is computed inside, for each position where it is wanted.
    pub(crate) fn trips(&self, at: &Affine) -> f64 {
        self.loops.trips(self.loops.home(at.innermost(&self.loops)))
    }

    /// Whether the array can be found at a position from its operands, after splitting loops where it helps.
    pub(crate) fn reaches(&mut self, node: &Node, mut at: Affine) -> bool {
        let looks = matches!(
            node.def,
            Def::View { .. } | Def::Lookup { .. } | Def::Count { .. } | Def::Reduce { .. }
        );
        if !looks {
            return true;
        }
        loop {
            match at.axes(&node.shape, &self.loops) {
                Ok(_) => return true,
                Err(Apart::Split { of, inner }) if self.splits < MAX_SPLITS => {
                    let new = self.split(of, inner);
                    at.split(of, inner, new);
                }
                Err(_) => return false,
            }
        }
    }

    /// Makes two loops of one in everything that is known so far.
    fn split(&mut self, of: LoopId, inner: i64) -> LoopId {
        self.splits += 1;
        let new = self.loops.split(of, inner);
        self.here.split(of, inner, new);
        self.roots.iter_mut().for_each(|root| root.at.split(of, inner, new));
        for found in &mut self.found {
            found.at.split(of, inner, new);
            match &mut found.what {
                What::Elsewhere(_, at) | What::Lookup(at) | What::Recall(at) | What::Count(at) => {
                    at.split(of, inner, new);
                }
                What::Reduce(loops, at) | What::Keep(loops, at) => {
                    at.split(of, inner, new);
                    if let Some(place) = loops.iter().position(|&l| l == of) {
                        loops.insert(place + 1, new);
                    }
                }
                What::Load | What::Map | What::Fill => {}
            }
        }
        // The order in which they are visited does not matter: each is changed on its own.
        self.wanted.values_mut().flatten().for_each(|at| at.split(of, inner, new));
        new
    }

    /// Finds an array at a position from its operands, which are returned with their positions. The position
    /// must be one that it [`reaches`](Self::reaches).
    pub(crate) fn compute(&mut self, id: Id, node: &Node, at: Affine) -> SmallVec<[(Operand, Affine); 3]> {
        let mut wanted = SmallVec::new();
        let what = match &node.def {
            Def::Map { args, ops, .. } => {
                self.ops = self.ops.saturating_add(*ops);
                wanted.extend(args.iter().map(|&arg| (arg, at.clone())));
                What::Map
            }
            Def::View { axes, from, of } => {
                let index = at.axes(&node.shape, &self.loops).expect("the position is reached");
                let there = look_through(axes, from, &index);
                wanted.push((Operand::Node(*of), there.clone()));
                What::Elsewhere(*of, there)
            }
            Def::Lookup { axes, from, of, starts } => {
                let index = at.axes(&node.shape, &self.loops).expect("the position is reached");
                self.ops = self.ops.saturating_add(1);
                self.looked_up.push(*of);
                wanted.extend(starts.iter().map(|start| (start.at, at.clone())));
                What::Lookup(look_through(axes, from, &index))
            }
            Def::Reduce { axes, from, of, .. } => {
                let index = at.axes(&node.shape, &self.loops).expect("the position is reached");
                let mut parent = self.loops.home(at.innermost(&self.loops));
                let (mut loops, mut kept) = (SmallVec::new(), index.into_iter());
                let mut there = Affine::constant(0);
                for (axis, stride) in from.strides().into_iter().enumerate() {
                    if !axes.contains(&axis) {
                        there.add(stride as i64, &kept.next().expect("one index for each kept axis"));
                    } else if from.size(axis) != 1 {
                        let new = self.loops.add(from.size(axis) as i64, parent);
                        parent = Some(new);
                        loops.push(new);
                        there.add(stride as i64, &Affine::var(new));
                    }
                }
                self.ops = self.ops.saturating_add(1);
                wanted.push((*of, there.clone()));
                What::Reduce(loops, there)
            }
            Def::Fill(_) => What::Fill,
            Def::Count { axis } => {
                let mut index = at.axes(&node.shape, &self.loops).expect("the position is reached");
                What::Count(index.swap_remove(*axis))
            }
            Def::Input(_) | Def::Constant(_) | Def::Call { .. } | Def::Pieces(_) | Def::Scratch => {
                unreachable!("has memory")
            }
        };
        self.found.push(Found { id, at, what });
        wanted
    }

    /// Keeps a row of an array, which is read wherever the array is wanted. Returns where it is computed.
    pub(crate) fn keep(&mut self, id: Id, row: &Row) -> Affine {
        for at in self.wanted.remove(&id).unwrap_or_default() {
            let what = What::Recall(within(&at, &row.start));
            self.found.push(Found { id, at, what });
        }
        let l = self.loops.add(row.extent, Some(row.parent));
        let mut at = row.start.clone();
        at.set(l, 1);
        let what = What::Keep(smallvec![l], Affine::var(l));
        self.found.push(Found { id, at: at.clone(), what });
        self.rows += 1;
        self.form = Form::Rows;
        at
    }

    /// Reads an array from memory wherever it is wanted.
    pub(crate) fn load(&mut self, id: Id) {
        self.loads += 1;
        for at in self.wanted.remove(&id).unwrap_or_default() {
            self.found.push(Found { id, at, what: What::Load });
        }
    }
}

/// The sizes of axes that are walked.
pub(crate) fn walked(shape: &Shape) -> SmallVec<[usize; 4]> {
    shape.iter().filter(|&size| size != 1).collect()
}

/// The position in a view's operand of what is at this index of the view.
pub(crate) fn look_through(axes: &[AxisView], from: &Shape, index: &[Affine]) -> Affine {
    let mut there = Affine::constant(0);
    for (view, stride) in axes.iter().zip(from.strides()) {
        let stride = stride as i64;
        there.offset += stride * view.start;
        if let Some(axis) = view.axis {
            there.add(stride * view.step, &index[axis]);
        }
    }
    there
}
