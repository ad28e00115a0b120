//! Control flow that decides nothing: a switch whose branch is known, a loop of no turns, a scan of one.

use tracewell_array::Shape;
use tracewell_graph::prim::{Reshape, Scan};
use tracewell_graph::{ArrayType, Atom, Graph, GraphBuilder, Prim};

use super::{apply, rebind};
use crate::rebuild::{Results, rebuild};

/// Replaces control flow that decides nothing by what it does.
pub fn disappear(graph: &Graph) -> Graph {
    rebuild(graph, |builder, equation, operands| {
        let types: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
        replaced(builder, &equation.prim, &operands, &types)
            .unwrap_or_else(|| rebind(builder, equation.prim.clone(), &operands))
    })
}

/// What stands for control flow that decides nothing.
fn replaced(
    builder: &mut GraphBuilder,
    prim: &Prim,
    operands: &[Atom],
    types: &[ArrayType],
) -> Option<Results> {
    let empty = |ty: &ArrayType| Atom::fill(ty, 0.0);
    match prim {
        Prim::Switch(switch) => {
            let (first, last) = (switch.branches.first()?, switch.branches.len() as i64 - 1);
            let all_equal = switch.branches.iter().all(|branch| branch == first);
            let number = match operands[0].literal() {
                Some(index) => index.as_i64().clamp(0, last) as usize,
                None if all_equal => 0,
                None => return None,
            };
            Some(apply(builder, &switch.branches[number], &operands[1..]))
        }
        Prim::Scan(scan) if scan.length == 0 => {
            let carried = &operands[scan.consts..scan.consts + scan.carries];
            Some(carried.iter().cloned().chain(types[scan.carries..].iter().map(empty)).collect())
        }
        Prim::Scan(scan) if scan.length == 1 => Some(one_turn(builder, scan, operands)),
        Prim::Each(each) if each.size == 0 => Some(types.iter().map(empty).collect()),
        _ => None,
    }
}

/// The body on the only element of each array.
fn one_turn(builder: &mut GraphBuilder, scan: &Scan, operands: &[Atom]) -> Results {
    let reshape = |builder: &mut GraphBuilder, atom: &Atom, change: fn(&Shape) -> Shape| {
        let shape = change(&builder.ty(atom).shape);
        rebind(builder, Reshape { shape }.into(), std::slice::from_ref(atom)).remove(0)
    };
    let (whole, xs) = operands.split_at(scan.consts + scan.carries);
    let mut inputs = whole.to_vec();
    for x in xs {
        inputs.push(reshape(builder, x, |shape| shape.remove(0)));
    }
    let mut results = apply(builder, &scan.body, &inputs);
    for y in &mut results[scan.carries..] {
        *y = reshape(builder, y, |shape| shape.insert(0, 1));
    }
    results
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    #[test]
    fn a_branch_that_is_known() {
        check(
            disappear,
            "(%0: i32[], %1: f32[3]) -> (f32[3], f32[3], f32[3])",
            "%2: f32[3] = switch[branches=[func @a(%0: f32[3]) -> (f32[3]) {
               %1: f32[3] = sin %0
               return %1
             }, func @b(%0: f32[3]) -> (f32[3]) {
               %1: f32[3] = cos %0
               return %1
             }]] 7:i32[], %1
             %3: f32[3] = switch[branches=[func @a(%0: f32[3]) -> (f32[3]) {
               %1: f32[3] = exp %0
               return %1
             }, func @b(%0: f32[3]) -> (f32[3]) {
               %1: f32[3] = exp %0
               return %1
             }]] %0, %1
             %4: f32[3] = switch[branches=[func @a(%0: f32[3]) -> (f32[3]) {
               return 1.0:f32[3]
             }]] %0, %1
             return %2, %3, %4",
            expect![[r#"
                %2: f32[3] = cos %1
                %3: f32[3] = exp %1
                return %2, %3, 1.0:f32[3]
            "#]],
        );
    }

    #[test]
    fn no_turn_and_one() {
        check(
            disappear,
            "(%0: f32[], %1: f32[0], %2: f32[1]) -> (f32[], f32[0], f32[], f32[1], f32[0])",
            "%3: f32[], %4: f32[0] = scan[body=func @b(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[] = add %0, %1
               return %2, %0
             }, consts=0, carries=1, length=0, reverse=false, unroll=1] %0, %1
             %5: f32[], %6: f32[1] = scan[body=func @b(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[] = add %0, %1
               return %2, %0
             }, consts=0, carries=1, length=1, reverse=true, unroll=1] %0, %2
             %7: f32[0] = each[graph=func @b(%0: f32[], %1: f32[]) -> (f32[]) {
               %2: f32[] = add %0, %1
               return %2
             }, size=0, axes=[-1,0], out_axes=[0]] %0, %1
             return %3, %4, %5, %6, %7",
            expect![[r#"
                %3: f32[] = reshape[shape=[]] %2
                %4: f32[] = add %0, %3
                %5: f32[1] = reshape[shape=[1]] %0
                return %0, 0.0:f32[0], %4, %5, 0.0:f32[0]
            "#]],
        );
    }
}
