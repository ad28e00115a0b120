//! A matrix that is multiplied from both sides, one after the other.
//!
//! `t = A v`, then `u` from `t`, element by element, then `Aᵀ u`: so go the gradients and the products with the Hessian of
//! regressions, least squares and their solvers. Done one after the other, a large matrix comes from far twice. Some rows
//! at a time may go through all three instead, and it comes once.

use crate::ir::{Index, Region, Size, Stmt, Value, Window};
use crate::library::Library;

/// Two products and what is between them.
#[derive(Clone, Copy, Debug)]
pub struct BothSides<'k> {
    /// What the first product is called on.
    pub first: &'k [Window],
    /// And the second.
    pub second: &'k [Window],
    /// The variable of the `each` between them.
    pub var: Value,
    /// Its iterations: the elements of what the first product makes.
    pub extent: Size,
    /// What it does.
    pub body: &'k Region,
}

impl<'k> BothSides<'k> {
    /// How many statements they are.
    pub const STATEMENTS: usize = 3;

    /// The first statements, if nothing is different when some rows go through all three before the next ones do.
    pub fn of(stmts: &[&'k Stmt]) -> Option<BothSides<'k>> {
        let [
            Stmt::Call { call: first, windows: of_first },
            Stmt::Each { var, extent, body },
            Stmt::Call { call: second, windows: of_second },
            ..,
        ] = stmts
        else {
            return None;
        };
        let (Library::Gemm(first), Library::Gemm(second)) = (&first.library, &second.library) else {
            return None;
        };
        if !first.is_one_side_of(second) {
            return None;
        }
        let (rows, columns) = (first.with_vector()?, second.with_vector()?);
        let (matrix, product) = (&of_first[rows.matrix], &of_first[2]);
        let other = 1 - columns.matrix;
        // What the second product is of must be what is made for it, from its first element on.
        let is_ours = of_second[columns.matrix] == *matrix && [second.a, second.b][other].start == 0;
        let wanted = &of_second[other];
        let is_here = |window: &Window, index: &Index| is_element(window, index, *var);
        let mut makes = false;
        let is_apart = body.stmts.iter().all(|stmt| match stmt {
            Stmt::Load { buffer, index, .. } => *buffer != product.buffer || is_here(product, index),
            // Two parameters may be the same memory: others that are stored to may be what the products read.
            Stmt::Store { buffer, index, .. } => {
                makes |= *buffer == wanted.buffer;
                let is_theirs = |window: &Window| *buffer == window.buffer;
                [product, wanted].into_iter().any(is_theirs)
                    && [product, wanted]
                        .into_iter()
                        .all(|window| !is_theirs(window) || is_here(window, index))
            }
            _ => true,
        });
        let is_each = *extent == Size::Const(rows.count as i64) && body.stmts.iter().all(is_plain);
        (is_ours && is_each && is_apart && makes).then_some(BothSides {
            first: of_first,
            second: of_second,
            var: *var,
            extent: *extent,
            body,
        })
    }
}

fn is_plain(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Store { .. })
}

/// Whether an index is that of the element of a window whose number a loop variable is.
fn is_element(window: &Window, index: &Index, var: Value) -> bool {
    let (ours, others): (Vec<_>, Vec<_>) = index.terms.iter().partition(|(value, _)| *value == var);
    let is_one = matches!(ours[..], [(_, Size::Const(1))]);
    is_one && index.offset == window.start.offset && others[..] == window.start.terms[..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Kernel;

    /// A product with 8 rows of 4, twice each element of it, the product with the columns; with something replaced.
    fn is_taken(what: &str, by: &str) -> bool {
        let text = "kernel @k(b0: f32, b1: own f32, b2: own f32, b3: own f32, b4: own f32) {
            call gemm f32 batch [1,1] m 8 n 1 k 4 from 0 by [0,1,4,1], 0 by [0,1,1,1] (b0: f32[8,4], b1: f32[4]) -> (b2: f32[8])
            each %i < 8 {
                %x: f32 = load b2[%i]
                %y: f32 = add %x, %x
                store b3[%i], %y
            }
            call gemm f32 batch [1,1] m 1 n 4 k 8 from 0 by [0,1,1,1], 0 by [0,1,4,1] (b3: f32[8], b0: f32[8,4]) -> (b4: f32[4])
        }";
        assert!(text.contains(what), "{what}");
        let kernel: Kernel = text.replace(what, by).parse().expect("a kernel");
        BothSides::of(&kernel.body.stmts.iter().collect::<Vec<_>>()).is_some()
    }

    #[test]
    fn rows_go_through_all_three_where_that_changes_nothing() {
        let taken = |what: &str, by: &str| assert!(is_taken(what, by), "{by}");
        let left = |what: &str, by: &str| assert!(!is_taken(what, by), "{by}");
        taken("store b3", "store b3");
        // Others may be read too, whatever they are.
        taken("%y: f32 = add %x, %x", "%z: f32 = load b0[0] %y: f32 = add %x, %z");
        // What other rows make, or the vector as it was.
        left("load b2[%i]", "load b2[%i*-1 + 7]");
        left("load b2[%i]", "load b2[0]");
        left("store b3[%i]", "store b3[%i*-1 + 7]");
        left("store b3[%i]", "store b4[%i]");
        // What other rows read.
        left("store b3[%i], %y", "store b3[%i], %y store b1[%i], %y");
        // What may be the memory of such.
        left("store b3[%i], %y", "store b3[%i], %y store b4[%i], %y");
        left("(b0: f32[8,4], b1: f32[4]) -> (b2", "(b4: f32[8,4], b1: f32[4]) -> (b2");
        // More or less than all rows, or what is no straight line.
        left("%i < 8", "%i < 7");
        left("%y: f32 = add %x, %x", "%y: f32 = reduce add over %j < 4 { yield %x }");
        // Another way through the matrix.
        left("from 0 by [0,1,1,1], 0 by [0,1,4,1] (b3", "from 0 by [0,1,1,1], 0 by [0,1,1,8] (b3");
        left("m 8 n 1 k 4 from 0 by [0,1,4,1]", "m 8 n 1 k 4 from 0 by [0,1,1,8]");
    }
}
