//! Vectors of 256 and 512 bits, beside Cranelift's 128.
//!
//! An innermost loop whose body is a straight line is written here from the first to the last byte. With 512 bits, a
//! kernel of such loops, around each other and one after the other, is one function, and Cranelift has no part in it
//! (`nest`). Otherwise such a loop becomes a function of its own; Cranelift's code hands it pointers and numbers in a
//! block on the stack and calls it (`loops`). What is refused here stays with Cranelift, and all give the same bits.
//!
//! In reading order: `nest` and `loops` decide what is taken, `map` makes the loops that sum up nothing, `reduction`,
//! `sum` and `begin` those that do, `stretch` what is between loops, `around`, `moving` and `pairs` what is around them,
//! `body` walks the statements, `select`, `compare` and `convert` say what an operation is, `choices` does without some,
//! `registers` gives out registers, `frame` the stack, `leaf` and `encode` write bytes, `opcode` is the list of
//! instructions; `ahead` and `uncached` are about what is too large for caches.

mod ahead;
mod around;
mod begin;
mod body;
mod choices;
mod compare;
mod convert;
mod encode;
mod frame;
mod inst;
mod leaf;
mod level;
mod loops;
mod map;
mod moving;
mod nest;
mod opcode;
mod pairs;
mod pick;
mod reduction;
mod registers;
mod select;
mod stretch;
mod sum;
mod uncached;

pub(crate) use leaf::LeafCode;
pub(crate) use level::Level;
pub use level::Width;
pub(crate) use loops::{Sums, takes};
pub(crate) use nest::whole;
