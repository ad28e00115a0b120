//! The walks over whole graphs that change meaning: derivatives, adjoints, batching.
//!
//! Each takes a graph to a graph, so that every nesting works and every result can be printed, checked and
//! transformed again:
//!
//! - [`jvp()`]: a graph and its derivative along tangents, computed together.
//! - [`linearize()`]: the same derivative, split into what is known before the tangents and what is linear in
//!   them.
//! - [`checkpoint()`]: the same in three parts, for those who would rather compute again than keep.
//! - [`transpose()`]: the adjoint of a linear graph. `transpose(linearize(f).linear)` is the pullback of `f`.
//! - [`batch()`]: a graph over one more leading axis.
//! - [`contract()`]: a graph whose products are not rounded before they are added.
//!
//! *The rule lives with the primitive; the walk lives here.* No walk names a primitive (a sum of cotangents
//! needs one addition, kept in `accumulate.rs`; contraction is about products and sums), and each is linear in the number of equations. A rule that
//! nests a graph calls back through [`GraphWalks`]. Results hold no dead equations, and what a rule builds
//! carries the source location of the equation it was asked for.

mod accumulate;
mod batch;
mod checkpoint;
mod contract;
mod demands;
mod env;
mod extract;
mod jvp;
mod linearize;
mod prune;
mod pushforward;
mod transpose;
mod walks;

#[cfg(test)]
mod samples;

pub use batch::batch;
pub use checkpoint::checkpoint;
pub use contract::contract;
pub use jvp::jvp;
pub use linearize::{Origin, Origins, linearize, linearize_results, linearize_with_origins};
pub use prune::prune;
pub use transpose::transpose;
pub use walks::GraphWalks;
