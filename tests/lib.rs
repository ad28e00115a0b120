//! What the tests share.

pub mod differential;
pub mod generate;
pub mod laws;
pub mod math;
mod matrices;
pub mod primitives_page;
pub mod readers;
pub mod recorded;
