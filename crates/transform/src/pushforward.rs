//! The forward walk that [`jvp`](crate::jvp) and [`linearize`](crate::linearize) share: every value with its
//! tangent.
//!
//! For `y = f(x)` the walk keeps `x` and `dx` side by side and asks each equation's rule for `y` and
//! `dy = f'(x)·dx`. A tangent known to be zero is no atom at all, and an equation none of whose operands has a
//! tangent is copied: its rule is not asked.

use tracewell_graph::{Atom, Cx, Graph, GraphBuilder, RuleError, TypeError, Var};

use crate::GraphWalks;
use crate::demands::{check_count, check_type};
use crate::env::Env;

/// A graph under construction that computes another with its derivative.
pub(crate) struct Pushforward {
    /// Its inputs, added first: those of the graph, then the tangents of the active ones.
    pub(crate) builder: GraphBuilder,
    /// What stands for each variable of the graph.
    pub(crate) values: Env<Atom>,
    /// The results.
    pub(crate) outputs: Vec<Atom>,
    /// Their tangents.
    pub(crate) tangents: Vec<Option<Atom>>,
}

impl Pushforward {
    /// Which results have a tangent.
    pub(crate) fn has_tangent(&self) -> Vec<bool> {
        self.tangents.iter().map(Option::is_some).collect()
    }
}

/// Walks a graph forwards with tangents for the `active` inputs.
pub(crate) fn pushforward(
    graph: &Graph,
    active: &[bool],
    linearizing: bool,
) -> Result<Pushforward, RuleError> {
    assert_eq!(graph.inputs.len(), active.len(), "one flag for each input");
    let mut builder = GraphBuilder::new();
    let mut values: Env<Atom> = Env::new(graph);
    let mut tangents: Env<Atom> = Env::new(graph);
    for &var in &graph.inputs {
        let input = builder.input(graph.ty(var).clone());
        values.define(var, input.into());
    }
    for (i, (&var, _)) in graph.inputs.iter().zip(active).enumerate().filter(|(_, (_, active))| **active) {
        tangents.define(var, tangent_input(&mut builder, graph, i)?.into());
    }

    let value = |values: &Env<Atom>, atom: &Atom| match atom {
        Atom::Var(var) => values.get(*var).clone(),
        Atom::Splat(_) => atom.clone(),
    };
    let tangent = |tangents: &Env<Atom>, atom: &Atom| tangents.find(atom.var()?).cloned();

    for equation in &graph.equations {
        builder.at(equation.location.clone());
        let primals_in: Vec<Atom> = equation.inputs.iter().map(|atom| value(&values, atom)).collect();
        let tangents_in: Vec<Option<Atom>> =
            equation.inputs.iter().map(|atom| tangent(&tangents, atom)).collect();
        if tangents_in.iter().all(Option::is_none) {
            let results = builder.bind(equation.prim.clone(), &primals_in)?;
            for (&var, result) in equation.outputs.iter().zip(results) {
                values.define(var, result);
            }
            continue;
        }

        let prim = &equation.prim;
        let mut cx = Cx::new(&mut builder, &GraphWalks, linearizing);
        let jvp =
            prim.rules().jvp(&mut cx, &primals_in, &tangents_in).map_err(|e| e.at(&equation.location))?;
        check_count(prim, "jvp", jvp.primals.len(), equation.outputs.len())?;
        check_count(prim, "jvp", jvp.tangents.len(), equation.outputs.len())?;
        for ((&var, primal), tangent) in equation.outputs.iter().zip(jvp.primals).zip(jvp.tangents) {
            let expected = graph.ty(var);
            check_type(prim, "jvp", &builder.ty(&primal), expected)?;
            values.define(var, primal);
            if let Some(tangent) = tangent {
                check_type(prim, "jvp", &builder.ty(&tangent), expected)?;
                tangents.define(var, tangent);
            }
        }
    }
    let outputs = graph.outputs.iter().map(|atom| value(&values, atom)).collect();
    let tangents = graph.outputs.iter().map(|atom| tangent(&tangents, atom)).collect();
    Ok(Pushforward { builder, values, outputs, tangents })
}

/// The tangent of an input: an array of the same type, which only floats and complex numbers have.
fn tangent_input(builder: &mut GraphBuilder, graph: &Graph, input: usize) -> Result<Var, RuleError> {
    let ty = graph.ty(graph.inputs[input]);
    if ty.dtype.is_inexact() {
        return Ok(builder.input(ty.clone()));
    }
    let name = &graph.name;
    let message = format!(
        "cannot differentiate `{name}` by its input {input}, which is {ty}: only floats and complex numbers vary"
    );
    Err(TypeError::new(name.as_str(), message).into())
}
