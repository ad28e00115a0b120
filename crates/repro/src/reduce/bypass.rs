//! Calls are passed by: a result becomes an operand of the same type.

use super::Strategy;
use super::edit::{Change, count, edit, zeros};
use crate::tree::{CallTree, Operand};

pub(super) struct Bypass;

impl Strategy for Bypass {
    fn name(&self) -> &'static str {
        "pass calls by"
    }

    fn places(&self, tree: &CallTree) -> usize {
        count(tree)
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        edit(tree, &mut |number, statement| {
            if places.binary_search(&number).is_err() {
                return Change::Keep;
            }
            let operands = statement.operands();
            let instead = statement.results().into_iter().map(|typed| {
                let of_type = || operands.iter().filter(|operand| operand.ty() == typed.ty);
                // A literal says less than a value does.
                let value = of_type().find(|operand| matches!(operand, Operand::Var(_)));
                let same = value.or_else(|| of_type().next());
                (typed.name, same.map_or_else(|| zeros(&typed.ty), |&operand| Operand::clone(operand)))
            });
            Change::Become(Vec::new(), instead.collect())
        })
    }
}
