//! Graph passes that keep meaning, and the list of them.
//!
//! Invariants: a pass keeps every bit of every result, as compiled code computes it; its time is linear in the
//! number of equations; its result is canonical (rebuilt by `GraphBuilder`). Passes walk graphs and name no
//! primitive, except for the rewrites in `rules` and those of control flow in `control`, which are about nothing else.
//!
//! Deliberately absent: anything about loops or memory. That is `fuse`.

mod common_subexpressions;
mod control;
mod dead_code;
mod fold;
mod inline;
mod narrow;
mod nested;
mod pass;
mod pipeline;
mod rebuild;
mod rules;
mod simplify;
mod slabs;
#[cfg(test)]
mod testing;

pub use common_subexpressions::common_subexpressions;
pub use control::{disappear, exchange, invariant, products, specialize};
pub use dead_code::dead_code;
pub use fold::fold;
pub use inline::inline;
pub use narrow::{narrow, narrow_from};
pub use pass::{Pass, optimize, optimize_with};
pub use pipeline::PIPELINE;
pub use simplify::simplify;
pub use slabs::{slabs, slabs_of_one};
