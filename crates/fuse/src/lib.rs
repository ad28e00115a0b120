//! Graph to kernel program: what becomes one nest, which buffers live when.
//!
//! Read in the order of the data:
//!
//! - `classify`: the graph as a flow of arrays, each defined in one of a few ways, after `fits` has compared what
//!   lowerings give with what type rules promise; `link` makes one kernel of each loop and branch, `strided` lets
//!   products read views;
//! - `materialise`: which arrays get memory and which kernel computes them, with `cluster` (a kernel in the
//!   making), `loops` and `index` (its space, and where in an array a point of it is), `reduce` and `rows`
//!   (where reductions and rows of intermediate values may be part of a kernel) and `order`;
//! - `nest`: a kernel as loops and scalars; `unify`, `collapse` and `blocks` change it;
//! - `emit`, and `columns` with `tiles` for reductions down columns: the kernel written down;
//! - `program`: slots and steps, with `scalars` (kernels of single elements, joined), `donate` (arguments whose memory
//!   a result takes), `both_sides` (products with one matrix, joined) and `buffers` (where scratch lies).
//!
//! Invariants: a program computes what its graph does, up to the order of float reductions, which depends on
//! the graph and its shapes alone and never on the machine; time is linear in the number of equations.

mod blocks;
mod both_sides;
mod buffers;
mod classify;
mod cluster;
mod collapse;
mod columns;
mod cost;
mod donate;
mod emit;
mod error;
mod fits;
mod index;
mod link;
mod loops;
mod materialise;
mod nest;
mod order;
mod program;
mod reduce;
mod rows;
mod scalars;
mod strided;
mod tiles;
mod unify;

pub use error::FuseError;
pub use link::Bands;

use tracewell_graph::Graph;
use tracewell_kernel::Program;

/// How a graph is made a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// For each input, whether the caller may give its memory away. Missing ones are not.
    pub donated: Vec<bool>,
    /// Whether equations share kernels. Without, each is a kernel of its own: for finding what broke a result.
    pub fusion: bool,
    /// When scans are cut into bands that threads share; `None` if never, as inside of control flow.
    pub bands: Option<Bands>,
}

impl Default for Options {
    fn default() -> Options {
        Options { donated: Vec::new(), fusion: true, bands: Some(Bands::default()) }
    }
}

/// The program of a graph. Its results have the types of the graph's outputs, flat.
pub fn fuse(graph: &Graph, options: &Options) -> Result<Program, FuseError> {
    fuse_with_groups(graph, options).map(|(program, _)| program)
}

/// The program of a graph, and for each of its steps the numbers of the equations that it computes: what people want to
/// see. An equation that is a view of another array is computed nowhere; of complex numbers it is not known.
pub fn fuse_with_groups(graph: &Graph, options: &Options) -> Result<(Program, Vec<Vec<usize>>), FuseError> {
    let (mut program, mut groups) = unplaced(graph, options)?;
    if options.fusion {
        both_sides::both_sides(&mut program, &mut groups);
    }
    buffers::place(&mut program);
    Ok((program, groups))
}

/// The same with temporaries that have no place yet.
fn unplaced(graph: &Graph, options: &Options) -> Result<(Program, Vec<Vec<usize>>), FuseError> {
    let mut flow = classify::classify(graph, options)?;
    let plan = materialise::materialise(&flow, options.fusion);
    Ok(program::program(&graph.name, &mut flow, plan, options))
}
