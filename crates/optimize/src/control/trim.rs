//! What nobody needs of control flow: results that are not read, what is carried for no result, operands that no graph
//! reads any more.

use std::sync::Arc;

use tracewell_graph::prim::{Each, Scan, Switch, While};
use tracewell_graph::{Graph, Prim};

use super::{chosen, count};
use crate::dead_code;

/// What is left of control flow.
pub(crate) struct Trimmed {
    /// Without the rest.
    pub(crate) prim: Prim,
    /// Which operands it has.
    pub(crate) operands: Vec<bool>,
    /// Which results it has: at least those wanted.
    pub(crate) results: Vec<bool>,
}

/// What is left of control flow of which these results are wanted; `None` if that is all of it, or if the primitive is
/// none.
pub(crate) fn trim(prim: &Prim, wanted: &[bool]) -> Option<Trimmed> {
    let (operands, results) = kept(prim, wanted)?;
    if !operands.contains(&false) && !results.contains(&false) {
        return None;
    }
    let prim = match prim {
        Prim::Scan(scan) => scan_of(scan, &operands, &results).into(),
        Prim::While(repeat) => while_of(repeat, &operands, &results).into(),
        Prim::Switch(switch) => {
            let part = |branch: &Arc<Graph>| part(branch, &operands[1..], &results);
            Switch { branches: switch.branches.iter().map(part).collect() }.into()
        }
        Prim::Each(each) => Each {
            graph: part(&each.graph, &operands, &results),
            axes: chosen(&each.axes, &operands),
            out_axes: chosen(&each.out_axes, &results),
            size: each.size,
        }
        .into(),
        _ => return None,
    };
    Some(Trimmed { prim, operands, results })
}

/// For each variable, whether the wanted outputs or an effect depend on it.
pub(crate) fn needed(graph: &Graph, wanted: &[bool]) -> Vec<bool> {
    let mut needed = vec![false; graph.types.len()];
    for var in chosen(&graph.outputs, wanted).iter().filter_map(|atom| atom.var()) {
        needed[var.0 as usize] = true;
    }
    for equation in graph.equations.iter().rev() {
        let results: Vec<bool> = equation.outputs.iter().map(|var| needed[var.0 as usize]).collect();
        if !results.contains(&true) && !equation.prim.has_effect() {
            continue;
        }
        let operands = kept(&equation.prim, &results).map(|(operands, _)| operands);
        for (i, atom) in equation.inputs.iter().enumerate() {
            if let Some(var) = atom.var().filter(|_| operands.as_ref().is_none_or(|kept| kept[i])) {
                needed[var.0 as usize] = true;
            }
        }
    }
    needed
}

fn inputs_needed(graph: &Graph, wanted: &[bool]) -> Vec<bool> {
    let needed = needed(graph, wanted);
    graph.inputs.iter().map(|var| needed[var.0 as usize]).collect()
}

/// Which operands control flow needs for the wanted results, and which results it then has.
fn kept(prim: &Prim, wanted: &[bool]) -> Option<(Vec<bool>, Vec<bool>)> {
    let mut results = wanted.to_vec();
    match prim {
        Prim::Scan(scan) => loop {
            let mut operands = inputs_needed(&scan.body, &results);
            let carried = &mut operands[scan.consts..scan.consts + scan.carries];
            if !carry(carried, &mut results) {
                return Some((operands, results));
            }
        },
        Prim::While(repeat) => {
            let of_cond = inputs_needed(&repeat.cond, &[true]);
            let (cond_consts, of_cond) = of_cond.split_at(repeat.cond_consts);
            loop {
                let of_body = inputs_needed(&repeat.body, &results);
                let (body_consts, of_body) = of_body.split_at(repeat.body_consts);
                let mut carried: Vec<bool> = of_cond.iter().zip(of_body).map(|(a, b)| *a || *b).collect();
                if !carry(&mut carried, &mut results) {
                    return Some(([cond_consts, body_consts, &carried].concat(), results));
                }
            }
        }
        Prim::Switch(switch) => {
            let mut operands = vec![false; switch.branches.first()?.inputs.len() + 1];
            operands[0] = true;
            for branch in &switch.branches {
                let needed = inputs_needed(branch, wanted);
                operands[1..].iter_mut().zip(needed).for_each(|(operand, needed)| *operand |= needed);
            }
            Some((operands, results))
        }
        Prim::Each(each) => Some((inputs_needed(&each.graph, wanted), results)),
        _ => None,
    }
}

/// What a turn needs of what is carried, the turn before must carry on; and what is carried on begins somewhere. Says
/// whether there is more to carry than before.
fn carry(operands: &mut [bool], results: &mut [bool]) -> bool {
    let mut more = false;
    for (operand, result) in operands.iter_mut().zip(results) {
        more |= *operand && !*result;
        *result |= *operand;
        *operand = *result;
    }
    more
}

/// A graph of some inputs and outputs. The outputs need no other inputs, once nested control flow is trimmed too.
fn part(graph: &Graph, inputs: &[bool], outputs: &[bool]) -> Arc<Graph> {
    let wanted = Graph { outputs: chosen(&graph.outputs, outputs), ..graph.clone() };
    let wanted = dead_code(&wanted);
    Arc::new(wanted.part(graph.name.as_str(), &chosen(&wanted.inputs, inputs), &wanted.outputs))
}

fn scan_of(scan: &Scan, operands: &[bool], results: &[bool]) -> Scan {
    Scan {
        body: part(&scan.body, operands, results),
        consts: count(&operands[..scan.consts]),
        carries: count(&results[..scan.carries]),
        ..scan.clone()
    }
}

fn while_of(repeat: &While, operands: &[bool], results: &[bool]) -> While {
    let (cond_consts, rest) = operands.split_at(repeat.cond_consts);
    let (body_consts, carried) = rest.split_at(repeat.body_consts);
    While {
        cond: part(&repeat.cond, &[cond_consts, carried].concat(), &[true]),
        body: part(&repeat.body, &[body_consts, carried].concat(), results),
        cond_consts: count(cond_consts),
        body_consts: count(body_consts),
    }
}
