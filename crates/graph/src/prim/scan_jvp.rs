//! The derivative of a scan.
//!
//! Something carried has a tangent if it has one at first or if a turn gives it one, which is found by trying until
//! nothing changes; one that is zero at first enters the scan as an array of zeros.
//!
//! While linearizing there are two scans. The first passes out what the second reads, as further `ys`: but not what is
//! the same in every turn, which is computed before the loop, nor what is an element of an operand or a result.

use std::sync::Arc;

use super::Scan;
use super::nested::{inline_strictly, spread};
use super::scan::{regrouped, settle};
use crate::error::RuleError;
use crate::graph::{Atom, Graph, Var};
use crate::primitive::{Cx, Jvp, Linearized};

pub(super) fn jvp(
    scan: &Scan,
    cx: &mut Cx<'_>,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<Jvp, RuleError> {
    if cx.linearizing() { apart(scan, cx, primals, tangents) } else { together(scan, cx, primals, tangents) }
}

/// The tangents of operands as the scan takes them.
struct Tangents {
    /// Which operands have one.
    active: Vec<bool>,
    /// For each operand, its tangent; zeros for what is carried and gets one later.
    atoms: Vec<Option<Atom>>,
    /// Which results of the body have one.
    results: Vec<bool>,
}

impl Tangents {
    fn new(scan: &Scan, tangents: &[Option<Atom>], carried: &[bool], results: Vec<bool>) -> Tangents {
        let given: Vec<bool> = tangents.iter().map(Option::is_some).collect();
        let active = scan.with_carried(&given, carried);
        let types = scan.body.input_types();
        let atoms = tangents.iter().zip(&active).zip(&types).map(|((tangent, active), ty)| {
            // Only what is carried is active without a tangent.
            tangent.clone().or_else(|| active.then(|| Atom::fill(ty, 0.0)))
        });
        Tangents { atoms: atoms.collect(), active, results }
    }

    /// How many of some operands have one.
    fn count(&self, operands: std::ops::Range<usize>) -> usize {
        self.active[operands].iter().filter(|active| **active).count()
    }

    /// The tangents of what is carried after a turn, from those that are not zero: zeros for the others.
    fn carried_on(&self, scan: &Scan, body: &mut impl Iterator<Item = Atom>) -> Vec<Atom> {
        let types = scan.body.input_types();
        let carried = scan.groups(types.len())[1].clone();
        let mut atoms = Vec::new();
        for (i, has) in carried.zip(&self.results) {
            match has {
                true => atoms.extend(body.next()),
                false if self.active[i] => atoms.push(Atom::fill(&types[i], 0.0)),
                false => {}
            }
        }
        atoms
    }

    /// The tangents of the scan's results, from those that it computes. What every turn makes zero is zero after one.
    fn of_results(&self, scan: &Scan, found: Vec<Atom>) -> Vec<Option<Atom>> {
        let carried = &self.active[scan.consts..scan.consts + scan.carries];
        let (last, ys) = self.results.split_at(scan.carries);
        let computed: Vec<bool> = carried.iter().chain(ys).copied().collect();
        let mut tangents = spread(found, &computed);
        for (tangent, has) in tangents.iter_mut().zip(last) {
            if !has && scan.length > 0 {
                *tangent = None;
            }
        }
        tangents
    }
}

/// One scan of results and tangents.
fn together(
    scan: &Scan,
    cx: &mut Cx<'_>,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<Jvp, RuleError> {
    let given: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let [consts, carries, xs] = scan.groups(primals.len());
    let ((both, has), carried) = settle(given[carries.clone()].to_vec(), |carried| {
        let (graph, has) = cx.walks().jvp(&scan.body, &scan.with_carried(&given, carried))?;
        let after = has[..scan.carries].to_vec();
        Ok(((graph, has), after))
    })?;
    let tangents = Tangents::new(scan, tangents, &carried, has);

    // The tangents follow the primals in each group.
    let (mut order, mut operands, mut next) = (Vec::new(), Vec::new(), primals.len());
    for group in [&consts, &carries, &xs] {
        let count = tangents.count(group.clone());
        order.extend(group.clone().chain(next..next + count));
        operands.extend_from_slice(&primals[group.clone()]);
        operands.extend(tangents.atoms[group.clone()].iter().flatten().cloned());
        next += count;
    }
    let body = regrouped(&both, &order, |outputs| {
        let mut outputs = outputs.into_iter();
        let last: Vec<Atom> = outputs.by_ref().take(scan.carries).collect();
        let ys: Vec<Atom> = outputs.by_ref().take(scan.body.outputs.len() - scan.carries).collect();
        let carried_on = tangents.carried_on(scan, &mut outputs);
        last.into_iter().chain(carried_on).chain(ys).chain(outputs).collect()
    });
    let carries = scan.carries + tangents.count(carries);
    let whole =
        Scan { body: Arc::new(body), consts: scan.consts + tangents.count(consts), carries, ..scan.clone() };
    let mut results = cx.bind_all(whole, &operands)?;
    let mut ys = results.split_off(carries);
    let mut found = results.split_off(scan.carries);
    found.extend(ys.split_off(scan.body.outputs.len() - scan.carries));
    results.extend(ys);
    Ok(Jvp { primals: results, tangents: tangents.of_results(scan, found) })
}

/// A scan of results and residuals, and one of tangents.
fn apart(
    scan: &Scan,
    cx: &mut Cx<'_>,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<Jvp, RuleError> {
    let given: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let [consts, carries, xs] = scan.groups(primals.len());
    let (split, carried) = settle(given[carries.clone()].to_vec(), |carried| {
        let split = cx.walks().linearize(&scan.body, &scan.with_carried(&given, carried))?;
        let after = split.tangents[..scan.carries].to_vec();
        Ok((split, after))
    })?;
    let Linearized { primal, linear, tangents: has } = split;
    let tangents = Tangents::new(scan, tangents, &carried, has);
    let (results, residuals) = first_scan(scan, cx, &primal, primals)?;

    // What is the same in every turn is a constant of the second scan, the rest it takes element by element.
    let (mut order, mut operands) = (Vec::new(), Vec::new());
    let mut next = residuals.len();
    let mut of_group = |order: &mut Vec<usize>, operands: &mut Vec<Atom>, group: &std::ops::Range<usize>| {
        let count = tangents.count(group.clone());
        order.extend(next..next + count);
        operands.extend(tangents.atoms[group.clone()].iter().flatten().cloned());
        next += count;
    };
    let residuals_of = |order: &mut Vec<usize>, operands: &mut Vec<Atom>, each: bool| {
        for (i, residual) in residuals.iter().enumerate().filter(|(_, residual)| residual.each == each) {
            order.push(i);
            operands.push(residual.atom.clone());
        }
    };
    residuals_of(&mut order, &mut operands, false);
    of_group(&mut order, &mut operands, &consts);
    let second_consts = order.len();
    of_group(&mut order, &mut operands, &carries);
    residuals_of(&mut order, &mut operands, true);
    of_group(&mut order, &mut operands, &xs);

    if !tangents.results.contains(&true) && tangents.count(carries.clone()) == 0 {
        return Ok(Jvp { tangents: vec![None; results.len()], primals: results });
    }
    let body = regrouped(&linear, &order, |outputs| {
        let mut outputs = outputs.into_iter();
        let carried_on = tangents.carried_on(scan, &mut outputs);
        carried_on.into_iter().chain(outputs).collect()
    });
    let second = Scan {
        body: Arc::new(body),
        consts: second_consts,
        carries: tangents.count(carries),
        ..scan.clone()
    };
    let found = cx.bind_all(second, &operands)?;
    Ok(Jvp { primals: results, tangents: tangents.of_results(scan, found) })
}

/// Something that the second scan reads.
struct Residual {
    /// Where it is.
    atom: Atom,
    /// Whether each turn has its own element of it.
    each: bool,
}

/// Applies the scan that computes results and residuals: `primal` gives the body's results and then what is read of
/// each turn. Gives the scan's results, and what is read.
fn first_scan(
    scan: &Scan,
    cx: &mut Cx<'_>,
    primal: &Graph,
    primals: &[Atom],
) -> Result<(Vec<Atom>, Vec<Residual>), RuleError> {
    let (results, read) = primal.outputs.split_at(scan.body.outputs.len());
    let [consts, carries, xs] = scan.groups(primals.len());
    // What a turn carries on as it is, is the same in every turn.
    let same: Vec<bool> = (0..primals.len())
        .map(|i| {
            let unchanged = |i: usize| results[i - scan.consts] == Atom::Var(primal.inputs[i]);
            consts.contains(&i) || (carries.contains(&i) && unchanged(i))
        })
        .collect();
    let varies = primal.depends_beyond(&same);

    // Computed before the loop.
    let mut before: Vec<Var> = Vec::new();
    for var in read.iter().filter_map(Atom::var) {
        if !varies[var.0 as usize] && !primal.inputs.contains(&var) && !before.contains(&var) {
            before.push(var);
        }
    }
    let (from, operands): (Vec<Var>, Vec<Atom>) = (primal.inputs.iter().zip(primals).zip(&same))
        .filter(|(_, same)| **same)
        .map(|((&var, atom), _)| (var, atom.clone()))
        .unzip();
    let outputs: Vec<Atom> = before.iter().map(|&var| var.into()).collect();
    let invariant = primal.pure_part(format!("{}_before", scan.body.name), &from, &outputs);
    let computed = if before.is_empty() { Vec::new() } else { inline_strictly(cx, &invariant, &operands)? };

    let mut ys = results[scan.carries..].to_vec();
    /// Where a residual is found.
    enum Place {
        Operand(usize),
        Before(usize),
        Y(usize),
    }
    let places: Vec<Place> = (read.iter())
        .map(|atom| {
            let operand = primal.input_number(atom).filter(|i| same[*i] || xs.contains(i));
            let invariant = atom.var().and_then(|var| before.iter().position(|&other| other == var));
            match (operand, invariant) {
                (Some(i), _) => Place::Operand(i),
                (None, Some(i)) => Place::Before(i),
                (None, None) => Place::Y(ys.iter().position(|y| y == atom).unwrap_or_else(|| {
                    ys.push(atom.clone());
                    ys.len() - 1
                })),
            }
        })
        .collect();

    let inputs = [&primal.inputs[consts.clone()], &before, &primal.inputs[scan.consts..]].concat();
    let outputs = [&results[..scan.carries], &ys].concat();
    let first = Scan {
        body: Arc::new(primal.part(primal.name.as_str(), &inputs, &outputs)),
        consts: scan.consts + before.len(),
        ..scan.clone()
    };
    let operands = [&primals[consts], &computed, &primals[scan.consts..]].concat();
    let mut found = cx.bind_all(first, &operands)?;
    let residuals = places.into_iter().map(|place| match place {
        Place::Operand(i) => Residual { atom: primals[i].clone(), each: xs.contains(&i) },
        Place::Before(i) => Residual { atom: computed[i].clone(), each: false },
        Place::Y(i) => Residual { atom: found[scan.carries + i].clone(), each: true },
    });
    let residuals = residuals.collect();
    found.truncate(scan.body.outputs.len());
    Ok((found, residuals))
}
