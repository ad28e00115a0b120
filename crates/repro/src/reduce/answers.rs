//! What functions gave is forgotten, call by call: another call answers, or zeros do.

use super::Strategy;
use crate::tree::CallTree;

pub(super) struct Answers;

impl Strategy for Answers {
    fn name(&self) -> &'static str {
        "drop answers"
    }

    fn places(&self, tree: &CallTree) -> usize {
        tree.answers.len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let left = tree.answers.iter().enumerate().filter(|(at, _)| places.binary_search(at).is_err());
        CallTree { answers: left.map(|(_, answer)| answer.clone()).collect(), ..tree.clone() }
    }
}
