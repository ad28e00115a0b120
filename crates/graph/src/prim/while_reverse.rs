//! The reverse mode of a loop whose number of trips is known only when it has run.
//!
//! The primal part runs the loop and keeps some snapshots of what it carries (`while_record.rs`). The linear part is a
//! `linear_call`: forwards, the loop runs again with tangents, as often as it did; backwards, see `while_back.rs`, where
//! also is said what it costs.

use std::sync::Arc;

use super::nested::{built, chosen, inline_strictly, parts, spread};
use super::while_back::{Back, Pull};
use super::while_loop::{Pushed, tangents_or_zeros};
use super::while_record::{known, record, repeated, room};
use super::{LinearCall, Reshape, Slice, While};
use crate::error::RuleError;
use crate::graph::{Atom, Graph};
use crate::primitive::{Cx, Jvp};
use crate::ty::ArrayType;

/// The derivative in two parts: a loop that keeps `count` snapshots, and a linear map.
pub(super) fn linearized(
    cx: &mut Cx<'_>,
    looped: &While,
    pushed: &Pushed,
    count: usize,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<Jvp, RuleError> {
    let (results, record) = record(cx, looped, count, primals)?;
    let loops = Loops::new(looped, pushed, count);
    let pull = loops.pull(cx)?;
    let back = Back::new(looped, count, pull, &loops.const_tangents, &loops.carry_tangents);
    let linear =
        LinearCall { known: loops.known.len(), forward: loops.forward(cx)?, adjoint: back.adjoint(cx)? };
    let (_, consts, _) = looped.split(primals);
    let (_, const_tangents, carry_tangents) = looped.split(tangents);
    let const_tangents: Vec<Atom> = const_tangents.iter().flatten().cloned().collect();
    let carry_tangents = tangents_or_zeros(&loops.carries, carry_tangents, &pushed.carries);
    let operands = [&record.atoms()[..], consts, &const_tangents, &carry_tangents].concat();
    let found = cx.bind_all(linear, &operands)?;
    Ok(Jvp { primals: results, tangents: spread(found, &pushed.carries) })
}

/// A loop with its derivative, and the types that the linear part is made of.
struct Loops<'l> {
    looped: &'l While,
    pushed: &'l Pushed,
    /// Of the record and the body's constants.
    known: Vec<ArrayType>,
    /// Of the body's constants, and of the tangents of those that vary.
    consts: Vec<ArrayType>,
    const_tangents: Vec<ArrayType>,
    /// Of the carries, and of the tangents of those that vary.
    carries: Vec<ArrayType>,
    carry_tangents: Vec<ArrayType>,
}

impl<'l> Loops<'l> {
    fn new(looped: &'l While, pushed: &'l Pushed, count: usize) -> Loops<'l> {
        let (_, consts, carries) = looped.types();
        Loops {
            looped,
            pushed,
            known: known(&room(&carries, count), &consts),
            const_tangents: chosen(&consts, &pushed.consts),
            carry_tangents: chosen(&carries, &pushed.carries),
            consts,
            carries,
        }
    }

    /// From the coefficients and tangents to tangents: the loop again, with tangents, from the first snapshot.
    fn forward(&self, cx: &Cx<'_>) -> Result<Arc<Graph>, RuleError> {
        let inputs: [&[ArrayType]; 3] = [&self.known, &self.const_tangents, &self.carry_tangents];
        let lengths = inputs.map(<[ArrayType]>::len);
        let pushing = While {
            cond: self.looped.cond.clone(),
            body: self.pushed.body.clone(),
            cond_consts: 0,
            body_consts: self.consts.len() + self.const_tangents.len(),
        };
        let again = repeated(cx, &pushing)?;
        built(cx.walks(), "while_forward", &inputs, |cx, inputs| {
            let [known, const_tangents, carry_tangents] = parts(inputs, lengths);
            let [numbers, snapshots, consts] = parts(known, [3, self.carries.len(), self.consts.len()]);
            let mut first = Vec::with_capacity(snapshots.len());
            for all in snapshots {
                first.push(first_of(cx, all)?);
            }
            let operands = [consts, const_tangents, &numbers[..1], &first, carry_tangents].concat();
            Ok(cx.bind_all(again, &operands)?.split_off(1 + first.len()))
        })
    }

    /// The pullback of one trip. Nothing of the trip is computed but what the pullback reads.
    fn pull(&self, cx: &Cx<'_>) -> Result<Pull, RuleError> {
        let active = [&self.pushed.consts[..], &self.pushed.carries].concat();
        let split = cx.walks().checkpoint(&self.looped.body, &active, &|_| false)?;
        let residuals = split.again.outputs.len();
        let linear: Vec<bool> = (0..split.linear.inputs.len()).map(|i| i >= residuals).collect();
        let given = vec![true; split.linear.outputs.len()];
        let (adjoint, nonzero) = cx.walks().transpose(&split.linear, &linear, &given)?;
        let moves = chosen(&split.tangents, &self.pushed.carries);
        let inputs: [&[ArrayType]; 3] = [&self.consts, &self.carries, &self.carry_tangents];
        let graph = built(cx.walks(), &adjoint.name, &inputs, |cx, inputs| {
            let (operands, cotangents) = inputs.split_at(self.consts.len() + self.carries.len());
            let kept = split.primal.outputs[self.carries.len()..].iter();
            let kept: Vec<Atom> = kept
                .map(|atom| {
                    let input = split.primal.inputs.iter().position(|&var| *atom == Atom::Var(var));
                    operands[input.expect("only inputs are kept")].clone()
                })
                .collect();
            let mut operands = inline_strictly(cx, &split.again, &kept)?;
            operands.extend(chosen(cotangents, &moves));
            inline_strictly(cx, &adjoint, &operands)
        })?;
        Ok(Pull { graph, nonzero })
    }
}

/// The first element along the leading axis.
fn first_of(cx: &mut Cx<'_>, all: &Atom) -> Result<Atom, RuleError> {
    let shape = cx.ty(all).shape;
    let first = cx.bind(Slice::along(&shape, 0, 0, 1), &[all])?;
    cx.bind(Reshape { shape: shape.remove(0) }, &[&first])
}
