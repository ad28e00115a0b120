//! The adjoint of a linear graph.
//!
//! For a linear `T`, the adjoint is the `Tᵀ` with `⟨T u, v⟩ = ⟨u, Tᵀ v⟩` for all `u` and `v`. Equations that do
//! not depend on a linear input are coefficients and are evaluated forwards; the others are walked backwards.
//! The cotangent of a variable is the sum over its uses of what each use's rule passes back; where there is no
//! use there is no cotangent, and no zero is made in its place.

use tracewell_graph::{Atom, Cx, Equation, Graph, GraphBuilder, Operand, RuleError};

use crate::GraphWalks;
use crate::accumulate::accumulate;
use crate::demands::{check_count, check_type};
use crate::env::Env;
use crate::prune::prune;

/// The adjoint of `graph` in its `linear` inputs: from the other inputs, then the cotangents of the results for
/// which `given` holds, to the cotangents of linear inputs; says which of these are nonzero.
pub fn transpose(graph: &Graph, linear: &[bool], given: &[bool]) -> Result<(Graph, Vec<bool>), RuleError> {
    assert_eq!(graph.inputs.len(), linear.len(), "one flag for each input");
    assert_eq!(graph.outputs.len(), given.len(), "one flag for each output");
    let mut builder = GraphBuilder::new();
    let mut known: Env<Atom> = Env::new(graph);
    for (&var, _) in graph.inputs.iter().zip(linear).filter(|(_, linear)| !**linear) {
        let input = builder.input(graph.ty(var).clone());
        known.define(var, input.into());
    }
    let seeds: Vec<(&Atom, Atom)> = (graph.outputs.iter().zip(given))
        .filter(|(_, given)| **given)
        .map(|(output, _)| (output, builder.input(graph.atom_type(output)).into()))
        .collect();

    let linear_part = evaluate_known(&mut builder, graph, &mut known)?;

    // An output may be a known value or a literal: linear in nothing, it passes nothing back.
    let mut cotangents: Env<Atom> = Env::new(graph);
    builder.at(None);
    for (output, seed) in seeds {
        if let Atom::Var(var) = output
            && known.find(*var).is_none()
        {
            accumulate(&mut builder, cotangents.slot(*var), seed)?;
        }
    }
    for equation in linear_part.into_iter().rev() {
        builder.at(equation.location.clone());
        pull_back(&mut builder, graph, equation, &known, &mut cotangents)?;
    }

    let results: Vec<Option<Atom>> = (graph.inputs.iter().zip(linear))
        .filter(|(_, linear)| **linear)
        .map(|(&var, _)| cotangents.find(var).cloned())
        .collect();
    let nonzero = results.iter().map(Option::is_some).collect();
    let whole = builder.finish(format!("{}_transpose", graph.name), results.into_iter().flatten().collect());
    Ok((prune(&whole), nonzero))
}

/// What stands for an operand that depends on no linear input.
fn known_atom(known: &Env<Atom>, atom: &Atom) -> Option<Atom> {
    match atom {
        Atom::Var(var) => known.find(*var).cloned(),
        Atom::Splat(_) => Some(atom.clone()),
    }
}

/// Copies the equations that depend on no linear input; returns the others in order.
fn evaluate_known<'g>(
    builder: &mut GraphBuilder,
    graph: &'g Graph,
    known: &mut Env<Atom>,
) -> Result<Vec<&'g Equation>, RuleError> {
    let mut linear_part = Vec::new();
    for equation in &graph.equations {
        let operands: Option<Vec<Atom>> =
            equation.inputs.iter().map(|atom| known_atom(known, atom)).collect();
        let Some(operands) = operands else {
            linear_part.push(equation);
            continue;
        };
        builder.at(equation.location.clone());
        let results = builder.bind(equation.prim.clone(), &operands)?;
        for (&var, result) in equation.outputs.iter().zip(results) {
            known.define(var, result);
        }
    }
    Ok(linear_part)
}

/// Adds to the cotangents of an equation's operands what its rule makes of those of its results.
fn pull_back(
    builder: &mut GraphBuilder,
    graph: &Graph,
    equation: &Equation,
    known: &Env<Atom>,
    cotangents: &mut Env<Atom>,
) -> Result<(), RuleError> {
    // All uses of the results come later in the graph, so their sums are complete.
    let given: Vec<Option<Atom>> = equation.outputs.iter().map(|&var| cotangents.slot(var).take()).collect();
    if given.iter().all(Option::is_none) {
        return Ok(());
    }
    let operands: Vec<Operand> = (equation.inputs.iter())
        .map(|atom| match known_atom(known, atom) {
            Some(value) => Operand::Known(value),
            None => Operand::Linear(graph.atom_type(atom)),
        })
        .collect();
    let prim = &equation.prim;
    let mut cx = Cx::new(builder, &GraphWalks, false);
    let results = prim.rules().transpose(&mut cx, &operands, &given)?;
    check_count(prim, "transpose", results.len(), operands.len())?;
    for ((atom, operand), result) in equation.inputs.iter().zip(&operands).zip(results) {
        let (Atom::Var(var), Operand::Linear(ty), Some(term)) = (atom, operand, result) else { continue };
        check_type(prim, "transpose", &builder.ty(&term), ty)?;
        accumulate(builder, cotangents.slot(*var), term)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{read, write};
    use expect_test::expect;

    #[test]
    fn coefficients_forwards_and_the_rest_backwards() {
        let graph = read(
            "func @f(%0: f32[2,3], %1: f32[3], %2: f32[3]) -> (f32[2], f32[3]) {
               %3: f32[2,3] = sin %0
               %4: f32[3] = add %1, %1
               %5: f32[3] = sub %4, %2
               %6: f32[2] = dot_general[a_contract=[1], b_contract=[0], a_batch=[], b_batch=[]] %3, %5
               %7: f32[3] = neg %1
               return %6, %7
             }",
        );
        let (adjoint, nonzero) = transpose(&graph, &[false, true, true], &[true, true]).unwrap();
        assert_eq!(nonzero, [true, true]);
        expect![[r#"
            func @f_transpose(%0: f32[2,3], %1: f32[2], %2: f32[3]) -> (f32[3], f32[3]) {
              %3: f32[2,3] = sin %0
              %4: f32[3] = neg %2
              %5: f32[3] = dot_general[a_contract=[0], b_contract=[0], a_batch=[], b_batch=[]] %1, %3
              %6: f32[3] = neg %5
              %7: f32[3] = add %4, %5
              %8: f32[3] = add %7, %5
              return %8, %6
            }
        "#]]
        .assert_eq(&write(&adjoint));
        // Of the second result alone: nothing is left of the product, and nothing of `%2`.
        let (adjoint, nonzero) = transpose(&graph, &[false, true, true], &[false, true]).unwrap();
        assert_eq!(nonzero, [true, false]);
        expect![[r#"
            func @f_transpose(%0: f32[2,3], %1: f32[3]) -> (f32[3]) {
              %2: f32[3] = neg %1
              return %2
            }
        "#]]
        .assert_eq(&write(&adjoint));
    }

    #[test]
    fn outputs_that_are_inputs_literals_or_twice_the_same() {
        let graph = read(
            "func @f(%0: f32[], %1: f32[], %2: f32[]) -> (f32[], f32[], f32[], f32[], f32[], f32[]) {
               %3: f32[] = neg %1
               return %1, %3, %3, 0.0:f32[], %0, %1
             }",
        );
        let (adjoint, nonzero) = transpose(&graph, &[false, true, true], &[true; 6]).unwrap();
        assert_eq!(nonzero, [true, false]);
        expect![[r#"
            func @f_transpose(%0: f32[], %1: f32[], %2: f32[], %3: f32[], %4: f32[], %5: f32[], %6: f32[]) -> (f32[]) {
              %7: f32[] = add %2, %3
              %8: f32[] = add %1, %6
              %9: f32[] = neg %7
              %10: f32[] = add %8, %9
              return %10
            }
        "#]].assert_eq(&write(&adjoint));
    }

    #[test]
    fn nothing_given() {
        let graph = read("func @f(%0: f32[]) -> (f32[]) {\n %1: f32[] = neg %0\n return %1\n}");
        let (adjoint, nonzero) = transpose(&graph, &[true], &[false]).unwrap();
        assert_eq!(nonzero, [false]);
        assert!(adjoint.inputs.is_empty() && adjoint.equations.is_empty());
    }

    #[test]
    fn what_is_not_linear_is_named() {
        let graph = read("func @f(%0: f32[]) -> (f32[]) {\n %1: f32[] = mul %0, %0\n return %1\n}");
        expect!["`mul` is not linear in the operand it was transposed for"]
            .assert_eq(&transpose(&graph, &[true], &[true]).unwrap_err().to_string());
    }

    #[test]
    fn nested_graphs() {
        let graph = read(
            "func @f(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[], %3: f32[] = call[graph=func @g(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
                 %2: f32[] = mul %1, %0
                 %3: f32[] = neg %1
                 return %2, %3
               }] %0, %1
               return %2, %2
             }",
        );
        let (adjoint, nonzero) = transpose(&graph, &[false, true], &[true, true]).unwrap();
        assert_eq!(nonzero, [true]);
        expect![[r#"
            func @f_transpose(%0: f32[], %1: f32[], %2: f32[]) -> (f32[]) {
              %3: f32[] = add %1, %2
              %4: f32[] = call[graph=func @g_transpose(%0: f32[], %1: f32[]) -> (f32[]) {
                %2: f32[] = mul %1, %0
                return %2
              }] %0, %3
              return %4
            }
        "#]]
        .assert_eq(&write(&adjoint));
    }
}
