//! What a walk knows of each variable of the graph it reads.

use tracewell_graph::{Graph, Var};

/// A table from the variables of one graph to what stands for them.
#[derive(Debug)]
pub(crate) struct Env<T>(Vec<Option<T>>);

impl<T> Env<T> {
    /// Nothing is known yet.
    pub(crate) fn new(graph: &Graph) -> Env<T> {
        Env(graph.types.iter().map(|_| None).collect())
    }

    /// From now on `value` stands for `var`.
    pub(crate) fn define(&mut self, var: Var, value: T) {
        self.0[var.0 as usize] = Some(value);
    }

    /// What stands for `var`, if anything does.
    pub(crate) fn find(&self, var: Var) -> Option<&T> {
        self.0[var.0 as usize].as_ref()
    }

    /// What stands for a variable that the walk has passed.
    pub(crate) fn get(&self, var: Var) -> &T {
        self.find(var).expect("operands are defined before they are used")
    }

    /// The place of `var`, to be changed.
    pub(crate) fn slot(&mut self, var: Var) -> &mut Option<T> {
        &mut self.0[var.0 as usize]
    }
}
