//! Data becomes zeros, which take no memory.

use super::Strategy;
use super::edit::zeros;
use crate::folder::map_operands;
use crate::tree::{CallTree, Operand};

pub(super) struct Data;

impl Strategy for Data {
    fn name(&self) -> &'static str {
        "simplify data"
    }

    fn places(&self, tree: &CallTree) -> usize {
        let mut count = 0;
        map_operands(&tree.main, &mut |operand| {
            count += usize::from(matches!(operand, Operand::Data(..) | Operand::Lost(_)));
            operand.clone()
        });
        count
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let mut next = 0;
        let main = map_operands(&tree.main, &mut |operand| match operand {
            Operand::Data(..) | Operand::Lost(_) => {
                next += 1;
                if places.binary_search(&(next - 1)).is_ok() { zeros(&operand.ty()) } else { operand.clone() }
            }
            other => other.clone(),
        });
        CallTree { main, ..tree.clone() }
    }
}
