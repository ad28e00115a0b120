//! A user's function as the graph of a branch or a loop.

use tracewell_graph::prim::Convert;
use tracewell_graph::{ArrayType, Atom, Graph, GraphBuilder, Location, Splat, TypeError};
use tracewell_trace::{Api, Argument, Error, Value};

use crate::outcome::{Beside, Outcome};
use crate::staging::{Failure, Function, stage_with};
use crate::tree::{Tree, TreeRef, leaves, paths};

/// A function that was staged.
pub(super) struct Body<Y> {
    /// Its inputs are what was captured, then the arguments.
    pub(super) graph: Graph,
    /// What it uses from outside.
    pub(super) captured: Vec<Value>,
    /// What it returned, of which only the structure is of interest.
    pub(super) result: Y,
}

impl<Y: Tree> Body<Y> {
    /// Stages a function for arguments whose values are not known. `role` names the graph of a closure.
    pub(super) fn stage<R: Outcome<Ok = Y>>(
        function: &Function,
        role: &'static str,
        arguments: &[Argument],
        f: impl FnOnce(&[Value]) -> R,
    ) -> Result<Body<Y>, Failure<R>> {
        let traced = stage_with(&function.as_a(role), arguments, f)?;
        let mut graph = traced.staged.graph;
        if function.name.is_none() {
            graph.name = role.to_string();
        }
        Ok(Body { graph, captured: traced.staged.captured, result: traced.result })
    }

    /// The same for a function beside one that returns `R`.
    pub(super) fn stage_beside<R: Outcome, Q: Beside<R, Ok = Y>>(
        function: &Function,
        role: &'static str,
        arguments: &[Argument],
        f: impl FnOnce(&[Value]) -> Q,
    ) -> Result<Body<Y>, Failure<R>> {
        Body::stage::<Q>(function, role, arguments, f).map_err(|failure| match failure {
            Failure::Ours(error) => Failure::Ours(error),
            Failure::Theirs(failed) => match Q::hand_on(failed) {
                Some(failed) => Failure::Theirs(failed),
                None => Failure::Ours(Error::bug("a function failed without an error")),
            },
        })
    }

    /// The line that made an output, or the last line of the function where it was not made in there.
    pub(super) fn line(&self, output: usize) -> Option<Location> {
        let var = self.graph.outputs.get(output).and_then(Atom::var);
        let made = self.graph.equations.iter().find(|eq| var.is_some_and(|var| eq.outputs.contains(&var)));
        let last = || self.graph.equations.iter().rev().find_map(|equation| equation.location.clone());
        made.and_then(|equation| equation.location.clone()).or_else(last)
    }
}

/// A function beside the one that the API is named by, at the same line.
pub(super) fn function_of<F>(function: &Function) -> Function {
    Function::of::<F>(function.api, function.location.clone())
}

/// How an API with several functions enters: none of their names is that of all.
pub(super) fn unnamed(api: Api, location: Location) -> Function {
    Function::unnamed(api, location)
}

/// The arguments that stand for a tree's arrays, by their paths.
pub(super) fn unknown<X: TreeRef + ?Sized>(x: &X, root: &str) -> Vec<Argument> {
    let named = leaves(x).into_iter().zip(paths(x, root));
    named.map(|(leaf, name)| Argument { name, ty: leaf.ty(), value: None }).collect()
}

/// The arguments that stand for one element along the leading axis of each of a tree's arrays, which have one.
pub(super) fn elements<X: TreeRef + ?Sized>(xs: &X, root: &str) -> Vec<Argument> {
    let mut arguments = unknown(xs, root);
    for argument in &mut arguments {
        argument.ty = argument.ty.with_shape(argument.ty.shape.remove(0));
    }
    arguments
}

/// A graph of the same inputs whose outputs are made of its inputs and outputs.
pub(super) fn extended(
    graph: &Graph,
    build: impl FnOnce(&mut GraphBuilder, &[Atom], Vec<Atom>) -> Result<Vec<Atom>, TypeError>,
) -> Result<Graph, Error> {
    let mut b = GraphBuilder::new();
    let inputs: Vec<Atom> = graph.input_types().into_iter().map(|ty| b.input(ty).into()).collect();
    let outputs = b.inline(graph, &inputs);
    let outputs = build(&mut b, &inputs, outputs)?;
    Ok(b.finish(graph.name.clone(), outputs))
}

/// The graph with its first outputs of these types, which they may yield to.
pub(super) fn converted(graph: &Graph, types: &[ArrayType]) -> Result<Graph, Error> {
    if graph.output_types().iter().zip(types).all(|(have, want)| have == want) {
        return Ok(graph.clone());
    }
    extended(graph, |b, _, mut outputs| {
        for (output, want) in outputs.iter_mut().zip(types) {
            if b.ty(output) != *want {
                let (dtype, weak) = (want.dtype, want.weak);
                *output = match output {
                    Atom::Splat(splat) => {
                        Atom::Splat(Splat { literal: splat.literal.convert(dtype), weak, ..splat.clone() })
                    }
                    Atom::Var(_) => b.bind1(Convert { dtype, weak }, std::slice::from_ref(output))?,
                };
            }
        }
        Ok(outputs)
    })
}
