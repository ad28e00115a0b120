//! Kernel to machine code, through Cranelift, or without it where `wide` can do a kernel as a whole.
//!
//! [`compile`] turns one kernel into position-independent bytes plus a list of helper addresses to patch in;
//! placing them in executable memory and calling them is the runtime's work. Nothing here is unsafe, and
//! nothing generated here can trap: every operation is total, and every access is inside its buffer if the
//! kernel verifies.
//!
//! In reading order: [`abi`](Entry) is how generated code is called, `lower` walks the regions, `loops` and
//! `reduce` turn innermost loops into vector loops, `scalar` and `vector` say what an operation is on one and
//! on four lanes; `wide` writes vectors of more than 128 bits, which Cranelift does not know, and is asked first.

mod abi;
mod access;
mod both_sides;
mod code;
mod convert;
mod emit;
mod error;
mod hoist;
mod lanes;
mod loops;
mod lower;
mod masked;
mod plan;
mod reduce;
mod scalar;
mod target;
mod vector;
mod wide;

pub use abi::{BothSidesHandler, CallHandler, Entry, STOPPED, Symbol, WideEach};
pub use code::{Code, Patch, clif_text, compile, disassemble};
pub use error::CodegenError;
pub use target::{Loops, Target};
pub use wide::Width;
