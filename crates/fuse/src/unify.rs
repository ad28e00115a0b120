//! Reductions over the same elements in one loop, and equal scalars once.
//!
//! Two reductions share their loops if they are done at the same place, over loops of the same extents, and
//! neither needs the other. Their types must be equal too: the lane order of a loop depends on the widest type
//! in it, and must not depend on what else is reduced there.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tracewell_array::{DType, Literal};
use tracewell_kernel::Combine;

use crate::index::Affine;
use crate::loops::LoopId;
use crate::nest::{Further, Nest, Scalar};

/// Reductions of a nest that are looked at; a nest with more keeps its loops.
const MAX_REDUCTIONS: usize = 64;

/// Makes reductions share loops, and puts them next to each other.
pub(crate) fn unify(nest: &mut Nest) {
    let reductions: Vec<usize> =
        (0..nest.scalars.len()).filter(|&i| matches!(nest.scalars[i], Scalar::Reduce { .. })).collect();
    if reductions.len() < 2 || reductions.len() > MAX_REDUCTIONS {
        return;
    }
    let groups = groups(nest, &reductions);
    if groups.iter().all(|group| group.len() < 2) {
        return;
    }
    for group in &groups {
        let loops = loops_of(nest, group[0]).clone();
        for &other in &group[1..] {
            let old = loops_of(nest, other).clone();
            rename(nest, &old, &loops);
        }
    }
    sort(nest, &groups);
    share(nest);
}

fn loops_of(nest: &Nest, scalar: usize) -> &SmallVec<[LoopId; 2]> {
    match &nest.scalars[scalar] {
        Scalar::Reduce { loops, .. } => loops,
        _ => unreachable!("only reductions are grouped"),
    }
}

/// Sets of reductions that may share loops.
fn groups(nest: &Nest, reductions: &[usize]) -> Vec<Vec<usize>> {
    // For each scalar, the reductions that it needs and is, by their number in `reductions`.
    let mut needs: Vec<u64> = vec![0; nest.scalars.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    // For each reduction so far, its group.
    let mut group_of: Vec<usize> = Vec::new();
    for i in 0..nest.scalars.len() {
        match &nest.scalars[i] {
            Scalar::Literal(_) | Scalar::Count { .. } => {}
            Scalar::Load { plus, .. } => needs[i] = plus.iter().fold(0, |all, more| all | needs[more.by]),
            Scalar::Map { args, .. } => needs[i] = args.iter().fold(0, |all, &a| all | needs[a]),
            Scalar::Keep { body, .. } => needs[i] = needs[*body],
            Scalar::Recall { keep, .. } => needs[i] = needs[*keep],
            Scalar::Reduce { body, .. } => {
                let number = group_of.len();
                let all = whole_groups(needs[*body], &groups, &group_of, &needs);
                let may_join = |group: &Vec<usize>| {
                    let is_needed = group.iter().any(|&member| all & bit(reductions, member) != 0);
                    !is_needed && is_alike(nest, group[0], i)
                };
                let at = groups.iter().position(may_join).unwrap_or(groups.len());
                if at == groups.len() {
                    groups.push(Vec::new());
                }
                groups[at].push(i);
                group_of.push(at);
                needs[i] = all | 1 << number;
            }
        }
    }
    groups
}

/// What is needed if every reduction needs all that its group needs.
fn whole_groups(mut all: u64, groups: &[Vec<usize>], group_of: &[usize], needs: &[u64]) -> u64 {
    loop {
        let mut grown = all;
        for (number, &group) in group_of.iter().enumerate() {
            if all >> number & 1 == 1 {
                grown = groups[group].iter().fold(grown, |sum, &member| sum | needs[member]);
            }
        }
        if grown == all {
            return all;
        }
        all = grown;
    }
}

fn bit(reductions: &[usize], scalar: usize) -> u64 {
    reductions.iter().position(|&r| r == scalar).map_or(0, |n| 1 << n)
}

fn is_alike(nest: &Nest, a: usize, b: usize) -> bool {
    let dtype = |i: usize| match &nest.scalars[i] {
        Scalar::Reduce { dtype, .. } => Some(*dtype),
        _ => None,
    };
    if dtype(a) != dtype(b) {
        return false;
    }
    let (a, b) = (loops_of(nest, a), loops_of(nest, b));
    let extents = |loops: &[LoopId]| -> Vec<i64> { loops.iter().map(|&l| nest.loops.extent(l)).collect() };
    nest.loops.parent(a[0]) == nest.loops.parent(b[0]) && extents(a) == extents(b)
}

/// Replaces loops by others of the same extents.
fn rename(nest: &mut Nest, old: &[LoopId], new: &[LoopId]) {
    for (&from, &to) in old.iter().zip(new) {
        nest.each_access(|at| {
            let c = at.coefficient(from);
            if c != 0 {
                at.set(from, 0);
                at.set(to, c);
            }
        });
        nest.loops.rename(from, to);
        for scalar in &mut nest.scalars {
            if let Scalar::Reduce { loops, .. } = scalar {
                loops.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
            }
        }
    }
}

/// Orders scalars so that the reductions of a group follow each other, after all that any of them needs.
fn sort(nest: &mut Nest, groups: &[Vec<usize>]) {
    let mut group_of: FxHashMap<usize, usize> = FxHashMap::default();
    for (g, group) in groups.iter().enumerate() {
        group.iter().for_each(|&i| {
            group_of.insert(i, g);
        });
    }
    let operands = |i: usize| -> SmallVec<[usize; 3]> {
        let of = |i: usize| match &nest.scalars[i] {
            Scalar::Map { args, .. } => args.clone(),
            Scalar::Reduce { body, .. } | Scalar::Keep { body, .. } => SmallVec::from_slice(&[*body]),
            Scalar::Recall { keep, .. } => SmallVec::from_slice(&[*keep]),
            Scalar::Load { plus, .. } => plus.iter().map(|more| more.by).collect(),
            Scalar::Literal(_) | Scalar::Count { .. } => SmallVec::new(),
        };
        match group_of.get(&i) {
            Some(&g) => groups[g].iter().flat_map(|&member| of(member)).collect(),
            None => of(i),
        }
    };
    let mut place: Vec<Option<usize>> = vec![None; nest.scalars.len()];
    let mut order: Vec<usize> = Vec::with_capacity(nest.scalars.len());
    for start in 0..nest.scalars.len() {
        // Depth first without recursion: placed when seen again with nothing left to do first.
        let mut stack = vec![start];
        while let Some(&i) = stack.last() {
            let before = stack.len();
            if place[i].is_none() {
                stack.extend(operands(i).into_iter().filter(|&a| place[a].is_none()));
            }
            if stack.len() == before {
                stack.pop();
                let together = group_of
                    .get(&i)
                    .map_or(SmallVec::from_slice(&[i]), |&g| SmallVec::<[usize; 4]>::from_slice(&groups[g]));
                for member in together {
                    if place[member].is_none() {
                        place[member] = Some(order.len());
                        order.push(member);
                    }
                }
            }
        }
    }
    let place: Vec<usize> = place.into_iter().map(|p| p.expect("every scalar is placed")).collect();
    permute(nest, &order, &place);
}

fn permute(nest: &mut Nest, order: &[usize], place: &[usize]) {
    let mut scalars: Vec<Scalar> = order.iter().map(|&i| nest.scalars[i].clone()).collect();
    scalars.iter_mut().for_each(|scalar| redirect(scalar, place));
    nest.scalars = scalars;
    nest.stores.iter_mut().for_each(|store| store.scalar = place[store.scalar]);
}

fn redirect(scalar: &mut Scalar, place: &[usize]) {
    match scalar {
        Scalar::Map { args, .. } => args.iter_mut().for_each(|a| *a = place[*a]),
        Scalar::Reduce { body, .. } | Scalar::Keep { body, .. } => *body = place[*body],
        Scalar::Recall { keep, .. } => *keep = place[*keep],
        Scalar::Load { plus, .. } => plus.iter_mut().for_each(|more| more.by = place[more.by]),
        Scalar::Literal(_) | Scalar::Count { .. } => {}
    }
}

/// What makes two scalars the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Literal(Literal),
    Load(usize, Affine, SmallVec<[Further; 2]>),
    Count(Affine, DType),
    Map(usize, SmallVec<[usize; 3]>),
    Reduce(Combine, SmallVec<[LoopId; 2]>, usize),
    Keep(SmallVec<[LoopId; 2]>),
    Recall(usize, Affine),
}

/// Keeps one of scalars that are the same.
fn share(nest: &mut Nest) {
    let mut known: FxHashMap<Key, usize> = FxHashMap::default();
    let mut place: Vec<usize> = Vec::with_capacity(nest.scalars.len());
    let mut kept: Vec<Scalar> = Vec::new();
    for mut scalar in std::mem::take(&mut nest.scalars) {
        redirect(&mut scalar, &place);
        let key = match &scalar {
            Scalar::Literal(literal) => Key::Literal(*literal),
            Scalar::Load { of, at, plus } => Key::Load(*of, at.clone(), plus.clone()),
            Scalar::Count { at, dtype } => Key::Count(at.clone(), *dtype),
            Scalar::Map { f, args, .. } => Key::Map(Arc::as_ptr(f).cast::<u8>().addr(), args.clone()),
            Scalar::Reduce { combine, loops, body, .. } => Key::Reduce(*combine, loops.clone(), *body),
            Scalar::Keep { loops, .. } => Key::Keep(loops.clone()),
            Scalar::Recall { keep, at } => Key::Recall(*keep, at.clone()),
        };
        let at = *known.entry(key).or_insert_with(|| {
            kept.push(scalar);
            kept.len() - 1
        });
        place.push(at);
    }
    nest.scalars = kept;
    nest.stores.iter_mut().for_each(|store| store.scalar = place[store.scalar]);
}
