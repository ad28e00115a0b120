//! Calls and compositions disappear: an equation whose lowering is a graph becomes the equations of that graph.

use tracewell_graph::{Atom, Equation, Graph, GraphBuilder, Lowering};

use crate::rebuild::{Results, keep, rebuild};

/// How deep graphs may be nested in each other's lowerings. What is deeper stays as it is.
const MAX_DEPTH: usize = 64;

/// Replaces equations that are lowered to graphs by the equations of those graphs, and so on within them.
pub fn inline(graph: &Graph) -> Graph {
    rebuild(graph, |builder, equation, operands| inline_equation(builder, graph, equation, &operands, 0))
}

fn inline_equation(
    builder: &mut GraphBuilder,
    graph: &Graph,
    equation: &Equation,
    operands: &[Atom],
    depth: usize,
) -> Results {
    let inputs: Vec<_> = operands.iter().map(|a| builder.ty(a)).collect();
    let outputs: Vec<_> = equation.outputs.iter().map(|&v| graph.ty(v).clone()).collect();
    // A rule that fails is reported by whoever needs its result.
    match equation.prim.rules().lower(&inputs, &outputs) {
        Ok(Lowering::Graph(inner)) if depth < MAX_DEPTH => {
            inline_graph(builder, &inner, operands, equation, depth + 1)
        }
        // Operands may be weaker than the inputs of the graph they are put into, and so may be the results.
        _ => builder
            .bind(equation.prim.clone(), operands)
            .unwrap_or_else(|_| keep(builder, graph, equation, operands)),
    }
}

/// Adds the equations of a graph that stands for `outer`; returns its outputs.
fn inline_graph(
    builder: &mut GraphBuilder,
    graph: &Graph,
    operands: &[Atom],
    outer: &Equation,
    depth: usize,
) -> Results {
    let mut map: Vec<Option<Atom>> = vec![None; graph.types.len()];
    for (var, atom) in graph.inputs.iter().zip(operands) {
        map[var.0 as usize] = Some(atom.clone());
    }
    let look = |map: &[Option<Atom>], atom: &Atom| match atom {
        Atom::Var(var) => map[var.0 as usize].clone().expect("operands are defined before they are used"),
        Atom::Splat(_) => atom.clone(),
    };
    for equation in &graph.equations {
        let operands: Vec<Atom> = equation.inputs.iter().map(|a| look(&map, a)).collect();
        builder.at(equation.location.clone().or_else(|| outer.location.clone()));
        let results = inline_equation(builder, graph, equation, &operands, depth);
        for (&var, atom) in equation.outputs.iter().zip(results) {
            map[var.0 as usize] = Some(atom);
        }
    }
    graph.outputs.iter().map(|a| look(&map, a)).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    #[test]
    fn calls_disappear() {
        check(
            inline,
            "(%0: f32[3]) -> (f32[3])",
            "%1: f32[3] = call[graph=func @outer(%0: f32[3]) -> (f32[3]) {
               %1: f32[3] = call[graph=func @inner(%0: f32[3]) -> (f32[3]) {
                 %1: f32[3] = exp %0
                 return %1
               }] %0
               %2: f32[3] = neg %1
               return %2
             }] %0
             return %1",
            expect![[r#"
                %1: f32[3] = exp %0
                %2: f32[3] = neg %1
                return %2
            "#]],
        );
    }

    #[test]
    fn weak_operands_stay_weak() {
        check(
            inline,
            "(%0: ~f32[]) -> (f32[])",
            "%1: f32[] = call[graph=func @inner(%0: f32[]) -> (f32[]) {
               %1: f32[] = exp %0
               return %1
             }] %0
             %2: f32[] = neg %1
             return %2",
            expect![[r#"
                %1: ~f32[] = exp %0
                %2: ~f32[] = neg %1
                return %2
            "#]],
        );
    }
}
