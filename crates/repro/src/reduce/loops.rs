//! Loops are made to turn once.

use std::sync::Arc;

use super::Strategy;
use super::edit::{Change, edit};
use crate::tree::{CallTree, Statement};

pub(super) struct Loops;

/// The numbers of statements that are loops of a length that is told.
fn loops(tree: &CallTree) -> Vec<usize> {
    let mut all = Vec::new();
    edit(tree, &mut |number, statement| {
        if shorter(statement).is_some() {
            all.push(number);
        }
        Change::Keep
    });
    all
}

/// The loop with one turn, if it has more.
fn shorter(statement: &Statement) -> Option<Statement> {
    let Statement::Api(call) = statement else { return None };
    let mut made = (**call).clone();
    let mut changed = false;
    for (name, value) in &mut made.options {
        let once = match name.as_str() {
            "range" => value.split_once("..").and_then(|(start, end)| {
                let (start, end): (i64, i64) = (start.parse().ok()?, end.parse().ok()?);
                (end > start.checked_add(1)?).then(|| format!("{start}..{}", start + 1))
            }),
            "length" => value.parse::<usize>().ok().filter(|n| *n > 1).map(|_| "1".to_string()),
            "unroll" => value.parse::<usize>().ok().filter(|n| *n > 1).map(|_| "1".to_string()),
            "reverse" => (value == "true").then(|| "false".to_string()),
            _ => None,
        };
        if let Some(once) = once {
            *value = once;
            changed = true;
        }
    }
    changed.then(|| Statement::Api(Arc::new(made)))
}

impl Strategy for Loops {
    fn name(&self) -> &'static str {
        "shorten loops"
    }

    fn places(&self, tree: &CallTree) -> usize {
        loops(tree).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let all = loops(tree);
        let chosen: Vec<usize> = places.iter().filter_map(|&place| all.get(place).copied()).collect();
        edit(tree, &mut |number, statement| match shorter(statement) {
            Some(once) if chosen.contains(&number) => Change::Into(once),
            _ => Change::Keep,
        })
    }
}
