//! Axes are made shorter: every size of the tree that is the same becomes the same smaller one.

use tracewell_array::Shape;
use tracewell_graph::ArrayType;

use super::Strategy;
use super::types::{Change, retyped, types};
use crate::tree::CallTree;

/// Sizes become 1.
pub(super) struct ToOne;

/// Sizes become 2.
pub(super) struct ToTwo;

/// Sizes become half.
pub(super) struct Halve;

/// The sizes of all axes that could become smaller.
fn sizes(tree: &CallTree, least: usize) -> Vec<usize> {
    let mut all: Vec<usize> = types(tree).iter().flat_map(|ty| ty.shape.iter().collect::<Vec<_>>()).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|&n| n > least);
    all.reverse();
    all
}

struct Sizes<'a> {
    chosen: &'a [usize],
    to: fn(usize) -> usize,
}

impl Change for Sizes<'_> {
    fn ty(&self, ty: &ArrayType) -> ArrayType {
        let sizes: Vec<usize> =
            ty.shape.iter().map(|n| if self.chosen.contains(&n) { (self.to)(n) } else { n }).collect();
        ty.with_shape(Shape::from(sizes))
    }

    fn int(&self, n: i64) -> i64 {
        match usize::try_from(n) {
            Ok(size) if self.chosen.contains(&size) => (self.to)(size) as i64,
            _ => n,
        }
    }
}

fn apply(tree: &CallTree, places: &[usize], least: usize, to: fn(usize) -> usize) -> CallTree {
    let all = sizes(tree, least);
    let chosen: Vec<usize> = places.iter().filter_map(|&place| all.get(place).copied()).collect();
    retyped(tree, &Sizes { chosen: &chosen, to })
}

impl Strategy for ToOne {
    fn name(&self) -> &'static str {
        "shrink axes to 1"
    }

    fn places(&self, tree: &CallTree) -> usize {
        sizes(tree, 1).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        apply(tree, places, 1, |_| 1)
    }
}

impl Strategy for ToTwo {
    fn name(&self) -> &'static str {
        "shrink axes to 2"
    }

    fn places(&self, tree: &CallTree) -> usize {
        sizes(tree, 2).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        apply(tree, places, 2, |_| 2)
    }
}

impl Strategy for Halve {
    fn name(&self) -> &'static str {
        "halve axes"
    }

    fn places(&self, tree: &CallTree) -> usize {
        sizes(tree, 3).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        apply(tree, places, 3, |n| n / 2)
    }
}
