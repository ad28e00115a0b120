//! Large graphs: fused in linear time, without deep recursion.

use std::time::Instant;

use tracewell_fuse::Options;
use tracewell_graph::Graph;
use tracewell_graph::prim::*;

use crate::compositions::Make;
use crate::support::{agree, program};

/// Alternating cheap and expensive functions of one array.
fn chain(length: usize) -> Graph {
    let mut m = Make::new();
    let x = m.input(&[33]);
    let mut y = x.clone();
    for i in 0..length {
        y = match i % 3 {
            0 => m.op(Tanh {}, &[&y]),
            1 => m.op(Add {}, &[&y, &x]),
            _ => m.op(Neg {}, &[&y]),
        };
    }
    m.finish(&[&y])
}

/// Every array is read by two later ones, at different positions.
fn braid(length: usize) -> Graph {
    let mut m = Make::new();
    let mut y = m.input(&[6, 6]);
    for i in 0..length {
        let turned = m.permute(&y, &[1, 0]);
        let half = m.fill(&y, 0.5);
        let sum = m.op(Add {}, &[&y, &turned]);
        y = m.op(Mul {}, &[&sum, &half]);
        if i % 7 == 3 {
            y = m.op(Sin {}, &[&y]);
        }
    }
    m.finish(&[&y])
}

/// Many inputs that meet in one result, and many results.
fn wide(count: usize) -> Graph {
    let mut m = Make::new();
    let inputs: Vec<_> = (0..count).map(|_| m.input(&[5, 4])).collect();
    let mut total = m.fill(&inputs[0], 0.0);
    let mut outputs = Vec::new();
    for x in &inputs {
        total = m.op(Add {}, &[&total, x]);
        let e = m.op(Exp {}, &[x]);
        outputs.push(m.op(Mul {}, &[&e, &total]));
    }
    outputs.push(total);
    m.finish(&outputs.iter().collect::<Vec<_>>())
}

#[test]
fn large_graphs_agree() {
    agree("chain", &chain(300));
    agree("braid", &braid(60));
    agree("wide", &wide(80));
}

#[test]
fn large_graphs_are_fused_in_linear_time() {
    for (name, graph) in [("chain", chain(10_000)), ("braid", braid(2_000)), ("wide", wide(2_000))] {
        let start = Instant::now();
        let program = program(name, &graph, &Options::default());
        let took = start.elapsed();
        println!("{name}: {} equations, {} steps, {took:?}", graph.equations.len(), program.steps.len());
        // Ten times what it takes on a slow machine; a quadratic walk takes a hundred times.
        assert!(took.as_secs() < 20, "{name} took {took:?}");
    }
}
