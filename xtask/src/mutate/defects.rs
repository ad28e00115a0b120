//! The defects: mistakes that somebody could make without noticing, each with the test that must notice.
//!
//! To add one: a piece of code that occurs once in its file, what a slip would make of it (it must compile, and
//! end), and the narrowest `cargo test` that should fail. Number it by its place; run `cargo xtask mutate --only`.

use super::Defect;

pub(super) const DEFECTS: &[Defect] = &[];
