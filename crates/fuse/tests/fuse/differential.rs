//! Programs against graphs: what fusion makes computes what the graph does, with and without sharing kernels.

use tracewell_graph::Prim;

use crate::compositions;
use crate::random::random;
use crate::support::{agree, single};

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

#[test]
fn random_graphs() {
    for (scale, count) in [(1, 400), (24, 60)] {
        for seed in 0..count {
            agree(&format!("seed {seed} of scale {scale}"), &random(seed, scale));
        }
    }
}
