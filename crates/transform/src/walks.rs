//! The walks as the rules of primitives that nest a graph call them.

use tracewell_graph::{Equation, Graph, Linearized, Rematerialized, RuleError, Walks};

use crate::{batch, checkpoint, jvp, linearize, transpose};

/// The walks of this crate, to be handed to rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphWalks;

impl Walks for GraphWalks {
    fn jvp(&self, graph: &Graph, active: &[bool]) -> Result<(Graph, Vec<bool>), RuleError> {
        jvp(graph, active)
    }

    fn linearize(&self, graph: &Graph, active: &[bool]) -> Result<Linearized, RuleError> {
        linearize(graph, active)
    }

    fn transpose(
        &self,
        graph: &Graph,
        linear: &[bool],
        given: &[bool],
    ) -> Result<(Graph, Vec<bool>), RuleError> {
        transpose(graph, linear, given)
    }

    fn checkpoint(
        &self,
        graph: &Graph,
        active: &[bool],
        keep: &dyn Fn(&Equation) -> bool,
    ) -> Result<Rematerialized, RuleError> {
        checkpoint(graph, active, keep)
    }

    fn batch(&self, graph: &Graph, size: usize, batched: &[bool]) -> Result<(Graph, Vec<bool>), RuleError> {
        batch(graph, size, batched)
    }
}
