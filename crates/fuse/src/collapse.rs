//! Fewer, longer loops: those of one iteration go, the one with the best strides is innermost, and neighbours
//! that every access walks as one become one. Contiguous elementwise work is a single loop whatever its shape.
//!
//! Invariant: every point of the space is visited once before and after. Independent loops are never mixed
//! with reduced ones.

use crate::index::Affine;
use crate::nest::{Nest, Scalar};

/// Simplifies the loops of a nest.
pub(crate) fn collapse(nest: &mut Nest) {
    drop_single(nest);
    let kept = nest.kept;
    let count = nest.extents.len();
    best_innermost(nest, 0, kept);
    best_innermost(nest, kept, count);
    merge(nest);
}

/// Every access of a nest.
pub(crate) fn accesses(nest: &Nest) -> impl Iterator<Item = &Affine> {
    let loads = nest.scalars.iter().filter_map(|scalar| match scalar {
        Scalar::Load { at, .. } => Some(at),
        _ => None,
    });
    loads.chain(nest.stores.iter().map(|store| &store.at))
}

fn each_access(nest: &mut Nest, mut f: impl FnMut(&mut Affine)) {
    for scalar in &mut nest.scalars {
        if let Scalar::Load { at, .. } = scalar {
            f(at);
        }
    }
    for store in &mut nest.stores {
        f(&mut store.at);
    }
}

fn drop_single(nest: &mut Nest) {
    for l in (0..nest.extents.len()).rev() {
        if nest.extents[l] == 1 {
            remove(nest, l);
        }
    }
}

fn remove(nest: &mut Nest, l: usize) {
    nest.extents.remove(l);
    nest.kept -= usize::from(l < nest.kept);
    each_access(nest, |at| {
        at.coefficients.remove(l);
    });
}

/// Makes that loop of a range innermost which the fewest accesses stride over; the last one where it is as good.
fn best_innermost(nest: &mut Nest, start: usize, end: usize) {
    if end - start < 2 {
        return;
    }
    let strided = |l: usize| accesses(nest).filter(|at| !matches!(at.coefficients[l], 0 | 1)).count();
    let best = (start..end).rev().min_by_key(|&l| strided(l)).expect("two loops at least");
    let extent = nest.extents.remove(best);
    nest.extents.insert(end - 1, extent);
    each_access(nest, |at| {
        let c = at.coefficients.remove(best);
        at.coefficients.insert(end - 1, c);
    });
}

fn merge(nest: &mut Nest) {
    for l in (1..nest.extents.len()).rev() {
        if l == nest.kept {
            continue;
        }
        let inner = nest.extents[l];
        if accesses(nest).all(|at| at.coefficients[l - 1] == at.coefficients[l] * inner) {
            nest.extents[l] *= nest.extents[l - 1];
            remove(nest, l - 1);
        }
    }
}
