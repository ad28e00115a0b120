//! Equations that compute the same become one: the same primitive, with the same parameters, on the same
//! operands. One walk with a table, in which operands are already those of the new graph. An effect that is asked for
//! twice happens twice.

use rustc_hash::FxHashMap;
use tracewell_graph::{Graph, Prim};

use crate::rebuild::{Operands, Results, keep, rebuild};

/// Merges equations that apply the same primitive to the same operands.
pub fn common_subexpressions(graph: &Graph) -> Graph {
    let mut known: FxHashMap<(Prim, Operands), Results> = FxHashMap::default();
    rebuild(graph, |builder, equation, operands| {
        if equation.prim.has_effect() {
            return keep(builder, graph, equation, &operands);
        }
        let key = (equation.prim.clone(), operands);
        if let Some(results) = known.get(&key) {
            return results.clone();
        }
        let results = keep(builder, graph, equation, &key.1);
        known.insert(key, results.clone());
        results
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    #[test]
    fn effects_happen_as_often_as_they_are_asked_for() {
        check(
            common_subexpressions,
            "(%0: i32[]) -> (i32[], i32[], i32[], i32[])",
            "%1: i32[] = callback[function=\"f\", ordered=false, results=(i32[])] %0
            %2: i32[] = callback[function=\"f\", ordered=false, results=(i32[])] %0
            %3: i32[] = callback[function=\"f\", ordered=true, results=(i32[])] %0
            %4: i32[] = callback[function=\"f\", ordered=true, results=(i32[])] %0
            return %1, %2, %3, %4",
            expect![[r#"
                %1: i32[] = callback[function="f", ordered=false, results=(i32[])] %0
                %2: i32[] = callback[function="f", ordered=true, results=(i32[])] %0
                %3: i32[] = callback[function="f", ordered=true, results=(i32[])] %0
                return %1, %1, %2, %3
            "#]],
        );
    }

    #[test]
    fn equal_equations_become_one() {
        check(
            common_subexpressions,
            "(%0: f32[3]) -> (f32[3], i32[3])",
            "%1: f32[3] = exp %0
            %2: f32[3] = exp %0
            %3: f32[3] = mul %1, 2.0:f32[3]
            %4: f32[3] = mul %2, 2.0:f32[3]
            %5: f32[3] = add %3, %4
            %6: i32[3] = convert[dtype=i32, weak=false] %1
            return %5, %6",
            expect![[r#"
                %1: f32[3] = exp %0
                %2: f32[3] = mul %1, 2.0:f32[3]
                %3: f32[3] = add %2, %2
                %4: i32[3] = convert[dtype=i32, weak=false] %1
                return %3, %4
            "#]],
        );
    }
}
