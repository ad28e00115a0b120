//! Staged control flow: branches and loops that stay in the graph. One file each.
//!
//! Their functions are staged to graphs for arguments whose values are not known, wherever they are called: also
//! outside `jit!`, where the primitive is compiled and run at once. What a function captures, tracers and arrays of
//! the program, becomes an operand of the primitive, so that the same loop on other data is not compiled again.

mod associative_scan;
mod body;
mod branches;
mod carry;
mod checks;
mod cond;
mod fori_loop;
mod length;
mod map;
mod map_reduce;
mod parts;
mod scan;
mod switch;
mod while_loop;

pub use associative_scan::{associative_scan, associative_scan_reverse};
pub use cond::cond;
pub use fori_loop::{LoopRange, fori_loop};
pub use map::map;
pub use map_reduce::map_reduce;
pub use scan::{ScanOptions, scan, scan_with};
pub use switch::switch;
pub use while_loop::while_loop;

/// The programs of the page run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/control-flow.md")]
struct Page;
