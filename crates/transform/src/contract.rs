//! Products that are not rounded before they are added.

use std::sync::Arc;

use tracewell_graph::prim::{Call, Checkpoint, LinearCall, MulAdd, Neg};
use tracewell_graph::{Atom, Equation, Graph, GraphBuilder, Prim, RuleError};

use crate::env::Env;
use crate::prune::prune;

/// The graph with every product of floats that one addition or subtraction alone reads computed with it, by `mul_add`:
/// rounded once instead of twice. So are the graphs that it calls and those of control flow; functions with derivative
/// rules of their own and primitives of users stay as they are.
pub fn contract(graph: &Graph) -> Result<Graph, RuleError> {
    // What nobody needs reads nothing.
    let graph = &prune(graph);
    let reads = graph.reads();
    let mut builder = GraphBuilder::new();
    let mut places: Env<Atom> = Env::new(graph);
    // Of each product that may go into a sum, its factors.
    let mut products: Vec<Option<[Atom; 2]>> = vec![None; graph.types.len()];
    for &var in &graph.inputs {
        let place = builder.input(graph.ty(var).clone());
        places.define(var, Atom::Var(place));
    }
    let look = |places: &Env<Atom>, atom: &Atom| match atom {
        Atom::Var(var) => places.get(*var).clone(),
        Atom::Splat(_) => atom.clone(),
    };
    for equation in &graph.equations {
        let operands: Vec<Atom> = equation.inputs.iter().map(|atom| look(&places, atom)).collect();
        builder.at(equation.location.clone());
        let factors = |atom: &Atom| products[atom.var()?.0 as usize].clone();
        let sum = sum_of(&mut builder, equation, &operands, factors)?;
        if let (Prim::Mul(_), [a, b], [var]) = (&equation.prim, &operands[..], &equation.outputs[..])
            && reads[var.0 as usize] == 1
            && graph.ty(*var).dtype.is_float()
        {
            products[var.0 as usize] = Some([a.clone(), b.clone()]);
        }
        if let (Some(sum), [var]) = (sum, &equation.outputs[..]) {
            places.define(*var, sum);
            continue;
        }
        let types = equation.outputs.iter().map(|&var| graph.ty(var).clone());
        let results = builder.push(inside(&equation.prim)?, &operands, types);
        for (&var, result) in equation.outputs.iter().zip(results) {
            places.define(var, result);
        }
    }
    let outputs = graph.outputs.iter().map(|atom| look(&places, atom)).collect();
    // Products that went into sums are read by nobody now.
    Ok(prune(&builder.finish(graph.name.clone(), outputs)))
}

/// The equation as a `mul_add`, if it adds or subtracts a product: of operands that it reads, given the factors.
fn sum_of(
    builder: &mut GraphBuilder,
    equation: &Equation,
    operands: &[Atom],
    factors: impl Fn(&Atom) -> Option<[Atom; 2]>,
) -> Result<Option<Atom>, RuleError> {
    let ([x, y], [left, right]) = (operands, &equation.inputs[..]) else { return Ok(None) };
    let ([a, b], rest) = match (&equation.prim, factors(left), factors(right)) {
        (Prim::Add(_), Some(factors), _) => (factors, y.clone()),
        (Prim::Add(_), None, Some(factors)) => (factors, x.clone()),
        (Prim::Sub(_), Some(factors), _) => (factors, builder.bind1(Neg {}, std::slice::from_ref(y))?),
        (Prim::Sub(_), None, Some([a, b])) => ([builder.bind1(Neg {}, &[a])?, b], x.clone()),
        _ => return Ok(None),
    };
    Ok(Some(builder.bind1(MulAdd {}, &[a, b, rest])?))
}

/// The primitive with what it runs contracted.
fn inside(prim: &Prim) -> Result<Prim, RuleError> {
    let mut failed = None;
    let of = |graph: &Graph| contract(graph).map(Arc::new);
    let made = match prim {
        Prim::Call(call) => Call { graph: of(&call.graph)? }.into(),
        Prim::Checkpoint(checkpoint) => {
            Checkpoint { graph: of(&checkpoint.graph)?, ..checkpoint.clone() }.into()
        }
        Prim::LinearCall(call) => {
            LinearCall { forward: of(&call.forward)?, adjoint: of(&call.adjoint)?, known: call.known }.into()
        }
        other => other.with_graphs(&mut |graph| {
            contract(graph).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                graph.clone()
            })
        }),
    };
    failed.map_or(Ok(made), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{read, write};
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        let contracted = contract(&read(text)).unwrap();
        tracewell_graph::verify(&contracted).unwrap();
        expected.assert_eq(&write(&contracted));
    }

    #[test]
    fn sums_and_differences_of_a_product() {
        check(
            "func @f(%0: f32[2], %1: f32[2], %2: f32[2]) -> (f32[2], f32[2], f32[2], f32[2]) {
               %3: f32[2] = mul %0, %1
               %4: f32[2] = add %3, %2
               %5: f32[2] = mul %0, 2.0:f32[2]
               %6: f32[2] = add %2, %5
               %7: f32[2] = mul %1, %2
               %8: f32[2] = sub %7, %0
               %9: f32[2] = mul %1, %4
               %10: f32[2] = sub %0, %9
               return %4, %6, %8, %10
             }",
            &expect![[r#"
                func @f(%0: f32[2], %1: f32[2], %2: f32[2]) -> (f32[2], f32[2], f32[2], f32[2]) {
                  %3: f32[2] = mul_add %0, %1, %2
                  %4: f32[2] = mul_add %0, 2.0:f32[2], %2
                  %5: f32[2] = neg %0
                  %6: f32[2] = mul_add %1, %2, %5
                  %7: f32[2] = neg %1
                  %8: f32[2] = mul_add %7, %3, %0
                  return %3, %4, %6, %8
                }
            "#]],
        );
    }

    /// A product that something reads which nobody needs is read by one sum alone.
    #[test]
    fn what_is_dead_reads_nothing() {
        check(
            "func @f(%0: f32[2]) -> (f32[2]) {
               %1: f32[2] = mul %0, %0
               %2: f32[2] = exp %1
               %3: f32[2] = add %1, %0
               return %3
             }",
            &expect![[r#"
                func @f(%0: f32[2]) -> (f32[2]) {
                  %1: f32[2] = mul_add %0, %0, %0
                  return %1
                }
            "#]],
        );
    }

    /// A sum of a product with itself, a product that is a result, one of complex numbers, and types that are weak.
    #[test]
    fn what_is_read_twice_and_what_is_no_float() {
        check(
            "func @f(%0: f32[2], %1: c64[2], %2: ~f32[]) -> (f32[2], f32[2], f32[2], c64[2], ~f32[]) {
               %3: f32[2] = mul %0, %0
               %4: f32[2] = add %3, %3
               %5: f32[2] = mul %0, 2.0:f32[2]
               %6: f32[2] = add %5, %0
               %7: c64[2] = mul %1, %1
               %8: c64[2] = add %7, %1
               %9: ~f32[] = mul %2, %2
               %10: ~f32[] = add %9, %2
               return %4, %5, %6, %8, %10
             }",
            &expect![[r#"
                func @f(%0: f32[2], %1: c64[2], %2: ~f32[]) -> (f32[2], f32[2], f32[2], c64[2], ~f32[]) {
                  %3: f32[2] = mul %0, %0
                  %4: f32[2] = add %3, %3
                  %5: f32[2] = mul %0, 2.0:f32[2]
                  %6: f32[2] = add %5, %0
                  %7: c64[2] = mul %1, %1
                  %8: c64[2] = add %7, %1
                  %9: ~f32[] = mul_add %2, %2, %2
                  return %4, %5, %6, %8, %9
                }
            "#]],
        );
    }

    /// Products that others read too, those of integers, and the second of two in one sum.
    #[test]
    fn what_stays_a_product() {
        check(
            "func @f(%0: f32[2], %1: f32[2], %2: i32[2]) -> (f32[2], f32[2], f32[2], i32[2]) {
               %3: f32[2] = mul %0, %1
               %4: f32[2] = add %3, %0
               %5: f32[2] = exp %3
               %6: f32[2] = mul %0, %0
               %7: f32[2] = mul %1, %1
               %8: f32[2] = add %6, %7
               %9: i32[2] = mul %2, %2
               %10: i32[2] = add %9, %2
               return %4, %5, %8, %10
             }",
            &expect![[r#"
                func @f(%0: f32[2], %1: f32[2], %2: i32[2]) -> (f32[2], f32[2], f32[2], i32[2]) {
                  %3: f32[2] = mul %0, %1
                  %4: f32[2] = add %3, %0
                  %5: f32[2] = exp %3
                  %6: f32[2] = mul %1, %1
                  %7: f32[2] = mul_add %0, %0, %6
                  %8: i32[2] = mul %2, %2
                  %9: i32[2] = add %8, %2
                  return %4, %5, %7, %9
                }
            "#]],
        );
    }

    #[test]
    fn inside_of_loops_and_calls() {
        check(
            "func @f(%0: f32[], %1: f32[4]) -> (f32[], f32[], f32[]) {
               %2: f32[] = call[graph=func @g(%0: f32[]) -> (f32[]) {
                 %1: f32[] = mul %0, %0
                 %2: f32[] = add %1, %0
                 return %2
               }] %0
               %3: f32[] = checkpoint[policy=\"nothing\", graph=func @h(%0: f32[]) -> (f32[]) {
                 %1: f32[] = mul %0, %0
                 %2: f32[] = sub %1, %0
                 return %2
               }] %2
               %4: f32[] = scan[body=func @b(%0: f32[], %1: f32[]) -> (f32[]) {
                 %2: f32[] = mul %0, 0.5:f32[]
                 %3: f32[] = add %1, %2
                 return %3
               }, consts=0, carries=1, length=4, reverse=false, unroll=1] %0, %1
               return %2, %3, %4
             }",
            &expect![[r#"
                func @f(%0: f32[], %1: f32[4]) -> (f32[], f32[], f32[]) {
                  %2: f32[] = call[graph=func @g(%0: f32[]) -> (f32[]) {
                    %1: f32[] = mul_add %0, %0, %0
                    return %1
                  }] %0
                  %3: f32[] = checkpoint[policy="nothing", graph=func @h(%0: f32[]) -> (f32[]) {
                    %1: f32[] = neg %0
                    %2: f32[] = mul_add %0, %0, %1
                    return %2
                  }] %2
                  %4: f32[] = scan[body=func @b(%0: f32[], %1: f32[]) -> (f32[]) {
                    %2: f32[] = mul_add %0, 0.5:f32[], %1
                    return %2
                  }, consts=0, carries=1, length=4, reverse=false, unroll=1] %0, %1
                  return %2, %3, %4
                }
            "#]],
        );
    }
}
