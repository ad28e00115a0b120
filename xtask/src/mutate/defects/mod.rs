//! The defects: mistakes that somebody could make without noticing, each with the test that must notice.
//!
//! To add one: a piece of code that occurs once in its file, what a slip would make of it (it must compile, and
//! end), and the narrowest `cargo test` that should fail. Then `cargo xtask mutate --only` its number, and read
//! which test noticed: one that fails for another reason than what the defect breaks proves nothing.

/// The laws of one primitive.
macro_rules! laws {
    ($name:literal) => {
        concat!("-p tests --test laws every_law_of_", $name)
    };
}

mod complex;
mod core;
mod fusion;
mod indexing;
mod linalg;
mod repro;
mod sorting;
mod watch;
mod wide;
mod windows;

use super::Defect;

/// One table for each family of primitives, so that each can be read beside what it breaks.
const FAMILIES: &[&[Defect]] = &[
    core::DEFECTS,
    complex::DEFECTS,
    indexing::DEFECTS,
    sorting::DEFECTS,
    windows::DEFECTS,
    linalg::DEFECTS,
    repro::DEFECTS,
    wide::DEFECTS,
    watch::DEFECTS,
    fusion::DEFECTS,
];

/// All of them, in the order of their numbers.
pub(super) fn all() -> Vec<&'static Defect> {
    FAMILIES.iter().copied().flatten().collect()
}
