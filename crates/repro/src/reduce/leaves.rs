//! Arrays are taken out of the arguments of calls, with the parameters that they were; those that a loop carries, out of
//! what it returns too.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracewell_trace::{Api, Form};

use super::Strategy;
use super::edit::zeros;
use super::parts::Parts;
use crate::tree::{ApiCall, Body, CallTree, Name, Operand};

pub(super) struct Leaves;

const ARGUMENTS: Parts = Parts {
    count: |call| match is_known(call.api) {
        true => call.arguments.iter().map(|(_, form)| form.leaves().len()).sum(),
        false => 0,
    },
    without: |call, gone| {
        let (call, instead) = taken(call, gone);
        (replaced(call, &instead), instead)
    },
};

/// Whether it is known which parameter an argument becomes.
fn is_known(api: Api) -> bool {
    matches!(
        api,
        Api::Jit
            | Api::Grad
            | Api::ValueAndGrad
            | Api::Vmap
            | Api::Checkpoint
            | Api::Contract
            | Api::EvalShape
            | Api::Trace
            | Api::Map
            | Api::Scan
            | Api::WhileLoop
            | Api::ForiLoop
    )
}

/// The form without the leaves of these places, counted from `first`: nothing is in their place.
pub(super) fn without<T: Clone>(form: &Form<T>, first: &mut usize, gone: &dyn Fn(usize) -> bool) -> Form<T> {
    let mut part = |form: &Form<T>| without(form, first, gone);
    match form {
        Form::Leaf(value) => {
            let at = *first;
            *first += 1;
            if gone(at) { Form::empty() } else { Form::Leaf(value.clone()) }
        }
        Form::Tuple(parts) => Form::Tuple(parts.iter().map(part).collect()),
        Form::List(parts) => {
            let count = parts.len();
            let left: Vec<Form<T>> = parts.iter().map(&mut part).collect();
            // Elements of a list are of one type: one that is gone is not there.
            let is_gone = |part: &Form<T>| matches!(part, Form::Tuple(parts) if parts.is_empty());
            let was_leaf = (0..count).all(|i| matches!(parts[i], Form::Leaf(_)));
            Form::List(left.into_iter().filter(|part| !(was_leaf && is_gone(part))).collect())
        }
        Form::Optional(inner) => Form::Optional(inner.as_ref().map(|inner| Box::new(part(inner)))),
        Form::Map(parts) => Form::Map(parts.iter().map(|(name, form)| (name.clone(), part(form))).collect()),
        Form::Record { name, variant, fields } => Form::Record {
            name: name.clone(),
            variant: variant.clone(),
            fields: fields.iter().map(|(name, form)| (name.clone(), part(form))).collect(),
        },
        Form::Static(text) => Form::Static(text.clone()),
    }
}

/// The axes of an option without those of these places.
pub(super) fn axes_without(options: &mut [(String, String)], name: &str, gone: &dyn Fn(usize) -> bool) {
    for (_, axes) in options.iter_mut().filter(|(known, _)| known == name) {
        let left = axes.split(',').enumerate().filter(|(at, _)| !gone(*at)).map(|(_, axis)| axis);
        *axes = left.collect::<Vec<_>>().join(",");
    }
}

fn taken(call: &ApiCall, gone: &dyn Fn(usize) -> bool) -> (ApiCall, Vec<(Name, Operand)>) {
    let mut made = call.clone();
    let mut instead: BTreeMap<Name, Operand> = BTreeMap::new();
    let mut at = 0;
    for (_, form) in &mut made.arguments {
        *form = without(form, &mut at, gone);
    }
    let carried = call.argument("carry").map_or(0, |form| form.leaves().len());
    let shift = usize::from(call.api == Api::ForiLoop);
    for body in &mut made.bodies {
        let inner: &mut Body = Arc::make_mut(body);
        let is_gone = |at: usize| at >= shift && gone(at - shift);
        for (at, typed) in inner.parameters.iter().enumerate() {
            if is_gone(at) {
                instead.insert(typed.name, zeros(&typed.ty));
            }
        }
        let names: Vec<Name> = instead.keys().copied().collect();
        let mut at = 0;
        inner.parameters.retain(|_| {
            at += 1;
            !is_gone(at - 1)
        });
        for (_, form) in &mut inner.forms {
            let leaves: Vec<Name> = form.leaves().into_iter().copied().collect();
            *form = without(form, &mut 0, &|at| leaves.get(at).is_some_and(|name| names.contains(name)));
        }
        if inner.role == "body" {
            let of_carry = |at: usize| at < carried && gone(at);
            inner.returned = inner.returned.as_ref().map(|form| without(form, &mut 0, &of_carry));
        }
    }
    // Results that stand for arguments.
    let skipped = usize::from(call.api == Api::ValueAndGrad);
    let mirrored = matches!(call.api, Api::Grad | Api::ValueAndGrad);
    if let Some(form) = &call.results
        && (mirrored || carried > 0)
    {
        let of_result = |at: usize| at >= skipped && (mirrored || at < carried) && gone(at - skipped);
        for (at, typed) in form.leaves().into_iter().enumerate() {
            if of_result(at) {
                instead.insert(typed.name, zeros(&typed.ty));
            }
        }
        made.results = Some(without(form, &mut 0, &of_result));
    }
    axes_without(&mut made.options, "axes", gone);
    (made, instead.into_iter().collect())
}

impl Strategy for Leaves {
    fn name(&self) -> &'static str {
        "drop arguments"
    }

    fn places(&self, tree: &CallTree) -> usize {
        ARGUMENTS.all(tree).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        ARGUMENTS.apply(tree, places)
    }
}

/// The call with values replaced inside of it.
fn replaced(mut call: ApiCall, instead: &[(Name, Operand)]) -> ApiCall {
    for body in &mut call.bodies {
        *body = Arc::new(crate::folder::map_operands(body, &mut |operand| match operand {
            Operand::Var(typed) => {
                let found = instead.iter().find(|(name, _)| *name == typed.name);
                found.map_or_else(|| operand.clone(), |(_, other)| other.clone())
            }
            other => other.clone(),
        }));
    }
    call
}
