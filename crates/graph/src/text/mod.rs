//! The text form of graphs, for people, tests and files.
//!
//! ```text
//! func @loss(%0: f32[2,3], %1: ~f32[]) -> (f32[2]) {
//!   %2: f32[2,3] = broadcast[shape=[2,3], axes=[]] %1    at src/main.rs:10:5
//!   %3: f32[2,3] = mul %0, 2.0:f32[2,3]
//!   %4: f32[2,3] = add %2, %3
//!   %5: f32[2] = reduce_sum[axes=[1]] %4
//!   return %5
//! }
//! ```
//!
//! [`write()`] says everything about a graph but its source locations, [`write_with_locations`] those too, and
//! [`read()`] gives the same graph back, names and locations included. A type before which `~` stands is weak.
//! Constants are written in full; only [`Display`](std::fmt::Display), which is for people, leaves the elements
//! of large ones out.
//!
//! Reading runs every type rule again and compares its result with what the text declares. To try out the
//! [verifier](crate::verify()) on texts that break its rules there is [`read_unchecked`].

mod error;
mod lex;
mod read;
mod tensor;
mod write;

pub use error::ReadError;
pub use read::{MAX_DEPTH, NoCustom, Resolve, read, read_all, read_applied, read_prim, read_unchecked};
pub use tensor::{read_tensors, write_tensor};
pub use tracewell_kernel::text::{quote, quoted_len, unquote, word_len};
pub use write::{Line, Place, write, write_line, write_prim, write_with_locations};
pub(crate) use write::{Notes, write_with_notes};

#[cfg(test)]
mod tests;
