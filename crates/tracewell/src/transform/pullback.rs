//! Reverse mode: a function staged, linearised, and its linear part transposed. What `grad` and `vjp` share.

use tracewell_graph::{ArrayType, Atom, Graph, Location};
use tracewell_trace::{Error, ErrorKind, Staged, Value, apply, apply_known};
use tracewell_transform::{Origin, linearize_results, transpose};

/// A function at a point: its results, and what its derivative there needs.
pub(crate) struct Linear {
    /// The results.
    pub(crate) results: Vec<Value>,
    /// What the linear part reads of the primal part.
    residuals: Vec<Value>,
    /// From the residuals and the tangents of active arguments to the tangents of results.
    graph: Graph,
    /// Which results have a tangent.
    has_tangent: Vec<bool>,
    result_types: Vec<ArrayType>,
    argument_types: Vec<ArrayType>,
    active: Vec<bool>,
    location: Location,
}

/// Linearises a staged function at its arguments; `wanted` says which results have a derivative.
pub(crate) fn linear(
    staged: Staged,
    arguments: Vec<Value>,
    wanted: &[bool],
    location: &Location,
) -> Result<Linear, Error> {
    let active = vec![true; arguments.len()];
    let Staged { graph, captured, values, finer, .. } = staged;
    // What a function captures is held constant.
    let all_active: Vec<bool> =
        std::iter::repeat_n(false, captured.len()).chain(active.iter().copied()).collect();
    let (split, origins) = linearize_results(&graph, &all_active, wanted).map_err(rule)?;
    let mut known: Vec<_> = origins
        .variables
        .iter()
        .map(|origin| match origin {
            Origin::Original(var) => values.get(var.0 as usize).cloned().flatten(),
            Origin::New => None,
        })
        .collect();
    for equation in &split.primal.equations {
        let Some(&first) = equation.outputs.first() else { continue };
        let Origin::Original(var) = origins.variables[first.0 as usize] else { continue };
        if let Some(run) = finer.iter().find(|run| run.var == var && run.prim == equation.prim) {
            for (output, value) in equation.outputs.iter().zip(&run.values) {
                known[output.0 as usize] = Some(value.clone());
            }
        }
    }
    let argument_types = arguments.iter().map(Value::ty).collect();
    let inputs: Vec<Value> = captured.into_iter().chain(arguments).collect();
    let mut results = apply_known(&split.primal, &inputs, &known, location)?;
    let residuals = results.split_off(graph.outputs.len());
    Ok(Linear {
        result_types: graph.output_types(),
        results,
        residuals,
        graph: split.linear,
        has_tangent: split.tangents,
        argument_types,
        active,
        location: location.clone(),
    })
}

/// An array of zeros as a value.
pub(crate) fn zeros(ty: &ArrayType) -> Value {
    filled(ty, 0.0)
}

/// An array filled with a number as a value.
pub(crate) fn filled(ty: &ArrayType, number: f64) -> Value {
    match Atom::fill(ty, number) {
        Atom::Splat(splat) => Value::Splat(splat),
        Atom::Var(_) => unreachable!("`fill` makes a splat"),
    }
}

impl Linear {
    /// The cotangents of the arguments from those of the results.
    pub(crate) fn pull(&self, cotangents: &[Value]) -> Result<Vec<Value>, Error> {
        let linear: Vec<bool> = std::iter::repeat_n(false, self.residuals.len())
            .chain(self.active.iter().filter(|a| **a).copied())
            .collect();
        let given = vec![true; self.graph.outputs.len()];
        let (graph, nonzero) = transpose(&self.graph, &linear, &given).map_err(rule)?;
        let seeds =
            cotangents.iter().zip(&self.has_tangent).filter(|(_, has)| **has).map(|(ct, _)| ct.clone());
        let inputs: Vec<Value> = self.residuals.iter().cloned().chain(seeds).collect();
        let mut found = apply(&graph, &inputs, &self.location)?.into_iter();
        let mut nonzero = nonzero.into_iter();
        let of = |(ty, &active): (&ArrayType, &bool)| {
            let value = if active && nonzero.next() == Some(true) { found.next() } else { None };
            value.unwrap_or_else(|| zeros(ty))
        };
        Ok(self.argument_types.iter().zip(&self.active).map(of).collect())
    }

    /// The tangents of the results from those of the active arguments.
    pub(crate) fn push(&self, tangents: &[Value]) -> Result<Vec<Value>, Error> {
        let given = tangents.iter().zip(&self.active).filter(|(_, active)| **active).map(|(t, _)| t.clone());
        let inputs: Vec<Value> = self.residuals.iter().cloned().chain(given).collect();
        let mut found = apply(&self.graph, &inputs, &self.location)?.into_iter();
        let of = |(ty, &has): (&ArrayType, &bool)| {
            let value = if has { found.next() } else { None };
            value.unwrap_or_else(|| zeros(ty))
        };
        Ok(self.result_types.iter().zip(&self.has_tangent).map(of).collect())
    }
}

/// A rule's refusal as an error of the user's.
pub(crate) fn rule(error: tracewell_graph::RuleError) -> Error {
    use tracewell_graph::RuleError;
    match error {
        RuleError::Type(error) => error.into(),
        RuleError::NotDifferentiable { ref location, .. } => {
            let made = Error::new(ErrorKind::NotDifferentiable, error.to_string());
            let made = made.help("use `stop_gradient` on its operands to hold them constant");
            match location {
                Some(location) => made.at((**location).clone()),
                None => made,
            }
        }
        RuleError::NotLinear { ref primitive } | RuleError::Unsupported { ref primitive, .. }
            if primitive.contains("::") =>
        {
            let made = Error::new(ErrorKind::NotDifferentiable, error.to_string());
            made.help(format!(
                "the rules of `{primitive}` are your own: `jvp` gives what is linear in the tangents"
            ))
        }
        RuleError::NotLinear { .. } => Error::new(ErrorKind::NotDifferentiable, error.to_string())
            .help("a rule given to `custom_jvp` must be linear in its tangents")
            .help("without such a rule, this is a bug in Tracewell; please report it with this text"),
        RuleError::Unsupported { .. } => Error::bug(error),
    }
}
