//! Calls are dropped, and their results given: what they computed becomes an argument of the jitted function that they
//! are in, or data where they are in none.
//!
//! An argument, because a constant is computed with while the function is compiled: what fails would be gone.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracewell_array::Tensor;
use tracewell_trace::{Api, Form};

use super::Strategy;
use super::edit::{Change, edit};
use super::values::values;
use crate::tree::{ApiCall, Body, CallTree, Name, Operand, Statement, Typed};

pub(super) struct Given;

/// The name of the argument that results are given as.
const ARGUMENT: &str = "given";

/// A statement whose results are known.
struct Place {
    number: usize,
    /// The number of the outermost jitted call that it is in.
    jitted: Option<usize>,
    results: Vec<Typed>,
}

fn places(tree: &CallTree, known: &BTreeMap<Name, Tensor>) -> Vec<Place> {
    fn walk(body: &Body, next: &mut usize, jitted: Option<usize>, all: &mut Vec<Place>) {
        for statement in &body.statements {
            let number = *next;
            *next += 1;
            all.push(Place { number, jitted, results: statement.results().into_iter().cloned().collect() });
            if let Statement::Api(call) = statement {
                let inside = jitted.or((call.api == Api::Jit).then_some(number));
                call.bodies.iter().for_each(|body| walk(body, next, inside, all));
            }
        }
    }
    let mut all = Vec::new();
    walk(&tree.main, &mut 0, None, &mut all);
    all.retain(|place| {
        !place.results.is_empty() && place.results.iter().all(|typed| known.contains_key(&typed.name))
    });
    all
}

/// The jitted call with these values as further arguments, which have the names that they had as results.
fn with_arguments(call: &ApiCall, given: &[(Typed, Operand)]) -> ApiCall {
    let mut made = call.clone();
    let leaves = given.iter().map(|(_, operand)| Form::Leaf(operand.clone()));
    match made.arguments.last_mut() {
        Some((name, Form::List(all))) if name == ARGUMENT => all.extend(leaves),
        _ => made.arguments.push((ARGUMENT.to_string(), Form::List(leaves.collect()))),
    }
    for body in &mut made.bodies {
        Arc::make_mut(body).parameters.extend(given.iter().map(|(typed, _)| typed.clone()));
    }
    made
}

impl Strategy for Given {
    fn name(&self) -> &'static str {
        "give results"
    }

    fn places(&self, tree: &CallTree) -> usize {
        places(tree, &values(tree)).len()
    }

    fn apply(&self, tree: &CallTree, chosen: &[usize]) -> CallTree {
        let known = values(tree);
        let all = places(tree, &known);
        let mut gone: BTreeMap<usize, Vec<(Name, Operand)>> = BTreeMap::new();
        let mut arguments: BTreeMap<usize, Vec<(Typed, Operand)>> = BTreeMap::new();
        for place in chosen.iter().filter_map(|&at| all.get(at)) {
            let given = place.results.iter().filter_map(|typed| {
                let tensor = known.get(&typed.name)?;
                Some((typed.clone(), Operand::Data(tensor.clone(), typed.ty.weak)))
            });
            let instead = gone.entry(place.number).or_default();
            match place.jitted {
                Some(call) => arguments.entry(call).or_default().extend(given),
                None => instead.extend(given.map(|(typed, data)| (typed.name, data))),
            }
        }
        edit(tree, &mut |number, statement| match (gone.remove(&number), statement) {
            (Some(instead), _) => Change::Become(Vec::new(), instead),
            (None, Statement::Api(call)) => match arguments.get(&number) {
                Some(given) => Change::Into(Statement::Api(Arc::new(with_arguments(call, given)))),
                None => Change::Keep,
            },
            (None, _) => Change::Keep,
        })
    }
}
