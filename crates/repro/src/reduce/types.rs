//! Changing every type of a tree at once, graphs in parameters and data included.

use std::sync::Arc;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Atom, Graph, ParamValue, Prim, Splat};

use crate::tree::{ApiCall, Body, CallTree, Operand, Statement, Typed};

/// How types and numbers in parameters change.
pub(super) trait Change {
    fn ty(&self, ty: &ArrayType) -> ArrayType;
    fn int(&self, n: i64) -> i64;
}

/// The tree with all its types changed.
pub(super) fn retyped(tree: &CallTree, change: &dyn Change) -> CallTree {
    CallTree { main: body(&tree.main, change), ..tree.clone() }
}

/// All types of a tree.
pub(super) fn types(tree: &CallTree) -> Vec<ArrayType> {
    fn of(body: &Body, all: &mut Vec<ArrayType>) {
        all.extend(body.parameters.iter().map(|typed| typed.ty.clone()));
        for statement in &body.statements {
            all.extend(statement.operands().into_iter().map(Operand::ty));
            all.extend(statement.results().into_iter().map(|typed| typed.ty.clone()));
            if let Statement::Api(call) = statement {
                call.bodies.iter().for_each(|body| of(body, all));
            }
        }
    }
    let mut all = Vec::new();
    of(&tree.main, &mut all);
    all
}

fn body(old: &Body, change: &dyn Change) -> Body {
    let typed = |typed: &Typed| Typed { name: typed.name, ty: change.ty(&typed.ty) };
    let mut new = old.clone();
    new.parameters.iter_mut().for_each(|old| *old = typed(old));
    for statement in &mut new.statements {
        match statement {
            Statement::Bind(bind) => {
                bind.operands.iter_mut().for_each(|old| *old = operand(old, change));
                bind.results.iter_mut().for_each(|old| *old = typed(old));
                bind.prim = prim(&bind.prim, change);
            }
            Statement::Ask { operand: old, .. } => *old = operand(old, change),
            Statement::Call { operands, .. } => {
                operands.iter_mut().for_each(|old| *old = operand(old, change))
            }
            Statement::Raise { .. } | Statement::Panic { .. } => {}
            Statement::Api(call) => {
                let call: &mut ApiCall = Arc::make_mut(call);
                for (_, form) in &mut call.arguments {
                    *form = form.map(&mut |old| operand(old, change));
                }
                call.results = call.results.as_ref().map(|form| form.map(&mut |old| typed(old)));
                call.bodies = call.bodies.iter().map(|old| Arc::new(body(old, change))).collect();
            }
        }
    }
    new.returned = new.returned.map(|form| form.map(&mut |old| operand(old, change)));
    new
}

fn operand(old: &Operand, change: &dyn Change) -> Operand {
    match old {
        Operand::Var(typed) => Operand::Var(Typed { name: typed.name, ty: change.ty(&typed.ty) }),
        Operand::Splat(old) => Operand::Splat(splat(old, change)),
        Operand::Data(old, weak) => Operand::Data(tensor(old, change), *weak),
        Operand::Lost(ty) => Operand::Lost(change.ty(ty)),
    }
}

fn splat(old: &Splat, change: &dyn Change) -> Splat {
    let ty = change.ty(&old.ty());
    Splat { literal: old.literal.convert(ty.dtype), shape: ty.shape, weak: ty.weak }
}

/// The elements at the first places along each axis.
fn tensor(old: &Tensor, change: &dyn Change) -> Tensor {
    let ty = change.ty(&ArrayType::of(old));
    if ty == ArrayType::of(old) {
        return old.clone();
    }
    let (from, to) = (old.shape().sizes().to_vec(), ty.shape.sizes().to_vec());
    let literals: Vec<_> = (0..ty.shape.len())
        .map(|at| {
            let (mut rest, mut place, mut stride) = (at, 0, 1);
            for (old, new) in from.iter().zip(&to).rev() {
                place += (rest % new.max(&1)).min(old.saturating_sub(1)) * stride;
                rest /= new.max(&1);
                stride *= old;
            }
            if old.is_empty() {
                tracewell_array::Literal::zero(ty.dtype)
            } else {
                old.literal(place).convert(ty.dtype)
            }
        })
        .collect();
    Tensor::from_literals(ty.dtype, ty.shape.clone(), &literals)
        .unwrap_or_else(|_| Tensor::zeros(ty.dtype, ty.shape))
}

fn prim(old: &Prim, change: &dyn Change) -> Prim {
    let mut params = Vec::new();
    old.rules().each_param(&mut |name, value| params.push((name.to_string(), param(value, change))));
    Prim::from_params(old.name(), &params).unwrap_or_else(|| old.clone())
}

fn param(value: ParamValue, change: &dyn Change) -> ParamValue {
    match value {
        ParamValue::Int(n) => ParamValue::Int(change.int(n)),
        ParamValue::Ints(all) => ParamValue::Ints(all.into_iter().map(|n| change.int(n)).collect()),
        ParamValue::DType(dtype) => ParamValue::DType(change.ty(&ArrayType::new(dtype, [])).dtype),
        ParamValue::Tensor(old) => ParamValue::Tensor(tensor(&old, change)),
        ParamValue::Types(all) => ParamValue::Types(all.iter().map(|ty| change.ty(ty)).collect()),
        ParamValue::Graph(old) => ParamValue::Graph(Arc::new(graph(&old, change))),
        ParamValue::Graphs(all) => {
            ParamValue::Graphs(all.iter().map(|old| Arc::new(graph(old, change))).collect())
        }
        other => other,
    }
}

fn graph(old: &Graph, change: &dyn Change) -> Graph {
    let atom = |atom: &Atom| match atom {
        Atom::Var(var) => Atom::Var(*var),
        Atom::Splat(old) => Atom::Splat(splat(old, change)),
    };
    let mut new = old.clone();
    new.types.iter_mut().for_each(|ty| *ty = change.ty(ty));
    for equation in &mut new.equations {
        equation.inputs.iter_mut().for_each(|old| *old = atom(old));
        equation.prim = prim(&equation.prim, change);
    }
    new.outputs.iter_mut().for_each(|old| *old = atom(old));
    new
}
