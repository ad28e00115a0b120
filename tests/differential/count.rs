//! What graphs are made of, so that a campaign can say what it has tried.

use std::sync::Arc;

use tracewell_array::DType;
use tracewell_graph::{Example, Graph};

use crate::laws::dtype;

/// The primitive and element type of every equation, nested ones included.
pub fn uses(graph: &Graph) -> Vec<(String, DType)> {
    let mut all = Vec::new();
    for equation in &graph.equations {
        let inputs = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
        let example = Example { prim: equation.prim.clone(), inputs };
        all.push((equation.prim.name().to_owned(), dtype(&example)));
        let mut nested: Vec<Arc<Graph>> = Vec::new();
        equation.prim.rules().each_param(&mut |_, value| {
            nested.extend_from_slice(value.graphs());
        });
        all.extend(nested.iter().flat_map(|inner| uses(inner)));
    }
    all
}
