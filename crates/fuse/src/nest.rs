//! One kernel before it is written down: loops, and the scalars computed in them.
//!
//! A nest computes arrays over one space of loops. It is made from the arrays to the loads, by a worklist in
//! the order of definition (no recursion: chains are long), with one scalar for each array *and position*, so
//! that what is shared is computed once.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use tracewell_array::{DType, Literal, Shape};
use tracewell_graph::{AxisView, MapFn};
use tracewell_kernel::Combine;

use crate::classify::{Def, Flow, Id, Operand};
use crate::cost::LOAD;
use crate::index::{Affine, Apart};

/// How often loops are split to follow views before the views get memory instead.
const MAX_SPLITS: usize = 16;

/// A scalar of a nest.
pub(crate) enum Scalar {
    Literal(Literal),
    /// The element of an array in memory.
    Load { of: Id, at: Affine },
    /// A function of scalars before it.
    Map { f: MapFn, args: SmallVec<[usize; 3]> },
}

/// Loops and what is computed in them.
pub(crate) struct Nest {
    /// Extents, outermost first; the first `kept` are independent, the others are reduced over.
    pub(crate) extents: Vec<i64>,
    pub(crate) kept: usize,
    /// Operands before uses.
    pub(crate) scalars: Vec<Scalar>,
    pub(crate) combine: Option<Combine>,
    pub(crate) stores: Vec<Store>,
    /// Operations in the innermost loop.
    pub(crate) ops: u32,
    /// For people: what is computed.
    pub(crate) name: String,
}

/// An array that a nest computes.
pub(crate) struct Store {
    pub(crate) to: Id,
    pub(crate) dtype: DType,
    pub(crate) at: Affine,
    /// The scalar, or what is reduced to it.
    pub(crate) scalar: usize,
}

/// The space of loops that computes an array, and what is read at each point of it.
struct Space {
    extents: Vec<i64>,
    kept: usize,
    combine: Option<Combine>,
    /// Where the result is stored.
    at: Affine,
    /// What is read, and where.
    root: Operand,
    from: Affine,
}

/// The nest that computes an array. Views that cannot be followed get memory: `stored` learns of them.
pub(crate) fn nest(flow: &Flow, id: Id, stored: &mut [bool]) -> Nest {
    let mut space = space(flow, id);
    let mut splits = 0;
    loop {
        let mut expansion = Expansion::new(flow, id, &space.extents, splits < MAX_SPLITS);
        match expansion.scalars(space.root, &space.from, stored) {
            Ok(scalar) => {
                let dtype = flow.nodes[id].dtype;
                let Expansion { scalars, ops, name, .. } = expansion;
                return Nest {
                    stores: vec![Store { to: id, dtype, at: space.at, scalar }],
                    extents: space.extents,
                    kept: space.kept,
                    combine: space.combine,
                    scalars,
                    ops,
                    name,
                };
            }
            Err((of, inner)) => {
                split(&mut space, of, inner);
                splits += 1;
            }
        }
    }
}

fn space(flow: &Flow, id: Id) -> Space {
    let node = &flow.nodes[id];
    let sizes = |shape: &Shape| -> Vec<i64> { shape.iter().map(|n| n as i64).collect() };
    if let Def::Reduce { combine, axes, from, of } = &node.def {
        let rank = from.rank();
        let kept: Vec<usize> = (0..rank).filter(|a| !axes.contains(a)).collect();
        let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
        let mut place = vec![0; rank];
        order.iter().enumerate().for_each(|(l, &axis)| place[axis] = l);
        let extents: Vec<i64> = order.iter().map(|&a| from.size(a) as i64).collect();
        let loops: Vec<usize> = (0..kept.len()).collect();
        return Space {
            at: Affine::dense(&extents[..kept.len()], &loops, rank),
            from: Affine::dense(&sizes(from), &place, rank),
            kept: kept.len(),
            combine: Some(*combine),
            root: *of,
            extents,
        };
    }
    let extents = sizes(&node.shape);
    let loops: Vec<usize> = (0..extents.len()).collect();
    let at = Affine::dense(&extents, &loops, loops.len());
    let root = match node.def {
        Def::Fill(literal) => Operand::Literal(literal),
        _ => Operand::Node(id),
    };
    Space { from: at.clone(), at, kept: loops.len(), combine: None, root, extents }
}

/// Makes two loops of one, the inner one of `inner` iterations.
fn split(space: &mut Space, of: usize, inner: i64) {
    space.extents[of] /= inner;
    space.extents.insert(of + 1, inner);
    space.kept += usize::from(of < space.kept);
    for affine in [&mut space.at, &mut space.from] {
        let c = affine.coefficients[of];
        affine.coefficients[of] = c * inner;
        affine.coefficients.insert(of + 1, c);
    }
}

struct Expansion<'a> {
    flow: &'a Flow,
    id: Id,
    extents: &'a [i64],
    may_split: bool,
    scalars: Vec<Scalar>,
    ops: u32,
    name: String,
}

/// What an array at a position turned out to be.
enum Found {
    Load,
    Map,
    /// Another array elsewhere.
    At(Id, Affine),
}

type Key = (Id, Affine);

impl<'a> Expansion<'a> {
    fn new(flow: &'a Flow, id: Id, extents: &'a [i64], may_split: bool) -> Expansion<'a> {
        Expansion { flow, id, extents, may_split, scalars: Vec::new(), ops: 0, name: String::new() }
    }

    /// The scalars that compute `root` at a position; an error names a loop to split and where.
    fn scalars(&mut self, root: Operand, at: &Affine, stored: &mut [bool]) -> Result<usize, (usize, i64)> {
        let root = match root {
            Operand::Node(id) => id,
            Operand::Literal(literal) => {
                self.name_it(self.id);
                self.scalars.push(Scalar::Literal(literal));
                return Ok(0);
            }
        };
        let found = self.find((root, at.clone()), stored)?;
        let mut known: FxHashMap<Key, usize> = FxHashMap::default();
        for (key, found) in found.into_iter().rev() {
            let scalar = match found {
                Found::At(id, at) => known[&(id, at)],
                Found::Load => {
                    self.ops += LOAD;
                    self.push(Scalar::Load { of: key.0, at: key.1.clone() })
                }
                Found::Map => self.map(&key, &known),
            };
            known.insert(key, scalar);
        }
        if matches!(self.flow.nodes[self.id].def, Def::Reduce { .. }) {
            self.name_it(self.id);
        }
        Ok(known[&(root, at.clone())])
    }

    fn map(&mut self, key: &Key, known: &FxHashMap<Key, usize>) -> usize {
        let Def::Map { f, args, ops } = &self.flow.nodes[key.0].def else {
            unreachable!("only functions are found as such")
        };
        let args = args
            .iter()
            .map(|arg| match arg {
                Operand::Node(id) => known[&(*id, key.1.clone())],
                Operand::Literal(literal) => self.push(Scalar::Literal(*literal)),
            })
            .collect();
        self.ops = self.ops.saturating_add(*ops);
        self.name_it(key.0);
        self.push(Scalar::Map { f: f.clone(), args })
    }

    fn push(&mut self, scalar: Scalar) -> usize {
        self.scalars.push(scalar);
        self.scalars.len() - 1
    }

    /// Kernel names are the first primitives in them.
    fn name_it(&mut self, id: Id) {
        if self.name.len() < 40 {
            let bar = if self.name.is_empty() { "" } else { "_" };
            self.name = format!("{}{bar}{}", self.name, self.flow.nodes[id].name);
            // Names are ASCII identifiers; a user's may not be.
            while self.name.len() > 40 {
                self.name.pop();
            }
        }
    }

    /// Every array at every position that is needed, each before its operands.
    fn find(&self, root: Key, stored: &mut [bool]) -> Result<Vec<(Key, Found)>, (usize, i64)> {
        let mut wanted: BTreeMap<Id, Vec<Affine>> = BTreeMap::new();
        let mut seen: FxHashSet<Key> = FxHashSet::default();
        let mut found = Vec::new();
        let mut want = |wanted: &mut BTreeMap<Id, Vec<Affine>>, id: Id, at: &Affine| {
            if seen.insert((id, at.clone())) {
                wanted.entry(id).or_default().push(at.clone());
            }
        };
        want(&mut wanted, root.0, &root.1);
        while let Some((id, positions)) = wanted.pop_last() {
            let node = &self.flow.nodes[id];
            for at in positions {
                let is_own = id == self.id;
                let what = match &node.def {
                    _ if stored[id] && !is_own => Found::Load,
                    Def::Map { args, .. } => {
                        for arg in args {
                            if let Operand::Node(arg) = arg {
                                want(&mut wanted, *arg, &at);
                            }
                        }
                        Found::Map
                    }
                    Def::View { axes, from, of } => match self.follow(axes, from, &node.shape, &at) {
                        Ok(there) => {
                            want(&mut wanted, *of, &there);
                            Found::At(*of, there)
                        }
                        Err(Apart::Split { of, inner }) if self.may_split => return Err((of, inner)),
                        Err(_) => {
                            debug_assert!(!is_own, "loops over an array's own axes take it apart");
                            stored[id] = true;
                            Found::Load
                        }
                    },
                    _ => {
                        debug_assert!(node.is_given() && !is_own, "{} must have memory", node.name);
                        stored[id] = true;
                        Found::Load
                    }
                };
                found.push(((id, at), what));
            }
        }
        Ok(found)
    }

    /// The position in a view's operand of what is at this position in the view.
    fn follow(&self, axes: &[AxisView], from: &Shape, to: &Shape, at: &Affine) -> Result<Affine, Apart> {
        let index = at.axes(to, self.extents)?;
        let mut there = Affine::constant(0, self.extents.len());
        for (view, stride) in axes.iter().zip(from.strides()) {
            let stride = stride as i64;
            there.offset += stride * view.start;
            if let Some(axis) = view.axis {
                there.add(stride * view.step, &index[axis]);
            }
        }
        Ok(there)
    }
}
