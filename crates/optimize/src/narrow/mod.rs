//! Arrays whose last axis is narrow, such as vectors of three under `vmap`: where they are put together from parts and
//! computed with, or made larger only to be reduced, they are taken apart into one array for each element of that axis,
//! and put together when they are wanted whole. Concatenations and paddings between elementwise equations disappear,
//! and what is left is one loop over the other axes.
//!
//! Every scalar is computed as before, from the same scalars.

mod columns;
mod role;

use tracewell_graph::{Atom, Equation, Graph, Var};
use tracewell_kernel::steps;

use self::columns::Work;
use self::role::{Limits, Role, role};

/// The widest axis that is narrow: one kernel stores so many results at once.
const NARROW: usize = 4;
/// The same for arrays that grow only to be reduced along it, of which nothing is stored.
const NARROW_IF_GROWN: usize = 16;
/// Most elementwise functions of such arrays: each is written out for every column.
const MOST_MAPS: usize = 8;
/// Elements of the other axes from which on it is worth it.
const MANY: usize = 64;
/// How many times larger than its operand a result is that is never to be in memory.
const GROWTH: usize = 8;

/// Takes arrays with a narrow last axis apart where that saves memory.
pub fn narrow(graph: &Graph) -> Graph {
    narrow_from(graph, MANY)
}

/// The same for arrays with at least so many elements beside the narrow axis: fewer are not worth it, but make small
/// tests.
pub fn narrow_from(graph: &Graph, many: usize) -> Graph {
    let graph = rewritten(graph, Limits { widest: NARROW, many }, apart);
    rewritten(&graph, Limits { widest: NARROW_IF_GROWN, many }, apart_if_grown)
}

/// The graph with some arrays taken apart.
fn rewritten(graph: &Graph, limits: Limits, choose: fn(&Graph, &[Option<Role>]) -> Vec<bool>) -> Graph {
    let roles: Vec<Option<Role>> =
        graph.equations.iter().map(|equation| role(graph, equation, limits)).collect();
    let apart = choose(graph, &roles);
    let is_any = apart.iter().any(|&apart| apart);
    if !is_any || !steps::take(|| format!("the narrow axes of @{}", graph.name)) {
        return graph.clone();
    }
    let mut work = Work::new(graph);
    for ((equation, role), apart) in graph.equations.iter().zip(&roles).zip(apart) {
        work.equation(equation, role.as_ref(), apart);
    }
    work.finish()
}

/// For each equation, whether its result is taken apart: what starts it, and what is made of that.
fn apart(graph: &Graph, roles: &[Option<Role>]) -> Vec<bool> {
    let joined = joined(graph, roles);
    let grown = grown(graph, roles, |operands| operands.contains(&true));
    // What would be larger than anything in memory must not be put together.
    let puts_together = is_read(graph, roles, &grown, |role, _| matches!(role, None | Some(Role::Join(_))));
    let both = joined.iter().zip(&grown).map(|(&joined, &grown)| joined || grown && !puts_together).collect();
    spread(graph, roles, both)
}

/// The same for arrays that grow and nothing else: all that reads them is made of nothing else, or reduces them.
fn apart_if_grown(graph: &Graph, roles: &[Option<Role>]) -> Vec<bool> {
    let grown = grown(graph, roles, |operands| !operands.contains(&false));
    let is_other = |role: Option<&Role>, out: Option<Var>| match role {
        Some(Role::Fold(_)) => false,
        Some(Role::Map) => !out.is_some_and(|out| grown[out.0 as usize]),
        _ => true,
    };
    let maps =
        graph.equations.iter().zip(roles).filter(|(equation, role)| {
            matches!(role, Some(Role::Map)) && grown[equation.outputs[0].0 as usize]
        });
    if maps.count() > MOST_MAPS || is_read(graph, roles, &grown, is_other) {
        return vec![false; graph.equations.len()];
    }
    spread(graph, roles, grown)
}

/// Whether one of these arrays is a result, or is read by an equation of such a role with such a result.
fn is_read(
    graph: &Graph,
    roles: &[Option<Role>],
    arrays: &[bool],
    is_such: impl Fn(Option<&Role>, Option<Var>) -> bool,
) -> bool {
    let is_one = |atom: &Atom| atom.var().is_some_and(|var| arrays[var.0 as usize]);
    let reads = |(equation, role): (&Equation, &Option<Role>)| {
        equation.inputs.iter().any(is_one) && is_such(role.as_ref(), equation.outputs.first().copied())
    };
    graph.outputs.iter().any(is_one) || graph.equations.iter().zip(roles).any(reads)
}

/// Arrays that are put together from parts for something elementwise.
fn joined(graph: &Graph, roles: &[Option<Role>]) -> Vec<bool> {
    let mut computed_with = vec![false; graph.types.len()];
    for (equation, role) in graph.equations.iter().zip(roles) {
        if let Some(Role::Map) = role {
            equation.inputs.iter().filter_map(Atom::var).for_each(|var| computed_with[var.0 as usize] = true);
        }
    }
    let mut joined = vec![false; graph.types.len()];
    for (equation, role) in graph.equations.iter().zip(roles) {
        if let Some(Role::Join(_)) = role {
            let out = equation.outputs[0].0 as usize;
            joined[out] = computed_with[out];
        }
    }
    joined
}

/// Arrays that are much larger than what they are made of, if a narrow axis of theirs is reduced. Of an elementwise
/// function of them it says which operands must be.
fn grown(graph: &Graph, roles: &[Option<Role>], by_operands: fn(&[bool]) -> bool) -> Vec<bool> {
    let mut grown = vec![false; graph.types.len()];
    let mut is_reduced = false;
    for (equation, role) in graph.equations.iter().zip(roles) {
        let len = |var: Var| graph.ty(var).shape.len();
        let mut operands = equation.inputs.iter().filter_map(Atom::var);
        let is_grown = match role {
            Some(Role::Repeat(_)) => {
                operands.all(|var| len(equation.outputs[0]) >= GROWTH.saturating_mul(len(var)))
            }
            Some(Role::Map) => {
                let known: Vec<bool> = operands.map(|var| grown[var.0 as usize]).collect();
                !known.is_empty() && by_operands(&known)
            }
            Some(Role::Fold(_)) => {
                is_reduced |= operands.any(|var| grown[var.0 as usize]);
                false
            }
            _ => false,
        };
        if is_grown {
            grown[equation.outputs[0].0 as usize] = true;
        }
    }
    if is_reduced { grown } else { vec![false; grown.len()] }
}

/// For each equation, whether its result is taken apart if these arrays are.
fn spread(graph: &Graph, roles: &[Option<Role>], mut is_apart: Vec<bool>) -> Vec<bool> {
    let each = |(equation, role): (&Equation, &Option<Role>)| {
        let [out] = equation.outputs.as_slice() else { return false };
        let reads = equation.inputs.iter().filter_map(Atom::var).any(|var| is_apart[var.0 as usize]);
        let starts = is_apart[out.0 as usize];
        let apart = match role {
            Some(
                Role::Map | Role::Look(_) | Role::Reshape | Role::Repeat(_) | Role::Reduce | Role::Join(_),
            ) => reads || starts,
            Some(Role::Drop | Role::Fold(_)) | None => false,
        };
        is_apart[out.0 as usize] = apart;
        apart
    };
    graph.equations.iter().zip(roles).map(each).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    #[test]
    fn parts_that_are_computed_with_stay_apart() {
        check(
            narrow,
            "(%0: f32[64,1], %1: f32[64,2], %2: f32[64,3]) -> (f32[64,3])",
            "%3: f32[64,3] = concatenate[axis=1] %0, %1
            %4: f32[64,3] = mul %3, %2
            %5: f32[64,3] = sin %4
            return %5",
            expect![[r#"
                %3: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %4: f32[64] = reshape[shape=[64]] %3
                %5: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %6: f32[64] = reshape[shape=[64]] %5
                %7: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %1
                %8: f32[64] = reshape[shape=[64]] %7
                %9: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %2
                %10: f32[64] = reshape[shape=[64]] %9
                %11: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %2
                %12: f32[64] = reshape[shape=[64]] %11
                %13: f32[64,1] = slice[start=[0,2], limit=[64,3], step=[1,1]] %2
                %14: f32[64] = reshape[shape=[64]] %13
                %15: f32[64] = mul %4, %10
                %16: f32[64] = mul %6, %12
                %17: f32[64] = mul %8, %14
                %18: f32[64] = sin %15
                %19: f32[64] = sin %16
                %20: f32[64] = sin %17
                %21: f32[64,1] = reshape[shape=[64,1]] %18
                %22: f32[64,1] = reshape[shape=[64,1]] %19
                %23: f32[64,1] = reshape[shape=[64,1]] %20
                %24: f32[64,3] = concatenate[axis=1] %21, %22, %23
                return %24
            "#]],
        );
    }

    #[test]
    fn padding_is_a_column() {
        check(
            narrow,
            "(%0: f32[8,8,1], %1: f32[8,8,2]) -> (f32[8,8,2])",
            "%2: f32[8,8,2] = pad[low=[0,0,1], high=[0,0,0], interior=[0,0,0]] %0, 0.0:f32[]
            %3: f32[8,8,2] = add %2, %1
            return %3",
            expect![[r#"
                %2: f32[8,8,1] = slice[start=[0,0,0], limit=[8,8,1], step=[1,1,1]] %0
                %3: f32[8,8] = reshape[shape=[8,8]] %2
                %4: f32[8,8,1] = slice[start=[0,0,0], limit=[8,8,1], step=[1,1,1]] %1
                %5: f32[8,8] = reshape[shape=[8,8]] %4
                %6: f32[8,8,1] = slice[start=[0,0,1], limit=[8,8,2], step=[1,1,1]] %1
                %7: f32[8,8] = reshape[shape=[8,8]] %6
                %8: f32[8,8] = add 0.0:f32[8,8], %5
                %9: f32[8,8] = add %3, %7
                %10: f32[8,8,1] = reshape[shape=[8,8,1]] %8
                %11: f32[8,8,1] = reshape[shape=[8,8,1]] %9
                %12: f32[8,8,2] = concatenate[axis=2] %10, %11
                return %12
            "#]],
        );
    }

    #[test]
    fn what_is_put_between_columns_is_one() {
        check(
            narrow,
            "(%0: f32[64,2], %1: f32[64,3]) -> (f32[64,3])",
            "%2: f32[64,3] = pad[low=[0,0], high=[0,0], interior=[0,1]] %0, 5.0:f32[]
            %3: f32[64,3] = add %2, %1
            return %3",
            expect![[r#"
                %2: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %3: f32[64] = reshape[shape=[64]] %2
                %4: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %0
                %5: f32[64] = reshape[shape=[64]] %4
                %6: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %7: f32[64] = reshape[shape=[64]] %6
                %8: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %1
                %9: f32[64] = reshape[shape=[64]] %8
                %10: f32[64,1] = slice[start=[0,2], limit=[64,3], step=[1,1]] %1
                %11: f32[64] = reshape[shape=[64]] %10
                %12: f32[64] = add %3, %7
                %13: f32[64] = add 5.0:f32[64], %9
                %14: f32[64] = add %5, %11
                %15: f32[64,1] = reshape[shape=[64,1]] %12
                %16: f32[64,1] = reshape[shape=[64,1]] %13
                %17: f32[64,1] = reshape[shape=[64,1]] %14
                %18: f32[64,3] = concatenate[axis=1] %15, %16, %17
                return %18
            "#]],
        );
    }

    /// Of a weak and a strong type the whole is strong, and so is each of its columns.
    #[test]
    fn weak_columns_become_strong() {
        check(
            narrow,
            "(%0: ~f64[64,1], %1: f64[64,1]) -> (f64[64,2])",
            "%2: f64[64,2] = concatenate[axis=1] %0, %1
            %3: f64[64,2] = div %2, %2
            return %3",
            expect![[r#"
                %2: ~f64[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %3: ~f64[64] = reshape[shape=[64]] %2
                %4: f64[64] = convert[dtype=f64, weak=false] %3
                %5: f64[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %6: f64[64] = reshape[shape=[64]] %5
                %7: f64[64] = div %4, %4
                %8: f64[64] = div %6, %6
                %9: f64[64,1] = reshape[shape=[64,1]] %7
                %10: f64[64,1] = reshape[shape=[64,1]] %8
                %11: f64[64,2] = concatenate[axis=1] %9, %10
                return %11
            "#]],
        );
    }

    #[test]
    fn columns_are_found_again() {
        check(
            narrow,
            "(%0: f32[64,1], %1: f32[64,1]) -> (f32[64])",
            "%2: f32[64,2] = concatenate[axis=1] %0, %1
            %3: f32[64,2] = exp %2
            %4: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %3
            %5: f32[64] = reshape[shape=[64]] %4
            return %5",
            expect![[r#"
                %2: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %3: f32[64] = reshape[shape=[64]] %2
                %4: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %5: f32[64] = reshape[shape=[64]] %4
                %6: f32[64] = exp %3
                %7: f32[64] = exp %5
                return %7
            "#]],
        );
    }

    #[test]
    fn a_sum_along_the_axis_is_a_sum_of_columns() {
        check(
            narrow,
            "(%0: f32[64,1], %1: f32[64,1]) -> (f32[64])",
            "%2: f32[64,2] = concatenate[axis=1] %0, %1
            %3: f32[64,2] = exp %2
            %4: f32[64] = reduce_sum[axes=[1]] %3
            return %4",
            expect![[r#"
                %2: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %3: f32[64] = reshape[shape=[64]] %2
                %4: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %5: f32[64] = reshape[shape=[64]] %4
                %6: f32[64] = exp %3
                %7: f32[64] = exp %5
                %8: f32[64] = add %6, %7
                %9: f32[64] = add %8, 0.0:f32[64]
                return %9
            "#]],
        );
    }

    #[test]
    fn what_is_wide_or_short_or_only_put_together_stays() {
        check(
            narrow,
            "(%0: f32[64,3], %1: f32[63,1], %2: f32[64,1]) -> (f32[64,6], f32[63,2], f32[64,2])",
            "%3: f32[64,6] = concatenate[axis=1] %0, %0
            %4: f32[64,6] = sin %3
            %5: f32[63,2] = concatenate[axis=1] %1, %1
            %6: f32[63,2] = sin %5
            %7: f32[64,2] = concatenate[axis=1] %2, %2
            return %4, %6, %7",
            expect![[r#"
                %3: f32[64,6] = concatenate[axis=1] %0, %0
                %4: f32[64,6] = sin %3
                %5: f32[63,2] = concatenate[axis=1] %1, %1
                %6: f32[63,2] = sin %5
                %7: f32[64,2] = concatenate[axis=1] %2, %2
                return %4, %6, %7
            "#]],
        );
    }

    #[test]
    fn what_reads_the_axis_otherwise_gets_the_whole() {
        check(
            narrow,
            "(%0: f32[64,1], %1: f32[64,1]) -> (f32[64,2])",
            "%2: f32[64,2] = concatenate[axis=1] %0, %1
            %3: f32[64,2] = exp %2
            %4: f32[64,2] = cumsum[axis=1, reverse=false] %3
            return %4",
            expect![[r#"
                %2: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %3: f32[64] = reshape[shape=[64]] %2
                %4: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %1
                %5: f32[64] = reshape[shape=[64]] %4
                %6: f32[64] = exp %3
                %7: f32[64] = exp %5
                %8: f32[64,1] = reshape[shape=[64,1]] %6
                %9: f32[64,1] = reshape[shape=[64,1]] %7
                %10: f32[64,2] = concatenate[axis=1] %8, %9
                %11: f32[64,2] = cumsum[axis=1, reverse=false] %10
                return %11
            "#]],
        );
    }

    /// Every point with every other: what is as large as all pairs of them is there column by column.
    #[test]
    fn what_grows_and_is_reduced_is_taken_apart() {
        check(
            narrow,
            "(%0: f32[64,2], %1: f32[64,1,2]) -> (f32[64,2])",
            "%2: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[1,2]] %0
            %3: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[0,1,2]] %1
            %4: f32[64,64,2] = sub %2, %3
            %5: f32[64,64] = reduce_sum[axes=[2]] %4
            %6: f32[64,64,1] = reshape[shape=[64,64,1]] %5
            %7: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[0,1,2]] %6
            %8: f32[64,64,2] = mul %4, %7
            %9: f32[64,2] = reduce_max[axes=[1]] %8
            return %9",
            expect![[r#"
                %2: f32[64,1] = slice[start=[0,0], limit=[64,1], step=[1,1]] %0
                %3: f32[64] = reshape[shape=[64]] %2
                %4: f32[64,1] = slice[start=[0,1], limit=[64,2], step=[1,1]] %0
                %5: f32[64] = reshape[shape=[64]] %4
                %6: f32[64,64] = broadcast[shape=[64,64], axes=[1]] %3
                %7: f32[64,64] = broadcast[shape=[64,64], axes=[1]] %5
                %8: f32[64,1,1] = slice[start=[0,0,0], limit=[64,1,1], step=[1,1,1]] %1
                %9: f32[64,1] = reshape[shape=[64,1]] %8
                %10: f32[64,1,1] = slice[start=[0,0,1], limit=[64,1,2], step=[1,1,1]] %1
                %11: f32[64,1] = reshape[shape=[64,1]] %10
                %12: f32[64] = reshape[shape=[64]] %9
                %13: f32[64,64] = broadcast[shape=[64,64], axes=[0]] %12
                %14: f32[64] = reshape[shape=[64]] %11
                %15: f32[64,64] = broadcast[shape=[64,64], axes=[0]] %14
                %16: f32[64,64] = sub %6, %13
                %17: f32[64,64] = sub %7, %15
                %18: f32[64,64] = add %16, %17
                %19: f32[64,64] = add %18, 0.0:f32[64,64]
                %20: f32[64,64,1] = reshape[shape=[64,64,1]] %19
                %21: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[0,1,2]] %20
                %22: f32[64,64] = mul %16, %19
                %23: f32[64,64] = mul %17, %19
                %24: f32[64] = reduce_max[axes=[1]] %22
                %25: f32[64] = reduce_max[axes=[1]] %23
                %26: f32[64,1] = reshape[shape=[64,1]] %24
                %27: f32[64,1] = reshape[shape=[64,1]] %25
                %28: f32[64,2] = concatenate[axis=1] %26, %27
                return %28
            "#]],
        );
    }

    /// Sums down columns are made in another order.
    #[test]
    fn what_is_summed_along_another_axis_stays() {
        check(
            narrow,
            "(%0: f32[64,2]) -> (f32[64,64], f32[64,2])",
            "%1: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[1,2]] %0
            %2: f32[64,64,2] = sin %1
            %3: f32[64,64] = reduce_sum[axes=[2]] %2
            %4: f32[64,2] = reduce_sum[axes=[0]] %2
            return %3, %4",
            expect![[r#"
                %1: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[1,2]] %0
                %2: f32[64,64,2] = sin %1
                %3: f32[64,64] = reduce_sum[axes=[2]] %2
                %4: f32[64,2] = reduce_sum[axes=[0]] %2
                return %3, %4
            "#]],
        );
    }

    #[test]
    fn wide_rows_that_only_grow_are_copied_as_columns() {
        check(
            narrow,
            "(%0: f32[64,5], %1: f32[64,1,5]) -> (f32[64,64])",
            "%2: f32[64,64,5] = broadcast[shape=[64,64,5], axes=[1,2]] %0
            %3: f32[64,64,5] = broadcast[shape=[64,64,5], axes=[0,1,2]] %1
            %4: f32[64,64,5] = sub %2, %3
            %5: f32[64,64] = reduce_sum[axes=[2]] %4
            return %5",
            expect![[r#"
                %2: f32[5,64] = permute[axes=[1,0]] %0
                %3: f32[1,64] = slice[start=[0,0], limit=[1,64], step=[1,1]] %2
                %4: f32[64] = reshape[shape=[64]] %3
                %5: f32[1,64] = slice[start=[1,0], limit=[2,64], step=[1,1]] %2
                %6: f32[64] = reshape[shape=[64]] %5
                %7: f32[1,64] = slice[start=[2,0], limit=[3,64], step=[1,1]] %2
                %8: f32[64] = reshape[shape=[64]] %7
                %9: f32[1,64] = slice[start=[3,0], limit=[4,64], step=[1,1]] %2
                %10: f32[64] = reshape[shape=[64]] %9
                %11: f32[1,64] = slice[start=[4,0], limit=[5,64], step=[1,1]] %2
                %12: f32[64] = reshape[shape=[64]] %11
                %13: f32[64,64] = broadcast[shape=[64,64], axes=[1]] %4
                %14: f32[64,64] = broadcast[shape=[64,64], axes=[1]] %6
                %15: f32[64,64] = broadcast[shape=[64,64], axes=[1]] %8
                %16: f32[64,64] = broadcast[shape=[64,64], axes=[1]] %10
                %17: f32[64,64] = broadcast[shape=[64,64], axes=[1]] %12
                %18: f32[5,64,1] = permute[axes=[2,0,1]] %1
                %19: f32[1,64,1] = slice[start=[0,0,0], limit=[1,64,1], step=[1,1,1]] %18
                %20: f32[64,1] = reshape[shape=[64,1]] %19
                %21: f32[1,64,1] = slice[start=[1,0,0], limit=[2,64,1], step=[1,1,1]] %18
                %22: f32[64,1] = reshape[shape=[64,1]] %21
                %23: f32[1,64,1] = slice[start=[2,0,0], limit=[3,64,1], step=[1,1,1]] %18
                %24: f32[64,1] = reshape[shape=[64,1]] %23
                %25: f32[1,64,1] = slice[start=[3,0,0], limit=[4,64,1], step=[1,1,1]] %18
                %26: f32[64,1] = reshape[shape=[64,1]] %25
                %27: f32[1,64,1] = slice[start=[4,0,0], limit=[5,64,1], step=[1,1,1]] %18
                %28: f32[64,1] = reshape[shape=[64,1]] %27
                %29: f32[64] = reshape[shape=[64]] %20
                %30: f32[64,64] = broadcast[shape=[64,64], axes=[0]] %29
                %31: f32[64] = reshape[shape=[64]] %22
                %32: f32[64,64] = broadcast[shape=[64,64], axes=[0]] %31
                %33: f32[64] = reshape[shape=[64]] %24
                %34: f32[64,64] = broadcast[shape=[64,64], axes=[0]] %33
                %35: f32[64] = reshape[shape=[64]] %26
                %36: f32[64,64] = broadcast[shape=[64,64], axes=[0]] %35
                %37: f32[64] = reshape[shape=[64]] %28
                %38: f32[64,64] = broadcast[shape=[64,64], axes=[0]] %37
                %39: f32[64,64] = sub %13, %30
                %40: f32[64,64] = sub %14, %32
                %41: f32[64,64] = sub %15, %34
                %42: f32[64,64] = sub %16, %36
                %43: f32[64,64] = sub %17, %38
                %44: f32[64,64] = add %39, %43
                %45: f32[64,64] = add %44, %41
                %46: f32[64,64] = add %40, %42
                %47: f32[64,64] = add %45, %46
                %48: f32[64,64] = add %47, 0.0:f32[64,64]
                return %48
            "#]],
        );
    }

    #[test]
    fn wide_rows_with_others_stay() {
        check(
            narrow,
            "(%0: f32[5], %1: f32[64,5]) -> (f32[64])",
            "%2: f32[64,5] = broadcast[shape=[64,5], axes=[1]] %0
            %3: f32[64,5] = add %2, %1
            %4: f32[64] = reduce_sum[axes=[1]] %3
            return %4",
            expect![[r#"
                %2: f32[64,5] = broadcast[shape=[64,5], axes=[1]] %0
                %3: f32[64,5] = add %2, %1
                %4: f32[64] = reduce_sum[axes=[1]] %3
                return %4
            "#]],
        );
    }

    #[test]
    fn what_grows_and_is_wanted_whole_stays() {
        check(
            narrow,
            "(%0: f32[64,2], %1: f32[64,2]) -> (f32[64,64], f32[64,64,2])",
            "%2: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[1,2]] %0
            %3: f32[64,64,2] = sin %2
            %4: f32[64,64] = reduce_sum[axes=[2]] %3
            %5: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[0,2]] %1
            %6: f32[64,64,2] = add %3, %5
            return %4, %6",
            expect![[r#"
                %2: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[1,2]] %0
                %3: f32[64,64,2] = sin %2
                %4: f32[64,64] = reduce_sum[axes=[2]] %3
                %5: f32[64,64,2] = broadcast[shape=[64,64,2], axes=[0,2]] %1
                %6: f32[64,64,2] = add %3, %5
                return %4, %6
            "#]],
        );
    }
}
