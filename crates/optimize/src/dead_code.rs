//! Equations that no result depends on disappear, unless they have effects. Inputs stay, used or not.

use tracewell_graph::{Atom, Equation, Graph};

use crate::rebuild::{keep, rebuild_some};

/// Removes equations that neither an output nor an effect depends on.
pub fn dead_code(graph: &Graph) -> Graph {
    let mut live = vec![false; graph.types.len()];
    let mark = |live: &mut [bool], atom: &Atom| {
        if let Atom::Var(var) = atom {
            live[var.0 as usize] = true;
        }
    };
    graph.outputs.iter().for_each(|atom| mark(&mut live, atom));
    let is_live = |live: &[bool], equation: &Equation| {
        equation.outputs.iter().any(|v| live[v.0 as usize]) || equation.prim.has_effect()
    };
    for equation in graph.equations.iter().rev() {
        if is_live(&live, equation) {
            equation.inputs.iter().for_each(|atom| mark(&mut live, atom));
        }
    }
    let is_live = |equation: &Equation| is_live(&live, equation);
    rebuild_some(graph, is_live, |builder, equation, operands| keep(builder, graph, equation, &operands))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    #[test]
    fn effects_stay() {
        check(
            dead_code,
            "(%0: f32[3]) -> (f32[3])",
            "%1: f32[3] = exp %0
            %2: f32[3] = callback[function=\"f\", ordered=false, results=(f32[3])] %1
            callback[function=\"f\", ordered=true, results=()] %1
            return %0",
            expect![[r#"
                %1: f32[3] = exp %0
                callback[function="f", ordered=true, results=()] %1
                return %0
            "#]],
        );
    }

    #[test]
    fn what_no_result_needs_goes() {
        check(
            dead_code,
            "(%0: f32[3], %1: f32[3]) -> (f32[3])",
            "%2: f32[3] = exp %1\n%3: f32[3] = neg %0\n%4: f32[3] = add %2, %3\n%5: f32[3] = sin %3\nreturn %5",
            expect![[r#"
                %2: f32[3] = neg %0
                %3: f32[3] = sin %2
                return %3
            "#]],
        );
    }
}
