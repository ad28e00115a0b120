//! Arrays are taken out of what functions return.

use std::sync::Arc;

use tracewell_trace::Api;

use super::Strategy;
use super::edit::zeros;
use super::leaves::{axes_without, without};
use super::parts::Parts;
use crate::tree::{ApiCall, CallTree, Name, Operand};

pub(super) struct Results;

const RESULTS: Parts = Parts {
    count: |call| {
        let returned = call.bodies.last().and_then(|body| body.returned.as_ref());
        match call.api {
            Api::Jit | Api::Vmap | Api::Checkpoint | Api::Contract | Api::Map => {
                returned.map_or(0, |form| form.leaves().len())
            }
            _ => 0,
        }
    },
    without: taken,
};

fn taken(call: &ApiCall, gone: &dyn Fn(usize) -> bool) -> (ApiCall, Vec<(Name, Operand)>) {
    let mut made = call.clone();
    for body in &mut made.bodies {
        let inner = Arc::make_mut(body);
        inner.returned = inner.returned.as_ref().map(|form| without(form, &mut 0, gone));
    }
    let mut instead: Vec<(Name, Operand)> = Vec::new();
    if let Some(form) = &call.results {
        let lost = form.leaves().into_iter().enumerate().filter(|(at, _)| gone(*at));
        instead.extend(lost.map(|(_, typed)| (typed.name, zeros(&typed.ty))));
        made.results = Some(without(form, &mut 0, gone));
    }
    axes_without(&mut made.options, "out_axes", gone);
    (made, instead)
}

impl Strategy for Results {
    fn name(&self) -> &'static str {
        "drop results"
    }

    fn places(&self, tree: &CallTree) -> usize {
        RESULTS.all(tree).len()
    }

    fn apply(&self, tree: &CallTree, places: &[usize]) -> CallTree {
        RESULTS.apply(tree, places)
    }
}
