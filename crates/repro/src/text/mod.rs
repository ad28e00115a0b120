//! The text form of call trees: what a repro is replayed from, without a Rust compiler.
//!
//! ```text
//! repro 1
//! version "0.1.0"
//! failure "Type" tracing "cannot add f32[2] and f32[3]: axis 0 is 2 and 3"
//! data 0 "f32[2]{1.0,2.0}"
//! data 1 file "1.npy"
//! main at "src/main.rs":4:1 {
//!   api "grad" "loss" (x: $0) at "src/main.rs":5:9 {
//!     fn "loss" (%0: f32[2]) at "src/main.rs":5:9 {
//!       bind "sin" (%0) -> (%1: f32[2]) at "src/main.rs":2:13
//!       call "add" (%1, $1) [] at "src/main.rs":2:20
//!     }
//!   }
//! }
//! ```
//!
//! [`write()`] says everything, and [`read()`] gives it back. Arrays of more than a few elements are in files of
//! their own beside the text. Texts come from anywhere: nothing here panics, nesting is limited, and memory grows
//! with what was read, never with a number that was read.

mod lex;
mod read;
mod write;

pub use read::{ReadError, read, read_failure};
pub use write::{Written, write, write_failure};

/// How deep functions and trees nest at most.
const MAX_DEPTH: usize = 128;
