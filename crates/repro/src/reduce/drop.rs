//! Calls are dropped: their results become zeros.

use super::Strategy;
use super::edit::{Change, as_zeros, count, edit};
use crate::tree::CallTree;

pub(super) struct Drop;

impl Strategy for Drop {
    fn name(&self) -> &'static str {
        "drop calls"
    }

    fn places(&self, tree: &CallTree) -> usize {
        count(tree)
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        edit(tree, &mut |number, statement| match places.binary_search(&number) {
            Ok(_) => Change::Become(Vec::new(), as_zeros(&statement.results())),
            Err(_) => Change::Keep,
        })
    }
}
