//! Functions with rules of their own: what `custom_jvp`, `custom_vjp` and `checkpoint` share.
//!
//! A function and its rules are staged to graphs when it is called on tracers; the graphs are parameters of one
//! primitive, whose first operands are what the functions captured.

use std::sync::Arc;

use tracewell_array::Tensor;
use tracewell_graph::{ArrayType, Atom, Graph, GraphBuilder, Labels, Location, Prim};
use tracewell_trace::{Api, Argument, Error, ErrorKind, Staged, Value, bind_known, is_idle};

use crate::array::Array;
use crate::outcome::Outcome;
use crate::staging::{Failure, Function, Traced, stage_with};
use crate::tree::{Tree, TreeRef, leaves, paths};

/// Whether nothing is traced, so that there is nothing to differentiate and the function is simply called.
pub(super) fn is_plain<X: TreeRef + ?Sized>(x: &X) -> bool {
    is_idle() && !leaves(x).into_iter().any(Array::is_traced)
}

/// Stages a derivative rule for arguments of these names and types.
pub(super) fn stage_rule<R: Outcome, Q: Outcome>(
    function: &Function,
    arguments: &[Argument],
    rule: impl FnOnce(&[Value]) -> Q,
) -> Result<Traced<Q::Ok>, Failure<R>> {
    stage_with::<Q>(function, arguments, rule).map_err(|failure| match failure {
        Failure::Ours(error) => Failure::Ours(error),
        Failure::Theirs(_) => {
            let message = "a derivative rule returned an error of its own";
            Failure::Ours(Error::new(ErrorKind::Structure, message).at(function.location.clone()))
        }
    })
}

/// A rule as the API was given it.
pub(super) fn rule_of<D>(function: &Function) -> Function {
    Function::of::<D>(Api::Rule, function.location.clone())
}

/// The arguments of a rule: of the types of these arrays, which are not known.
pub(super) fn unknown<T: TreeRef + ?Sized>(tree: &T, root: &str) -> Vec<Argument> {
    let named = leaves(tree).into_iter().zip(paths(tree, root));
    named.map(|(leaf, name)| Argument { name, ty: strong(leaf.ty()), value: None }).collect()
}

/// Rules are about values, whose types are not weak.
pub(super) fn strong(ty: ArrayType) -> ArrayType {
    ArrayType { weak: false, ..ty }
}

/// What a rule gave must have the structure and types of what it stands for; `what` says what that is.
pub(super) fn check_result<T: Tree, U: TreeRef + ?Sized>(
    what: &str,
    found: &T,
    like: &U,
) -> Result<(), Error> {
    let (found, want) = (leaves(found), leaves(like));
    if found.len() != want.len() {
        let message =
            format!("a derivative rule gave {} arrays for {what}, which has {}", found.len(), want.len());
        return Err(Error::new(ErrorKind::Structure, message));
    }
    for ((found, want), path) in found.into_iter().zip(want).zip(paths(like, what)) {
        // What is no float has no derivative: whatever the rule gave for it is not used.
        if want.dtype().is_inexact() && !want.ty().matches(&found.ty()) {
            let message =
                format!("a derivative rule gave {} for `{path}`, expected {}", found.ty(), want.ty());
            return Err(Error::new(ErrorKind::Type, message));
        }
    }
    Ok(())
}

/// A graph of inputs of these types.
pub(super) fn graph_of(
    name: &str,
    inputs: &[&[ArrayType]],
    build: impl FnOnce(&mut GraphBuilder, Vec<Vec<Atom>>) -> Vec<Atom>,
) -> Arc<Graph> {
    let mut b = GraphBuilder::new();
    let groups = inputs.iter().map(|types| types.iter().map(|ty| b.input(ty.clone()).into()).collect());
    let groups: Vec<Vec<Atom>> = groups.collect();
    let outputs = build(&mut b, groups);
    Arc::new(b.finish(name, outputs))
}

/// The types of a staged graph's captured inputs and of its arguments.
pub(super) fn input_types(staged: &Staged) -> (Vec<ArrayType>, Vec<ArrayType>) {
    let mut captured = staged.graph.input_types();
    let arguments = captured.split_off(staged.captured.len());
    (captured, arguments)
}

/// One atom for each type: the next given one for a float, zeros for anything else.
pub(super) fn with_zeros(types: &[ArrayType], given: Vec<Atom>) -> Vec<Atom> {
    let mut given = given.into_iter();
    let one = |ty: &ArrayType| {
        let next = if ty.dtype.is_inexact() { given.next() } else { None };
        next.unwrap_or_else(|| Atom::fill(ty, 0.0))
    };
    types.iter().map(one).collect()
}

/// The items that stand for floats.
pub(super) fn of_floats<T: Clone>(items: &[T], types: &[ArrayType]) -> Vec<T> {
    let both = items.iter().zip(types).filter(|(_, ty)| ty.dtype.is_inexact());
    both.map(|(item, _)| item.clone()).collect()
}

/// How captured values are named in errors.
pub(super) fn labels<'v>(captured: impl IntoIterator<Item = &'v Value>) -> Labels {
    let label = |value: &Value| match value.tracer() {
        Some(tracer) => match tracer.frame().argument_name(tracer.var()) {
            Some(name) if !name.is_empty() => format!("`{name}`"),
            _ => format!("the {} made at {}", tracer.ty(), tracer.made()),
        },
        None => format!("a constant {}", value.ty()),
    };
    Labels(captured.into_iter().map(label).collect())
}

/// Applies the primitive. Where staging computed the results on the way, they are not computed again.
pub(super) fn bind_staged(
    prim: impl Into<Prim>,
    operands: &[Value],
    graph: &Graph,
    values: &[Option<Tensor>],
    location: &Location,
) -> Result<Vec<Value>, Error> {
    let known = graph.outputs.iter().map(|atom| match atom {
        Atom::Var(var) => values.get(var.0 as usize).cloned().flatten(),
        Atom::Splat(splat) => Some(Tensor::full(splat.literal, splat.shape.clone())),
    });
    let known: Option<Vec<Tensor>> = known.collect();
    // Literals alone do not make a trace concrete.
    let known = known.filter(|_| values.iter().any(Option::is_some));
    Ok(bind_known(&prim.into(), operands, known, location)?.into_vec())
}
