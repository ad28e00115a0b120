//! Why a graph has no program. Every case is a mistake of a primitive's rules or ours, never of a user's array.

use std::fmt;

use tracewell_graph::{Location, RuleError};

/// Why a graph has no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FuseError {
    /// The primitive whose lowering failed.
    pub primitive: String,
    /// The user's line that asked for it.
    pub location: Option<Location>,
    /// What its rule said.
    pub error: RuleError,
}

impl fmt::Display for FuseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot lower `{}`", self.primitive)?;
        if let Some(location) = &self.location {
            write!(f, " of {location}")?;
        }
        write!(f, ": {}", self.error)
    }
}

impl std::error::Error for FuseError {}
