//! What strategies share that take numbered parts out of calls: their arguments, their results.

use super::edit::{Change, edit};
use crate::tree::{ApiCall, CallTree, Name, Operand, Statement};

/// A strategy about parts of calls.
pub(super) struct Parts {
    /// How many parts of a call can be taken out.
    pub(super) count: fn(&ApiCall) -> usize,
    /// The call without some of them, and what stands for values that are gone.
    pub(super) without: Without,
}

type Without = fn(&ApiCall, &dyn Fn(usize) -> bool) -> (ApiCall, Vec<(Name, Operand)>);

impl Parts {
    /// The parts of all calls, each with the number of its statement and its place.
    pub(super) fn all(&self, tree: &CallTree) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        edit(tree, &mut |number, statement| {
            if let Statement::Api(call) = statement {
                all.extend((0..(self.count)(call)).map(|at| (number, at)));
            }
            Change::Keep
        });
        all
    }

    /// The tree without the parts of these places.
    pub(super) fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let all = self.all(tree);
        let chosen: Vec<(usize, usize)> =
            places.iter().filter_map(|&place| all.get(place).copied()).collect();
        // One call at a time, from the last: numbers of those before stay what they are.
        let mut tree = tree.clone();
        let mut statements: Vec<usize> = chosen.iter().map(|(statement, _)| *statement).collect();
        statements.dedup();
        for &statement in statements.iter().rev() {
            let gone = |at: usize| chosen.contains(&(statement, at));
            tree = edit(&tree, &mut |number, found| match found {
                Statement::Api(call) if number == statement => {
                    let (call, instead) = (self.without)(call, &gone);
                    Change::Become(vec![Statement::Api(call.into())], instead)
                }
                _ => Change::Keep,
            });
        }
        tree
    }
}
