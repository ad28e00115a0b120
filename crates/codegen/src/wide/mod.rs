//! Vectors of 256 and 512 bits, beside Cranelift's 128.
//!
//! An innermost loop whose body is a straight line becomes a function of its own, written here from the first to
//! the last byte; Cranelift's code, or an entry of our own, hands it pointers and numbers in a block on the stack and
//! calls it. What is refused here stays with Cranelift, and both give the same bits.
//!
//! In reading order: `loops` decides what is taken and hands it over, `entry` does so for kernels that need nothing of
//! Cranelift, `map` makes the loops that sum up nothing, `body` walks the statements, `select`, `compare` and `convert`
//! say what an operation is, `registers` gives out registers, `leaf` and `encode` write bytes, `opcode` is the list of
//! instructions; `ahead` and `uncached` are about what is too large for caches.

mod ahead;
mod body;
mod compare;
mod convert;
mod encode;
mod frame;
mod inst;
mod leaf;
mod level;
mod loops;
mod map;
mod nest;
mod opcode;
mod pick;
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
