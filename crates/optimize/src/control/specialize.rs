//! What is known of the operands of control flow, told to its graphs: an operand that is a literal becomes one inside, of
//! two equal operands one is read, and what is carried on as it is becomes a constant. Operands that are no longer read
//! stay until they are found dead.

use std::sync::Arc;

use tracewell_graph::prim::{Each, Scan, Switch, While};
use tracewell_graph::{ArrayType, Atom, Graph, GraphBuilder, Prim, Splat, Var};

use super::{chosen, rebind};
use crate::rebuild::{Results, rebuild};

/// Tells the graphs of control flow what is known of its operands.
pub fn specialize(graph: &Graph) -> Graph {
    rebuild(graph, |builder, equation, operands| {
        let told = told(&equation.prim, &operands);
        unchanged(builder, &told, &operands).unwrap_or_else(|| rebind(builder, told, &operands))
    })
}

/// The same control flow for these operands only.
fn told(prim: &Prim, operands: &[Atom]) -> Prim {
    match prim {
        Prim::Scan(scan) => {
            let (consts, rest) = operands.split_at(scan.consts);
            let (carried, xs) = rest.split_at(scan.carries);
            let mut known = of_consts(consts, carried);
            known.extend(xs.iter().map(|atom| Some((atom, 0))));
            Scan { body: informed(&scan.body, &known), ..scan.clone() }.into()
        }
        Prim::While(repeat) => {
            let (cond, rest) = operands.split_at(repeat.cond_consts);
            let (body, carried) = rest.split_at(repeat.body_consts);
            let cond = informed(&repeat.cond, &of_consts(cond, carried));
            let body = informed(&repeat.body, &of_consts(body, carried));
            While { cond, body, ..repeat.clone() }.into()
        }
        Prim::Switch(switch) => {
            let known: Vec<Known<'_>> = operands[1..].iter().map(|atom| Some((atom, -1))).collect();
            Switch { branches: switch.branches.iter().map(|branch| informed(branch, &known)).collect() }
                .into()
        }
        Prim::Each(each) => {
            let known: Vec<Known<'_>> =
                operands.iter().zip(&each.axes).map(|(atom, axis)| Some((atom, *axis))).collect();
            Each { graph: informed(&each.graph, &known), ..each.clone() }.into()
        }
        other => other.clone(),
    }
}

/// What an input of a graph is: an operand, or an element of it along an axis, which is -1 where it is all of it.
/// Nothing is known of what is carried.
type Known<'a> = Option<(&'a Atom, i64)>;

fn of_consts<'a>(consts: &'a [Atom], carried: &[Atom]) -> Vec<Known<'a>> {
    consts.iter().map(|atom| Some((atom, -1))).chain(carried.iter().map(|_| None)).collect()
}

/// The graph that reads literals and earlier inputs where its inputs are known to equal them.
fn informed(graph: &Arc<Graph>, known: &[Known<'_>]) -> Arc<Graph> {
    let types = graph.input_types();
    let same = |i: usize| -> Option<usize> {
        let own = known[i]?;
        (0..i).find(|&j| known[j] == Some(own) && types[j] == types[i])
    };
    let mut builder = GraphBuilder::new();
    let inputs: Vec<Atom> = types.iter().map(|ty| builder.input(ty.clone()).into()).collect();
    let told: Vec<Atom> = (0..inputs.len())
        .map(|i| match known[i] {
            Some((Atom::Splat(splat), _)) => {
                let ArrayType { shape, weak, .. } = types[i].clone();
                Atom::Splat(Splat { literal: splat.literal, shape, weak })
            }
            _ => inputs[same(i).unwrap_or(i)].clone(),
        })
        .collect();
    if told == inputs {
        return graph.clone();
    }
    let outputs = builder.inline(graph, &told);
    Arc::new(builder.finish(graph.name.as_str(), outputs))
}

/// Loops without what they carry on as it is, which is a constant; `None` if there is none.
fn unchanged(builder: &mut GraphBuilder, prim: &Prim, operands: &[Atom]) -> Option<Results> {
    // The body, how many constants it has, how many operands are carried, and where they begin.
    let (body, consts, carries, before) = match prim {
        Prim::Scan(scan) => (&scan.body, scan.consts, scan.carries, scan.consts),
        Prim::While(repeat) => {
            let consts = repeat.cond_consts + repeat.body_consts;
            (&repeat.body, repeat.body_consts, operands.len() - consts, consts)
        }
        _ => return None,
    };
    let same: Vec<bool> =
        (0..carries).map(|k| body.outputs[k] == Atom::Var(body.inputs[consts + k])).collect();
    if !same.contains(&true) {
        return None;
    }
    let moves: Vec<bool> = same.iter().map(|same| !same).collect();
    let carried = &operands[before..before + carries];
    let (fixed, moving) = (chosen(carried, &same), chosen(carried, &moves));
    // The inputs of a graph, with what stays among its constants.
    let regrouped = |graph: &Graph, consts: usize| -> Vec<Var> {
        let (consts, rest) = graph.inputs.split_at(consts);
        let (carried, rest) = rest.split_at(carries);
        [consts, &chosen(carried, &same), &chosen(carried, &moves), rest].concat()
    };
    let outputs = [chosen(&body.outputs[..carries], &moves), body.outputs[carries..].to_vec()].concat();
    let body = Arc::new(body.part(body.name.as_str(), &regrouped(body, consts), &outputs));
    let (prim, operands): (Prim, Vec<Atom>) = match prim {
        Prim::Scan(scan) => (
            Scan { body, consts: scan.consts + fixed.len(), carries: moving.len(), ..scan.clone() }.into(),
            [&operands[..before], &fixed, &moving, &operands[before + carries..]].concat(),
        ),
        Prim::While(repeat) => {
            let (of_cond, of_body) = operands[..before].split_at(repeat.cond_consts);
            let inputs = regrouped(&repeat.cond, repeat.cond_consts);
            let repeat = While {
                cond: Arc::new(repeat.cond.part(repeat.cond.name.as_str(), &inputs, &repeat.cond.outputs)),
                body,
                cond_consts: repeat.cond_consts + fixed.len(),
                body_consts: repeat.body_consts + fixed.len(),
            };
            (repeat.into(), [of_cond, &fixed, of_body, &fixed, &moving].concat())
        }
        _ => return None,
    };
    let mut found = rebind(builder, prim, &operands).into_iter();
    let (mut fixed, mut results) = (fixed.into_iter(), Results::new());
    for same in same {
        results.extend(if same { fixed.next() } else { found.next() });
    }
    results.extend(found);
    Some(results)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::dead_code;
    use crate::testing::check;

    /// What is no longer read is dropped later.
    fn then_dead_code(graph: &Graph) -> Graph {
        dead_code(&specialize(graph))
    }

    #[test]
    fn literals_and_equal_operands() {
        check(
            then_dead_code,
            "(%0: i32[], %1: f32[], %2: f32[4]) -> (f32[4], f32[], f32[3])",
            "%3: f32[4] = scan[body=func @b(%0: f32[], %1: f32[], %2: f32[], %3: f32[], %4: f32[], %5: f32[]) -> (f32[]) {
               %6: f32[] = add %0, %1
               %7: f32[] = add %2, %3
               %8: f32[] = add %4, %5
               %9: f32[] = add %6, %7
               %10: f32[] = add %8, %9
               return %10
             }, consts=3, carries=0, length=4, reverse=false, unroll=1] %1, %1, 2.0:f32[], %2, 3.0:f32[4], %2
             %4: f32[] = switch[branches=[func @a(%0: f32[], %1: f32[]) -> (f32[]) {
               return %1
             }, func @b(%0: f32[], %1: f32[]) -> (f32[]) {
               return %0
             }]] %0, %1, 1.0:f32[]
             %5: f32[3] = each[graph=func @e(%0: f32[], %1: f32[]) -> (f32[]) {
               %2: f32[] = add %0, %1
               return %2
             }, size=3, axes=[0,-1], out_axes=[0]] 5.0:f32[3], %1
             return %3, %4, %5",
            expect![[r#"
                %3: f32[4] = scan[body=func @b(%0: f32[], %1: f32[]) -> (f32[]) {
                %2: f32[] = add %0, %0
                %3: f32[] = add 2.0:f32[], %1
                %4: f32[] = add 3.0:f32[], %1
                %5: f32[] = add %2, %3
                %6: f32[] = add %4, %5
                return %6
                }, consts=1, carries=0, length=4, reverse=false, unroll=1] %1, %2
                %4: f32[] = switch[branches=[func @a(%0: f32[]) -> (f32[]) {
                return 1.0:f32[]
                }, func @b(%0: f32[]) -> (f32[]) {
                return %0
                }]] %0, %1
                %5: f32[3] = each[graph=func @e(%0: f32[]) -> (f32[]) {
                %1: f32[] = add 5.0:f32[], %0
                return %1
                }, size=3, axes=[-1], out_axes=[0]] %1
                return %3, %4, %5
            "#]],
        );
    }

    #[test]
    fn what_is_carried_on_as_it_is() {
        check(
            then_dead_code,
            "(%0: f32[], %1: f32[], %2: f32[4]) -> (f32[], f32[], f32[], f32[])",
            "%3: f32[], %4: f32[] = scan[body=func @b(%0: f32[], %1: f32[], %2: f32[]) -> (f32[], f32[]) {
               %3: f32[] = mul %0, %2
               %4: f32[] = add %1, %3
               return %0, %4
             }, consts=0, carries=2, length=4, reverse=false, unroll=1] %0, %1, %2
             %5: f32[], %6: f32[] = while[cond=func @c(%0: f32[], %1: f32[]) -> (bool[]) {
               %2: bool[] = compare[comparison=lt] %0, %1
               return %2
             }, body=func @b(%0: f32[], %1: f32[]) -> (f32[], f32[]) {
               %2: f32[] = add %0, %1
               return %2, %1
             }, cond_consts=0, body_consts=0] %0, %1
             return %3, %4, %5, %6",
            expect![[r#"
                %3: f32[] = scan[body=func @b(%0: f32[], %1: f32[], %2: f32[]) -> (f32[]) {
                %3: f32[] = mul %0, %2
                %4: f32[] = add %1, %3
                return %4
                }, consts=1, carries=1, length=4, reverse=false, unroll=1] %0, %1, %2
                %4: f32[] = while[cond=func @c(%0: f32[], %1: f32[]) -> (bool[]) {
                %2: bool[] = compare[comparison=lt] %1, %0
                return %2
                }, body=func @b(%0: f32[], %1: f32[]) -> (f32[]) {
                %2: f32[] = add %1, %0
                return %2
                }, cond_consts=1, body_consts=1] %1, %1, %0
                return %0, %3, %4, %1
            "#]],
        );
    }
}
