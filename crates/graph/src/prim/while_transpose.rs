//! The adjoint of a loop whose body is linear in some of its constants and carries, where neither the condition nor the
//! other carries depend on them.
//!
//! The other carries are a loop by themselves: it runs and keeps snapshots (`while_record.rs`), and then cotangents go
//! back through the body (`while_back.rs`).

use std::sync::Arc;

use super::While;
use super::nested::{chosen, inline_strictly};
use super::while_back::{Back, Pull};
use super::while_record::{affordable, record};
use crate::builder::GraphBuilder;
use crate::error::RuleError;
use crate::graph::{Atom, Graph};
use crate::primitive::{Cx, Operand};

/// The cotangents of the linear operands.
pub(super) fn transpose(
    cx: &mut Cx<'_>,
    looped: &While,
    operands: &[Operand],
    cotangents: &[Option<Atom>],
) -> Result<Vec<Option<Atom>>, RuleError> {
    let (cond_operands, const_operands, carry_operands) = looped.split(operands);
    let consts = linear(const_operands);
    let carries = linear_carries(&looped.body, &consts, linear(carry_operands));
    let unread = [linear(cond_operands), carries.clone()].concat();
    if linear(cond_operands).contains(&true) || depends(&looped.cond, &unread)[0] {
        return Err(RuleError::not_linear("while"));
    }
    let inputs = [consts.clone(), carries.clone()].concat();
    let known_carries = not(&carries);
    let rest = While {
        cond: Arc::new(without(&looped.cond, &unread, &[true])),
        body: Arc::new(without(&looped.body, &inputs, &known_carries)),
        cond_consts: looped.cond_consts,
        body_consts: consts.iter().filter(|linear| !**linear).count(),
    };
    let (graph, nonzero) = cx.walks().transpose(&looped.body, &inputs, &carries)?;
    let pull = Pull { graph: Arc::new(graph), nonzero };
    let (_, const_types, carry_types) = looped.types();
    let tangents = chosen(&carry_types, &carries);
    let count = affordable(&rest.types().2);
    let adjoint = Back::new(&rest, count, pull, &chosen(&const_types, &consts), &tangents).adjoint(cx)?;

    let known = |operands: &[Operand]| operands.iter().filter_map(Operand::known).cloned().collect();
    let known_consts: Vec<Atom> = known(const_operands);
    let known_operands: Vec<Atom> =
        [known(cond_operands), known_consts.clone(), known(&chosen(carry_operands, &known_carries))].concat();
    let (_, record) = record(cx, &rest, count, &known_operands)?;
    let given = chosen(cotangents, &carries).into_iter().zip(&tangents);
    let given = given.map(|(ct, ty)| ct.unwrap_or_else(|| Atom::fill(ty, 0.0))).collect();
    let found = inline_strictly(cx, &adjoint, &[record.atoms(), known_consts, given].concat())?;

    // A carry may start from something known, as from zero, and become linear on the way.
    let mut found = found.into_iter();
    let mut results = vec![None; cond_operands.len()];
    for (operand, linear) in operands[cond_operands.len()..].iter().zip(inputs) {
        let cotangent = if linear { found.next() } else { None };
        results.push(cotangent.filter(|_| operand.is_linear()));
    }
    Ok(results)
}

fn linear(operands: &[Operand]) -> Vec<bool> {
    operands.iter().map(Operand::is_linear).collect()
}

fn not(flags: &[bool]) -> Vec<bool> {
    flags.iter().map(|flag| !flag).collect()
}

/// Which carries depend on something linear, after any number of trips.
fn linear_carries(body: &Graph, consts: &[bool], mut carries: Vec<bool>) -> Vec<bool> {
    loop {
        let made = depends(body, &[consts, &carries].concat());
        let more: Vec<bool> = carries.iter().zip(made).map(|(had, made)| *had || made).collect();
        if more == carries {
            return carries;
        }
        carries = more;
    }
}

/// Which variables depend on these inputs.
fn dependent(graph: &Graph, inputs: &[bool]) -> Vec<bool> {
    let mut depends = vec![false; graph.types.len()];
    graph.inputs.iter().zip(inputs).for_each(|(var, &flag)| depends[var.0 as usize] = flag);
    for equation in &graph.equations {
        let any = equation.inputs.iter().filter_map(Atom::var).any(|var| depends[var.0 as usize]);
        equation.outputs.iter().for_each(|var| depends[var.0 as usize] = any);
    }
    depends
}

/// Which outputs depend on these inputs.
fn depends(graph: &Graph, inputs: &[bool]) -> Vec<bool> {
    let depends = dependent(graph, inputs);
    graph.outputs.iter().map(|out| out.var().is_some_and(|var| depends[var.0 as usize])).collect()
}

/// The graph of some outputs that depend on none of the left out inputs.
fn without(graph: &Graph, left_out: &[bool], wanted: &[bool]) -> Graph {
    let depends = dependent(graph, left_out);
    let mut b = GraphBuilder::new();
    let mut values: Vec<Option<Atom>> = vec![None; graph.types.len()];
    for (&var, _) in graph.inputs.iter().zip(left_out).filter(|(_, left_out)| !**left_out) {
        values[var.0 as usize] = Some(b.input(graph.ty(var).clone()).into());
    }
    let value = |values: &[Option<Atom>], atom: &Atom| match atom {
        Atom::Var(var) => values[var.0 as usize].clone().expect("it depends on nothing that is left out"),
        Atom::Splat(_) => atom.clone(),
    };
    for equation in &graph.equations {
        // All results of an equation depend on the same inputs.
        if equation.outputs.iter().any(|var| depends[var.0 as usize]) {
            continue;
        }
        b.at(equation.location.clone());
        let operands: Vec<Atom> = equation.inputs.iter().map(|atom| value(&values, atom)).collect();
        let types = equation.outputs.iter().map(|&var| graph.ty(var).clone());
        let results = b.push(equation.prim.clone(), &operands, types);
        for (&var, result) in equation.outputs.iter().zip(results) {
            values[var.0 as usize] = Some(result);
        }
    }
    let outputs = chosen(&graph.outputs, wanted).iter().map(|atom| value(&values, atom)).collect();
    b.finish(graph.name.clone(), outputs)
}
