//! Products with [both sides](BothSides) of a matrix, and the `each` between them, as one call.

use tracewell_kernel::{BothSides, Size};

use crate::abi::{BOTH_SIDES_AT, both_sides_signature};
use crate::hoist::Iterations;
use crate::lower::{Lower, Lowered};

impl Lower<'_, '_> {
    /// Both products in one call, or one after the other if what is between them is no function of its own.
    pub(crate) fn both_sides(&mut self, both: &BothSides<'_>) -> Lowered {
        let BothSides { first, second, var, extent, body } = *both;
        // None of it is made by the first product.
        let hoisted = self.hoist(body, &[var], Iterations::Independent)?;
        if let Some([each, block]) = self.wide_function(var, extent, body, &hoisted)? {
            let number = self.next_call();
            // That of the second one.
            self.next_call();
            let tables = [first, second].map(|windows| self.table(windows));
            let signature = both_sides_signature(self.emit.convention);
            self.call_handler(BOTH_SIDES_AT, signature, &[number, tables[0], tables[1], each, block]);
            return Ok(());
        }
        self.call(first);
        let ends = [self.emit.size(Size::Const(0)), self.emit.size(extent)];
        self.iterations(var, ends, Some(extent), body, &hoisted)?;
        self.call(second);
        Ok(())
    }
}
