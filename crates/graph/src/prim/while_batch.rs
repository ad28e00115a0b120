//! A batch of loops.
//!
//! Where all of them end together, the batch is one loop of the batched body. Where each has an end of its own, there
//! are two ways:
//!
//! - an `each` of loops: machine code runs every element's own loop, for as many trips as that element takes;
//! - one loop with a mask, which goes on while any element does and holds those that have ended. Every trip computes
//!   the whole batch, but products of a matrix with one vector each become a product of matrices.
//!
//! The second pays where such a product is most of the work, see [`pays_to_mask`]. It is not used around another loop:
//! that would run on the elements that have ended too, and nobody says that it ends there.

use std::sync::Arc;

use super::each::batch_each;
use super::nested::{batch_whole, built, inline_strictly, parts, wrapped};
use super::{Broadcast, Prim, ReduceOr, Select, While};
use crate::error::RuleError;
use crate::graph::{Atom, Equation, Graph};
use crate::primitive::{Batched, Cx};
use crate::ty::ArrayType;

/// So many multiplications in one product of a body are worth a mask.
const MANY_PRODUCTS: usize = 1024;

/// The loop over a batch.
pub(super) fn batch(
    cx: &mut Cx<'_>,
    looped: &While,
    size: usize,
    operands: &[Batched],
) -> Result<Vec<Batched>, RuleError> {
    let (cond_consts, consts, carries) = looped.split(operands);
    let mut carried = flags(carries);
    // A carry that starts without the batch axis may get it from another.
    let (cond, body, has_axis) = loop {
        let (cond, ends) =
            cx.walks().batch(&looped.cond, size, &[flags(cond_consts), carried.clone()].concat())?;
        if ends[0] {
            return batch_of_ends(cx, looped, size, operands);
        }
        let (body, has_axis) =
            cx.walks().batch(&looped.body, size, &[flags(consts), carried.clone()].concat())?;
        let more: Vec<bool> = carried.iter().zip(&has_axis).map(|(had, made)| *had || *made).collect();
        if more == carried {
            break (cond, body, has_axis);
        }
        carried = more;
    };
    let name = body.name.clone();
    let walks = cx.walks();
    let body = wrapped(&body, name, |b, results| {
        let mut cx = Cx::new(b, walks, false);
        let results = results.into_iter().zip(&has_axis).zip(&carried);
        let results =
            results.map(
                |((atom, &batched), &carried)| {
                    if carried { cx.batch_one(size, &Batched { atom, batched }) } else { Ok(atom) }
                },
            );
        results.collect()
    })?;
    let mut atoms: Vec<Atom> = cond_consts.iter().chain(consts).map(|operand| operand.atom.clone()).collect();
    for (operand, &carried) in carries.iter().zip(&carried) {
        atoms.push(if carried { cx.batch_one(size, operand)? } else { operand.atom.clone() });
    }
    let batched = While { cond: Arc::new(cond), body: Arc::new(body), ..looped.clone() };
    let results = cx.bind_all(batched, &atoms)?.into_iter().zip(carried);
    Ok(results.map(|(atom, batched)| Batched { atom, batched }).collect())
}

fn flags(operands: &[Batched]) -> Vec<bool> {
    operands.iter().map(|operand| operand.batched).collect()
}

/// Each element of the batch ends by itself.
fn batch_of_ends(
    cx: &mut Cx<'_>,
    looped: &While,
    size: usize,
    operands: &[Batched],
) -> Result<Vec<Batched>, RuleError> {
    if !pays_to_mask(&looped.body) {
        return batch_each(cx, looped.clone().into(), size, operands);
    }
    let (cond_consts, consts, carries) = looped.split(operands);
    let all = vec![true; carries.len()];
    let goes_on = batch_whole(cx, &looped.cond, size, &[flags(cond_consts), all.clone()].concat())?;
    let step = batch_whole(cx, &looped.body, size, &[flags(consts), all].concat())?;
    let mut cond_types = goes_on.input_types();
    cond_types.truncate(cond_consts.len());
    let step_types = step.input_types();
    let (const_types, carry_types) = step_types.split_at(consts.len());
    let cond = built(cx.walks(), &goes_on.name, &[&goes_on.input_types()], |cx, inputs| {
        let each = cx.inline(&goes_on, inputs);
        Ok(vec![cx.bind(ReduceOr { axes: vec![0] }, &[&each[0]])?])
    })?;
    let inputs: [&[ArrayType]; 3] = [&cond_types, const_types, carry_types];
    let lengths = inputs.map(<[ArrayType]>::len);
    let body = built(cx.walks(), &step.name, &inputs, |cx, inputs| {
        let [cond_consts, consts, old] = parts(inputs, lengths);
        let each = inline_strictly(cx, &goes_on, &[cond_consts, old].concat())?;
        let new = cx.inline(&step, &[consts, old].concat());
        let held = new.iter().zip(old).map(|(new, old)| {
            let shape = cx.ty(old).shape;
            let mask = cx.bind(Broadcast { shape, axes: vec![0] }, &[&each[0]])?;
            cx.bind(Select {}, &[&mask, new, old])
        });
        held.collect()
    })?;
    let masked =
        While { cond, body, cond_consts: cond_consts.len(), body_consts: cond_consts.len() + consts.len() };
    let atoms = |operands: &[Batched]| -> Vec<Atom> { operands.iter().map(|o| o.atom.clone()).collect() };
    let cond_consts = atoms(cond_consts);
    let operands = [cond_consts.clone(), cond_consts, atoms(consts), cx.batch_all(size, carries)?].concat();
    Ok(cx.bind_all(masked, &operands)?.into_iter().map(Batched::yes).collect())
}

/// Whether a body is better run on the whole batch while any element goes on: it has a product of at least
/// [`MANY_PRODUCTS`] multiplications, and no loop inside.
fn pays_to_mask(body: &Graph) -> bool {
    any_equation(body, &|graph, equation| multiplications(graph, equation) >= MANY_PRODUCTS)
        && !any_equation(body, &|_, equation| matches!(equation.prim, Prim::While(_)))
}

/// How often a product of arrays multiplies.
fn multiplications(graph: &Graph, equation: &Equation) -> usize {
    let Prim::DotGeneral(dot) = &equation.prim else { return 0 };
    let factor = graph.atom_type(&equation.inputs[0]);
    let summed: usize = dot.a_contract.iter().map(|&axis| factor.shape.size(axis)).product();
    summed * graph.ty(equation.outputs[0]).shape.len()
}

/// Whether something holds of an equation, at any depth.
fn any_equation(graph: &Graph, holds: &dyn Fn(&Graph, &Equation) -> bool) -> bool {
    graph.equations.iter().any(|equation| {
        let mut found = holds(graph, equation);
        equation.prim.rules().each_param(&mut |_, value| {
            found = found || value.graphs().iter().any(|graph| any_equation(graph, holds));
        });
        found
    })
}
