//! What a loop computes from its constants alone is computed before it, once.
//!
//! Not moved is what costs nothing inside: a broadcast, which would be read from memory instead, a count or a constant.
//! Not moved from a loop that may have no turn is a loop that may have no end. Effects happen in every turn.

use std::sync::Arc;

use tracewell_graph::prim::{Each, Scan, While};
use tracewell_graph::{ArrayType, Atom, Equation, Graph, GraphBuilder, Lowering, Prim, Var};

use super::{apply, rebind};
use crate::rebuild::{Results, rebuild};

/// Moves what does not depend on the turn before the loop.
pub fn invariant(graph: &Graph) -> Graph {
    rebuild(graph, |builder, equation, operands| {
        moved(builder, &equation.prim, &operands)
            .unwrap_or_else(|| rebind(builder, equation.prim.clone(), &operands))
    })
}

/// The loop after what it need not compute; `None` if that is nothing, or if it is no loop.
fn moved(builder: &mut GraphBuilder, prim: &Prim, operands: &[Atom]) -> Option<Results> {
    match prim {
        Prim::Scan(scan) => {
            let is_const: Vec<bool> = (0..operands.len()).map(|i| i < scan.consts).collect();
            let split = Split::new(&scan.body, &is_const, scan.length > 0)?;
            let before = split.before(builder, operands);
            let (consts, rest) = operands.split_at(scan.consts);
            let body = split.after(scan.consts);
            let consts_now = scan.consts + before.len();
            let scan = Scan { body, consts: consts_now, ..scan.clone() };
            Some(rebind(builder, scan.into(), &[consts, &before, rest].concat()))
        }
        Prim::While(repeat) => {
            let (of_cond, rest) = operands.split_at(repeat.cond_consts);
            let (of_body, carried) = rest.split_at(repeat.body_consts);
            let split = |graph: &Graph, consts: usize, runs: bool| {
                let is_const: Vec<bool> = (0..graph.inputs.len()).map(|i| i < consts).collect();
                Split::new(graph, &is_const, runs)
            };
            // The condition is asked at least once.
            let cond = split(&repeat.cond, repeat.cond_consts, true);
            let body = split(&repeat.body, repeat.body_consts, false);
            if cond.is_none() && body.is_none() {
                return None;
            }
            let mut place = |split: &Option<Split>, graph: &Arc<Graph>, consts: &[Atom]| match split {
                Some(split) => {
                    let before = split.before(builder, &[consts, carried].concat());
                    (split.after(consts.len()), [consts, &before].concat())
                }
                None => (graph.clone(), consts.to_vec()),
            };
            let (cond, of_cond) = place(&cond, &repeat.cond, of_cond);
            let (body, of_body) = place(&body, &repeat.body, of_body);
            let repeat = While { cond, body, cond_consts: of_cond.len(), body_consts: of_body.len() };
            Some(rebind(builder, repeat.into(), &[&of_cond, &of_body, carried].concat()))
        }
        Prim::Each(each) => {
            let is_const: Vec<bool> = each.axes.iter().map(|&axis| axis == -1).collect();
            let split = Split::new(&each.graph, &is_const, each.size > 0)?;
            let before = split.before(builder, operands);
            let axes = each.axes.iter().copied().chain(before.iter().map(|_| -1)).collect();
            let each = Each { graph: split.after(operands.len()), axes, ..each.clone() };
            Some(rebind(builder, each.into(), &[operands, &before].concat()))
        }
        _ => None,
    }
}

/// A graph in two: what is computed before the loop, and the rest.
struct Split {
    graph: Graph,
    /// Which inputs are constants.
    is_const: Vec<bool>,
    /// What the rest reads of what is computed before.
    passed: Vec<Var>,
}

impl Split {
    /// `None` if there is nothing to compute before. `runs`: whether the graph is run at least once.
    fn new(graph: &Graph, is_const: &[bool], runs: bool) -> Option<Split> {
        let mut varies = graph.depends_beyond(is_const);
        let mut moves = vec![false; graph.types.len()];
        for equation in &graph.equations {
            let reads_varying =
                equation.inputs.iter().filter_map(Atom::var).any(|var| varies[var.0 as usize]);
            if reads_varying || (!runs && may_be_endless(&equation.prim)) || equation.prim.has_effect() {
                equation.outputs.iter().for_each(|var| varies[var.0 as usize] = true);
            } else if is_worth_it(graph, equation) {
                equation.outputs.iter().for_each(|var| moves[var.0 as usize] = true);
            }
        }
        let mut passed: Vec<Var> = Vec::new();
        let mut read = |atom: &Atom| {
            if let Some(var) = atom.var().filter(|var| moves[var.0 as usize] && !passed.contains(var)) {
                passed.push(var);
            }
        };
        for equation in &graph.equations {
            if equation.outputs.is_empty() || equation.outputs.iter().any(|var| !moves[var.0 as usize]) {
                equation.inputs.iter().for_each(&mut read);
            }
        }
        graph.outputs.iter().for_each(&mut read);
        if passed.is_empty() {
            return None;
        }
        Some(Split { graph: graph.clone(), is_const: is_const.to_vec(), passed })
    }

    /// Computes what the rest reads, from the operands of the graph.
    fn before(&self, builder: &mut GraphBuilder, operands: &[Atom]) -> Vec<Atom> {
        let inputs = super::chosen(&self.graph.inputs, &self.is_const);
        let outputs: Vec<Atom> = self.passed.iter().map(|&var| var.into()).collect();
        let part = self.graph.pure_part(self.graph.name.as_str(), &inputs, &outputs);
        apply(builder, &part, &super::chosen(operands, &self.is_const)).into_vec()
    }

    /// The rest, which takes that at the place `at` among its inputs.
    fn after(&self, at: usize) -> Arc<Graph> {
        let (first, last) = self.graph.inputs.split_at(at);
        let inputs = [first, &self.passed, last].concat();
        Arc::new(self.graph.part(self.graph.name.as_str(), &inputs, &self.graph.outputs))
    }
}

/// Whether a result that is there costs less than to compute it where it is read.
fn is_worth_it(graph: &Graph, equation: &Equation) -> bool {
    let inputs: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
    let outputs: Vec<ArrayType> = equation.outputs.iter().map(|&var| graph.ty(var).clone()).collect();
    match equation.prim.rules().lower(&inputs, &outputs) {
        Ok(Lowering::View(_)) => {
            let of_literal = equation.inputs.iter().all(|atom| atom.var().is_none());
            !of_literal && outputs[0].shape.len() <= inputs[0].shape.len()
        }
        Ok(Lowering::Count { .. } | Lowering::Constant(_)) => false,
        _ => true,
    }
}

/// Whether it runs a graph as long as another says so.
fn may_be_endless(prim: &Prim) -> bool {
    let mut found = matches!(prim, Prim::While(_));
    prim.rules().each_param(&mut |_, value| {
        let inside = |graph: &Arc<Graph>| graph.equations.iter().any(|inner| may_be_endless(&inner.prim));
        found |= value.graphs().iter().any(inside);
    });
    found
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::testing::check;

    #[test]
    fn what_depends_on_constants_alone() {
        check(
            invariant,
            "(%0: f32[3], %1: f32[3], %2: f32[4,3]) -> (f32[3], f32[4,3])",
            "%3: f32[3], %4: f32[4,3] = scan[body=func @b(%0: f32[3], %1: f32[3], %2: f32[3]) -> (f32[3], f32[3]) {
               %3: f32[3] = exp %0
               %4: f32[3] = sin %3
               %5: f32[3] = mul %1, %4
               %6: f32[3] = add %5, %2
               return %6, %4
             }, consts=1, carries=1, length=4, reverse=false, unroll=1] %0, %1, %2
             return %3, %4",
            expect![[r#"
                %3: f32[3] = exp %0
                %4: f32[3] = sin %3
                %5: f32[3], %6: f32[4,3] = scan[body=func @b(%0: f32[3], %1: f32[3], %2: f32[3], %3: f32[3]) -> (f32[3], f32[3]) {
                %4: f32[3] = mul %2, %1
                %5: f32[3] = add %4, %3
                return %5, %1
                }, consts=2, carries=1, length=4, reverse=false, unroll=1] %0, %4, %1, %2
                return %5, %6
            "#]],
        );
    }

    #[test]
    fn what_costs_nothing_stays() {
        check(
            invariant,
            "(%0: f32[], %1: f32[3]) -> (f32[3])",
            "%2: f32[3] = scan[body=func @b(%0: f32[], %1: f32[3]) -> (f32[3]) {
               %2: f32[3] = broadcast[shape=[3], axes=[]] %0
               %3: f32[3] = mul %1, %2
               %4: f32[3] = iota[dtype=f32, shape=[3], axis=0]
               %5: f32[3] = add %3, %4
               return %5
             }, consts=1, carries=1, length=4, reverse=false, unroll=1] %0, %1
             return %2",
            expect![[r#"
                %2: f32[3] = scan[body=func @b(%0: f32[], %1: f32[3]) -> (f32[3]) {
                %2: f32[3] = broadcast[shape=[3], axes=[]] %0
                %3: f32[3] = mul %1, %2
                %4: f32[3] = iota[dtype=f32, shape=[3], axis=0]
                %5: f32[3] = add %3, %4
                return %5
                }, consts=1, carries=1, length=4, reverse=false, unroll=1] %0, %1
                return %2
            "#]],
        );
    }

    #[test]
    fn conditions_and_bodies_of_while() {
        check(
            invariant,
            "(%0: f32[], %1: f32[]) -> (f32[])",
            "%2: f32[] = while[cond=func @c(%0: f32[], %1: f32[]) -> (bool[]) {
               %2: f32[] = exp %0
               %3: bool[] = compare[comparison=lt] %1, %2
               return %3
             }, body=func @b(%0: f32[], %1: f32[]) -> (f32[]) {
               %2: f32[] = sin %0
               %3: f32[] = while[cond=func @c(%0: f32[]) -> (bool[]) {
                 %1: bool[] = compare[comparison=lt] %0, 1.0:f32[]
                 return %1
               }, body=func @b(%0: f32[]) -> (f32[]) {
                 return %0
               }, cond_consts=0, body_consts=0] %0
               %4: f32[] = add %2, %3
               %5: f32[] = add %4, %1
               return %5
             }, cond_consts=1, body_consts=1] %0, %0, %1
             return %2",
            expect![[r#"
                %2: f32[] = exp %0
                %3: f32[] = sin %0
                %4: f32[] = while[cond=func @c(%0: f32[], %1: f32[], %2: f32[]) -> (bool[]) {
                %3: bool[] = compare[comparison=lt] %2, %1
                return %3
                }, body=func @b(%0: f32[], %1: f32[], %2: f32[]) -> (f32[]) {
                %3: f32[] = while[cond=func @c(%0: f32[]) -> (bool[]) {
                %1: bool[] = compare[comparison=lt] %0, 1.0:f32[]
                return %1
                }, body=func @b(%0: f32[]) -> (f32[]) {
                return %0
                }, cond_consts=0, body_consts=0] %0
                %4: f32[] = add %1, %3
                %5: f32[] = add %4, %2
                return %5
                }, cond_consts=2, body_consts=2] %0, %2, %0, %3, %1
                return %4
            "#]],
        );
    }

    #[test]
    fn out_of_two_loops() {
        check(
            |graph| crate::nested::control_inside_out(graph.clone(), invariant),
            "(%0: f32[3], %1: f32[2,4]) -> (f32[2,4,3])",
            "%2: f32[2,4,3] = each[graph=func @e(%0: f32[3], %1: f32[4]) -> (f32[4,3]) {
               %2: f32[4,3] = scan[body=func @b(%0: f32[3], %1: f32[]) -> (f32[3]) {
                 %2: f32[3] = exp %0
                 %3: f32[3] = broadcast[shape=[3], axes=[]] %1
                 %4: f32[3] = add %2, %3
                 return %4
               }, consts=1, carries=0, length=4, reverse=false, unroll=1] %0, %1
               return %2
             }, size=2, axes=[-1,0], out_axes=[0]] %0, %1
             return %2",
            expect![[r#"
                %2: f32[3] = exp %0
                %3: f32[2,4,3] = each[graph=func @e(%0: f32[3], %1: f32[4], %2: f32[3]) -> (f32[4,3]) {
                %3: f32[4,3] = scan[body=func @b(%0: f32[3], %1: f32[3], %2: f32[]) -> (f32[3]) {
                %3: f32[3] = broadcast[shape=[3], axes=[]] %2
                %4: f32[3] = add %1, %3
                return %4
                }, consts=2, carries=0, length=4, reverse=false, unroll=1] %0, %2, %1
                return %3
                }, size=2, axes=[-1,0,-1], out_axes=[0]] %0, %1, %2
                return %3
            "#]],
        );
    }
}
