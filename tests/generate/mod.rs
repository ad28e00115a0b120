//! Random well-typed graphs with inputs to run them on: food for differential tests, round trips and fuzzing.
//!
//! [`graph()`] grows a graph of all built-in primitives and element types; what it knows of them it takes from
//! their examples, so that a new primitive takes part as soon as it exists; loops and branches are grown around
//! random bodies besides. [`agree()`] compares the results of
//! two ways to run such a graph, and [`shrink()`] makes one that fails small.
//!
//! A seed means the same graph in every run and on every machine, until a primitive or an example is added.

mod agree;
mod control;
mod grow;
mod once;
mod operands;
mod owed;
mod places;
mod rng;
mod rough;
mod rounding;
mod shrink;
mod steady;
mod steps;
mod turns;
mod values;

pub use agree::agree;
pub use control::BODIES;
pub use rough::{eval_coarsely, eval_roughly, eval_with_other_nans};
pub use shrink::shrink;

use tracewell_array::Tensor;
use tracewell_graph::Graph;

pub(crate) use self::rng::Rng;

/// What a random graph is to be like.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// At least about how many equations it has.
    pub size: usize,
    /// Whether there are NaNs, infinities, zeros of both signs and the ends of the integers among the numbers.
    pub extreme: bool,
}

/// A random graph of about `size` equations, and inputs for it.
pub fn graph(seed: u64, size: usize) -> (Graph, Vec<Tensor>) {
    graph_with(seed, Options { size, extreme: false })
}

/// A random graph as wanted, and inputs for it.
pub fn graph_with(seed: u64, options: Options) -> (Graph, Vec<Tensor>) {
    grow::grow(&mut Rng::new(seed), options, format!("random_{seed}"), owed::owed(seed))
}

/// Random inputs for any graph. Only a graph with its own inputs is sure to be well-conditioned.
pub fn inputs(graph: &Graph, seed: u64, extreme: bool) -> Vec<Tensor> {
    let mut rng = Rng::new(seed);
    graph.input_types().iter().map(|ty| values::tensor(&mut rng, ty, extreme)).collect()
}
