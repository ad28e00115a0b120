//! Functions return something earlier: in the place of results that nobody uses, one value that they computed on the
//! way. What came after it goes, and what only that needed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracewell_trace::{Api, Form};

use super::Strategy;
use super::edit::{Change, edit};
use crate::folder::map_operands;
use crate::tree::{ApiCall, Body, CallTree, Name, Operand, Statement, Typed};

pub(super) struct Earlier;

/// The names of all values that are used in a function.
fn used(body: &Body) -> BTreeSet<Name> {
    let mut all = BTreeSet::new();
    map_operands(body, &mut |operand| {
        if let Operand::Var(typed) = operand {
            all.insert(typed.name);
        }
        operand.clone()
    });
    all
}

/// The values that calls could return, in order, each with the number of its call.
fn values(tree: &CallTree) -> Vec<(usize, Typed)> {
    let used = used(&tree.main);
    let mut all = Vec::new();
    edit(tree, &mut |number, statement| {
        if let Statement::Api(call) = statement
            && matches!(call.api, Api::Jit | Api::Checkpoint)
            && !statement.results().iter().any(|typed| used.contains(&typed.name))
            && let [body] = call.bodies.as_slice()
            && body.returned.is_some()
        {
            let made = body.statements.iter().flat_map(Statement::results);
            all.extend(made.map(|typed| (number, typed.clone())));
        }
        Change::Keep
    });
    all
}

/// The function up to where a value is made, which it returns.
fn until(body: &Body, value: &Typed) -> Body {
    let makes = |statement: &Statement| statement.results().iter().any(|typed| typed.name == value.name);
    let end = body.statements.iter().position(makes).map_or(body.statements.len(), |at| at + 1);
    let mut needed = BTreeSet::from([value.name]);
    let mut left: Vec<Statement> = Vec::new();
    for statement in body.statements[..end].iter().rev() {
        let results = statement.results();
        let is_needed = results.is_empty() || results.iter().any(|typed| needed.contains(&typed.name));
        if is_needed {
            let alone = Body { statements: vec![statement.clone()], ..Body::main(body.location.clone()) };
            needed.extend(used(&alone));
            left.push(statement.clone());
        }
    }
    left.reverse();
    Body { statements: left, returned: Some(Form::Leaf(Operand::Var(value.clone()))), ..body.clone() }
}

/// The call with that value as its only result.
fn returning(call: &ApiCall, value: &Typed) -> ApiCall {
    let bodies = call.bodies.iter().map(|body| Arc::new(until(body, value))).collect();
    let first = call.results.as_ref().and_then(|form| form.leaves().first().map(|typed| typed.name));
    let results = first.map(|name| Form::Leaf(Typed { name, ty: value.ty.clone() }));
    ApiCall { bodies, results, ..call.clone() }
}

impl Strategy for Earlier {
    fn name(&self) -> &'static str {
        "return earlier"
    }

    fn places(&self, tree: &CallTree) -> usize {
        values(tree).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let all = values(tree);
        let mut chosen: BTreeMap<usize, &Typed> = BTreeMap::new();
        for (number, value) in places.iter().filter_map(|&at| all.get(at)) {
            // Of several values of a call, the earliest.
            chosen.entry(*number).or_insert(value);
        }
        // From the last call: numbers of those before stay what they are.
        chosen.iter().rev().fold(tree.clone(), |tree, (&wanted, value)| {
            edit(&tree, &mut |number, statement| match statement {
                Statement::Api(call) if number == wanted => {
                    Change::Into(Statement::Api(Arc::new(returning(call, value))))
                }
                _ => Change::Keep,
            })
        })
    }
}
