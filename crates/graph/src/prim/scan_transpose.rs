//! The adjoint of a scan: a scan in the other direction.
//!
//! It carries the cotangents of what was carried and sums of the cotangents of linear constants; it takes what is known
//! of each turn and the cotangents of `ys`, and gives those of linear `xs`. Something carried that is known, as a
//! counter is, is computed in a scan of its own before.

use std::sync::Arc;

use super::nested::{chosen, spread};
use super::scan::settle;
use super::{Add, Scan};
use crate::builder::GraphBuilder;
use crate::error::RuleError;
use crate::graph::{Atom, Graph, Var};
use crate::primitive::{Cx, Operand};
use crate::ty::ArrayType;

pub(super) fn transpose(
    scan: &Scan,
    cx: &mut Cx<'_>,
    operands: &[Operand],
    cotangents: &[Option<Atom>],
) -> Result<Vec<Option<Atom>>, RuleError> {
    let linear = linear_inputs(scan, operands)?;
    let [consts, carries, xs] = scan.groups(operands.len());

    // Something carried has a cotangent if it has one in the end or if a turn, walked backwards, gives it one.
    let (last, ys) = cotangents.split_at(scan.carries);
    let linear_carries = &linear[carries.clone()];
    let has = |(ct, linear): (&Option<Atom>, &bool)| ct.is_some() && *linear;
    let at_last: Vec<bool> = last.iter().zip(linear_carries).map(has).collect();
    let of_ys: Vec<bool> = ys.iter().map(Option::is_some).collect();
    let ((adjoint, nonzero), carried) = settle(at_last, |carried| {
        let (graph, found) = cx.walks().transpose(&scan.body, &linear, &[carried, &of_ys].concat())?;
        let mut found = found.into_iter();
        let nonzero: Vec<bool> = linear.iter().map(|linear| *linear && found.next() == Some(true)).collect();
        let after = nonzero[carries.clone()].to_vec();
        Ok(((graph, nonzero), after))
    })?;
    if !nonzero.contains(&true) && !carried.contains(&true) {
        return Ok(vec![None; operands.len()]);
    }

    let body = Backwards { scan, adjoint: &adjoint, linear: &linear, nonzero: &nonzero, carried: &carried };
    let (body, sums) = body.graph()?;
    let mut inputs = known(&operands[consts.clone()]);
    let known_consts = inputs.len();
    let types = scan.body.input_types();
    for ((ct, ty), _) in last.iter().zip(&types[carries.clone()]).zip(&carried).filter(|(_, has)| **has) {
        inputs.push(ct.clone().unwrap_or_else(|| Atom::fill(ty, 0.0)));
    }
    inputs.extend(sums.iter().map(|ty| Atom::fill(ty, 0.0)));
    let backwards = Scan {
        body: Arc::new(body),
        consts: known_consts,
        carries: inputs.len() - known_consts,
        reverse: !scan.reverse,
        ..scan.clone()
    };
    inputs.extend(known_carries(scan, cx, operands, &linear)?);
    inputs.extend(known(&operands[xs.clone()]));
    inputs.extend(ys.iter().flatten().cloned());
    let mut found = cx.bind_all(backwards, &inputs)?.into_iter();

    // In the order of the scan's results: what is carried, sums, elements.
    let count = carried.iter().filter(|has| **has).count();
    let mut of_carries = spread(found.by_ref().take(count).collect(), &carried);
    for (i, ct) in carries.clone().zip(&mut of_carries) {
        let is_zero = !nonzero[i] && scan.length > 0;
        if is_zero || !operands[i].is_linear() {
            *ct = None;
        }
    }
    let of_consts = spread(found.by_ref().take(sums.len()).collect(), &nonzero[consts]);
    let of_xs = spread(found.collect(), &nonzero[xs]);
    Ok([of_consts, of_carries, of_xs].concat())
}

/// In which inputs the body is linear: something carried is, also where it is known at first (as zeros are), if a turn
/// makes it depend on what is linear.
fn linear_inputs(scan: &Scan, operands: &[Operand]) -> Result<Vec<bool>, RuleError> {
    let given: Vec<bool> = operands.iter().map(Operand::is_linear).collect();
    let carries = scan.groups(operands.len())[1].clone();
    let ((), carried) = settle(given[carries].to_vec(), |carried| {
        let known: Vec<bool> = scan.with_carried(&given, carried).iter().map(|linear| !linear).collect();
        let depends = scan.body.depends_beyond(&known);
        let linear = |atom: &Atom| atom.var().is_some_and(|var| depends[var.0 as usize]);
        Ok(((), scan.body.outputs[..scan.carries].iter().map(linear).collect()))
    })?;
    Ok(scan.with_carried(&given, &carried))
}

fn known(operands: &[Operand]) -> Vec<Atom> {
    operands.iter().filter_map(Operand::known).cloned().collect()
}

/// The values that each turn has of what is carried and known.
fn known_carries(
    scan: &Scan,
    cx: &mut Cx<'_>,
    operands: &[Operand],
    linear: &[bool],
) -> Result<Vec<Atom>, RuleError> {
    let body = &scan.body;
    let is_known: Vec<bool> = linear.iter().map(|linear| !linear).collect();
    let [consts, carries, xs] = scan.groups(operands.len());
    let of_known = |group: std::ops::Range<usize>| chosen(&body.inputs[group.clone()], &is_known[group]);
    let values: Vec<Atom> = of_known(carries.clone()).into_iter().map(Atom::Var).collect();
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let after = chosen(&body.outputs[..scan.carries], &is_known[carries.clone()]);
    let inputs: Vec<Var> = [of_known(consts.clone()), of_known(carries), of_known(xs)].concat();
    let count = values.len();
    let forwards = Scan {
        body: Arc::new(body.pure_part(format!("{}_known", body.name), &inputs, &[after, values].concat())),
        consts: of_known(consts).len(),
        carries: count,
        ..scan.clone()
    };
    // Linear operands are not among them; what is carried and linear, but known at first, is left out.
    let atoms: Vec<Atom> = (operands.iter().zip(&is_known))
        .filter(|(_, known)| **known)
        .filter_map(|(operand, _)| operand.known().cloned())
        .collect();
    Ok(cx.bind_all(forwards, &atoms)?.split_off(count))
}

/// What the body of the backward scan is made of.
struct Backwards<'a> {
    scan: &'a Scan,
    /// From known inputs and cotangents of results to nonzero cotangents of linear inputs.
    adjoint: &'a Graph,
    /// In which inputs the body is linear.
    linear: &'a [bool],
    /// Which inputs have a cotangent.
    nonzero: &'a [bool],
    /// Which of what is carried has a cotangent in some turn.
    carried: &'a [bool],
}

impl Backwards<'_> {
    /// From known constants, then the cotangents of what is carried and the sums, then what is known of each turn and
    /// the cotangents of `ys`. Says of which types the sums are.
    fn graph(&self) -> Result<(Graph, Vec<ArrayType>), RuleError> {
        let [consts, carries, xs] = self.scan.groups(self.linear.len());
        let mut b = GraphBuilder::new();
        let types = self.adjoint.input_types();
        let is_known = |group: std::ops::Range<usize>| self.linear[group].iter().filter(|l| !**l).count();
        let fixed = is_known(consts.clone());
        let known = fixed + is_known(carries.clone()) + is_known(xs.clone());
        let moving = known + self.carried.iter().filter(|has| **has).count();
        let take = |b: &mut GraphBuilder, types: &[ArrayType]| -> Vec<Atom> {
            types.iter().map(|ty| b.input(ty.clone()).into()).collect()
        };
        let known_consts = take(&mut b, &types[..fixed]);
        let of_carries = take(&mut b, &types[known..moving]);
        // One for each linear constant whose cotangent is not zero: the first outputs of the adjoint.
        let count = self.nonzero[consts.clone()].iter().filter(|nonzero| **nonzero).count();
        let sum_types = self.adjoint.output_types()[..count].to_vec();
        let sums = take(&mut b, &sum_types);
        let known_elements = take(&mut b, &types[fixed..known]);
        let of_ys = take(&mut b, &types[moving..]);

        let operands = [known_consts, known_elements, of_carries, of_ys].concat();
        let mut found = b.inline(self.adjoint, &operands).into_iter();
        let mut totals = Vec::with_capacity(count);
        for sum in sums {
            let term = found.next().expect("one cotangent for each sum");
            totals.push(b.bind1(Add {}, &[sum, term])?);
        }
        let inputs = self.scan.body.input_types();
        let mut outputs = Vec::new();
        for (i, has) in carries.zip(self.carried) {
            match self.nonzero[i] {
                true => outputs.extend(found.next()),
                false if *has => outputs.push(Atom::fill(&inputs[i], 0.0)),
                false => {}
            }
        }
        outputs.extend(totals);
        outputs.extend(found);
        Ok((b.finish(self.adjoint.name.as_str(), outputs), sum_types))
    }
}
