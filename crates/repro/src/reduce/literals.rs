//! Numbers of the program become 0, or else 1: literals, and elements of arrays that are short enough to be read.

use tracewell_array::{Literal, Tensor};
use tracewell_graph::Splat;

use super::Strategy;
use crate::folder::map_operands;
use crate::tree::{CallTree, Operand};

/// Arrays of more elements become zeros as a whole, or stay.
const MOST: usize = 16;

/// Numbers that are further from being simple than some become as simple as those.
pub(super) struct Simpler {
    name: &'static str,
    /// How far those are.
    than: usize,
}

pub(super) const ZEROS: Simpler = Simpler { name: "numbers to 0", than: 0 };
pub(super) const ONES: Simpler = Simpler { name: "numbers to 1", than: 1 };

/// How far a number is from being simple.
fn complexity(literal: Literal) -> usize {
    match literal {
        _ if literal == Literal::zero(literal.dtype()) => 0,
        _ if literal == Literal::one(literal.dtype()) => 1,
        _ => 2,
    }
}

/// How far the numbers of a tree are from being simple.
pub(super) fn total(tree: &CallTree) -> usize {
    let mut sum = 0;
    mapped(tree, &mut |literal| {
        sum += complexity(literal);
        literal
    });
    sum
}

/// The tree with every number made another, in order.
fn mapped(tree: &CallTree, f: &mut dyn FnMut(Literal) -> Literal) -> CallTree {
    let main = map_operands(&tree.main, &mut |operand| match operand {
        Operand::Splat(splat) => Operand::Splat(Splat { literal: f(splat.literal), ..splat.clone() }),
        Operand::Data(tensor, weak) if tensor.len() <= MOST => {
            let literals: Vec<Literal> = tensor.literals().map(&mut *f).collect();
            let made = Tensor::from_literals(tensor.dtype(), tensor.shape().clone(), &literals);
            // The shape is that of as many elements.
            Operand::Data(made.unwrap_or_else(|_| tensor.clone()), *weak)
        }
        other => other.clone(),
    });
    CallTree { main, ..tree.clone() }
}

/// How many numbers are further from being simple than this.
fn count(tree: &CallTree, than: usize) -> usize {
    let mut count = 0;
    mapped(tree, &mut |literal| {
        count += usize::from(complexity(literal) > than);
        literal
    });
    count
}

/// The tree with some of those made simple.
fn simplified(tree: &CallTree, than: usize, places: &[usize]) -> CallTree {
    let mut next = 0;
    mapped(tree, &mut |literal| {
        if complexity(literal) <= than {
            return literal;
        }
        next += 1;
        match (places.binary_search(&(next - 1)), than) {
            (Err(_), _) => literal,
            (Ok(_), 0) => Literal::zero(literal.dtype()),
            (Ok(_), _) => Literal::one(literal.dtype()),
        }
    })
}

impl Strategy for Simpler {
    fn name(&self) -> &'static str {
        self.name
    }

    fn places(&self, tree: &CallTree) -> usize {
        count(tree, self.than)
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        simplified(tree, self.than, places)
    }
}
