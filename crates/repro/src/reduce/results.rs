//! Arrays are taken out of what functions return.

use std::sync::Arc;

use tracewell_trace::Api;

use super::Strategy;
use super::edit::{Change, edit, zeros};
use super::leaves::{axes_without, without};
use crate::tree::{CallTree, Name, Operand, Statement};

pub(super) struct Results;

/// The results of all calls, each with the number of its statement and its place.
fn results(tree: &CallTree) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    edit(tree, &mut |number, statement| {
        if let Statement::Api(call) = statement
            && matches!(call.api, Api::Jit | Api::Vmap | Api::Checkpoint | Api::Map)
        {
            let returned = call.bodies.last().and_then(|body| body.returned.as_ref());
            let count = returned.map_or(0, |form| form.leaves().len());
            all.extend((0..count).map(|at| (number, at)));
        }
        Change::Keep
    });
    all
}

impl Strategy for Results {
    fn name(&self) -> &'static str {
        "drop results"
    }

    fn places(&self, tree: &CallTree) -> usize {
        results(tree).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        let all = results(tree);
        let chosen: Vec<(usize, usize)> =
            places.iter().filter_map(|&place| all.get(place).copied()).collect();
        let mut tree = tree.clone();
        let mut statements: Vec<usize> = chosen.iter().map(|(statement, _)| *statement).collect();
        statements.dedup();
        for &statement in statements.iter().rev() {
            let gone = |at: usize| chosen.contains(&(statement, at));
            tree = edit(&tree, &mut |number, found| match found {
                Statement::Api(call) if number == statement => {
                    let mut made = (**call).clone();
                    for body in &mut made.bodies {
                        let inner = Arc::make_mut(body);
                        inner.returned = inner.returned.as_ref().map(|form| without(form, &mut 0, &gone));
                    }
                    let mut instead: Vec<(Name, Operand)> = Vec::new();
                    if let Some(form) = &call.results {
                        let lost = form.leaves().into_iter().enumerate().filter(|(at, _)| gone(*at));
                        instead.extend(lost.map(|(_, typed)| (typed.name, zeros(&typed.ty))));
                        made.results = Some(without(form, &mut 0, &gone));
                    }
                    axes_without(&mut made.options, "out_axes", &gone);
                    Change::Become(vec![Statement::Api(Arc::new(made))], instead)
                }
                _ => Change::Keep,
            });
        }
        tree
    }
}
