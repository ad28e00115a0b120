//! `saved_residuals(f, &x)`: what is kept between a function's forward and backward pass.

use std::fmt;

use tracewell_graph::{ArrayType, Graph, Location, Var};
use tracewell_trace::{Api, Error, boundary, complete};
use tracewell_transform::linearize;

use super::grad::check_arguments;
use super::pullback::rule;
use super::rule::labels;
use crate::outcome::Outcome;
use crate::staging::{Entered, Failure, Function, arguments, describe, stage_tree};
use crate::tree::{TreeRef, paths};

/// An array that is kept for the backward pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Residual {
    /// Its type.
    pub ty: ArrayType,
    /// What it is.
    pub source: Source,
}

/// What is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// An array of the argument, by its path.
    Argument(String),
    /// A value of an outer trace that the function captured.
    Captured(String),
    /// A result of a primitive, by the line that made it.
    Computed {
        /// The primitive's name.
        primitive: String,
        /// The line.
        location: Option<Location>,
    },
}

impl fmt::Display for Residual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.ty)?;
        match &self.source {
            Source::Argument(path) => write!(f, "from the argument `{path}`"),
            Source::Captured(what) => write!(f, "captured: {what}"),
            Source::Computed { primitive, location: Some(location) } => {
                write!(f, "computed by `{primitive}` at {location}")
            }
            Source::Computed { primitive, location: None } => write!(f, "computed by `{primitive}`"),
        }
    }
}

/// What `vjp(f, &x)` keeps for its pullback, in the order of computation. A failure of the function's own is an
/// error too.
///
/// ```
/// use tracewell::prelude::*;
///
/// let kept = saved_residuals(|x: &Array| x.sin().sum(), &Array::zeros([3], F32)).unwrap();
/// assert_eq!(kept.len(), 1);
/// assert!(kept[0].to_string().starts_with("f32[3] computed by `cos` at "));
/// ```
#[track_caller]
pub fn saved_residuals<X: TreeRef + ?Sized, R: Outcome>(
    f: impl Fn(&X) -> R,
    x: &X,
) -> Result<Vec<Residual>, Error> {
    let function = Function { name: None, ..Function::of::<()>(Api::SavedResiduals, Location::caller()) };
    crate::executor::install();
    let _session = crate::repro::session();
    let entered = Entered::start(&function, || describe(x, "x"));
    let found = boundary(Api::SavedResiduals, None, &function.location, || -> Result<_, Failure<R>> {
        check_arguments(Api::SavedResiduals, x)?;
        let staged = stage_tree::<X, R>(&function, x, &arguments(x, "x"), f)?.staged;
        let count = staged.captured.len();
        let active: Vec<bool> = (0..staged.graph.inputs.len()).map(|i| i >= count).collect();
        let split = linearize(&staged.graph, &active).map_err(rule)?;
        let captured = labels(&staged.captured).0.into_iter().map(Source::Captured);
        let inputs: Vec<Source> = captured.chain(paths(x, "x").into_iter().map(Source::Argument)).collect();
        let residuals = split.primal.outputs[staged.graph.outputs.len()..].iter();
        let residuals = residuals.filter_map(|atom| atom.var());
        Ok(residuals.map(|var| residual(&split.primal, &inputs, var)).collect())
    })?;
    match found {
        Ok(found) => {
            entered.end(Ok(&()));
            Ok(found)
        }
        Err(Failure::Ours(error)) => Err(complete(error, &function.location)),
        Err(Failure::Theirs(_)) => {
            let kind = tracewell_trace::ErrorKind::Structure;
            let error = Error::new(kind, "the function returned an error of its own");
            Err(complete(error, &function.location))
        }
    }
}

/// Prints what [`saved_residuals`] finds, one line for each.
#[track_caller]
pub fn print_saved_residuals<X: TreeRef + ?Sized, R: Outcome>(
    f: impl Fn(&X) -> R,
    x: &X,
) -> Result<(), Error> {
    for residual in saved_residuals(f, x)? {
        #[allow(clippy::print_stdout, reason = "printing is what it is for")]
        {
            println!("{residual}");
        }
    }
    Ok(())
}

fn residual(primal: &Graph, inputs: &[Source], var: Var) -> Residual {
    let ty = primal.ty(var).clone();
    if let Some(source) = primal.inputs.iter().position(|&input| input == var).and_then(|i| inputs.get(i)) {
        return Residual { ty, source: source.clone() };
    }
    let equation = primal.equations.iter().find(|equation| equation.outputs.contains(&var));
    let primitive = equation.map_or_else(|| "nothing".to_string(), |eq| eq.prim.name().to_string());
    let location = equation.and_then(|equation| equation.location.clone());
    Residual { ty, source: Source::Computed { primitive, location } }
}
