//! Matrix products that a scan need not do one by one: those of its elements with something constant are one product
//! before it, and sums of products over all turns are one product after it. One large product is faster than many
//! small ones, and a sum that is carried would go through memory in every turn.
//!
//! Deliberately absent: the order of sums. As in every matrix product it is not part of the contract.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tracewell_array::Shape;
use tracewell_graph::prim::{Add, DotGeneral, Permute, Scan};
use tracewell_graph::{Atom, Equation, Graph, GraphBuilder, Prim, Var};

use super::rebind;
use crate::rebuild::{Results, keep, rebuild};

/// Multiplications in one turn from which on it is worth it: less is done in registers.
const WORTH: usize = 1024;

/// Moves products out of scans.
pub fn products(graph: &Graph) -> Graph {
    rebuild(graph, |builder, equation, operands| {
        let Prim::Scan(scan) = &equation.prim else { return keep(builder, graph, equation, &operands) };
        let (scan, operands) = before(builder, scan.clone(), operands.to_vec());
        after(builder, scan, operands)
    })
}

/// Products of elements with constants, for all turns at once.
fn before(builder: &mut GraphBuilder, mut scan: Scan, mut operands: Vec<Atom>) -> (Scan, Vec<Atom>) {
    let first = scan.consts + scan.carries;
    let body = scan.body.clone();
    let input = |atom: &Atom| body.inputs.iter().position(|&var| atom.var() == Some(var));
    let mut taken: Vec<(Var, Atom)> = Vec::new();
    for equation in &body.equations {
        let Prim::DotGeneral(dot) = &equation.prim else { continue };
        let (Some(x), Some(c)) = (input(&equation.inputs[0]), input(&equation.inputs[1])) else { continue };
        if x < first || c >= scan.consts || !dot.a_batch.is_empty() || work(&body, equation) < WORTH {
            continue;
        }
        let whole =
            DotGeneral { a_contract: dot.a_contract.iter().map(|axis| axis + 1).collect(), ..dot.clone() };
        builder.at(equation.location.clone());
        let all = rebind(builder, whole.into(), &[operands[x].clone(), operands[c].clone()]).remove(0);
        taken.push((equation.outputs[0], all));
    }
    if taken.is_empty() {
        return (scan, operands);
    }
    let made: Vec<Var> = taken.iter().map(|(var, _)| *var).collect();
    scan.body = Arc::new(edited(&body, &[], &made, body.outputs.clone()));
    operands.extend(taken.into_iter().map(|(_, all)| all));
    (scan, operands)
}

/// A sum of products that a scan carries.
struct Sum<'g> {
    /// Which of what is carried.
    carry: usize,
    dot: &'g DotGeneral,
    factors: [&'g Atom; 2],
    /// What is done to each product before it is added.
    permute: Option<&'g Permute>,
}

/// Sums of products over all turns, as one product after the scan.
fn after(builder: &mut GraphBuilder, mut scan: Scan, mut operands: Vec<Atom>) -> Results {
    let body = scan.body.clone();
    let sums: Vec<Sum<'_>> = (0..scan.carries).filter_map(|carry| sum(&scan, &body, carry)).collect();
    if sums.is_empty() {
        return rebind(builder, scan.into(), &operands);
    }
    let first = scan.consts + scan.carries;
    // The factors of all turns: elements as they are, and what else there is as new results.
    let mut outputs: Vec<Atom> = (0..scan.carries)
        .filter(|carry| !sums.iter().any(|sum| sum.carry == *carry))
        .map(|carry| body.outputs[carry].clone())
        .chain(body.outputs[scan.carries..].iter().cloned())
        .collect();
    let kept = scan.carries - sums.len();
    enum All {
        Operand(Atom),
        Result(usize),
    }
    let mut factor = |atom: &Atom| {
        let input = body.inputs.iter().position(|&var| atom.var() == Some(var));
        if let Some(i) = input.filter(|&i| i >= first) {
            return All::Operand(operands[i].clone());
        }
        let known = outputs[kept..].iter().position(|output| output == atom).map(|at| kept + at);
        All::Result(known.unwrap_or_else(|| {
            outputs.push(atom.clone());
            outputs.len() - 1
        }))
    };
    let factors: Vec<[All; 2]> = sums.iter().map(|sum| sum.factors.map(&mut factor)).collect();
    let dropped: Vec<usize> = sums.iter().map(|sum| scan.consts + sum.carry).collect();
    let edited = edited(&body, &dropped, &[], outputs);
    let inits: Vec<Atom> = dropped.iter().map(|&i| operands[i].clone()).collect();
    let mut number = 0;
    operands.retain(|_| {
        number += 1;
        !dropped.contains(&(number - 1))
    });
    let carries = scan.carries;
    let old = body.outputs.len();
    scan.body = Arc::new(edited);
    scan.carries = kept;
    let found = rebind(builder, scan.into(), &operands);
    let mut totals: FxHashMap<usize, Atom> = FxHashMap::default();
    for ((sum, factors), init) in sums.iter().zip(factors).zip(inits) {
        let [a, b] = factors.map(|all| match all {
            All::Operand(atom) => atom,
            All::Result(i) => found[i].clone(),
        });
        let along = |axes: &[usize]| std::iter::once(0).chain(axes.iter().map(|axis| axis + 1)).collect();
        let dot = DotGeneral {
            a_contract: along(&sum.dot.a_contract),
            b_contract: along(&sum.dot.b_contract),
            a_batch: Vec::new(),
            b_batch: Vec::new(),
        };
        let mut total = rebind(builder, dot.into(), &[a, b]).remove(0);
        if let Some(permute) = sum.permute {
            total = rebind(builder, permute.clone().into(), &[total]).remove(0);
        }
        totals.insert(sum.carry, rebind(builder, Add {}.into(), &[init, total]).remove(0));
    }
    let mut others = found.into_iter();
    (0..old)
        .map(|i| match totals.remove(&i) {
            Some(total) if i < carries => total,
            _ => others.next().expect("one result for each that is not a sum"),
        })
        .collect()
}

/// What is carried as a sum of products, if it is one and nothing else reads it.
fn sum<'g>(scan: &Scan, body: &'g Graph, carry: usize) -> Option<Sum<'g>> {
    let inside = body.inputs[scan.consts + carry];
    let defined = |atom: &Atom| {
        let var = atom.var()?;
        body.equations.iter().find(|equation| equation.outputs.contains(&var))
    };
    let once = |var: Var| {
        let reads = body.equations.iter().flat_map(|equation| &equation.inputs).chain(&body.outputs);
        reads.filter(|atom| atom.var() == Some(var)).count() == 1
    };
    let add = defined(&body.outputs[carry]).filter(|equation| matches!(equation.prim, Prim::Add(_)))?;
    let at = add.inputs.iter().position(|atom| atom.var() == Some(inside))?;
    let mut product = defined(&add.inputs[1 - at])?;
    if !once(inside) || !once(add.outputs[0]) || !once(product.outputs[0]) {
        return None;
    }
    let mut permute = None;
    if let Prim::Permute(order) = &product.prim {
        permute = Some(order);
        product = defined(&product.inputs[0]).filter(|equation| once(equation.outputs[0]))?;
    }
    let Prim::DotGeneral(dot) = &product.prim else { return None };
    let [a, b] = [0, 1].map(|i| &product.inputs[i]);
    let len = |shape: &Shape| shape.len();
    let parts = len(&body.atom_type(a).shape) + len(&body.atom_type(b).shape);
    let is_worth_it = len(&body.ty(inside).shape) >= parts && work(body, product) >= WORTH;
    let is_known = a.var().is_some() && b.var().is_some();
    (dot.a_batch.is_empty() && is_worth_it && is_known).then_some(Sum {
        carry,
        dot,
        factors: [a, b],
        permute,
    })
}

/// Multiplications of a product.
fn work(graph: &Graph, equation: &Equation) -> usize {
    let Prim::DotGeneral(dot) = &equation.prim else { return 0 };
    let a = graph.atom_type(&equation.inputs[0]).shape;
    let summed: usize = dot.a_contract.iter().map(|&axis| a.size(axis)).product();
    graph.ty(equation.outputs[0]).shape.len().saturating_mul(summed)
}

/// The graph without some inputs, with some variables as inputs at the end instead of defined, and these outputs.
/// What only the outputs that are gone needed stays, until it is found dead.
fn edited(graph: &Graph, dropped: &[usize], given: &[Var], outputs: Vec<Atom>) -> Graph {
    let mut builder = GraphBuilder::new();
    let mut values: Vec<Option<Atom>> = vec![None; graph.types.len()];
    let kept = graph.inputs.iter().enumerate().filter(|(i, _)| !dropped.contains(i)).map(|(_, var)| var);
    for &var in kept.chain(given) {
        values[var.0 as usize] = Some(builder.input(graph.ty(var).clone()).into());
    }
    let look = |values: &[Option<Atom>], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone(),
        Atom::Splat(_) => Some(atom.clone()),
    };
    for equation in &graph.equations {
        if equation.outputs.iter().any(|var| given.contains(var)) {
            continue;
        }
        // What reads an input that is gone is gone with it.
        let operands: Option<Vec<Atom>> = equation.inputs.iter().map(|atom| look(&values, atom)).collect();
        let Some(operands) = operands else { continue };
        builder.at(equation.location.clone());
        let results = rebind(&mut builder, equation.prim.clone(), &operands);
        for (&var, result) in equation.outputs.iter().zip(results) {
            values[var.0 as usize] = Some(result);
        }
    }
    let outputs = outputs.iter().map(|atom| look(&values, atom).expect("what is left is defined")).collect();
    builder.finish(graph.name.clone(), outputs)
}
