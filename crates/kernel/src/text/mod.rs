//! The text form of kernels and programs, for people, tests and files.
//!
//! [`Display`](std::fmt::Display) writes it; [`read_kernel`] and [`read_program`] read it. Reading what was
//! written gives the same thing back, bit for bit, if its values are numbered in the order of their definition,
//! as a [`KernelBuilder`](crate::KernelBuilder) and the reader number them; otherwise it is the same but for
//! the numbers. The text is all there is: a constant is written in full, and only the functions of users are
//! named instead of written, for the reader's caller to find.
//!
//! Reading checks the form, that every value used was defined somewhere before, and nothing else: types,
//! scopes and bounds are the [verifier](crate::verify_program)'s, so that its errors can be tried out in text.

mod lex;
mod read;
mod write;

pub use lex::ReadError;
pub use read::{MAX_DEPTH, read_kernel, read_program};
pub use write::Place;
pub(crate) use write::{
    Names, Notes, buffer_name, inner_regions, kernel_with_notes, name, program_with_notes, slot_name,
};

