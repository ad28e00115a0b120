//! What a walk demands of a rule's results, so that a wrong rule is named where it went wrong and not where
//! its results no longer fit.

use tracewell_graph::{ArrayType, Prim, RuleError};

/// A rule must give one result for each thing it was asked about.
pub(crate) fn check_count(prim: &Prim, rule: &str, found: usize, expected: usize) -> Result<(), RuleError> {
    if found == expected {
        return Ok(());
    }
    Err(broken(prim, format!("its {rule} rule gave {found} results where {expected} are due")))
}

/// A rule's result must have the type of what it stands for. Weakness is not compared: it matters to
/// promotion, which is over when a graph exists.
pub(crate) fn check_type(
    prim: &Prim,
    rule: &str,
    found: &ArrayType,
    expected: &ArrayType,
) -> Result<(), RuleError> {
    if found.matches(expected) {
        return Ok(());
    }
    Err(broken(prim, format!("its {rule} rule gave {found} where {expected} is due")))
}

/// An error that blames the rule.
pub(crate) fn broken(prim: &Prim, why: String) -> RuleError {
    RuleError::Unsupported {
        primitive: prim.name().to_string(),
        why: format!("{why} (a bug of the primitive)"),
    }
}
