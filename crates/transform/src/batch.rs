//! A graph over one more axis.
//!
//! The batch axis is always the leading one, and a value either has it or is the same for the whole batch. An
//! equation none of whose operands has it is copied: it is computed once, not once for each element.

use tracewell_graph::{Atom, Batched, Cx, Graph, GraphBuilder, RuleError};

use crate::GraphWalks;
use crate::demands::{check_count, check_type};
use crate::env::Env;
use crate::prune::prune;

/// The graph over a leading axis of this size on the `batched` inputs; says which results have it.
pub fn batch(graph: &Graph, size: usize, batched: &[bool]) -> Result<(Graph, Vec<bool>), RuleError> {
    assert_eq!(graph.inputs.len(), batched.len(), "one flag for each input");
    let mut builder = GraphBuilder::new();
    let mut values: Env<Batched> = Env::new(graph);
    for (&var, &batched) in graph.inputs.iter().zip(batched) {
        let ty = graph.ty(var);
        let ty = if batched { ty.with_shape(ty.shape.insert(0, size)) } else { ty.clone() };
        let atom = builder.input(ty).into();
        values.define(var, Batched { atom, batched });
    }
    let value = |values: &Env<Batched>, atom: &Atom| match atom {
        Atom::Var(var) => values.get(*var).clone(),
        Atom::Splat(_) => Batched::no(atom.clone()),
    };

    for equation in &graph.equations {
        builder.at(equation.location.clone());
        let prim = &equation.prim;
        let operands: Vec<Batched> = equation.inputs.iter().map(|atom| value(&values, atom)).collect();
        if operands.iter().all(|operand| !operand.batched) {
            let operands: Vec<Atom> = operands.into_iter().map(|operand| operand.atom).collect();
            let results = builder.bind(prim.clone(), &operands)?;
            for (&var, result) in equation.outputs.iter().zip(results) {
                values.define(var, Batched::no(result));
            }
            continue;
        }
        let mut cx = Cx::new(&mut builder, &GraphWalks, false);
        let results = prim.rules().batch(&mut cx, size, &operands)?;
        check_count(prim, "batch", results.len(), equation.outputs.len())?;
        for (&var, result) in equation.outputs.iter().zip(results) {
            let ty = graph.ty(var);
            let expected = if result.batched { ty.with_shape(ty.shape.insert(0, size)) } else { ty.clone() };
            check_type(prim, "batch", &builder.ty(&result.atom), &expected)?;
            values.define(var, result);
        }
    }
    let results: Vec<Batched> = graph.outputs.iter().map(|atom| value(&values, atom)).collect();
    let has_axis = results.iter().map(|result| result.batched).collect();
    let outputs = results.into_iter().map(|result| result.atom).collect();
    let whole = builder.finish(format!("{}_batch", graph.name), outputs);
    Ok((prune(&whole), has_axis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{read, write};
    use expect_test::expect;

    #[test]
    fn what_is_the_same_for_the_whole_batch_is_computed_once() {
        let graph = read(
            "func @f(%0: f32[3], %1: f32[2,3]) -> (f32[2], f32[2,3], f32[3], f32[]) {
               %2: f32[2,3] = tanh %1
               %3: f32[2] = dot_general[a_contract=[1], b_contract=[0], a_batch=[], b_batch=[]] %2, %0
               %4: f32[3] = mul %0, 2.0:f32[3]
               %5: f32[3] = exp %4
               return %3, %2, %4, 1.0:f32[]
             }",
        );
        let (batched, has_axis) = batch(&graph, 5, &[true, false]).unwrap();
        assert_eq!(has_axis, [true, false, true, false]);
        expect![[r#"
            func @f_batch(%0: f32[5,3], %1: f32[2,3]) -> (f32[5,2], f32[2,3], f32[5,3], f32[]) {
              %2: f32[2,3] = tanh %1
              %3: f32[2,5] = dot_general[a_contract=[1], b_contract=[1], a_batch=[], b_batch=[]] %2, %0
              %4: f32[5,2] = permute[axes=[1,0]] %3
              %5: f32[5,3] = mul %0, 2.0:f32[5,3]
              return %4, %2, %5, 1.0:f32[]
            }
        "#]]
        .assert_eq(&write(&batched));
        let (copied, has_axis) = batch(&graph, 5, &[false, false]).unwrap();
        assert_eq!(has_axis, [false; 4]);
        assert_eq!(copied, crate::prune(&graph));
    }

    #[test]
    fn nested_graphs() {
        let graph = read(
            "func @f(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[], %3: f32[] = call[graph=func @g(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
                 %2: f32[] = add %1, %0
                 %3: f32[] = neg %1
                 return %2, %3
               }] %0, %1
               return %2, %3
             }",
        );
        let (batched, has_axis) = batch(&graph, 5, &[true, false]).unwrap();
        assert_eq!(has_axis, [true, false]);
        expect![[r#"
            func @f_batch(%0: f32[5], %1: f32[]) -> (f32[5], f32[]) {
              %2: f32[5], %3: f32[] = call[graph=func @g_batch(%0: f32[5], %1: f32[]) -> (f32[5], f32[]) {
                %2: f32[5] = broadcast[shape=[5], axes=[]] %1
                %3: f32[5] = add %2, %0
                %4: f32[] = neg %1
                return %3, %4
              }] %0, %1
              return %2, %3
            }
        "#]]
        .assert_eq(&write(&batched));
    }
}
