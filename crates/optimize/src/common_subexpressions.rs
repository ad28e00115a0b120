//! Equations that compute the same become one: the same primitive, with the same parameters, on the same
//! operands. One walk with a table, in which operands are already those of the new graph.

use rustc_hash::FxHashMap;
use tracewell_graph::{Graph, Prim};

use crate::rebuild::{Operands, Results, keep, rebuild};

/// Merges equations that apply the same primitive to the same operands.
pub fn common_subexpressions(graph: &Graph) -> Graph {
    let mut known: FxHashMap<(Prim, Operands), Results> = FxHashMap::default();
    rebuild(graph, |builder, equation, operands| {
        let key = (equation.prim.clone(), operands);
        if let Some(results) = known.get(&key) {
            return results.clone();
        }
        let results = keep(builder, graph, equation, &key.1);
        known.insert(key, results.clone());
        results
    })
}
