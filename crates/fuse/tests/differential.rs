//! Programs against graphs: what fusion makes computes what the graph does, with and without sharing kernels.

mod compositions;
mod support;

use support::{agree, single};
use tracewell_graph::Prim;

#[test]
fn every_example() {
    for example in Prim::examples() {
        let name = format!("{:?} of {:?}", example.prim, example.inputs);
        agree(&name, &single(&example));
    }
}

#[test]
fn every_composition() {
    for (name, graph) in compositions::all() {
        agree(name, &graph);
    }
}
