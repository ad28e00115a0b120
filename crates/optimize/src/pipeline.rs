//! The passes in the order in which they run.

use tracewell_graph::{has_complex, take_apart};

use crate::nested::{control_inside_out, control_outside_in, outside_in};
use crate::pass::Pass;
use crate::{
    common_subexpressions, dead_code, disappear, exchange, fold, inline, invariant, narrow, products,
    simplify, slabs, specialize,
};

/// Every pass, in order. Each runs on the graphs of control flow too.
///
/// Inlining comes first, so that all others see the equations that are computed, and then complex numbers are taken
/// apart, so that they see no others than real ones but at the borders. What is dead goes early,
/// because it would cost time; what is equal is found before simplification, so that rules about equal operands
/// apply, and after it, because simplified equations are equal more often. Narrow axes are
/// taken apart before literals are folded, of which there are more then. What a loop need not compute is moved out
/// when it is as simple as it gets, and then may be equal to what is there. Loops change places with elements after that, and
/// batches of images are cut into slabs.
pub const PIPELINE: &[Pass] = &[
    Pass { name: "inline", run: |graph| outside_in(graph, inline) },
    Pass { name: "take_apart", run: |graph| if has_complex(&graph) { take_apart(&graph) } else { graph } },
    Pass { name: "dead_code", run: |graph| outside_in(graph, dead_code) },
    Pass { name: "specialize", run: |graph| control_outside_in(graph, specialize) },
    Pass { name: "disappear", run: |graph| control_outside_in(graph, disappear) },
    Pass { name: "common_subexpressions", run: |graph| outside_in(graph, common_subexpressions) },
    Pass { name: "fold", run: |graph| outside_in(graph, fold) },
    Pass { name: "simplify", run: |graph| outside_in(graph, simplify) },
    Pass { name: "narrow", run: |graph| outside_in(graph, narrow) },
    Pass { name: "fold", run: |graph| outside_in(graph, fold) },
    Pass { name: "disappear", run: |graph| control_outside_in(graph, disappear) },
    Pass { name: "invariant", run: |graph| control_inside_out(graph, invariant) },
    Pass { name: "products", run: |graph| control_inside_out(graph, products) },
    Pass { name: "exchange", run: |graph| control_outside_in(graph, exchange) },
    Pass { name: "specialize", run: |graph| control_outside_in(graph, specialize) },
    Pass { name: "slabs", run: |graph| slabs(&graph) },
    Pass { name: "common_subexpressions", run: |graph| outside_in(graph, common_subexpressions) },
    Pass { name: "dead_code", run: |graph| outside_in(graph, dead_code) },
];
