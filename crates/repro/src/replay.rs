//! Running a tree again: what the face does, and what is said about it.

use crate::failure::Failure;
use crate::tree::CallTree;

/// Runs trees.
pub trait Replay: Sync {
    /// How the tree fails when it is run; `None` if it does not.
    fn run(&self, tree: &CallTree) -> Option<Failure>;
}

/// What came of running a tree again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It failed in the same way.
    Reproduced,
    /// It failed in another way.
    Different(Failure),
    /// It did not fail.
    NoFailure,
}

impl Verdict {
    /// Compares how a tree failed with how it should.
    pub fn of(expected: Option<&Failure>, found: Option<Failure>) -> Verdict {
        match (expected, found) {
            (None, None) => Verdict::Reproduced,
            (Some(_), None) => Verdict::NoFailure,
            (Some(expected), Some(found)) if expected.signature() == found.signature() => Verdict::Reproduced,
            (_, Some(found)) => Verdict::Different(found),
        }
    }

    /// Whether it is the same failure.
    pub fn is_reproduced(&self) -> bool {
        *self == Verdict::Reproduced
    }
}
