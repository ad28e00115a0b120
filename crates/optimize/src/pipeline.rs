//! The passes in the order in which they run.

use crate::pass::Pass;
use crate::{common_subexpressions, dead_code, fold, inline, simplify};

/// Every pass, in order.
///
/// Inlining comes first, so that all others see the equations that are computed. What is dead goes early,
/// because it would cost time; what is equal is found before simplification, so that rules about equal operands
/// apply, and after it, because simplified equations are equal more often.
pub const PIPELINE: &[Pass] = &[
    Pass { name: "inline", run: inline },
    Pass { name: "dead_code", run: dead_code },
    Pass { name: "common_subexpressions", run: common_subexpressions },
    Pass { name: "fold", run: fold },
    Pass { name: "simplify", run: simplify },
    Pass { name: "fold", run: fold },
    Pass { name: "common_subexpressions", run: common_subexpressions },
    Pass { name: "dead_code", run: dead_code },
];
