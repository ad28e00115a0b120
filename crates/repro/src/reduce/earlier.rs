//! Functions return something earlier: in the place of results that nobody uses, one value that they computed on the
//! way, or what a result was computed from. What came after it goes, and what only that needed.

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

/// What calls could return, the earliest first, each with the number of its call.
fn values(tree: &CallTree) -> Vec<(usize, Vec<Typed>)> {
    let used = used(&tree.main);
    let mut all = Vec::new();
    edit(tree, &mut |number, statement| {
        if let Statement::Api(call) = statement
            && matches!(call.api, Api::Jit | Api::Checkpoint | Api::Contract)
            && !statement.results().iter().any(|typed| used.contains(&typed.name))
            && let [body] = call.bodies.as_slice()
            && body.returned.is_some()
        {
            let made = body.statements.iter().flat_map(Statement::results);
            all.extend(made.map(|typed| (number, vec![typed.clone()])));
            // Names of several results are needed where a call has returned.
            if call.results.is_none() {
                all.extend(sources(body).into_iter().map(|values| (number, values)));
            }
        }
        Change::Keep
    });
    all
}

/// For each result of a function, the values that it was computed from, if these are several.
fn sources(body: &Body) -> Vec<Vec<Typed>> {
    let var = |operand: &Operand| match operand {
        Operand::Var(typed) => Some(typed.clone()),
        _ => None,
    };
    let returned = body.returned.iter().flat_map(|form| form.leaves()).filter_map(var);
    let producers = returned.filter_map(|result| {
        let makes =
            |statement: &&Statement| statement.results().iter().any(|typed| typed.name == result.name);
        body.statements.iter().find(makes)
    });
    let sources =
        producers.map(|statement| statement.operands().into_iter().filter_map(var).collect::<Vec<_>>());
    sources.filter(|values| values.len() > 1).collect()
}

/// The function up to where values are made, which it returns.
fn until(body: &Body, values: &[Typed]) -> Body {
    let mut needed: BTreeSet<Name> = values.iter().map(|typed| typed.name).collect();
    let makes = |statement: &Statement| statement.results().iter().any(|typed| needed.contains(&typed.name));
    let end = body.statements.iter().rposition(makes).map_or(0, |at| at + 1);
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
    let leaf = |typed: &Typed| Form::Leaf(Operand::Var(typed.clone()));
    let returned = match values {
        [one] => leaf(one),
        several => Form::List(several.iter().map(leaf).collect()),
    };
    Body { statements: left, returned: Some(returned), ..body.clone() }
}

/// The call with these values as its only results.
fn returning(call: &ApiCall, values: &[Typed]) -> ApiCall {
    let bodies = call.bodies.iter().map(|body| Arc::new(until(body, values))).collect();
    let first = call.results.as_ref().and_then(|form| form.leaves().first().map(|typed| typed.name));
    let results =
        first.zip(values.first()).map(|(name, value)| Form::Leaf(Typed { name, ty: value.ty.clone() }));
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
        let mut chosen: BTreeMap<usize, &[Typed]> = BTreeMap::new();
        for (number, values) in places.iter().filter_map(|&at| all.get(at)) {
            // Of several ways for a call, the first.
            chosen.entry(*number).or_insert(values);
        }
        // From the last call: numbers of those before stay what they are.
        chosen.iter().rev().fold(tree.clone(), |tree, (&wanted, values)| {
            edit(&tree, &mut |number, statement| match statement {
                Statement::Api(call) if number == wanted => {
                    Change::Into(Statement::Api(Arc::new(returning(call, values))))
                }
                _ => Change::Keep,
            })
        })
    }
}
