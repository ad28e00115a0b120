//! The derivative in two parts: what can be computed before the tangents are known, and what is linear in them.
//!
//! The forward walk builds one graph of both. An equation belongs to the linear part if it reads, directly or
//! not, a tangent; all others belong to the primal part. What the linear part reads of the primal part is a
//! *residual*: it leaves the one graph as an output and enters the other as an input. Literals are no
//! residuals: they are operands and go where their equation goes.

use tracewell_graph::{Atom, Graph, Linearized, RuleError, Var};

use crate::contract::broken;
use crate::env::Env;
use crate::extract::extract;
use crate::pushforward::{Pushforward, pushforward};

/// Where a value of the primal part comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// It is the value of this variable of the original graph.
    Original(Var),
    /// The derivative made it: no recorded value of the original graph is known to equal it.
    New,
}

/// Which values of the primal part a caller who has recorded those of the original graph need not compute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origins {
    /// Of each residual.
    pub residuals: Vec<Origin>,
    /// Of each variable of [`Linearized::primal`]: to compute the new residuals, evaluate the equations that
    /// they need and stop at variables that are original.
    pub variables: Vec<Origin>,
}

/// Splits the derivative of a graph by its `active` inputs. Only results that may vary have a tangent, only
/// values that the linear part reads are residuals, and each is one once.
pub fn linearize(graph: &Graph, active: &[bool]) -> Result<Linearized, RuleError> {
    Ok(linearize_with_origins(graph, active)?.0)
}

/// As [`linearize`], and says where the values of the primal part come from.
pub fn linearize_with_origins(graph: &Graph, active: &[bool]) -> Result<(Linearized, Origins), RuleError> {
    let forward = pushforward(graph, active, true)?;
    let tangents = forward.has_tangent();
    let Pushforward { builder, values, outputs, tangents: tangent_outputs } = forward;
    // The inputs were added first, so finishing renumbers nothing and the atoms above stay right.
    let whole = builder.finish(graph.name.as_str(), Vec::new());
    let (inputs, tangent_inputs) = whole.inputs.split_at(graph.inputs.len());

    let varies = depends_on(&whole, tangent_inputs);
    check_primals(graph, &values, &varies)?;

    let tangent_outputs: Vec<Atom> = tangent_outputs.into_iter().flatten().collect();
    let residuals = read_by_linear_part(&whole, &varies, &tangent_outputs);

    let linear_inputs: Vec<Var> = residuals.iter().chain(tangent_inputs).copied().collect();
    let (linear, _) = extract(&whole, format!("{}_linear", graph.name), &linear_inputs, &tangent_outputs);
    let primal_outputs: Vec<Atom> =
        outputs.into_iter().chain(residuals.iter().map(|&var| Atom::Var(var))).collect();
    let (primal, places) = extract(&whole, format!("{}_primal", graph.name), inputs, &primal_outputs);

    let variables = origins(graph, &values, &places, primal.types.len());
    let residuals = residuals.iter().map(|&var| variables[places.get(var).0 as usize]).collect();
    Ok((Linearized { primal, linear, tangents }, Origins { residuals, variables }))
}

/// For each variable, whether it depends on one of these inputs.
fn depends_on(graph: &Graph, inputs: &[Var]) -> Vec<bool> {
    let mut depends = vec![false; graph.types.len()];
    inputs.iter().for_each(|var| depends[var.0 as usize] = true);
    for equation in &graph.equations {
        if equation.inputs.iter().any(|atom| atom.var().is_some_and(|var| depends[var.0 as usize])) {
            equation.outputs.iter().for_each(|var| depends[var.0 as usize] = true);
        }
    }
    depends
}

/// The contract of derivative rules while linearizing: no value of the original graph depends on a tangent.
fn check_primals(graph: &Graph, values: &Env<Atom>, varies: &[bool]) -> Result<(), RuleError> {
    for equation in &graph.equations {
        for &var in &equation.outputs {
            if values.get(var).var().is_some_and(|var| varies[var.0 as usize]) {
                let why = "while linearizing, its jvp rule made a primal result depend on a tangent";
                return Err(broken(&equation.prim, why.to_string()));
            }
        }
    }
    Ok(())
}

/// The variables of the primal part that are needed by the tangents of results, in the order of definition.
fn read_by_linear_part(whole: &Graph, varies: &[bool], tangent_outputs: &[Atom]) -> Vec<Var> {
    let mut needed = vec![false; whole.types.len()];
    let need = |needed: &mut [bool], atom: &Atom| {
        if let Atom::Var(var) = atom {
            needed[var.0 as usize] = true;
        }
    };
    tangent_outputs.iter().for_each(|atom| need(&mut needed, atom));
    for equation in whole.equations.iter().rev() {
        if equation.outputs.iter().any(|var| varies[var.0 as usize] && needed[var.0 as usize]) {
            equation.inputs.iter().for_each(|atom| need(&mut needed, atom));
        }
    }
    (0..whole.types.len()).filter(|&i| needed[i] && !varies[i]).map(|i| Var(i as u32)).collect()
}

/// The origin of each variable of the primal part, where `places` says what became of those of the whole.
fn origins(graph: &Graph, values: &Env<Atom>, places: &Env<Var>, count: usize) -> Vec<Origin> {
    let mut origins = vec![Origin::New; count];
    for var in (0..graph.types.len()).map(|i| Var(i as u32)) {
        let place = values.find(var).and_then(Atom::var).and_then(|var| places.find(var));
        if let Some(place) = place
            && origins[place.0 as usize] == Origin::New
        {
            origins[place.0 as usize] = Origin::Original(var);
        }
    }
    origins
}
