//! APIs are taken away around their functions: what a function did is done in its place.

use super::Strategy;
use super::edit::{Change, edit, zeros};
use crate::tree::{ApiCall, Body, CallTree, Name, Operand, Statement};

pub(super) struct Unwrap;

/// The functions of a tree, each with the number of its statement and its place in the call.
fn functions(tree: &CallTree) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    edit(tree, &mut |number, statement| {
        if let Statement::Api(call) = statement {
            all.extend((0..call.bodies.len()).map(|at| (number, at)));
        }
        Change::Keep
    });
    all
}

/// The statements of a function, with arguments for parameters, and what the results are then.
fn inlined(call: &ApiCall, body: &Body) -> (Vec<Statement>, Vec<(Name, Operand)>) {
    let mut arguments = call.arguments.iter().flat_map(|(_, form)| form.leaves());
    let mut instead: Vec<(Name, Operand)> = Vec::new();
    for typed in &body.parameters {
        let given = arguments.next().filter(|operand| operand.ty().matches(&typed.ty));
        instead.push((typed.name, given.cloned().unwrap_or_else(|| zeros(&typed.ty))));
    }
    let mut returned = body.returned.iter().flat_map(|form| form.leaves());
    for typed in call.results.iter().flat_map(|form| form.leaves()) {
        let given = returned.next().filter(|operand| operand.ty().matches(&typed.ty));
        instead.push((typed.name, given.cloned().unwrap_or_else(|| zeros(&typed.ty))));
    }
    (body.statements.clone(), instead)
}

impl Strategy for Unwrap {
    fn name(&self) -> &'static str {
        "unwrap calls"
    }

    fn places(&self, tree: &CallTree) -> usize {
        functions(tree).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let all = functions(tree);
        let chosen: Vec<(usize, usize)> =
            places.iter().filter_map(|&place| all.get(place).copied()).collect();
        edit(tree, &mut |number, statement| {
            let found = chosen.iter().rev().find(|(statement, _)| *statement == number);
            match (statement, found) {
                (Statement::Api(call), Some(&(_, at))) => {
                    let (statements, instead) = inlined(call, &call.bodies[at]);
                    Change::Become(statements, instead)
                }
                _ => Change::Keep,
            }
        })
    }
}
