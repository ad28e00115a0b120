//! Equations that no result depends on disappear, unless they have effects. Inputs stay, used or not.

use tracewell_graph::{Equation, Graph, Var};

use crate::control::{chosen, needed, trim};
use crate::rebuild::{keep, rebuild_all};

/// Removes equations that neither an output nor an effect depends on, and what control flow does for none.
pub fn dead_code(graph: &Graph) -> Graph {
    let live = needed(graph, &vec![true; graph.outputs.len()]);
    let is_live = |var: &Var| live[var.0 as usize];
    let trimmed = |equation: &Equation| {
        let results: Vec<bool> = equation.outputs.iter().map(is_live).collect();
        let Some(trimmed) = trim(&equation.prim, &results) else { return equation.clone() };
        Equation {
            prim: trimmed.prim,
            inputs: chosen(&equation.inputs, &trimmed.operands).into(),
            outputs: chosen(&equation.outputs, &trimmed.results).into(),
            location: equation.location.clone(),
        }
    };
    let is_wanted = |equation: &&Equation| equation.outputs.iter().any(is_live) || equation.prim.has_effect();
    let wanted = graph.equations.iter().filter(is_wanted);
    // Variables that are no longer defined are still numbered, until it is rebuilt.
    let rest = Graph {
        name: graph.name.clone(),
        inputs: graph.inputs.clone(),
        equations: wanted.map(trimmed).collect(),
        outputs: graph.outputs.clone(),
        types: graph.types.clone(),
    };
    rebuild_all(&rest, |builder, equation, operands| keep(builder, &rest, equation, &operands))
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

    #[test]
    fn what_is_carried_for_nobody_goes() {
        check(
            dead_code,
            "(%0: f32[], %1: f32[], %2: f32[4], %3: f32[4]) -> (f32[4])",
            "%4: f32[], %5: f32[], %6: f32[], %7: f32[4], %8: f32[4] = scan[body=func @b(%0: f32[], %1: f32[], %2: f32[], %3: f32[], %4: f32[], %5: f32[], %6: f32[]) -> (f32[], f32[], f32[], f32[], f32[]) {
               %7: f32[] = add %2, %3
               %8: f32[] = add %4, %6
               %9: f32[] = mul %8, %1
               %10: f32[] = sin %3
               return %7, %10, %9, %3, %9
             }, consts=2, carries=3, length=4, reverse=false, unroll=1] %0, %1, %0, %1, %0, %2, %3
             return %7",
            expect![[r#"
                %4: f32[], %5: f32[4] = scan[body=func @b(%0: f32[]) -> (f32[], f32[]) {
                %1: f32[] = sin %0
                return %1, %0
                }, consts=0, carries=1, length=4, reverse=false, unroll=1] %1
                return %5
            "#]],
        );
    }

    #[test]
    fn a_condition_needs_what_it_reads() {
        check(
            dead_code,
            "(%0: i32[], %1: f32[]) -> (f32[])",
            "%2: i32[], %3: f32[], %4: f32[] = while[cond=func @c(%0: i32[], %1: i32[], %2: f32[], %3: f32[]) -> (bool[]) {
               %4: bool[] = compare[comparison=lt] %1, %0
               return %4
             }, body=func @b(%0: f32[], %1: i32[], %2: f32[], %3: f32[]) -> (i32[], f32[], f32[]) {
               %4: i32[] = add %1, 1:i32[]
               %5: f32[] = sin %2
               %6: f32[] = add %3, %0
               return %4, %5, %6
             }, cond_consts=1, body_consts=1] %0, %1, 0:i32[], %1, %1
             return %3",
            expect![[r#"
                %2: i32[], %3: f32[] = while[cond=func @c(%0: i32[], %1: i32[], %2: f32[]) -> (bool[]) {
                %3: bool[] = compare[comparison=lt] %1, %0
                return %3
                }, body=func @b(%0: i32[], %1: f32[]) -> (i32[], f32[]) {
                %2: i32[] = add %0, 1:i32[]
                %3: f32[] = sin %1
                return %2, %3
                }, cond_consts=1, body_consts=0] %0, 0:i32[], %1
                return %3
            "#]],
        );
    }

    #[test]
    fn results_and_operands_of_switch_and_each() {
        check(
            dead_code,
            "(%0: i32[], %1: f32[4], %2: f32[4]) -> (f32[4], f32[4])",
            "%3: f32[4], %4: f32[4] = switch[branches=[func @a(%0: f32[4], %1: f32[4]) -> (f32[4], f32[4]) {
               return %0, %1
             }, func @b(%0: f32[4], %1: f32[4]) -> (f32[4], f32[4]) {
               %2: f32[4] = sin %1
               return %2, 1.0:f32[4]
             }]] %0, %1, %2
             %5: f32[4], %6: f32[4] = each[graph=func @e(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[] = sin %0
               %3: f32[] = cos %1
               return %2, %3
             }, size=4, axes=[0,0], out_axes=[0,0]] %1, %2
             return %4, %6",
            expect![[r#"
                %3: f32[4] = switch[branches=[func @a(%0: f32[4]) -> (f32[4]) {
                return %0
                }, func @b(%0: f32[4]) -> (f32[4]) {
                return 1.0:f32[4]
                }]] %0, %2
                %4: f32[4] = each[graph=func @e(%0: f32[]) -> (f32[]) {
                %1: f32[] = cos %0
                return %1
                }, size=4, axes=[0], out_axes=[0]] %2
                return %3, %4
            "#]],
        );
    }

    #[test]
    fn what_only_a_dead_operand_needs_goes() {
        check(
            dead_code,
            "(%0: f32[], %1: f32[4]) -> (f32[])",
            "%2: f32[4] = exp %1
             %3: f32[], %4: f32[4] = scan[body=func @b(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[] = sin %0
               return %2, %1
             }, consts=0, carries=1, length=4, reverse=false, unroll=1] %0, %2
             return %3",
            expect![[r#"
                %2: f32[] = scan[body=func @b(%0: f32[]) -> (f32[]) {
                %1: f32[] = sin %0
                return %1
                }, consts=0, carries=1, length=4, reverse=false, unroll=1] %0
                return %2
            "#]],
        );
    }

    #[test]
    fn inside_what_is_nested() {
        check(
            dead_code,
            "(%0: f32[3], %1: f32[4]) -> (f32[])",
            "%2: f32[], %3: f32[4] = scan[body=func @outer(%0: f32[3], %1: f32[], %2: f32[]) -> (f32[], f32[]) {
               %3: f32[], %4: f32[3] = scan[body=func @inner(%0: f32[], %1: f32[], %2: f32[]) -> (f32[], f32[]) {
                 %3: f32[] = add %0, %1
                 %4: f32[] = sin %2
                 return %3, %4
               }, consts=1, carries=1, length=3, reverse=false, unroll=1] %2, %1, %0
               %5: f32[] = reduce_sum[axes=[0]] %4
               return %3, %5
             }, consts=1, carries=1, length=4, reverse=false, unroll=1] %0, 0.0:f32[], %1
             return %2",
            expect![[r#"
                %2: f32[] = scan[body=func @outer(%0: f32[], %1: f32[]) -> (f32[]) {
                %2: f32[] = scan[body=func @inner(%0: f32[], %1: f32[]) -> (f32[]) {
                %2: f32[] = add %0, %1
                return %2
                }, consts=1, carries=1, length=3, reverse=false, unroll=1] %1, %0
                return %2
                }, consts=0, carries=1, length=4, reverse=false, unroll=1] 0.0:f32[], %1
                return %2
            "#]],
        );
    }
}
