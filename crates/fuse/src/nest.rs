//! A kernel that is decided but not written: loops, and the scalars computed in them.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_array::{DType, Literal};
use tracewell_graph::MapFn;
use tracewell_kernel::Combine;
use tracewell_kernel::steps::{Fault, is_broken};

use crate::classify::{Def, Flow, Id, Operand, Start};
use crate::cluster::{Cluster, Form, Root, What};
use crate::cost::LOAD;
use crate::index::Affine;
use crate::loops::{LoopId, Loops};

/// Letters of a kernel's name.
const MAX_NAME: usize = 40;

/// A scalar of a nest.
#[derive(Clone)]
pub(crate) enum Scalar {
    Literal(Literal),
    /// The element of an array in memory; further by scalars before it.
    Load {
        of: Id,
        at: Affine,
        plus: SmallVec<[Further; 2]>,
    },
    /// The value of a sum of loop variables, as a number of this type.
    Count {
        at: Affine,
        dtype: DType,
    },
    /// A function of scalars before it.
    Map {
        f: MapFn,
        args: SmallVec<[usize; 3]>,
        ops: u32,
    },
    /// A scalar before it, combined over loops, outermost first.
    Reduce {
        combine: Combine,
        dtype: DType,
        loops: SmallVec<[LoopId; 2]>,
        body: usize,
    },
    /// No value: a scalar before it, put by these loops into a row of the stack, at a position in the row.
    Keep {
        dtype: DType,
        len: usize,
        loops: SmallVec<[LoopId; 2]>,
        to: Affine,
        body: usize,
    },
    /// The element of a row that is kept.
    Recall {
        keep: usize,
        at: Affine,
    },
}

/// A scalar that is clamped below a number of places, which are so far apart in an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Further {
    pub(crate) by: usize,
    pub(crate) stride: i64,
    pub(crate) places: i64,
}

/// Loops and what is computed in them.
#[derive(Clone)]
pub(crate) struct Nest {
    pub(crate) loops: Loops,
    /// Operands before uses.
    pub(crate) scalars: Vec<Scalar>,
    /// What is stored in the innermost independent loop.
    pub(crate) stores: Vec<Store>,
    pub(crate) form: Form,
    /// For people: what is computed.
    pub(crate) name: String,
}

/// An array that a nest computes.
#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) to: Id,
    pub(crate) dtype: DType,
    pub(crate) at: Affine,
    pub(crate) scalar: usize,
}

/// The nest of a cluster in which everything is decided.
pub(crate) fn nest(flow: &Flow, cluster: Cluster) -> Nest {
    debug_assert!(cluster.wanted.is_empty(), "every array is decided");
    let mut scalars = Scalars { all: Vec::new(), literals: FxHashMap::default() };
    let mut known: FxHashMap<(Id, Affine), usize> = FxHashMap::default();
    let mut name = String::new();
    // The rows that are kept, by array.
    let mut kept: FxHashMap<Id, usize> = FxHashMap::default();
    let roots: Vec<Id> = cluster.roots.iter().map(|root| root.of).collect();
    for found in cluster.found.into_iter().rev() {
        let node = &flow.nodes[found.id];
        let operand = |scalars: &mut Scalars, operand: Operand, at: &Affine| match operand {
            Operand::Node(id) => known[&(id, at.clone())],
            Operand::Literal(literal) => scalars.literal(literal),
        };
        let scalar = match (found.what, &node.def) {
            (What::Elsewhere(id, at), _) => known[&(id, at)],
            (What::Load, _) => {
                let plus = SmallVec::new();
                scalars.push(Scalar::Load { of: found.id, at: found.at.clone(), plus })
            }
            (What::Lookup(at), Def::Lookup { of, starts, .. }) => {
                name_it(&mut name, &node.name);
                let plus = starts.iter().map(|&Start { at, stride, places }| Further {
                    by: operand(&mut scalars, at, &found.at),
                    stride,
                    places,
                });
                let plus = plus.collect();
                scalars.push(Scalar::Load { of: *of, at, plus })
            }
            (What::Map, Def::Map { f, args, ops }) => {
                name_it(&mut name, &node.name);
                let of_one_type = matches!(args[..], [a, b] if flow.dtype(a) == flow.dtype(b));
                let mut args: SmallVec<[usize; 3]> =
                    args.iter().map(|&arg| operand(&mut scalars, arg, &found.at)).collect();
                if of_one_type && !roots.contains(&found.id) {
                    if is_broken(Fault::Fusion) {
                        args.reverse();
                    }
                    assert!(!is_broken(Fault::FusionPanics), "a shared kernel, broken on purpose");
                }
                scalars.push(Scalar::Map { f: f.clone(), args, ops: *ops })
            }
            (What::Reduce(loops, at), Def::Reduce { combine, of, .. }) => {
                name_it(&mut name, &node.name);
                let body = operand(&mut scalars, *of, &at);
                scalars.push(Scalar::Reduce { combine: *combine, dtype: node.dtype, loops, body })
            }
            (What::Keep(loops, to), _) => {
                let len: i64 = loops.iter().map(|&l| cluster.loops.extent(l)).product();
                // Rounded, so that kernels for rows of about the same length are the same.
                let len = (len as usize).next_power_of_two();
                let body = known[&(found.id, found.at)];
                kept.insert(found.id, scalars.push(Scalar::Keep { dtype: node.dtype, len, loops, to, body }));
                continue;
            }
            (What::Recall(at), _) => scalars.push(Scalar::Recall { keep: kept[&found.id], at }),
            (What::Fill, Def::Fill(literal)) => scalars.literal(*literal),
            (What::Count(at), _) => scalars.push(Scalar::Count { at, dtype: node.dtype }),
            _ => unreachable!("arrays are found as what they are"),
        };
        known.insert((found.id, found.at), scalar);
    }
    if name.is_empty() || cluster.roots.iter().any(|root| root.to != root.of) {
        name_it(&mut name, &flow.nodes[cluster.roots[0].to].name);
    }
    let store = |root: &Root| Store {
        to: root.to,
        dtype: flow.nodes[root.to].dtype,
        at: root.at.clone(),
        scalar: known[&(root.of, cluster.here.clone())],
    };
    let stores = cluster.roots.iter().map(store).collect();
    Nest { stores, loops: cluster.loops, scalars: scalars.all, form: cluster.form, name }
}

/// Kernels are named by the first primitives in them.
fn name_it(name: &mut String, primitive: &str) {
    if !primitive.is_empty() && name.len() < MAX_NAME {
        if !name.is_empty() {
            name.push('_');
        }
        name.push_str(primitive);
        while name.len() > MAX_NAME {
            name.pop();
        }
    }
}

struct Scalars {
    all: Vec<Scalar>,
    literals: FxHashMap<Literal, usize>,
}

impl Scalars {
    fn push(&mut self, scalar: Scalar) -> usize {
        self.all.push(scalar);
        self.all.len() - 1
    }

    fn literal(&mut self, literal: Literal) -> usize {
        if let Some(&known) = self.literals.get(&literal) {
            return known;
        }
        let new = self.push(Scalar::Literal(literal));
        self.literals.insert(literal, new);
        new
    }
}

impl Nest {
    /// Every access.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = &Affine> {
        let loads = self.scalars.iter().filter_map(|scalar| match scalar {
            Scalar::Load { at, .. }
            | Scalar::Count { at, .. }
            | Scalar::Recall { at, .. }
            | Scalar::Keep { to: at, .. } => Some(at),
            _ => None,
        });
        loads.chain(self.stores.iter().map(|store| &store.at))
    }

    /// Changes every access.
    pub(crate) fn each_access(&mut self, mut f: impl FnMut(&mut Affine)) {
        for scalar in &mut self.scalars {
            if let Scalar::Load { at, .. }
            | Scalar::Count { at, .. }
            | Scalar::Recall { at, .. }
            | Scalar::Keep { to: at, .. } = scalar
            {
                f(at);
            }
        }
        for store in &mut self.stores {
            f(&mut store.at);
        }
    }

    /// For each scalar, the innermost loop it depends on: where it is computed.
    pub(crate) fn homes(&self) -> Vec<Option<LoopId>> {
        let mut homes: Vec<Option<LoopId>> = Vec::with_capacity(self.scalars.len());
        for scalar in &self.scalars {
            let innermost = match scalar {
                Scalar::Literal(_) => None,
                Scalar::Load { at, plus, .. } => {
                    let starts = plus.iter().filter_map(|further| homes[further.by]);
                    self.loops.innermost(at.innermost(&self.loops).into_iter().chain(starts))
                }
                Scalar::Count { at, .. } => at.innermost(&self.loops),
                Scalar::Map { args, .. } => self.loops.innermost(args.iter().filter_map(|&a| homes[a])),
                Scalar::Reduce { loops, .. } | Scalar::Keep { loops, .. } => self.loops.parent(loops[0]),
                Scalar::Recall { keep, at } => at.innermost(&self.loops).or(homes[*keep]),
            };
            homes.push(self.loops.home(innermost));
        }
        homes
    }

    /// Operations in all: each as often as its home runs.
    pub(crate) fn work(&self) -> f64 {
        let homes = self.homes();
        let mut work = 0.0;
        for (scalar, &home) in self.scalars.iter().zip(&homes) {
            work += match scalar {
                Scalar::Literal(_) => 0.0,
                Scalar::Load { .. } | Scalar::Count { .. } | Scalar::Recall { .. } => {
                    f64::from(LOAD) * self.loops.trips(home)
                }
                Scalar::Map { ops, .. } => f64::from(*ops) * self.loops.trips(home),
                Scalar::Reduce { loops, .. } | Scalar::Keep { loops, .. } => {
                    self.loops.trips(loops.last().copied())
                }
            };
        }
        let points = self.loops.trips(self.loops.each.last().copied());
        work + points * f64::from(LOAD) * self.stores.len() as f64
    }
}
