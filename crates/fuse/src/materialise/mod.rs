//! Which arrays get memory, and which kernel computes them: everything else is recomputed where it is read.
//!
//! One walk from the results to the inputs, in which kernels grow. When the walk comes to an array, all its
//! readers are known, with the positions at which they want it. It is computed inside them, if that costs
//! little more than once; or it gets memory and is one more result of a kernel that walks the same space; or
//! memory and a kernel of its own.
//!
//! Deliberately absent: what the loops of a kernel will look like. That is `collapse` and `emit`.

mod twins;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use tracewell_graph::AxisView;
use tracewell_kernel::steps;

use crate::classify::{Def, Flow, Id, Node, Operand, Part};
use crate::cluster::{Cluster, Form, Root, walked};
use crate::index::Affine;
use crate::order::{Order, Unit};
use crate::reduce;
use crate::rows::{Row, row};

/// Operations after which a kernel is cut.
const MAX_OPS: u32 = 2_000;
/// Arrays that a kernel reads before it is cut.
const MAX_LOADS: usize = 24;
/// Arrays that a kernel writes.
const MAX_ROOTS: usize = 8;
/// Positions at which an array is recomputed, if there is something to compute.
const MAX_READS: usize = 8;
/// Positions at which one is read where its elements lie: each is written into the kernel.
const MAX_PLACES: usize = 64;
/// Operations that are as cheap as loading the result.
const CHEAP: u32 = 4;
/// How often an array is read that is worth a copy in which neighbours are neighbours.
const OFTEN: f64 = 16.0;
/// Operations that are as long as finding an element anywhere.
const LOOKUP: u32 = 8;
/// Repeated operations that are as cheap as launching another kernel.
const LAUNCH: f64 = 2_000.0;
/// Kernels that are considered for one more result.
const MAX_CANDIDATES: usize = 4;

/// The kernels of a flow and the order between them.
pub(crate) struct Plan {
    pub(crate) clusters: Vec<Cluster>,
    /// Whether an array has memory.
    pub(crate) stored: Vec<bool>,
    /// Kernels and calls so that everything is made before it is read.
    pub(crate) units: Vec<Unit>,
}

/// Decides for every array of a flow.
pub(crate) fn materialise(flow: &Flow, fusion: bool) -> Plan {
    let count = flow.nodes.len();
    let mut walk = Walk {
        flow,
        fusion,
        costs: costs(flow),
        clusters: Vec::new(),
        readers: vec![SmallVec::new(); count],
        calls: vec![SmallVec::new(); count],
        required: vec![false; count],
        stored: vec![false; count],
        order: Order::default(),
    };
    for &id in &flow.outputs {
        walk.required[id] = true;
    }
    let mut effects: Vec<usize> = (0..flow.calls.len()).filter(|&c| flow.calls[c].effect.is_some()).collect();
    for pair in effects.windows(2) {
        walk.order.after(Unit::Call(pair[1]), Unit::Call(pair[0]));
    }
    for id in (0..count).rev() {
        // Before the walk comes to what an effect reads.
        while let Some(effect) = effects.pop_if(|call| flow.calls[*call].effect > Some(id)) {
            walk.start(effect);
        }
        if walk.required[id] || !walk.readers[id].is_empty() {
            walk.visit(id);
        }
    }
    effects.into_iter().rev().for_each(|effect| walk.start(effect));
    Plan { units: walk.order.sorted(), clusters: walk.clusters, stored: walk.stored }
}

/// What becomes of an array.
enum Fate {
    /// Recomputed inside its readers.
    Inside,
    /// Memory and a kernel of its own.
    Alone,
    /// Memory, and computed by this kernel.
    Joins(usize),
    /// Kept by its only reader, row by row.
    Kept(usize, Row),
}

struct Walk<'f> {
    flow: &'f Flow,
    fusion: bool,
    /// Operations to compute an array from what surely has memory.
    costs: Vec<u32>,
    clusters: Vec<Cluster>,
    /// The kernels that want an array.
    readers: Vec<SmallVec<[usize; 2]>>,
    /// The library calls that read an array.
    calls: Vec<SmallVec<[usize; 1]>>,
    /// Must have memory: results, and operands of calls.
    required: Vec<bool>,
    stored: Vec<bool>,
    order: Order,
}

impl Walk<'_> {
    fn visit(&mut self, id: Id) {
        let node = &self.flow.nodes[id];
        match node.def {
            Def::Input(_) | Def::Constant(_) => self.store(id, &[]),
            Def::Call { call } => self.call(id, call),
            // Nobody reads an element of an empty array, and nobody writes one.
            _ if node.len() == 0 => self.store(id, &[]),
            Def::Pieces(ref parts) => self.pieces(id, parts),
            _ => match self.fate(id, node) {
                Fate::Inside => {
                    for k in std::mem::take(&mut self.readers[id]) {
                        let positions = self.clusters[k].wanted.remove(&id).unwrap_or_default();
                        for at in positions {
                            self.compute(k, id, at);
                        }
                    }
                }
                Fate::Kept(k, row) => {
                    self.readers[id].clear();
                    let at = self.clusters[k].keep(id, &row);
                    self.compute(k, id, at);
                }
                Fate::Alone => {
                    let mut cluster = Cluster::new(&node.shape);
                    cluster.form = reduce::form(node);
                    self.clusters.push(cluster);
                    self.root(self.clusters.len() - 1, id);
                }
                Fate::Joins(k) => {
                    if let Form::Plain = self.clusters[k].form {
                        self.clusters[k].form = reduce::form(node);
                    }
                    self.root(k, id);
                }
            },
        }
    }

    /// Makes an array a result of a kernel.
    fn root(&mut self, k: usize, id: Id) {
        self.readers[id].retain(|reader| *reader != k);
        self.clusters[k].wanted.remove(&id);
        let here = self.clusters[k].here.clone();
        self.clusters[k].roots.push(Root { to: id, of: id, at: here.clone() });
        self.order.add(Unit::Cluster(k));
        self.store(id, &[Unit::Cluster(k)]);
        self.compute(k, id, here);
    }

    /// Makes an array in parts by kernels that may compute what they put there. Parts that lie alike, as those of complex
    /// numbers do, are made by one kernel: they often share operands.
    fn pieces(&mut self, id: Id, parts: &[Part]) {
        let first = self.clusters.len();
        let mut alike: Vec<Vec<&Part>> = Vec::new();
        for part in parts {
            let lies_so = |group: &&mut Vec<&Part>| {
                let other = group[0];
                (&other.shape, &other.strides) == (&part.shape, &part.strides) && group.len() < MAX_ROOTS
            };
            match alike.iter_mut().find(lies_so).filter(|_| self.fusion) {
                Some(group) => group.push(part),
                None => alike.push(vec![part]),
            }
        }
        let makers: Vec<Unit> = (first..first + alike.len()).map(Unit::Cluster).collect();
        makers.iter().for_each(|&maker| self.order.add(maker));
        self.store(id, &makers);
        for group in alike {
            let cluster = Cluster::of_parts(id, &group);
            let here = cluster.here.clone();
            self.clusters.push(cluster);
            for part in group {
                self.want(self.clusters.len() - 1, part.of, here.clone());
            }
        }
    }

    /// Gives an array memory, which its readers read.
    fn store(&mut self, id: Id, makers: &[Unit]) {
        self.stored[id] = true;
        for k in std::mem::take(&mut self.readers[id]) {
            self.clusters[k].load(id);
            makers.iter().for_each(|&maker| self.order.after(Unit::Cluster(k), maker));
        }
        for &call in &self.calls[id] {
            makers.iter().for_each(|&maker| self.order.after(Unit::Call(call), maker));
        }
    }

    fn call(&mut self, id: Id, call: usize) {
        // Once, when the walk meets the first of its results. An effect was started before.
        if !self.stored[id] {
            self.start(call);
        }
        self.store(id, &[Unit::Call(call)]);
    }

    /// Makes a call part of the program: its operands are wanted, its results have memory.
    fn start(&mut self, call: usize) {
        let flow = self.flow;
        self.order.add(Unit::Call(call));
        for &operand in &flow.calls[call].operands {
            self.required[operand] = true;
            self.calls[operand].push(call);
            // The constants of a call may stand behind it, where the walk has been already.
            if let Def::Constant(_) = flow.nodes[operand].def {
                self.stored[operand] = true;
            }
        }
        for &result in &flow.calls[call].results {
            self.stored[result] = true;
        }
    }

    /// Computes an array inside a kernel, which then wants its operands.
    fn compute(&mut self, k: usize, id: Id, at: Affine) {
        let flow = self.flow;
        if let Def::Lookup { of, .. } = flow.nodes[id].def {
            self.required[of] = true;
            if !self.readers[of].contains(&k) {
                self.readers[of].push(k);
            }
        }
        let node = &flow.nodes[id];
        let twin = self.twin(k, id, &at);
        let operands = self.clusters[k].compute(id, node, at);
        if let Some(loops) = twin {
            self.clusters[k].pair(&loops);
        }
        for (operand, at) in operands {
            if let Operand::Node(id) = operand {
                self.want(k, id, at);
            }
        }
    }

    /// A kernel wants an array at a position.
    fn want(&mut self, k: usize, id: Id, at: Affine) {
        let positions = self.clusters[k].wanted.entry(id).or_default();
        if !positions.contains(&at) {
            positions.push(at);
        }
        if !self.readers[id].contains(&k) {
            self.readers[id].push(k);
        }
    }

    fn fate(&mut self, id: Id, node: &Node) -> Fate {
        let array = || format!("`{}` of {}{}", node.name, node.dtype, node.shape);
        if !self.fusion || !steps::take(array) {
            return Fate::Alone;
        }
        if !self.required[id] {
            if let Some(fate) = self.kept(id, node) {
                return fate;
            }
            if self.is_inside(id, node) {
                return Fate::Inside;
            }
        }
        self.host(id, node).map_or(Fate::Alone, Fate::Joins)
    }

    /// Whether the only reader of an expensive array keeps it.
    fn kept(&self, id: Id, node: &Node) -> Option<Fate> {
        let [k] = self.readers[id][..] else { return None };
        let wanted = &self.clusters[k].wanted[&id];
        let is_worth_it =
            matches!(node.def, Def::Map { .. }) && self.costs[id] > CHEAP && self.unified(k, id).len() > 1;
        let row = row(node, &self.clusters[k], wanted);
        row.filter(|_| is_worth_it && self.has_room(k, node)).map(|row| Fate::Kept(k, row))
    }

    /// The positions at which a kernel will compute an array, if it is computed inside.
    fn unified(&self, k: usize, id: Id) -> FxHashSet<Affine> {
        self.clusters[k].wanted[&id].iter().map(|at| self.clusters[k].unified(at)).collect()
    }

    /// Whether an array is recomputed by its readers.
    fn is_inside(&mut self, id: Id, node: &Node) -> bool {
        let readers = self.readers[id].clone();
        let reads: Vec<(usize, Affine)> = readers
            .iter()
            .flat_map(|&k| self.clusters[k].wanted[&id].iter().map(move |at| (k, at.clone())))
            .collect();
        let computes = !matches!(node.def, Def::Fill(_) | Def::View { .. } | Def::Count { .. });
        let most = if computes { MAX_READS } else { MAX_PLACES };
        if reads.len() > most || !readers.iter().all(|&k| self.has_room(k, node)) {
            return false;
        }
        match node.def {
            Def::Map { .. } => {
                let trips = |&k: &usize| -> f64 {
                    self.unified(k, id).iter().map(|at| self.clusters[k].trips(at)).sum()
                };
                let trips: f64 = readers.iter().map(trips).sum();
                let cost = self.costs[id];
                cost <= CHEAP || (trips - node.len() as f64) * f64::from(cost) <= LAUNCH
            }
            // Nothing to compute.
            Def::Fill(_) => true,
            Def::View { ref axes, .. } if is_turned(axes, node) && self.is_read_often(node, &reads) => false,
            Def::View { .. } | Def::Count { .. } => readers.iter().all(|&k| self.reaches(k, id, node)),
            Def::Lookup { .. } => {
                let trips: f64 = reads.iter().map(|(k, at)| self.clusters[*k].trips(at)).sum();
                (trips - node.len() as f64) * f64::from(self.costs[id]) <= LAUNCH
                    && readers.iter().all(|&k| self.reaches(k, id, node))
            }
            Def::Reduce { .. } => match reads.as_slice() {
                [(k, at)] => {
                    let fits = reduce::fits(node, &self.clusters[*k], at)
                        && self.clusters[*k].reaches(node, at.clone());
                    if fits && self.clusters[*k].form == Form::Plain {
                        self.clusters[*k].form = reduce::form(node);
                    }
                    fits
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a kernel can find an array wherever it wants it. Splitting a loop changes positions, so they are asked
    /// for again each time.
    fn reaches(&mut self, k: usize, id: Id, node: &Node) -> bool {
        let count = self.clusters[k].wanted[&id].len();
        (0..count).all(|i| {
            let at = self.clusters[k].wanted[&id][i].clone();
            self.clusters[k].reaches(node, at)
        })
    }

    /// Whether each element of an array is read many times.
    fn is_read_often(&self, node: &Node, reads: &[(usize, Affine)]) -> bool {
        let trips: f64 = reads.iter().map(|(k, at)| self.clusters[*k].trips(at)).sum();
        trips >= OFTEN * node.len() as f64
    }

    /// Whether a kernel stays small enough with one more array.
    fn has_room(&self, k: usize, node: &Node) -> bool {
        let cluster = &self.clusters[k];
        let (ops, operands) = match &node.def {
            Def::Map { ops, args, .. } => {
                (*ops, args.iter().filter(|a| matches!(a, Operand::Node(_))).count())
            }
            Def::Lookup { starts, .. } => (1, 1 + starts.len()),
            _ => (1, 1),
        };
        // An array of one operand takes no more memory than its operand.
        let fits = operands <= 1 || cluster.loads + self.arrays_behind(cluster) + operands <= MAX_LOADS + 1;
        fits && cluster.ops.saturating_add(ops) <= MAX_OPS
    }

    /// How many arrays those are that a kernel wants: parts of one are one.
    fn arrays_behind(&self, cluster: &Cluster) -> usize {
        let behind = |mut id: Id| {
            while let Def::View { of, .. } = self.flow.nodes[id].def {
                id = of;
            }
            id
        };
        cluster.wanted.keys().map(|&id| behind(id)).collect::<FxHashSet<Id>>().len()
    }

    /// A kernel that may compute the array along with its own: one that needs it at every point of its space,
    /// or one of the same shape that reads the same.
    fn host(&mut self, id: Id, node: &Node) -> Option<usize> {
        let needs_it = |this: &Self, k: usize| {
            let cluster = &this.clusters[k];
            // All of it: a part of an array is at the same position as the whole.
            let is_whole = cluster.len == node.len();
            let is_here = |at: &SmallVec<[Affine; 1]>| at.as_slice() == std::slice::from_ref(&cluster.here);
            is_whole && cluster.wanted.get(&id).is_some_and(is_here)
        };
        let mut candidates: Vec<usize> =
            self.readers[id].iter().copied().filter(|&k| needs_it(self, k)).collect();
        let operands: SmallVec<[Operand; 3]> = match &node.def {
            Def::Map { args, .. } => args.clone(),
            Def::Reduce { of, .. } => SmallVec::from_slice(&[*of]),
            _ => SmallVec::new(),
        };
        for operand in operands {
            let Operand::Node(operand) = operand else { continue };
            for &k in self.readers[operand].iter().take(MAX_CANDIDATES) {
                let is_alike = self.clusters[k].walked == walked(&node.shape);
                if is_alike && !self.readers[id].contains(&k) && !candidates.contains(&k) {
                    candidates.push(k);
                }
            }
        }
        candidates.extend(self.twins(id, node));
        candidates.truncate(MAX_CANDIDATES);
        candidates.into_iter().find(|&k| self.may_host(k, id, node))
    }

    fn may_host(&mut self, k: usize, id: Id, node: &Node) -> bool {
        let cluster = &self.clusters[k];
        if cluster.looked_up.contains(&id) {
            return false;
        }
        if cluster.form == Form::Blocks || cluster.roots.len() >= MAX_ROOTS || !self.has_room(k, node) {
            return false;
        }
        if matches!(node.def, Def::Reduce { .. }) && !reduce::fits(node, cluster, &cluster.here) {
            return false;
        }
        let here = cluster.here.clone();
        if !self.clusters[k].reaches(node, here) {
            return false;
        }
        // Whoever reads the array runs after the kernel, so the kernel must not need it to have run before.
        let readers = self.readers[id].iter().filter(|&&h| h != k).map(|&h| Unit::Cluster(h));
        let calls = self.calls[id].iter().map(|&c| Unit::Call(c));
        readers.chain(calls).all(|unit| !self.order.may_need(Unit::Cluster(k), unit))
    }
}

fn costs(flow: &Flow) -> Vec<u32> {
    let mut has_memory = vec![false; flow.nodes.len()];
    for &id in &flow.outputs {
        has_memory[id] = true;
    }
    let mut costs: Vec<u32> = Vec::with_capacity(flow.nodes.len());
    let of = |costs: &[u32], id: Id| if has_memory[id] { 0 } else { costs[id] };
    for node in &flow.nodes {
        let cost = match &node.def {
            Def::Map { args, ops, .. } => args.iter().fold(*ops, |sum, arg| match arg {
                Operand::Node(id) => sum.saturating_add(of(&costs, *id)),
                Operand::Literal(_) => sum,
            }),
            Def::Lookup { starts, .. } => starts.iter().fold(LOOKUP, |sum, start| match start.at {
                Operand::Node(id) => sum.saturating_add(of(&costs, id)),
                Operand::Literal(_) => sum,
            }),
            // What is repeated is computed once for many elements, or will get memory for being expensive.
            Def::View { of: operand, .. } => {
                let share = flow.nodes[*operand].len() as f64 / node.len().max(1) as f64;
                (f64::from(of(&costs, *operand)) * share.min(1.0)) as u32
            }
            _ => 0,
        };
        costs.push(cost);
    }
    costs
}

/// Whether neighbours along the last axis of a view are not neighbours in memory, but those along another axis are.
fn is_turned(axes: &[AxisView], node: &Node) -> bool {
    let last = node.shape.rank().checked_sub(1);
    let from = axes.iter().rposition(|view| view.axis.is_some());
    let follows = from.and_then(|from| axes[from].axis);
    follows.is_some() && follows != last && axes.iter().any(|view| view.axis == last)
}
