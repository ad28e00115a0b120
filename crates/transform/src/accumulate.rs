//! Sums of cotangents: the one primitive that the walks name.

use tracewell_graph::{Atom, GraphBuilder, RuleError, prim};

/// `total += term`, where nothing is zero: a first term is the total, and no zero is ever made.
pub(crate) fn accumulate(
    builder: &mut GraphBuilder,
    total: &mut Option<Atom>,
    term: Atom,
) -> Result<(), RuleError> {
    *total = Some(match total.take() {
        Some(sum) => builder.bind1(prim::Add {}, &[sum, term])?,
        None => term,
    });
    Ok(())
}
