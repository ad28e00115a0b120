//! A scan over a batch: a scan of the batched body. What is carried is batched if it is so at first or if a turn makes
//! it so. The axis that is walked along stays the leading one of `xs` and `ys`; the batch axis is the next.

use std::sync::Arc;

use super::nested::wrapped;
use super::scan::settle;
use super::{Permute, Scan};
use crate::error::RuleError;
use crate::graph::Atom;
use crate::primitive::{Batched, Cx};

pub(super) fn batch(
    scan: &Scan,
    cx: &mut Cx<'_>,
    size: usize,
    operands: &[Batched],
) -> Result<Vec<Batched>, RuleError> {
    let given: Vec<bool> = operands.iter().map(|operand| operand.batched).collect();
    let [_, carries, xs] = scan.groups(operands.len());
    let ((graph, has_axis), carried) = settle(given[carries.clone()].to_vec(), |carried| {
        let (graph, has_axis) = cx.walks().batch(&scan.body, size, &scan.with_carried(&given, carried))?;
        let after = has_axis[..scan.carries].to_vec();
        Ok(((graph, has_axis), after))
    })?;

    let name = graph.name.clone();
    let walks = cx.walks();
    let body = wrapped(&graph, name, |b, mut results| {
        let mut cx = Cx::new(b, walks, false);
        for (k, result) in results[..scan.carries].iter_mut().enumerate().filter(|(k, _)| carried[*k]) {
            *result = cx.batch_one(size, &Batched { atom: result.clone(), batched: has_axis[k] })?;
        }
        Ok(results)
    })?;

    let mut atoms: Vec<Atom> = operands.iter().map(|operand| operand.atom.clone()).collect();
    for (i, carried) in carries.zip(&carried) {
        if *carried {
            atoms[i] = cx.batch_one(size, &operands[i])?;
        }
    }
    for i in xs.filter(|i| given[*i]) {
        atoms[i] = swap_leading(cx, &atoms[i])?;
    }
    let mut results = cx.bind_all(Scan { body: Arc::new(body), ..scan.clone() }, &atoms)?;
    for (ys, has_axis) in results.iter_mut().zip(&has_axis).skip(scan.carries) {
        if *has_axis {
            *ys = swap_leading(cx, ys)?;
        }
    }
    let flags = carried.iter().chain(&has_axis[scan.carries..]);
    Ok(results.into_iter().zip(flags).map(|(atom, &batched)| Batched { atom, batched }).collect())
}

/// The array with its first two axes exchanged.
fn swap_leading(cx: &mut Cx<'_>, atom: &Atom) -> Result<Atom, RuleError> {
    let rank = cx.ty(atom).rank();
    cx.bind(Permute { axes: [1, 0].into_iter().chain(2..rank).collect() }, &[atom])
}
