//! Repros: the call tree of a failure, recorded as it happens, written as text and as a Rust program, replayed,
//! and made smaller.
//!
//! Nothing here runs a tree: the face implements [`Replay`].

mod ddmin;
mod failure;
mod folder;
mod packed;
mod record;
pub mod reduce;
mod replay;
mod rust;
mod show;
pub mod text;
mod tree;

pub use ddmin::ddmin;
pub use failure::{Failure, Signature, Stage, skeleton};
pub use folder::{Dependency, FolderError, Limits, Place, load, remove, save};
pub use packed::{KeptCall, Recorded};
pub use record::{MOST_STATEMENTS, Recorder, failing, plain_operand};
pub use replay::{Replay, Verdict};
pub use rust::{manifest, to_rust};
pub use show::show;
pub use tree::{
    Answer, ApiCall, Bind, Body, CallTree, IN_REPRO, Name, Operand, Statement, Typed, fingerprint,
};
