//! Dead equations.

use tracewell_graph::{Equation, Graph};

use crate::extract::extract;

/// The same graph without the equations that neither an output nor an effect needs. All inputs stay.
pub fn prune(graph: &Graph) -> Graph {
    extract(graph, graph.name.clone(), &graph.inputs, &graph.outputs, &has_effect).0
}

/// Whether an equation is kept for what it does besides computing its results.
pub(crate) fn has_effect(equation: &Equation) -> bool {
    equation.prim.has_effect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{read, write};
    use expect_test::expect;

    #[test]
    fn only_what_outputs_need_stays() {
        let graph = read(
            "func @f(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[] = exp %0
               %3: f32[] = sin %2
               %4: f32[] = neg %2
               %5: f32[] = neg %3
               return %4, 1.0:f32[]
             }",
        );
        expect![[r#"
            func @f(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
              %2: f32[] = exp %0
              %3: f32[] = neg %2
              return %3, 1.0:f32[]
            }
        "#]]
        .assert_eq(&write(&prune(&graph)));
    }
}
