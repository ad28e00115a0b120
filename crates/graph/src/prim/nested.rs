//! What the primitives that nest graphs share: typing, and the rules of a graph that is applied.

use std::sync::Arc;

use tracewell_array::Complex64;

use crate::builder::GraphBuilder;
use crate::error::{RuleError, TypeError};
use crate::graph::{Atom, Graph, Splat};
use crate::prim::{Convert, Prim};
use crate::primitive::{Batched, Cx, Jvp, Operand, Walks};
use crate::ty::ArrayType;

/// The operands have the types of the graph's inputs.
pub(super) fn check_operands(primitive: &str, graph: &Graph, inputs: &[ArrayType]) -> Result<(), TypeError> {
    check_types(primitive, &graph.name, &graph.input_types(), inputs)
}

/// The operands of something have the types that are expected.
pub(super) fn check_types(
    primitive: &str,
    name: &str,
    expected: &[ArrayType],
    found: &[ArrayType],
) -> Result<(), TypeError> {
    if expected.len() != found.len() {
        let message = format!("`{name}` takes {} operands, found {}", expected.len(), found.len());
        return Err(TypeError::new(primitive, message));
    }
    for (i, (want, found)) in expected.iter().zip(found).enumerate() {
        if !want.matches(found) {
            let message = format!("operand {i} of `{name}` is {want}, found {found}");
            return Err(TypeError::new(primitive, message));
        }
    }
    Ok(())
}

/// The graph's derivative is applied in its place, as what `wrap` makes of a graph; when linearizing, in two parts
/// with residuals between.
pub(super) fn jvp_nested(
    cx: &mut Cx<'_>,
    graph: &Graph,
    wrap: impl Fn(Arc<Graph>) -> Prim,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<Jvp, RuleError> {
    let active: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    if cx.linearizing() {
        let split = cx.walks().linearize(graph, &active)?;
        let (primals, mut operands) = bind_first_half(cx, split.primal, graph.outputs.len(), &wrap, primals)?;
        operands.extend(tangents.iter().flatten().cloned());
        let found = cx.bind_all(wrap(Arc::new(split.linear)), &operands)?;
        return Ok(Jvp { primals, tangents: spread(found, &split.tangents) });
    }
    let (both, has_tangent) = cx.walks().jvp(graph, &active)?;
    let operands: Vec<Atom> = primals.iter().chain(tangents.iter().flatten()).cloned().collect();
    let mut primals = cx.bind_all(wrap(Arc::new(both)), &operands)?;
    let tangents = primals.split_off(graph.outputs.len());
    Ok(Jvp { primals, tangents: spread(tangents, &has_tangent) })
}

/// Applies the first half of a derivative in two parts: a graph from the operands to `count` results and then what
/// the second half reads. Gives the results, and what is read.
pub(super) fn bind_first_half(
    cx: &mut Cx<'_>,
    graph: Graph,
    count: usize,
    wrap: impl Fn(Arc<Graph>) -> Prim,
    primals: &[Atom],
) -> Result<(Vec<Atom>, Vec<Atom>), RuleError> {
    let (graph, places) = first_half(graph, count);
    let mut results = cx.bind_all(wrap(Arc::new(graph)), primals)?;
    let found = places.iter().map(|place| match place {
        Place::Operand(i) => primals[*i].clone(),
        Place::Output(i) => results[*i].clone(),
    });
    let read = found.collect();
    results.truncate(count);
    Ok((results, read))
}

/// Where a value that the second half of a derivative reads is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Among the operands of the first half.
    Operand(usize),
    /// Among its outputs.
    Output(usize),
}

/// The first half of a derivative as it is applied: an operand or a result that the second half reads is not passed
/// out a second time. `graph` gives `count` results and then what is read; says where each of these is found.
pub fn first_half(graph: Graph, count: usize) -> (Graph, Vec<Place>) {
    let Graph { name, inputs, equations, mut outputs, types } = graph;
    let read = outputs.split_off(count);
    let place = |atom: Atom| {
        let operand = atom.var().and_then(|var| inputs.iter().position(|&input| input == var));
        if let Some(i) = operand {
            return Place::Operand(i);
        }
        let output = outputs.iter().position(|output| *output == atom);
        Place::Output(output.unwrap_or_else(|| {
            outputs.push(atom);
            outputs.len() - 1
        }))
    };
    let places = read.into_iter().map(place).collect();
    (Graph { name, inputs, equations, outputs, types }, places)
}

/// The adjoint of the graph is applied, as what `wrap` makes of a graph.
pub(super) fn transpose_nested(
    cx: &mut Cx<'_>,
    graph: &Graph,
    wrap: impl Fn(Arc<Graph>) -> Prim,
    operands: &[Operand],
    cotangents: &[Option<Atom>],
) -> Result<Vec<Option<Atom>>, RuleError> {
    let linear: Vec<bool> = operands.iter().map(Operand::is_linear).collect();
    let given: Vec<bool> = cotangents.iter().map(Option::is_some).collect();
    let (adjoint, nonzero) = cx.walks().transpose(graph, &linear, &given)?;
    let known = operands.iter().filter_map(Operand::known).cloned();
    let inputs: Vec<Atom> = known.chain(cotangents.iter().flatten().cloned()).collect();
    let mut found = spread(cx.bind_all(wrap(Arc::new(adjoint)), &inputs)?, &nonzero).into_iter();
    Ok(linear.iter().map(|&linear| if linear { found.next().flatten() } else { None }).collect())
}

/// The batched graph is applied, as what `wrap` makes of a graph.
pub(super) fn batch_nested(
    cx: &mut Cx<'_>,
    graph: &Graph,
    wrap: impl Fn(Arc<Graph>) -> Prim,
    size: usize,
    operands: &[Batched],
) -> Result<Vec<Batched>, RuleError> {
    let flags: Vec<bool> = operands.iter().map(|o| o.batched).collect();
    let (graph, batched) = cx.walks().batch(graph, size, &flags)?;
    let atoms: Vec<Atom> = operands.iter().map(|o| o.atom.clone()).collect();
    let outs = cx.bind_all(wrap(Arc::new(graph)), &atoms)?;
    Ok(outs.into_iter().zip(batched).map(|(atom, batched)| Batched { atom, batched }).collect())
}

/// The graph over a batch axis that all its results have: those without it are repeated.
pub(super) fn batch_whole(
    cx: &Cx<'_>,
    graph: &Graph,
    size: usize,
    flags: &[bool],
) -> Result<Graph, RuleError> {
    let (batched, has_axis) = cx.walks().batch(graph, size, flags)?;
    let name = batched.name.clone();
    wrapped(&batched, name, |b, results| {
        let mut cx = Cx::new(b, cx.walks(), false);
        let results = results.into_iter().zip(&has_axis);
        let results: Vec<Batched> = results.map(|(atom, &batched)| Batched { atom, batched }).collect();
        cx.batch_all(size, &results)
    })
}

/// A graph of the same inputs whose outputs are made of those of another.
pub(super) fn wrapped(
    graph: &Graph,
    name: String,
    outputs: impl FnOnce(&mut GraphBuilder, Vec<Atom>) -> Result<Vec<Atom>, RuleError>,
) -> Result<Graph, RuleError> {
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = graph.input_types().into_iter().map(|ty| b.input(ty).into()).collect();
    let results = b.inline(graph, &inputs);
    let outputs = outputs(&mut b, results)?;
    Ok(b.finish(name, outputs))
}

/// One place for each flag; where it holds, the next atom.
pub(super) fn spread(atoms: Vec<Atom>, flags: &[bool]) -> Vec<Option<Atom>> {
    let mut next = atoms.into_iter();
    flags.iter().map(|&flag| if flag { next.next() } else { None }).collect()
}

/// The atom, unless it is filled with zero: then it is known to be a zero, and no atom at all.
pub(super) fn unless_zero(atom: Atom) -> Option<Atom> {
    let is_zero = atom.literal().is_some_and(|literal| literal.as_complex() == Complex64::ZERO);
    if is_zero { None } else { Some(atom) }
}

/// Which of these types are of floats or complex numbers, and so have tangents.
pub(super) fn floats(types: &[ArrayType]) -> Vec<bool> {
    types.iter().map(|ty| ty.dtype.is_inexact()).collect()
}

/// Those for which the flag holds.
pub(super) fn chosen<T: Clone>(all: &[T], flags: &[bool]) -> Vec<T> {
    all.iter().zip(flags).filter(|(_, flag)| **flag).map(|(item, _)| item.clone()).collect()
}

/// Copies a graph's equations. Operands are made as weak as its inputs are, so that they stay well-typed.
pub(super) fn inline_strictly(
    cx: &mut Cx<'_>,
    graph: &Graph,
    operands: &[Atom],
) -> Result<Vec<Atom>, RuleError> {
    let operands = operands.iter().zip(graph.input_types());
    let strict = operands.map(|(operand, ty)| as_weak_as(cx, operand, &ty)).collect::<Result<Vec<_>, _>>()?;
    Ok(cx.inline(graph, &strict))
}

/// An operand made as weak as a type is.
pub(super) fn as_weak_as(cx: &mut Cx<'_>, operand: &Atom, ty: &ArrayType) -> Result<Atom, RuleError> {
    let &ArrayType { dtype, weak, .. } = ty;
    match operand {
        Atom::Splat(splat) => Ok(Atom::Splat(Splat { weak, ..splat.clone() })),
        Atom::Var(_) if cx.ty(operand).weak != weak => cx.bind(Convert { dtype, weak }, &[operand]),
        Atom::Var(_) => Ok(operand.clone()),
    }
}

/// A graph of inputs of these types, and of what a rule makes of them.
pub(super) fn built(
    walks: &dyn Walks,
    name: &str,
    inputs: &[&[ArrayType]],
    outputs: impl FnOnce(&mut Cx<'_>, &[Atom]) -> Result<Vec<Atom>, RuleError>,
) -> Result<Arc<Graph>, RuleError> {
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = inputs.iter().copied().flatten().map(|ty| b.input(ty.clone()).into()).collect();
    let outputs = outputs(&mut Cx::new(&mut b, walks, false), &inputs)?;
    Ok(Arc::new(b.finish(name, outputs)))
}

/// Consecutive parts of these lengths.
pub(super) fn parts<const N: usize>(atoms: &[Atom], lengths: [usize; N]) -> [&[Atom]; N] {
    let mut rest = atoms;
    lengths.map(|length| {
        let (part, after) = rest.split_at(length);
        rest = after;
        part
    })
}
