//! The derivative, the adjoint and the batch of a switch.
//!
//! All branches must give the same results, so what only some give others give as zeros: tangents, cotangents, and the
//! residuals that linear branches read. A residual has a slot among the results of the first switch; branches share
//! slots, because only one of them runs.

use std::sync::Arc;

use tracewell_kernel::Comparison;

use super::nested::{inline_strictly, spread, wrapped};
use super::{Broadcast, Compare, Select, Switch};
use crate::builder::GraphBuilder;
use crate::error::RuleError;
use crate::graph::{Atom, Graph};
use crate::primitive::{Batched, Cx, Jvp, Linearized, Operand};
use crate::ty::ArrayType;

pub(super) fn jvp(
    switch: &Switch,
    cx: &mut Cx<'_>,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<Jvp, RuleError> {
    let active: Vec<bool> = tangents[1..].iter().map(Option::is_some).collect();
    if cx.linearizing() {
        return apart(switch, cx, primals, tangents, &active);
    }
    let parts: Vec<(Graph, Vec<bool>)> =
        switch.branches.iter().map(|branch| cx.walks().jvp(branch, &active)).collect::<Result<_, _>>()?;
    let has_tangent = union(parts.iter().map(|(_, has)| has));
    let types = output_types(switch);
    let branches = parts.iter().map(|(graph, has)| {
        wrapped(graph, graph.name.clone(), |_, mut results| {
            let found = results.split_off(types.len());
            results.extend(filled(found, has, &has_tangent, &types));
            Ok(results)
        })
    });
    let operands: Vec<Atom> = primals.iter().chain(tangents.iter().flatten()).cloned().collect();
    let mut results = cx.bind_all(of(branches)?, &operands)?;
    let found = results.split_off(types.len());
    Ok(Jvp { primals: results, tangents: spread(found, &has_tangent) })
}

/// A switch of results and residuals, and one of tangents.
fn apart(
    switch: &Switch,
    cx: &mut Cx<'_>,
    primals: &[Atom],
    tangents: &[Option<Atom>],
    active: &[bool],
) -> Result<Jvp, RuleError> {
    let parts: Vec<Linearized> = (switch.branches.iter())
        .map(|branch| cx.walks().linearize(branch, active))
        .collect::<Result<_, _>>()?;
    let types = output_types(switch);
    let count = types.len();

    let mut slots: Vec<ArrayType> = Vec::new();
    let places: Vec<Vec<Place>> = parts.iter().map(|part| places(&part.primal, count, &mut slots)).collect();
    let first = parts.iter().zip(&places).map(|(part, places)| {
        wrapped(&part.primal, part.primal.name.clone(), |_, mut results| {
            let residuals = results.split_off(count);
            let mut in_slots: Vec<Atom> = slots.iter().map(|ty| Atom::fill(ty, 0.0)).collect();
            for (residual, place) in residuals.into_iter().zip(places) {
                if let Place::Slot(i) = place {
                    in_slots[*i] = residual;
                }
            }
            results.extend(in_slots);
            Ok(results)
        })
    });
    let mut results = cx.bind_all(of(first)?, primals)?;
    let in_slots = results.split_off(count);

    // The second switch takes each operand, result and slot that some branch reads, and then the tangents.
    let mut read: Vec<Place> = Vec::new();
    for place in places.iter().flatten() {
        if !read.contains(place) {
            read.push(*place);
        }
    }
    let has_tangent = union(parts.iter().map(|part| &part.tangents));
    let mut inputs = vec![primals[0].clone()];
    inputs.extend(read.iter().map(|place| match place {
        Place::Operand(i) => primals[1 + i].clone(),
        Place::Result(i) => results[*i].clone(),
        Place::Slot(i) => in_slots[*i].clone(),
    }));
    inputs.extend(tangents.iter().flatten().cloned());
    let in_types: Vec<ArrayType> = inputs[1..].iter().map(|atom| cx.ty(atom)).collect();
    let second = parts.iter().zip(&places).map(|(part, places)| {
        let positions: Vec<usize> = (places.iter())
            .map(|place| read.iter().position(|other| other == place).expect("all are listed above"))
            .chain(read.len()..in_types.len())
            .collect();
        let found = picking(&part.linear, &in_types, &positions);
        wrapped(&found, part.linear.name.clone(), |_, results| {
            Ok(filled(results, &part.tangents, &has_tangent, &types))
        })
    });
    if !has_tangent.contains(&true) {
        return Ok(Jvp { tangents: vec![None; count], primals: results });
    }
    let found = cx.bind_all(of(second)?, &inputs)?;
    Ok(Jvp { primals: results, tangents: spread(found, &has_tangent) })
}

/// Where the second switch finds what a branch reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Among the operands of the branches.
    Operand(usize),
    /// Among the results.
    Result(usize),
    /// Among the slots.
    Slot(usize),
}

/// Where the residuals of a branch are found, which follow `count` results. Slots are added where there are too few.
fn places(primal: &Graph, count: usize, slots: &mut Vec<ArrayType>) -> Vec<Place> {
    let (results, residuals) = primal.outputs.split_at(count);
    let mut taken: Vec<usize> = Vec::new();
    let mut place = |residual: &Atom| {
        if let Some(i) = primal.input_number(residual) {
            return Place::Operand(i);
        }
        if let Some(i) = results.iter().position(|result| result == residual) {
            return Place::Result(i);
        }
        let ty = primal.atom_type(residual);
        let free = (0..slots.len()).find(|i| slots[*i] == ty && !taken.contains(i));
        let slot = free.unwrap_or_else(|| {
            slots.push(ty);
            slots.len() - 1
        });
        taken.push(slot);
        Place::Slot(slot)
    };
    residuals.iter().map(&mut place).collect()
}

/// A graph of inputs of these types, some of which are those of another graph: its input `i` is at `positions[i]`.
fn picking(graph: &Graph, types: &[ArrayType], positions: &[usize]) -> Graph {
    let mut types = types.to_vec();
    // As weak as the graph expects: an operand may be either.
    for (position, ty) in positions.iter().zip(graph.input_types()) {
        types[*position] = ty;
    }
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = types.into_iter().map(|ty| b.input(ty).into()).collect();
    let operands: Vec<Atom> = positions.iter().map(|&i| inputs[i].clone()).collect();
    let outputs = b.inline(graph, &operands);
    b.finish(graph.name.as_str(), outputs)
}

pub(super) fn transpose(
    switch: &Switch,
    cx: &mut Cx<'_>,
    operands: &[Operand],
    cotangents: &[Option<Atom>],
) -> Result<Vec<Option<Atom>>, RuleError> {
    let (Some(index), operands) = (operands[0].known(), &operands[1..]) else {
        return Err(RuleError::not_linear("switch"));
    };
    let linear: Vec<bool> = operands.iter().map(Operand::is_linear).collect();
    let given: Vec<bool> = cotangents.iter().map(Option::is_some).collect();
    let parts: Vec<(Graph, Vec<bool>)> = (switch.branches.iter())
        .map(|branch| cx.walks().transpose(branch, &linear, &given))
        .collect::<Result<_, _>>()?;
    let nonzero = union(parts.iter().map(|(_, nonzero)| nonzero));
    let types: Vec<ArrayType> = operands
        .iter()
        .filter_map(|operand| match operand {
            Operand::Linear(ty) => Some(ty.clone()),
            Operand::Known(_) => None,
        })
        .collect();
    if !nonzero.contains(&true) {
        return Ok(vec![None; operands.len() + 1]);
    }
    let branches = parts.iter().map(|(graph, has)| {
        wrapped(graph, graph.name.clone(), |_, results| Ok(filled(results, has, &nonzero, &types)))
    });
    let known = operands.iter().filter_map(Operand::known);
    let inputs: Vec<Atom> =
        [index].into_iter().chain(known).chain(cotangents.iter().flatten()).cloned().collect();
    let mut found = spread(cx.bind_all(of(branches)?, &inputs)?, &nonzero).into_iter();
    let of_operands = linear.iter().map(|linear| if *linear { found.next().flatten() } else { None });
    Ok([None].into_iter().chain(of_operands).collect())
}

pub(super) fn batch(
    switch: &Switch,
    cx: &mut Cx<'_>,
    size: usize,
    operands: &[Batched],
) -> Result<Vec<Batched>, RuleError> {
    let flags: Vec<bool> = operands[1..].iter().map(|operand| operand.batched).collect();
    let parts: Vec<(Graph, Vec<bool>)> = (switch.branches.iter())
        .map(|branch| cx.walks().batch(branch, size, &flags))
        .collect::<Result<_, _>>()?;
    let atoms: Vec<Atom> = operands.iter().map(|operand| operand.atom.clone()).collect();
    if operands[0].batched {
        return choose(cx, size, &parts, &atoms);
    }
    let has_axis = union(parts.iter().map(|(_, has)| has));
    let walks = cx.walks();
    let branches = parts.iter().map(|(graph, has)| {
        wrapped(graph, graph.name.clone(), |b, results| {
            let mut cx = Cx::new(b, walks, false);
            let each = results.into_iter().zip(has).zip(&has_axis).map(|((atom, &batched), wanted)| {
                if *wanted { cx.batch_one(size, &Batched { atom, batched }) } else { Ok(atom) }
            });
            each.collect()
        })
    });
    let results = cx.bind_all(of(branches)?, &atoms)?;
    Ok(results.into_iter().zip(has_axis).map(|(atom, batched)| Batched { atom, batched }).collect())
}

/// All branches, and for each index of the batch the results of one of them.
fn choose(
    cx: &mut Cx<'_>,
    size: usize,
    parts: &[(Graph, Vec<bool>)],
    atoms: &[Atom],
) -> Result<Vec<Batched>, RuleError> {
    let index = &atoms[0];
    let mut chosen: Vec<Batched> = Vec::new();
    for (number, (graph, has_axis)) in parts.iter().enumerate() {
        let results = inline_strictly(cx, graph, &atoms[1..])?;
        let results = results.into_iter().zip(has_axis).map(|(atom, &batched)| Batched { atom, batched });
        if number == 0 {
            chosen.extend(results);
            continue;
        }
        // From this branch on: the index is taken as the nearest number that there is.
        let least = cx.fill(index, number as f64);
        let from_here = cx.bind(Compare { comparison: Comparison::Ge }, &[index, &least])?;
        for (before, result) in chosen.iter_mut().zip(results) {
            let (result, other) = (cx.batch_one(size, &result)?, cx.batch_one(size, before)?);
            let shape = cx.ty(&result).shape;
            let condition = cx.bind(Broadcast { shape, axes: vec![0] }, &[&from_here])?;
            *before = Batched::yes(cx.bind(Select {}, &[&condition, &result, &other])?);
        }
    }
    Ok(chosen)
}

fn of(branches: impl Iterator<Item = Result<Graph, RuleError>>) -> Result<Switch, RuleError> {
    Ok(Switch { branches: branches.map(|branch| branch.map(Arc::new)).collect::<Result<_, _>>()? })
}

fn output_types(switch: &Switch) -> Vec<ArrayType> {
    switch.branches.first().map_or_else(Vec::new, |branch| branch.output_types())
}

/// What holds in some branch.
fn union<'a>(flags: impl Iterator<Item = &'a Vec<bool>>) -> Vec<bool> {
    let either = |a: Vec<bool>, b: &Vec<bool>| a.iter().zip(b).map(|(a, b)| *a || *b).collect();
    let mut flags = flags;
    let first = flags.next().cloned().unwrap_or_default();
    flags.fold(first, either)
}

/// One atom for each of `wanted`: the next of those found if it is in `has`, else zeros.
fn filled(found: Vec<Atom>, has: &[bool], wanted: &[bool], types: &[ArrayType]) -> Vec<Atom> {
    let each = spread(found, has).into_iter().zip(wanted).zip(types);
    let each = each.filter(|((_, wanted), _)| **wanted);
    each.map(|((atom, _), ty)| atom.unwrap_or_else(|| Atom::fill(ty, 0.0))).collect()
}
