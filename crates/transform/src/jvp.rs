//! A graph and its derivative along tangents, computed together.

use tracewell_graph::{Graph, RuleError};

use crate::prune::prune;
use crate::pushforward::pushforward;

/// The graph of `(x…, dx…) ↦ (f(x)…, f'(x)·dx…)`, with tangents `dx` for the `active` inputs only and results
/// only where the tangent is not known to be zero; says which results have one.
pub fn jvp(graph: &Graph, active: &[bool]) -> Result<(Graph, Vec<bool>), RuleError> {
    let forward = pushforward(graph, active, false)?;
    let has_tangent = forward.has_tangent();
    let outputs = forward.outputs.into_iter().chain(forward.tangents.into_iter().flatten()).collect();
    let whole = forward.builder.finish(format!("{}_jvp", graph.name), outputs);
    Ok((prune(&whole), has_tangent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{read, write};
    use expect_test::expect;
    use tracewell_graph::text::write_with_locations;

    #[test]
    fn values_and_tangents() {
        let graph = read(
            "func @f(%0: f32[3], %1: f32[3]) -> (f32[3], f32[], f32[3]) {
               %2: f32[3] = sin %0
               %3: f32[3] = mul %2, %1
               %4: f32[] = reduce_sum[axes=[0]] %3
               %5: f32[3] = exp %1
               %6: f32[3] = exp %5
               return %3, %4, %5
             }",
        );
        let (both, has) = jvp(&graph, &[true, true]).unwrap();
        assert_eq!(has, [true; 3]);
        expect![[r#"
            func @f_jvp(%0: f32[3], %1: f32[3], %2: f32[3], %3: f32[3]) -> (f32[3], f32[], f32[3], f32[3], f32[], f32[3]) {
              %4: f32[3] = sin %0
              %5: f32[3] = cos %0
              %6: f32[3] = mul %2, %5
              %7: f32[3] = mul %4, %1
              %8: f32[3] = mul %6, %1
              %9: f32[3] = mul %3, %4
              %10: f32[3] = add %8, %9
              %11: f32[] = reduce_sum[axes=[0]] %7
              %12: f32[] = reduce_sum[axes=[0]] %10
              %13: f32[3] = exp %1
              %14: f32[3] = mul %3, %13
              return %7, %11, %13, %10, %12, %14
            }
        "#]].assert_eq(&write(&both));
        // Along one input: what does not depend on it is copied, and has no tangent.
        let (one, has) = jvp(&graph, &[true, false]).unwrap();
        assert_eq!(has, [true, true, false]);
        expect![[r#"
            func @f_jvp(%0: f32[3], %1: f32[3], %2: f32[3]) -> (f32[3], f32[], f32[3], f32[3], f32[]) {
              %3: f32[3] = sin %0
              %4: f32[3] = cos %0
              %5: f32[3] = mul %2, %4
              %6: f32[3] = mul %3, %1
              %7: f32[3] = mul %5, %1
              %8: f32[] = reduce_sum[axes=[0]] %6
              %9: f32[] = reduce_sum[axes=[0]] %7
              %10: f32[3] = exp %1
              return %6, %8, %10, %7, %9
            }
        "#]]
        .assert_eq(&write(&one));
        let (none, has) = jvp(&graph, &[false, false]).unwrap();
        assert_eq!(has, [false; 3]);
        assert_eq!(none, crate::prune(&graph));
    }

    #[test]
    fn tangents_need_no_equations() {
        let graph = read(
            "func @f(%0: f32[], %1: f32[]) -> (f32[], f32[], f32[], f32[]) {
               %2: f32[] = floor %0
               return %0, %1, 2.0:f32[], %2
             }",
        );
        let (graph, has) = jvp(&graph, &[false, true]).unwrap();
        assert_eq!(has, [false, true, false, false]);
        expect![[r#"
            func @f_jvp(%0: f32[], %1: f32[], %2: f32[]) -> (f32[], f32[], f32[], f32[], f32[]) {
              %3: f32[] = floor %0
              return %0, %1, 2.0:f32[], %3, %2
            }
        "#]]
        .assert_eq(&write(&graph));
    }

    #[test]
    fn nested_graphs() {
        let graph = read(
            "func @f(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[], %3: f32[] = call[graph=func @g(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
                 %2: f32[] = mul %0, %1
                 %3: f32[] = sin %1
                 return %2, %3
               }] %0, %1
               return %2, %3
             }",
        );
        let (graph, has) = jvp(&graph, &[true, false]).unwrap();
        assert_eq!(has, [true, false]);
        expect![[r#"
            func @f_jvp(%0: f32[], %1: f32[], %2: f32[]) -> (f32[], f32[], f32[]) {
              %3: f32[], %4: f32[], %5: f32[] = call[graph=func @g_jvp(%0: f32[], %1: f32[], %2: f32[]) -> (f32[], f32[], f32[]) {
                %3: f32[] = mul %0, %1
                %4: f32[] = mul %2, %1
                %5: f32[] = sin %1
                return %3, %5, %4
              }] %0, %1, %2
              return %3, %4, %5
            }
        "#]].assert_eq(&write(&graph));
    }

    #[test]
    fn locations_stay_with_what_their_equation_became() {
        let graph = read(
            "func @f(%0: f32[]) -> (f32[]) {
               %1: f32[] = cos %0    at a.rs:1:2
               %2: f32[] = neg %1
               %3: f32[] = exp %2    at b.rs:3:4
               return %3
             }",
        );
        let (graph, _) = jvp(&graph, &[true]).unwrap();
        expect![[r#"
            func @f_jvp(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
              %2: f32[] = cos %0    at a.rs:1:2
              %3: f32[] = sin %0    at a.rs:1:2
              %4: f32[] = neg %3    at a.rs:1:2
              %5: f32[] = mul %1, %4    at a.rs:1:2
              %6: f32[] = neg %2
              %7: f32[] = neg %5
              %8: f32[] = exp %6    at b.rs:3:4
              %9: f32[] = mul %7, %8    at b.rs:3:4
              return %8, %9
            }
        "#]]
        .assert_eq(&write_with_locations(&graph));
    }

    #[test]
    fn only_floats_vary() {
        let graph = read("func @f(%0: f32[], %1: i32[2]) -> (i32[2]) {\n return %1\n}");
        expect![
            "cannot differentiate `f` by its input 1, which is i32[2]: only floats and complex numbers vary"
        ]
        .assert_eq(&jvp(&graph, &[true, true]).unwrap_err().to_string());
    }
}
